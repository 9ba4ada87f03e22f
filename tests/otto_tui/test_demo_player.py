"""Playing: in order, at the script's times, and no further once the person does something of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memory.values import Event
from otto_tui.demo_player import TIME_LAPSE, DemoClock, DemoPlayer
from otto_tui.demo_script import DemoScript, load_script
from sessions.events import Said, SessionEvent, TurnDone

SCRIPT = replace(load_script(), turns=load_script().turns[:5])
FAST = 1_000_000


@dataclass
class ScriptedTalk:
    """Answers at once; before the turn ``at``, ``happens`` is told to whoever watches."""

    clock: Callable[[], datetime]
    at: int = -1
    happens: SessionEvent | None = None
    said: list[str] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    callbacks: list[Callable[[SessionEvent], None]] = field(default_factory=list)

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]:
        self.callbacks.append(callback)
        return lambda: self.callbacks.remove(callback)

    async def send(self, text: str) -> None:
        self.said.append(text)
        self.times.append(self.clock())
        self._tell(Said(_event(text)))
        if len(self.said) == self.at and self.happens is not None:
            self._tell(self.happens)
        else:
            self._tell(TurnDone(None))

    def _tell(self, event: SessionEvent) -> None:
        for callback in self.callbacks:
            callback(event)


async def test_it_says_every_line_at_the_time_of_the_script() -> None:
    talk, player = _begin(SCRIPT)
    assert await player.play(talk)
    assert talk.said == [turn.you for turn in SCRIPT.turns]
    assert talk.times == [turn.at for turn in SCRIPT.turns]
    assert player.played == 5
    assert talk.callbacks == []


async def test_it_stops_when_the_person_says_something() -> None:
    talk, player = _begin(SCRIPT, at=2, happens=Said(_event("Wait, what is this?")))
    assert not await player.play(talk)
    assert len(talk.said) == 2
    assert talk.callbacks == []


async def test_it_stops_when_the_person_stops_a_reply() -> None:
    talk, player = _begin(SCRIPT, at=3, happens=TurnDone(None, stopped=True))
    assert not await player.play(talk)
    assert len(talk.said) == 3


async def test_it_stops_when_a_turn_fails() -> None:
    talk, player = _begin(SCRIPT, at=1, happens=TurnDone(None, error="The disk is full."))
    assert not await player.play(talk)
    assert len(talk.said) == 1


def test_the_clock_runs_on_from_what_it_shows() -> None:
    seconds = [0.0]
    clock = DemoClock(SCRIPT.turns[0].at, elapsed=lambda: seconds[0])
    seconds[0] = 2.0
    assert clock() == SCRIPT.turns[0].at + timedelta(seconds=2 * TIME_LAPSE)
    clock.show(SCRIPT.turns[1].at)
    assert clock() == SCRIPT.turns[1].at


def _begin(script: DemoScript, *, at: int = -1, happens: SessionEvent | None = None) -> tuple[ScriptedTalk, DemoPlayer]:
    clock = DemoClock(script.turns[0].at, elapsed=lambda: 0.0)
    return ScriptedTalk(clock, at, happens), DemoPlayer(script, clock, speed=FAST)


def _event(text: str) -> Event:
    at = "2026-03-02T09:04:00+00:00"
    return Event(
        seq=1, id="e1", thread="main", source="person", role="user", kind="message", t_event=at, t_ingest=at, text=text
    )
