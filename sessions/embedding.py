"""Vectors behind the conversation: makes them as text arrives, and ranks recall with what there is.

While the model that is wanted cannot be had, the embedder in the box ranks; without either recall goes on by keyword
and recency. ``notice`` says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event as Flag

from memory.embeddings import Embedder, EmbedderChoice
from memory.errors import EmbeddingOnItsWay, EmbeddingUnavailable, OttoError
from memory.store import MemoryStore
from memory.values import EmbeddingState, RecallResult
from memory.vector_cache import VectorCache
from memory.vectors import embedding_state, reembed
from sessions.embedding_choice import choose, choose_reranker, is_local
from sessions.embedding_spaces import Spaces
from sessions.events import EmbeddingProgress, MemoryChanged, Notice, SessionEvent
from sessions.options import Options
from sessions.recalling import InView, RecallPolicy, recall_everything

CONSENT = (
    "Recall could rank with {model}, since its key is set. No text is sent to it unless you agree: set"
    ' [embedding] model = "{model}", or "none" to settle it.'
)


MEANWHILE = "Until it can be had, the embedder in the box ranks recall."

LOOK_AGAIN = 5.0
"""Seconds after which a model that is being fetched is asked for again."""


class EmbeddingWorker:
    """Keeps one session's vectors up to date. All methods are called on the event loop."""

    def __init__(
        self,
        store: MemoryStore,
        options: Options,
        model_name: Callable[[], str],
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._store = store
        self._options = options
        self._model_name = model_name
        self._emit = emit
        self._cache = VectorCache()
        self.reranker = choose_reranker(options)
        """Puts the best of a recall in order; None where none is set."""
        self._stop = Flag()
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._notice: str | None = None
        self._chosen_as_local: bool | None = None
        self._embedder: Embedder | None = None
        self._floor: Embedder | None = None
        self._giving_way = False
        self._later: asyncio.TimerHandle | None = None

    @property
    def cache(self) -> VectorCache:
        """The store's vectors, read once."""
        return self._cache

    @property
    def notice(self) -> str | None:
        """Why recall ranks without the model that is wanted, if so."""
        return self._notice

    def choose(self) -> Embedder | None:
        """The model that is wanted; None where there is none. Which one ranks meanwhile, ``ranks_now`` tells.

        It is chosen again when the session begins or ceases to talk with a local model: from then on no text leaves
        the machine.
        """
        model_name = self._model_name()
        local = is_local(self._options, model_name)
        if local != self._chosen_as_local:
            self._chosen_as_local = local
            self._take(choose(self._options, model_name))
        return self._embedder

    def ranks_now(self) -> Embedder | None:
        """The model whose vectors the session has right now. Reads the disk: call it on a thread, after ``choose``."""
        embedder = self._embedder
        return None if embedder is None else Spaces(self._store, embedder, self._floor).ranks_now()

    async def state(self) -> EmbeddingState:
        return await asyncio.to_thread(embedding_state, self._store)

    def poke(self) -> None:
        """Make vectors of what has none yet, or all anew where another model is wanted, unless that is going on."""
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def drain(self) -> None:
        """Wait until there is nothing left to do."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Stop after the batch that is being made, also a re-embedding."""
        self._stop.set()
        self._look_again_in(None)
        await self.drain()

    async def recall(self, question: str, left_out: tuple[int, ...] = ()) -> RecallResult:
        """Search with the embedder if it can be had, else without. ``left_out`` as in ``memory.retrieval.recall``."""
        options = self._options
        self.choose()

        def search() -> RecallResult:
            return recall_everything(
                self._store,
                question,
                RecallPolicy.of(options),
                embedder=self.ranks_now(),
                in_view=InView(left_out),
                cache=self._cache,
                reranker=self.reranker,
            )

        return await asyncio.to_thread(search)

    async def reembed(self, progress: Callable[[int, int], None]) -> None:
        """Make all vectors anew; ``progress(done, total)`` is called on the event loop.

        Cancelled, or when the worker is closed, it ends after the batch that is being made; called again it goes on.

        Raises:
            EmbeddingUnavailable: the model that is wanted cannot be had. What has no vectors then gets the box's.
        """
        embedder = self.choose()
        if embedder is None:
            raise EmbeddingUnavailable(
                "No embedding model is set up, so recall ranks by keyword and recency. Set [embedding] model first."
            )
        await self._interrupt()
        given_up = Flag()
        work = self._task = asyncio.create_task(self._remake(embedder, given_up, progress))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            # A thread cannot be cancelled, and whoever waits for this closes the store next.
            given_up.set()
            await asyncio.wait([work])
            raise
        if self._again:
            self.poke()

    async def _remake(self, embedder: Embedder, given_up: Flag, progress: Callable[[int, int], None]) -> None:
        def stop() -> bool:
            return given_up.is_set() or self._stop.is_set()

        try:
            await asyncio.to_thread(reembed, self._store, embedder, _on_loop(progress), stop=stop)
        except EmbeddingUnavailable as error:
            if self._floor is None:
                raise
            spaces = Spaces(self._store, embedder, self._floor)
            await asyncio.to_thread(spaces.keep_floor, stop, _on_loop(progress))
            raise EmbeddingUnavailable(f"{error} {MEANWHILE}") from error
        self._notice = None
        self._emit(MemoryChanged())

    async def _interrupt(self) -> None:
        """End what goes on by itself after the batch that is being made: what was asked for goes on from there."""
        self._giving_way = True
        try:
            await self.drain()
        finally:
            self._giving_way = False

    async def _work(self) -> None:
        while self._again and not self._stop.is_set() and not self._giving_way:
            self._again = False
            embedder = self.choose()
            if embedder is None or not await self._embed_with(embedder):
                return

    async def _embed_with(self, embedder: Embedder) -> bool:
        """Give every chunk a vector, until another model is chosen; whether that went well."""

        def stop() -> bool:
            return self._stop.is_set() or self._giving_way or self._embedder is not embedder

        spaces = Spaces(self._store, embedder, self._floor)
        try:
            missed = await asyncio.to_thread(spaces.bring_up, stop=stop, progress=_on_loop(self._tell))
        except EmbeddingUnavailable as error:
            self._lose_embedder(str(error))
            return False
        except OttoError as error:
            self._emit(Notice(f"Vectors could not be written. {error}"))
            return False
        if missed is not None:
            self._lose_embedder(f"{missed} {MEANWHILE}")
            self._look_again_in(LOOK_AGAIN if isinstance(missed, EmbeddingOnItsWay) else None)
        elif self._notice is not None:
            self._notice = None
            self._emit(MemoryChanged())
        return True

    def _look_again_in(self, seconds: float | None) -> None:
        if self._later is not None:
            self._later.cancel()
        self._later = None
        if seconds is not None and not self._stop.is_set():
            self._later = asyncio.get_running_loop().call_later(seconds, self.poke)

    def _take(self, choice: EmbedderChoice) -> None:
        self._embedder, self._floor = choice.embedder, choice.floor
        self._notice = None
        if choice.notice is not None:
            self._emit(Notice(choice.notice, "information"))
        if choice.consent_wanted is not None:
            self._emit(Notice(CONSENT.format(model=choice.consent_wanted), "information"))
        if choice.embedder is None:
            self._notice = "No embedding model is set up, so recall ranks by keyword and recency."

    def _lose_embedder(self, reason: str) -> None:
        if self._notice == reason:
            return
        if self._notice is None:
            self._emit(Notice(reason, "information"))
        self._notice = reason
        self._emit(MemoryChanged())

    def _tell(self, done: int, total: int) -> None:
        self._emit(EmbeddingProgress(done, total))
        if done >= total:
            self._emit(MemoryChanged())


def _on_loop(progress: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """``progress`` as a thread may call it: it runs on the event loop of whoever made this."""
    loop = asyncio.get_running_loop()

    def tell(done: int, total: int) -> None:
        loop.call_soon_threadsafe(progress, done, total)

    return tell
