"""Observer, reflector and dropper behind the conversation: one after the other, one pass at a time (seed 003).

A turn never waits for them. A pass begins after a turn, when enough text has come; what fails is told once until it
works again, waits for more text before it is tried again, and leaves the ledger as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from memory.errors import OttoError
from memory.ledger_fold import LedgerState, read_state
from memory.raw_tokens import raw_tokens
from sessions.chat_model import ChatModel
from sessions.embedding_choice import is_local
from sessions.events import LedgerChanged, Notice, ObservingProgress, SessionEvent
from sessions.live import LiveMemory
from sessions.observing import stages
from sessions.observing.agent import Agent
from sessions.observing.clocks import BackOff, Gauge
from sessions.observing.debug_log import DebugLog
from sessions.observing.seats import OpenSeat, Stage, takes_notes
from sessions.observing.stages import Run
from sessions.observing.status import Spent
from sessions.options import Options

FAILED: Mapping[Stage, str] = {
    "observe": "Notes of the conversation cannot be taken for now; nothing is lost, and it is tried again later.",
    "reflect": "Conclusions cannot be drawn for now; nothing is lost, and it is tried again later.",
    "drop": "The notes cannot be pruned for now; nothing is lost, and it is tried again later.",
}


_RECORDS: Mapping[Stage, str] = {"observe": "observations", "reflect": "reflections", "drop": "drops"}

OBSERVED_FROM = "observed_from"
"""The fact in which a tape keeps the ``seq`` after which observing begins: what was compacted before the ledger was
first kept is remembered by its bullets already."""

_SOUND_ENDINGS = {True: "done", False: "nothing"}

Work = Callable[[ChatModel], Awaitable[Run]]


@dataclass(frozen=True, slots=True)
class LedgerNow:
    """The ledger and how far its workers are from being due, at one moment."""

    state: LedgerState
    observe: Gauge
    reflect: Gauge
    unread_after: int
    """The ``seq`` after which the observer reads on."""


class ObservingWorker:
    """Keeps one session's ledger up to date. All methods are called on the event loop.

    Args:
        seat: opens the model of a seat.
        settled: called when a pass has ended, with whether it has recorded anything.
    """

    def __init__(
        self,
        memory: LiveMemory,
        options: Options,
        seat: OpenSeat,
        emit: Callable[[SessionEvent], None],
        settled: Callable[[bool], None],
        log: DebugLog | None = None,
    ) -> None:
        self._memory = memory
        self._options = options
        self._seat = seat
        self._emit = emit
        self._settled = settled
        self._log = log
        self._agent = Agent(options.ledger.agent_max_turns)
        self._back_offs: dict[Stage, BackOff] = {"observe": BackOff(), "reflect": BackOff(), "drop": BackOff()}
        self._errors: dict[Stage, str] = {}
        self._begin: int | None = None
        self._state: LedgerState | None = None
        self._version = 0
        self._stage: Stage | None = None
        self._model_name = ""
        self._spent = Spent()
        self._passed_over = 0
        self._again = False
        self._task: asyncio.Task[None] | None = None

    # -- watching ----------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def stage(self) -> Stage | None:
        """Whose model is being asked right now."""
        return self._stage

    @property
    def spent(self) -> Spent:
        """What all runs so far took."""
        return self._spent

    @property
    def errors(self) -> Mapping[Stage, str]:
        """By worker: the last failure since it last did its work, as a sentence."""
        return dict(self._errors)

    async def now(self) -> LedgerNow:
        """The ledger as it is and its clocks.

        Raises:
            StoreDamaged, StoreUnavailable: the file cannot be read.
        """
        # On the memory's thread, so that whatever a run that was cancelled may still be writing is there.
        begin = await self._memory.run(self._find_begin)
        version = self._version
        now = await self._memory.read(self._read, begin, self._state)
        # Where another process writes, or this one has written meanwhile, it is to be read again.
        if version == self._version and not self._memory.store.read_only:
            self._state = now.state
        return now

    # -- working -----------------------------------------------------------------------------------------------

    def poke(self) -> None:
        """See whether a worker is due, unless one is at work; then see again when it has ended."""
        if self._options.ledger.passive or self._memory.store.read_only:
            return
        if self.running:
            self._again = True
            return
        self._task = asyncio.create_task(self._passes())

    def renew(self) -> None:
        """Other models are on the seats: what was backed off or told is tried and told again."""
        self._agent.forget()
        self._errors.clear()
        for back_off in self._back_offs.values():
            back_off.clear()

    def make_way(self) -> None:
        """Drop a request to a model on this machine: it would keep another one there from answering the person."""
        if self._task is not None and self._stage is not None and is_local(self._options, self._model_name):
            self._task.cancel()

    async def drain(self) -> None:
        """Wait until no worker is at work."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Drop what is at work. It has written nothing yet, so the next pass begins where it began."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    # -- one pass ----------------------------------------------------------------------------------------------

    async def _passes(self) -> None:
        self._again = True
        while self._again:
            self._again = False
            version = self._version
            try:
                await self._pass()
            except OttoError as error:
                self._fail("observe", str(error))
            self._settled(version != self._version)

    async def _pass(self) -> None:
        """Each worker that is due, in order; one that fails ends the pass."""
        now = await self.now()
        due = self._is_due("observe", now.unread_after, now.observe)
        await self._note(
            "pass",
            unread=now.observe.tokens,
            unreflected=now.reflect.tokens,
            observed_through=now.state.observed_through,
            reflected_through=now.state.reflected_through,
            due=due,
            held=now.observe.due and not due,
        )
        if due:
            if not await self._observe(now):
                return
            now = await self.now()
        state = now.state
        if state.observed_through <= state.reflected_through:
            return
        if self._is_due("reflect", state.reflected_through, now.reflect) and await self._reflect(now):
            state = (await self.now()).state
            if state.pool_tokens > self._options.ledger.pool_target:
                await self._drop(state, now.reflect)

    async def _observe(self, now: LedgerNow) -> bool:
        """Whether the pass may go on."""
        after = max(now.unread_after, self._passed_over)

        async def work(model: ChatModel) -> Run:
            return await stages.observe(self._memory, model, self._agent, self._options, now.state, after)

        run = await self._run("observe", work, now.unread_after, now.observe)
        if run is None:
            return False
        if run.recorded:
            self._passed_over = 0
        elif run.passed and self._back_offs["observe"].empty_runs > 1:
            # Read twice without a note, and as much as can be read at once: it must not block what comes after it.
            self._passed_over = run.passed
        return True

    async def _reflect(self, now: LedgerNow) -> bool:
        """Whether it recorded something."""

        async def work(model: ChatModel) -> Run:
            return await stages.reflect(self._memory, model, self._agent, self._options, now.state)

        run = await self._run("reflect", work, now.state.reflected_through, now.reflect)
        return run is not None and run.recorded > 0

    async def _drop(self, state: LedgerState, gauge: Gauge) -> None:
        async def work(model: ChatModel) -> Run:
            return await stages.drop(self._memory, model, self._agent, self._options, state)

        await self._run("drop", work, state.dropped_through, gauge)

    # -- one run -----------------------------------------------------------------------------------------------

    async def _run(self, stage: Stage, work: Work, mark: int, gauge: Gauge) -> Run | None:
        """The run, where it recorded something or found nothing to record; None where it failed or nobody did it."""
        try:
            model = self._seat(stage)
            if not takes_notes(model):
                return None
            run, seconds = await self._timed(stage, model, work)
        except Exception as error:  # whatever a model raises, it is told, and the ledger stays as it was
            self._back_offs[stage].failed(mark, gauge)
            await self._note("failed", stage=stage, kind=type(error).__name__)
            self._fail(stage, str(error) if isinstance(error, OttoError) else f"Its model failed: {error!r}.")
            return None
        self._spent = self._spent.plus(run.exchange)
        failure = run.failure
        state = "failed" if failure is not None else _SOUND_ENDINGS[run.recorded > 0]
        await self._note_run(stage, model, run, state, seconds)
        if run.recorded:
            self._forget_state()
            self._emit(LedgerChanged(**{_RECORDS[stage]: run.recorded}))
        if failure is not None:
            mark = run.covers or mark
            tokens = await self._memory.read(raw_tokens, self._memory.store, mark)
            self._back_offs[stage].failed(mark, Gauge(tokens, gauge.threshold))
            self._fail(stage, failure)
        elif run.recorded:
            self._back_offs[stage].clear()
            self._errors.pop(stage, None)
        else:
            self._back_offs[stage].found_nothing(mark, gauge)
            self._errors.pop(stage, None)
        self._tell(_progress(stage, model, run, state, seconds))
        return run if failure is None else None

    async def _timed(self, stage: Stage, model: ChatModel, work: Work) -> tuple[Run, float]:
        self._stage, self._model_name = stage, model.name
        self._tell(ObservingProgress(stage, "running", model.name))
        started = monotonic()
        try:
            await self._note("begins", stage=stage, model=model.name)
            return await work(model), monotonic() - started
        except asyncio.CancelledError:
            self._forget_state()
            self._tell(ObservingProgress(stage, "stopped", model.name, seconds=monotonic() - started))
            raise
        finally:
            self._stage = None

    def _forget_state(self) -> None:
        """Read the ledger again before the next run: something has been written, or may have been."""
        self._state = None
        self._version += 1

    def _is_due(self, stage: Stage, mark: int, gauge: Gauge) -> bool:
        return gauge.due and not self._back_offs[stage].holds(mark, gauge.tokens)

    # -- reading -----------------------------------------------------------------------------------------------

    def _find_begin(self) -> int:
        """The ``seq`` after which observing begins on this tape. Runs on the memory's thread."""
        store, queue = self._memory.store, self._memory.queue
        if self._begin is None:
            noted = store.get_meta(OBSERVED_FROM)
            oldest = (queue.overflow or queue.recent_items)[:1]
            self._begin = int(noted) if noted else oldest[0].event.seq - 1 if oldest else 0
            if noted is None and not (store.read_only or self._options.ledger.passive):
                store.set_meta(OBSERVED_FROM, str(self._begin))
        return self._begin

    def _read(self, begin: int, known: LedgerState | None) -> LedgerNow:
        store, settings = self._memory.store, self._options.ledger
        state = known or read_state(store)
        unread_after = max(begin, state.observed_through)
        return LedgerNow(
            state,
            Gauge(raw_tokens(store, unread_after), settings.observe_after_tokens),
            Gauge(raw_tokens(store, max(begin, state.reflected_through)), settings.reflect_after_tokens),
            unread_after,
        )

    # -- telling -----------------------------------------------------------------------------------------------

    def _fail(self, stage: Stage, reason: str) -> None:
        """Tell a failure, unless the same worker's last one has been told and it has not worked since."""
        if stage not in self._errors:
            self._emit(Notice(f"{FAILED[stage]} {reason}"))
        self._errors[stage] = reason

    def _tell(self, progress: ObservingProgress) -> None:
        if self._options.ledger.show_worker_notifications:
            self._emit(progress)

    async def _note_run(self, stage: Stage, model: ChatModel, run: Run, state: str, seconds: float) -> None:
        exchange = run.exchange
        await self._note(
            state,
            text={"system": run.task.system, "prompt": run.task.prompt, "error": run.failure or ""},
            stage=stage,
            model=model.name,
            seconds=round(seconds, 3),
            read_tokens=run.read,
            recorded=run.recorded,
            rejected=run.rejected,
            covers=run.covers,
            requests=exchange.requests,
            by_text=exchange.by_text,
            prompt_tokens=exchange.prompt_tokens,
            completion_tokens=exchange.completion_tokens,
            kind=exchange.failure.kind if exchange.failure is not None else None,
        )

    async def _note(self, what: str, *, text: Mapping[str, str] | None = None, **sizes: Any) -> None:
        if self._log is None:
            return
        problem = await asyncio.to_thread(self._log.write, what, text=text, **sizes)
        if problem is not None:
            self._emit(Notice(problem))


def _progress(stage: Stage, model: ChatModel, run: Run, state: str, seconds: float) -> ObservingProgress:
    exchange = run.exchange
    return ObservingProgress(
        stage,
        state,
        model.name,
        recorded=run.recorded,
        seconds=seconds,
        requests=exchange.requests,
        prompt_tokens=exchange.prompt_tokens,
        completion_tokens=exchange.completion_tokens,
    )
