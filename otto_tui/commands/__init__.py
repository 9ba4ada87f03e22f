"""The commands of ``otto``, a file each. A file's ``command`` is what ``otto_tui/cli.py`` loads."""
