"""``python -m otto_tui`` is ``otto``."""

from otto_tui.cli import main

if __name__ == "__main__":
    main()
