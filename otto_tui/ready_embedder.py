"""The embedding model that a person names to a command that measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.errors import EmbeddingUnavailable, OttoError
from otto_tui.paths import from_home
from otto_tui.terminal import say_notices
from sessions.options import Options

if TYPE_CHECKING:
    from memory.embeddings import Embedder, EmbedderChoice

AS_SET_UP = "default"


def ready_embedder(options: Options, name: str) -> Embedder:
    """One that answers. Weights are fetched first, where they are not here; nothing of the person's is sent.

    Args:
        name: as in the settings, a folder with weights, or ``default`` for what the settings choose; where that
            cannot be had, what Otto ranks with meanwhile.

    Raises:
        OttoError: it cannot be had, or is ``none``.
    """
    choice = _choice(options, name)
    say_notices([choice.notice] if choice.notice else [])
    if choice.embedder is None:
        raise OttoError("There is nothing to measure without an embedding model; name one.")
    try:
        choice.embedder.embed_query("ready?")
    except EmbeddingUnavailable as error:
        if name != AS_SET_UP or choice.floor is None:
            raise
        say_notices([f"{error} The embedder in the box is measured instead."])
        return choice.floor
    return choice.embedder


def _choice(options: Options, name: str) -> EmbedderChoice:
    from memory.embeddings import MODEL_VARIABLE, choose_embedder
    from sessions.embedding_choice import servers_of, with_measured_threshold

    folder = from_home(name, options.environ)
    if name == AS_SET_UP:
        model, path, environ = options.embedding, options.embedding_path, options.environ
    else:
        is_folder = folder.is_dir()
        model, path = (None, folder) if is_folder else (name, None)
        environ = {key: value for key, value in options.environ.items() if key != MODEL_VARIABLE}
    choice = choose_embedder(
        model, environ=environ, local_only=False, model_path=path, servers=servers_of(options), wait=True
    )
    return with_measured_threshold(choice, options)
