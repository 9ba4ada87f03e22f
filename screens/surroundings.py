"""What the chat screen is given by the program around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screens.model_picker import FindModels


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Plain values and callables; nothing here is heavy to make."""

    home: Path
    """Where the history of prompts and large copies go."""
    workspace: Path
    """The folder that Otto was started in."""
    now: Callable[[], datetime]
    find_models: FindModels
    """Looks for models that can answer; asked when the person wants another one."""
    notices: Sequence[str] = ()
    """Sentences to show once at the start, such as a setting that could not be used."""
