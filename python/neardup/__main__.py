"""python -m neardup: the same as the command neardup."""

from neardup.cli import main

if __name__ == "__main__":
    main()
