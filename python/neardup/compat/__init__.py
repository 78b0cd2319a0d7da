"""Drop-in surfaces of older SimHash libraries: change one import line, keep every value."""
