"""A session and a library that live in memory and do what a test scripts. They fit ``screens.ports``."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from memory.errors import OttoError, UnknownId
from memory.values import (
    Bullet,
    Compaction,
    EmbeddingState,
    Event,
    Item,
    MemorySnapshot,
    RecalledSource,
    RecallItem,
    RecallResult,
)
from sessions.approvals import Approval, Decision
from sessions.background import ledger_status
from sessions.events import (
    ApprovalSettled,
    ApprovalWanted,
    Compacted,
    Delta,
    MemoryChanged,
    Notice,
    Said,
    SessionEvent,
    ShellRan,
    ToolCalled,
    ToolUsed,
    TurnDone,
    Waiting,
)
from sessions.loop_status import LoopStatus
from sessions.mcp_servers.connection import McpStatus
from sessions.observing.status import LedgerStatus
from sessions.options import Options
from sessions.toolbox import ToolInfo

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 3, 9, 15, 30, tzinfo=UTC)

Step = str | SessionEvent | asyncio.Event
"""A piece of a scripted reply: text that streams, any other event, or a gate that must be set to go on.

A ``ToolCalled`` and the ``ToolUsed`` of the same call go on the tape as well; an ``ApprovalWanted`` waits for the word.
"""


@dataclass
class Reply:
    """How the scripted model answers one prompt."""

    steps: Sequence[Step] = ("All right.",)
    error: str | None = None
    """The sentence that the turn ends with, as when a vendor fails."""
    cost: float | None = 0.0012


@dataclass(frozen=True)
class FakeTotals:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True)
class FakeRow:
    id: str
    title: str
    workspace: str = "/home/sam/garden"
    created: str = START.isoformat()
    updated: str = START.isoformat()
    turns: int = 0
    parent: str | None = None
    snippet: str | None = None
    notice: str | None = None


def event_id(seq: int) -> str:
    return hashlib.sha256(str(seq).encode()).hexdigest()[:12]


def event(seq: int, role: str, text: str, **fields: Any) -> Event:
    """One thing on a scripted tape; a minute passes between two of them."""
    at = (START + timedelta(minutes=seq)).isoformat()
    defaults: dict[str, Any] = {
        "id": event_id(seq),
        "thread": "main",
        "source": "person" if role == "user" else "fake/model",
        "kind": "message",
        "t_event": at,
        "t_ingest": at,
    }
    return Event(seq=seq, role=role, text=text, **{**defaults, **fields})


def conversation(turns: int) -> list[Event]:
    """``turns`` questions and answers, seq 1 to ``2 * turns``; turn n asks about bed n."""
    events = []
    for turn in range(1, turns + 1):
        events.append(event(2 * turn - 1, "user", f"Question {turn}: what grows in bed {turn}?"))
        events.append(event(2 * turn, "assistant", f"Answer {turn}: in bed {turn} grow **beans** and `kale`."))
    return events


def chunk_hash(seq: int) -> str:
    return hashlib.sha256(f"chunk {seq}".encode()).hexdigest()[:16]


class FakeSession:
    """One scripted conversation. ``emit`` plays any event; ``replies`` is what the model says next."""

    def __init__(
        self,
        events: Iterable[Event] = (),
        *,
        id: str = "5e551011a5c1",
        title: str = "Planning the garden",
        model_name: str = "fake/model",
        workspace: str = "/home/sam/garden",
        read_only: bool = False,
        home: Path = Path("/nonexistent/otto"),
        x_budget: int = 24_000,
        y_budget: int = 80_000,
        raw_events: int = 40,
    ) -> None:
        self.id = id
        self.title = title
        self.model_name = model_name
        self.workspace = workspace
        self.parent: str | None = None
        self.read_only = read_only
        self.busy = False
        self.can_retry = False
        self.options = Options(home=home, now=lambda: NOW, x_budget=x_budget, y_budget=y_budget)
        self.totals = FakeTotals()
        self.tape: list[Event] = list(events)
        self.replies: deque[Reply] = deque()
        self.raw_events = raw_events
        """How many of the newest events stand raw in the tiers; what is older stands behind bullets."""
        self.past_compactions: list[Compaction] = []
        self.fixed_snapshot: MemorySnapshot | None = None
        self.scripted_ledger = ledger_status(self.options)
        self.recall_results: dict[str, RecallResult] = {}
        self.next_failure: OttoError | None = None
        """Raised, once, by the next call that can fail."""
        self.sent: list[str] = []
        self.can_ask = False
        self.attached: list[tuple[Path, ...]] = []
        """The files of each prompt that had some."""
        self.scripted_tools: list[ToolInfo] = []
        self.scripted_servers: list[McpStatus] = []
        self.scripted_loop = LoopStatus()
        self.scripted_paths: list[str] = []
        """What a path may become; those that begin like it are offered."""
        self.shell_prints: deque[tuple[str, int]] = deque()
        """What the next commands of the person's print, and their exit codes."""
        self.shell_gate: asyncio.Event | None = None
        """Must be set for a command to end."""
        self.decided: list[tuple[str, Decision]] = []
        self._asked: dict[str, asyncio.Future[Decision]] = {}
        self.calls: list[tuple[str, Any]] = []
        self.closed = False
        self._stop = asyncio.Event()
        self._callbacks: list[Callable[[SessionEvent], None]] = []

    # what happens

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]:
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def emit(self, happened: SessionEvent) -> None:
        for callback in list(self._callbacks):
            callback(happened)

    @property
    def listeners(self) -> int:
        return len(self._callbacks)

    # turns

    async def send(self, text: str, attachments: Sequence[Path] = ()) -> TurnDone:
        self._raise_scripted()
        self.sent.append(text)
        said = self._write("user", text)
        if attachments:
            self.attached.append(tuple(attachments))
        for path in attachments:
            self._write("user", f"All of {path.name}.", kind="document", source=path.name)
        self.busy = True
        self.emit(Said(said))
        return await self._answer()

    async def run_shell(self, command: str) -> Event:
        self._raise_scripted()
        self.calls.append(("run_shell", command))
        self._stop.clear()
        stopped = self.shell_gate is not None and await self._wait_for(self.shell_gate)
        text, exit = self.shell_prints.popleft() if self.shell_prints else ("", 0)
        meta = {"by": "person", "command": command, "exit": exit, "ok": exit == 0, "summary": f"exit {exit}"}
        if stopped:
            text, meta = "Stopped by the person.", {**meta, "exit": None, "ok": False}
        ran = self._write("tool", text, kind="tool", source="shell", meta=meta)
        self.emit(ShellRan(ran))
        return ran

    def ask(self, approval: Approval) -> asyncio.Future[Decision]:
        """Ask the person, as a tool does."""
        self._asked[approval.id] = asyncio.get_running_loop().create_future()
        self.emit(ApprovalWanted(approval))
        return self._asked[approval.id]

    def decide(self, approval_id: str, decision: Decision) -> None:
        self.decided.append((approval_id, decision))
        self._asked.pop(approval_id).set_result(decision)
        self.emit(ApprovalSettled(approval_id, decision))

    def take_back(self, approval_id: str) -> None:
        """What asked is gone."""
        self._asked.pop(approval_id).cancel()
        self.emit(ApprovalSettled(approval_id, None))

    def tools(self) -> Sequence[ToolInfo]:
        return tuple(self.scripted_tools)

    def servers(self) -> Sequence[McpStatus]:
        return tuple(self.scripted_servers)

    async def switch_tool(self, name_or_group: str, on: bool) -> None:
        self._raise_scripted()
        self.calls.append(("switch_tool", (name_or_group, on)))
        self.scripted_tools = [
            replace(tool, enabled=on) if name_or_group in (tool.name, tool.group) else tool
            for tool in self.scripted_tools
        ]
        self.scripted_servers = [
            replace(status, state="running" if on else "off")
            if name_or_group == f"mcp:{status.server.name}"
            else status
            for status in self.scripted_servers
        ]

    def loop(self) -> LoopStatus:
        return self.scripted_loop

    def complete_path(self, prefix: str) -> list[str]:
        return [path for path in self.scripted_paths if path.startswith(prefix)]

    async def retry(self) -> TurnDone:
        self._raise_scripted()
        self.calls.append(("retry", None))
        self.busy = True
        return await self._answer()

    def stop(self) -> None:
        self.calls.append(("stop", None))
        self._stop.set()

    async def _answer(self) -> TurnDone:
        self._stop.clear()
        self.can_retry = False
        reply = self.replies.popleft() if self.replies else Reply()
        self.emit(Waiting(self.model_name))
        text, stopped = "", False
        for step in reply.steps:
            if isinstance(step, asyncio.Event):
                stopped = await self._wait_for(step)
            elif isinstance(step, str):
                text += step
                self.emit(Delta(step))
                await asyncio.sleep(0)
            else:
                stopped = await self._step(step)
            if stopped or self._stop.is_set():
                stopped = True
                break
        return self._finish(text, reply, stopped)

    async def _step(self, step: SessionEvent) -> bool:
        """True when the person stopped the reply meanwhile."""
        if isinstance(step, ApprovalWanted):
            answer = self.ask(step.approval)
            answered = asyncio.Event()
            answer.add_done_callback(lambda answer: answered.set())
            if await self._wait_for(answered) and not answer.done():
                self.take_back(step.approval.id)
            return self._stop.is_set()
        if isinstance(step, ToolCalled):
            meta = {"call": step.call, "round": 1}
            self._write("assistant", step.arguments, kind="tool", source=step.name, meta=meta)
        elif isinstance(step, ToolUsed):
            call = next(e for e in reversed(self.tape) if e.role == "assistant" and e.meta.get("call") == step.call)
            ended = {"call": step.call, "summary": step.summary, "ok": step.ok, "seconds": 0.4}
            self._write("tool", step.text, kind="tool", source=step.name, refs=(call.id,), meta=ended)
        self.emit(step)
        return False

    async def _wait_for(self, gate: asyncio.Event) -> bool:
        """True when the person stopped the reply before the gate opened."""
        waits = [asyncio.ensure_future(gate.wait()), asyncio.ensure_future(self._stop.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return self._stop.is_set()

    def _finish(self, text: str, reply: Reply, stopped: bool) -> TurnDone:
        partial = "stopped" if stopped else "failed" if reply.error else None
        meta = {"partial": partial} if partial else {}
        said = self._write("assistant", text, meta=meta) if text else None
        self.can_retry = partial is not None
        self.busy = False
        self.totals = FakeTotals(
            self.totals.prompt_tokens + 1200,
            self.totals.completion_tokens + len(text) // 4,
            None if self.totals.cost is None or reply.cost is None else self.totals.cost + reply.cost,
        )
        done = TurnDone(said, error=reply.error, stopped=stopped, prompt_tokens=1200, cost=reply.cost)
        self.emit(done)
        self.emit(MemoryChanged())
        return done

    def _write(self, role: str, text: str, **fields: Any) -> Event:
        new = event(self.tape[-1].seq + 1 if self.tape else 1, role, text, **fields)
        self.tape.append(new)
        return new

    # what is asked

    async def transcript(self, before: int | None = None, limit: int = 30, after: int | None = None) -> list[Event]:
        self._raise_scripted()
        self.calls.append(("transcript", (before, limit, after)))
        shown = [event for event in self.tape if before is None or event.seq < before]
        if after is not None:
            return [event for event in shown if event.seq > after][:limit]
        return shown[-limit:]

    async def snapshot(self) -> MemorySnapshot:
        if self.fixed_snapshot is not None:
            return self.fixed_snapshot
        raw = self._tiered[-self.raw_events :]
        half = len(raw) // 2
        overflow = tuple(self._item(event, "y") for event in raw[:half]) if self._folded else ()
        recent = tuple(self._item(event, "x") for event in (raw[half:] if self._folded else raw))
        bullets = self._bullets()
        return MemorySnapshot(
            generation=1 if bullets else 0,
            x_tokens=sum(item.tokens for item in recent),
            x_budget=self.options.x_budget,
            y_tokens=sum(item.tokens for item in overflow) + sum(bullet.tokens for bullet in bullets),
            y_budget=self.options.y_budget,
            recent=recent,
            overflow=overflow,
            bullets=bullets,
            turns=sum(1 for event in self.tape if event.role == "user"),
            events=len(self.tape),
            chunks=len(self.tape),
            embedding=EmbeddingState(stamp=None, embedded=0, waiting=len(self.tape)),
            compacting=False,
        )

    @property
    def _tiered(self) -> list[Event]:
        return [event for event in self.tape if event.kind not in ("note", "tool")]

    @property
    def _folded(self) -> bool:
        return len(self._tiered) > self.raw_events

    def _item(self, event: Event, tier: Literal["x", "y"]) -> Item:
        turn = event.seq if event.role == "user" else event.seq - 1
        return Item(event, tier, turn, tokens=len(event.text) // 4 + 4)

    def _bullets(self) -> tuple[Bullet, ...]:
        old = self._tiered[: -self.raw_events] if self._folded else []
        return tuple(self._bullet(old[start : start + 50]) for start in range(0, len(old), 50))

    def _bullet(self, behind: list[Event]) -> Bullet:
        first = behind[0]
        whole = len(behind) == 1
        return Bullet(
            id=event_id(-first.seq),
            text=first.text if whole else f"{first.text} ... and {len(behind) - 1} more",
            hash_refs=tuple(chunk_hash(event.seq) for event in behind),
            seqs=tuple(event.seq for event in behind),
            generation=1,
            protected=first.protected,
            form="whole" if whole else "summary",
            tokens=30,
        )

    async def view(self) -> list[dict[str, Any]]:
        system = {"role": "system", "content": "You are Otto."}
        raw = self._tiered[-self.raw_events :]
        return [system, *({"role": event.role, "content": event.text} for event in raw)]

    async def ledger(self) -> LedgerStatus:
        self._raise_scripted()
        return self.scripted_ledger

    async def compactions(self) -> list[Compaction]:
        return list(self.past_compactions)

    async def recall(self, question: str) -> RecallResult:
        self._raise_scripted()
        self.calls.append(("recall", question))
        if question in self.recall_results:
            return self.recall_results[question]
        words = {word.lower().strip("?:.,") for word in question.split()}
        hits = [e for e in self.tape if words & {w.lower().strip("?:.,") for w in e.text.split()}][:5]
        items = tuple(
            RecallItem(
                seq=hit.seq,
                id=hit.id,
                chunk=chunk_hash(hit.seq),
                speaker=hit.speaker,
                kind=hit.kind,
                t_event=hit.t_event,
                text=hit.text,
                score=1.0 / (rank + 1),
                neighbour=rank % 3 == 2,
            )
            for rank, hit in enumerate(hits)
        )
        return RecallResult("bm25+recency", tokens=20 * len(items), items=items)

    async def recall_id(self, id: str) -> RecalledSource:
        bullets = {bullet.id: bullet for bullet in self._bullets()}
        if id in bullets:
            behind = tuple(event for event in self.tape if event.seq in bullets[id].seqs)
            return RecalledSource(id, "bullet", behind, bullet=bullets[id], standing=f"behind bullet {id}")
        if (record := self._record(id)) is not None:
            return record
        for found in self.tape:
            if id in (found.id, chunk_hash(found.seq)):
                return RecalledSource(id, "event" if id == found.id else "chunk", (found,), standing="x")
        raise UnknownId(f"Nothing on this tape has the id {id}. Copy an id from the memory panel.")

    def _record(self, id: str) -> RecalledSource | None:
        state = self.scripted_ledger.state
        every = {**state.observations, **state.dropped}
        concluded = state.reflections.get(id)
        wanted = concluded.supports if concluded else (id,)
        observations = tuple(every[one] for one in wanted if one in every)
        if concluded is None and not observations:
            return None
        sources = {source for one in observations for source in one.sources}
        return RecalledSource(
            id,
            "reflection" if concluded else "observation",
            tuple(event for event in self.tape if event.id in sources),
            standing="on the tape only",
            observations=observations,
            reflections=(concluded,) if concluded else (),
            dropped=frozenset(state.dropped) & {one.id for one in observations},
            missing=tuple(sorted(sources - {event.id for event in self.tape})),
        )

    # what is done

    async def set_model(self, name: str) -> None:
        self._raise_scripted()
        self.calls.append(("set_model", name))
        self.model_name = name

    async def compact_now(self) -> Compaction | None:
        self._raise_scripted()
        self.calls.append(("compact_now", None))
        done = Compaction(
            generation=len(self.past_compactions) + 1,
            items_in=14,
            bullets_out=6,
            uncited=1,
            tokens_before=9_100,
            tokens_after=2_300,
            seconds=1.8,
            made_by=self.model_name,
            model_calls=1,
            through=max((event.seq for event in self.tape), default=0),
        )
        self.past_compactions.append(done)
        self.emit(Compacted(done))
        self.emit(MemoryChanged())
        return done

    async def rename(self, title: str) -> None:
        self._raise_scripted()
        self.calls.append(("rename", title))
        self.title = title
        self.emit(MemoryChanged())

    async def reembed(self, progress: Callable[[int, int], None]) -> None:
        for done in range(1, 5):
            progress(done, 4)
            await asyncio.sleep(0)

    async def drain(self, timeout: float | None = None) -> None:
        return

    async def close(self) -> None:
        self.closed = True

    def notice(self, text: str, level: str = "warning") -> None:
        self.emit(Notice(text, level))

    def _raise_scripted(self) -> None:
        if self.next_failure is not None:
            failure, self.next_failure = self.next_failure, None
            raise failure


@dataclass
class FakeLibrary:
    """The sessions of one home, in memory. What was asked of it stands in ``calls``."""

    sessions: dict[str, FakeSession] = field(default_factory=dict)
    calls: list[tuple[str, Any]] = field(default_factory=list)
    started: bool = False
    next_failure: OttoError | None = None
    trash: list[FakeSession] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    make_session: Callable[[str, str], FakeSession] = lambda id, workspace: FakeSession(
        id=id, title="New session", workspace=workspace
    )

    @classmethod
    def of(cls, *sessions: FakeSession) -> FakeLibrary:
        return cls({session.id: session for session in sessions})

    async def start(self) -> None:
        self._raise_scripted()
        self.started = True

    async def new(self, workspace: str) -> FakeSession:
        self._raise_scripted()
        session = self.make_session(f"{len(self.sessions) + 1:012x}", workspace)
        self.calls.append(("new", session.id))
        self.sessions[session.id] = session
        return session

    async def open(self, id: str) -> FakeSession:
        self._raise_scripted()
        self.calls.append(("open", id))
        found = [session for key, session in self.sessions.items() if id == "last" or key.startswith(id)]
        if not found:
            raise UnknownId(f"There is no session {id}. Press F4 for the list.")
        return found[-1]

    async def list(self, query: str = "") -> Sequence[FakeRow]:
        self._raise_scripted()
        self.calls.append(("list", query))
        rows = [self._row(session) for session in self.sessions.values()]
        if not query:
            return rows
        return [row for row in (self._hit(row, query.lower()) for row in rows) if row is not None]

    async def search(self, query: str) -> AsyncIterator[FakeRow]:
        for row in await self.list(query):
            yield row

    def take_notices(self) -> Sequence[str]:
        notices, self.notices = self.notices, []
        return notices

    async def transcript(self, id: str, before: int | None = None, limit: int = 30) -> Sequence[Event]:
        return await self.sessions[id].transcript(before, limit)

    def _hit(self, row: FakeRow, query: str) -> FakeRow | None:
        if query in row.title.lower():
            return row
        said = (event.text for event in self.sessions[row.id].tape)
        return next((replace(row, snippet=text) for text in said if query in text.lower()), None)

    def _row(self, session: FakeSession) -> FakeRow:
        turns = sum(1 for event in session.tape if event.role == "user")
        updated = session.tape[-1].t_event if session.tape else START.isoformat()
        return FakeRow(
            session.id, session.title, session.workspace, updated=updated, turns=turns, parent=session.parent
        )

    async def rename(self, id: str, title: str) -> None:
        self._raise_scripted()
        self.calls.append(("rename", (id, title)))
        self.sessions[id].title = title

    async def delete(self, id: str) -> None:
        self._raise_scripted()
        self.calls.append(("delete", id))
        self.trash.append(self.sessions.pop(id))

    async def undo_delete(self) -> FakeRow | None:
        self._raise_scripted()
        self.calls.append(("undo_delete", None))
        if not self.trash:
            return None
        session = self.trash.pop()
        self.sessions[session.id] = session
        return self._row(session)

    async def fork(self, id: str, at_seq: int) -> FakeRow:
        self._raise_scripted()
        self.calls.append(("fork", (id, at_seq)))
        origin = self.sessions[id]
        kept = [event for event in origin.tape if event.seq <= at_seq]
        fork = FakeSession(kept, id=f"f{len(self.sessions):011x}", title=f"{origin.title} (fork)")
        fork.parent = id
        self.sessions[fork.id] = fork
        return self._row(fork)

    async def export(
        self,
        id: str,
        path: Path,
        *,
        format: Literal["json", "markdown"] = "json",
        tape: bool = False,
        overwrite: bool = False,
    ) -> Path:
        self._raise_scripted()
        self.calls.append(("export", (id, path, format, tape)))
        texts = [event.text for event in self.sessions[id].tape]
        await asyncio.to_thread(path.write_text, json.dumps(texts), "utf-8")
        return path

    async def import_file(self, path: Path) -> FakeRow:
        self._raise_scripted()
        self.calls.append(("import", path))
        session = FakeSession(conversation(3), id=f"1{len(self.sessions):011x}", title=path.stem)
        self.sessions[session.id] = session
        return self._row(session)

    async def reembed(self, id: str, progress: Callable[[int, int], None]) -> None:
        self._raise_scripted()
        self.calls.append(("reembed", id))
        await self.sessions[id].reembed(progress)

    def _raise_scripted(self) -> None:
        if self.next_failure is not None:
            failure, self.next_failure = self.next_failure, None
            raise failure
