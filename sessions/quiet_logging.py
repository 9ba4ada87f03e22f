"""Keeping what libraries log off the terminal that Otto draws on."""

from __future__ import annotations

import logging


def silence(*names: str) -> None:
    """Have these loggers say nothing: without a handler of its own, Python prints a warning on the terminal."""
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        logger.setLevel(logging.CRITICAL)
