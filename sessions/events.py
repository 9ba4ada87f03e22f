"""What happened in a session, as typed events. Screens and the plain chat draw these; nothing else tells them."""

from __future__ import annotations

from dataclasses import dataclass

from memory.values import Compaction, Demotion, Event
from sessions.approvals import Approval, Decision


@dataclass(frozen=True, slots=True)
class Said:
    """The person's words are on disk."""

    event: Event


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request has gone to the model; nothing has come back yet."""

    model: str


@dataclass(frozen=True, slots=True)
class Delta:
    """More of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """More of the model's visible reasoning. It is shown, not kept."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model has called a tool, which is about to run. ``ToolUsed`` with the same ``call`` ends it."""

    call: str
    """The call's id. Calls of one reply may run at the same time."""
    name: str
    arguments: str
    """JSON as the model wrote it; it may not parse."""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """The model called a tool and has its answer."""

    name: str
    arguments: str
    summary: str
    """One line: what came of it."""
    call: str = ""
    """The id of the ``ToolCalled`` that it ends."""
    ok: bool = True
    """Whether the tool did what it was called for."""
    size: int = 0
    """Characters of its output."""
    text: str = ""
    """The output. It is text from outside: show it with ``displayable``."""


@dataclass(frozen=True, slots=True)
class ApprovalWanted:
    """Something waits for the person's word: answer with ``Session.decide``."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class ApprovalSettled:
    """An approval is no longer wanted."""

    id: str
    decision: Decision | None
    """None when it was taken back: the turn was stopped, or the session closed."""


@dataclass(frozen=True, slots=True)
class Evicted:
    """The oldest tool results of the running loop were rewritten to their one line. The tape has the whole."""

    calls: int
    """How many results."""
    chars_before: int
    """Of the transcript, before and after."""
    chars_after: int


@dataclass(frozen=True, slots=True)
class LoopChanged:
    """The agent loop is further: ask ``Session.loop`` again."""


@dataclass(frozen=True, slots=True)
class ShellRan:
    """A command that the person typed has ended; its output is on the tape."""

    event: Event


@dataclass(frozen=True, slots=True)
class TurnDone:
    """A turn has ended: whole, stopped or failed. The last event of every turn."""

    event: Event | None
    """The reply on the tape; None when not one character came."""
    error: str | None = None
    """The sentence to show when the model failed."""
    stopped: bool = False
    """The person stopped it; what had come is kept and marked."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    """US dollars; None when the price is not known."""


@dataclass(frozen=True, slots=True)
class Demoted:
    """Whole turns moved from X to Y."""

    demotion: Demotion


@dataclass(frozen=True, slots=True)
class Compacting:
    """A compaction has begun behind the conversation."""

    items: int
    made_by: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction has been swapped in."""

    compaction: Compaction


@dataclass(frozen=True, slots=True)
class ObservingProgress:
    """A worker of the ledger has begun or ended a run behind the conversation."""

    stage: str
    """``observe``, ``reflect`` or ``drop``."""
    state: str
    """``running``, ``done``, ``nothing`` (there was nothing to record), ``failed`` or ``stopped`` (to begin again)."""
    model: str
    recorded: int = 0
    """Observations, reflections or drops."""
    seconds: float = 0.0
    requests: int = 0
    prompt_tokens: int = 0
    """As the vendor counted them, over all requests; 0 where it did not say."""
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class LedgerChanged:
    """The ledger holds something new: ask ``Session.ledger`` again."""

    observations: int = 0
    """Recorded just now."""
    reflections: int = 0
    drops: int = 0


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """Vectors are being made."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """Something in the tiers, bullets or vectors is different: ask for a new snapshot."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence that the person should see once."""

    text: str
    level: str = "warning"
    """``information``, ``warning`` or ``error``."""


SessionEvent = (
    Said
    | Waiting
    | Delta
    | Thinking
    | ToolCalled
    | ToolUsed
    | ApprovalWanted
    | ApprovalSettled
    | Evicted
    | LoopChanged
    | ShellRan
    | TurnDone
    | Demoted
    | Compacting
    | Compacted
    | ObservingProgress
    | LedgerChanged
    | EmbeddingProgress
    | MemoryChanged
    | Notice
)
