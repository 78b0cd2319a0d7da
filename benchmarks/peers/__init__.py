"""Other libraries and programs that neardup is compared with, and the environment they run in."""
