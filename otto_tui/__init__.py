"""The program: command line, app, configuration and paths. Puts the other packages together."""

__version__ = "0.1.0"
