"""fastembed, loaded on first use and kept from writing over the screen."""

from __future__ import annotations

from memory.errors import EmbeddingUnavailable


def load_quietly() -> None:
    """Import fastembed and have it and onnxruntime say nothing; what goes wrong comes as an exception anyway.

    Raises:
        EmbeddingUnavailable: it is not installed, or does not work here.
    """
    try:
        import fastembed  # noqa: F401
        import onnxruntime  # type: ignore[import-untyped]
        from loguru import logger
    except ImportError as error:
        raise EmbeddingUnavailable(
            f"fastembed cannot be imported ({error}). Install otto-tui again with its dependencies."
        ) from error
    logger.disable("fastembed")
    onnxruntime.set_default_logger_severity(3)
