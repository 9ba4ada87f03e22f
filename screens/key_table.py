"""Every key that is bound, read from the widgets themselves, so that help cannot say anything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.screen import Screen

EVERYWHERE = "Everywhere"


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """The keys of one part of the app."""

    title: str
    keys: Sequence[tuple[str, str]]
    """Keys as a person calls them, and what they do."""


def key_groups(
    nodes: Iterable[DOMNode],
    classes: Iterable[type[DOMNode]],
    display: Callable[[Binding], str],
    keymap: Mapping[str, str] | None = None,
) -> list[KeyGroup]:
    """The keys of what is on the screens now, as they are bound now, then those of ``classes`` that are not.

    Textual's own widgets are left out. Parts of one title are one group. ``keymap`` is what the person has remapped, as
    ``App.set_keymap`` takes it.
    """
    found: dict[str, dict[str, list[str]]] = {}
    seen: set[type[DOMNode]] = set()
    for node in nodes:
        if type(node) not in seen and _is_ours(type(node)):
            seen.add(type(node))
            _add(found.setdefault(_title(type(node)), {}), _remapped(node._bindings, keymap), display)
    for cls in classes:
        if cls not in seen:
            seen.add(cls)
            _add(found.setdefault(_title(cls), {}), _remapped(cls._merge_bindings(), keymap), display)
    everywhere = found.pop(EVERYWHERE, {})
    for binding in _bound(Screen._merge_bindings()):
        _add_key(everywhere, binding, display)
    found[EVERYWHERE] = everywhere
    return [
        KeyGroup(title, [(" ".join(keys), what) for what, keys in whats.items()])
        for title, whats in found.items()
        if whats
    ]


def _add(whats: dict[str, list[str]], bindings: BindingsMap, display: Callable[[Binding], str]) -> None:
    of_every_screen = {(binding.key, binding.action) for binding in _bound(Screen._merge_bindings())}
    for binding in _bound(bindings):
        if (binding.key, binding.action) not in of_every_screen:
            _add_key(whats, binding, display)


def _add_key(whats: dict[str, list[str]], binding: Binding, display: Callable[[Binding], str]) -> None:
    what = binding.tooltip or binding.description
    if binding.system or not what:
        return
    keys = whats.setdefault(what, [])
    key = "enter" if binding.key == "enter" else display(binding)
    if key not in keys:
        keys.append(key)


def _remapped(bindings: BindingsMap, keymap: Mapping[str, str] | None) -> BindingsMap:
    changed = bindings.copy()
    changed.apply_keymap(dict(keymap or {}))
    return changed


def _bound(bindings: BindingsMap) -> Iterator[Binding]:
    for bound in bindings.key_to_bindings.values():
        yield from bound


def _is_ours(cls: type[DOMNode]) -> bool:
    return not cls.__module__.startswith("textual.")


def _title(cls: type[DOMNode]) -> str:
    """The title that the class gives its keys, else its name in words."""
    if issubclass(cls, App):
        return EVERYWHERE
    if cls.BINDING_GROUP_TITLE:
        return cls.BINDING_GROUP_TITLE
    words = re.findall("[A-Z][a-z]*", re.sub("(Screen|Panel|App|Widget)$", "", cls.__name__))
    return " ".join(words).capitalize() or cls.__name__
