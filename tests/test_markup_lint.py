"""Text from outside never reaches Textual's or Rich's markup: the source of every screen is read, call by call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("screens/**/*.py"), *ROOT.glob("otto_tui/**/*.py")])

STATICS = {"Static", "Label"}
WIDGETS = STATICS | {"Button", "Checkbox", "RadioButton", "Option", "Collapsible", "Tab", "TabPane", "Toast"}
"""Widgets that read markup in what they are made with."""

READERS = WIDGETS | {"notify", "from_markup", "from_text", "set_title"}

KEYWORDS = {"content", "label", "title", "prompt", "message", "placeholder", "tooltip"}

ATTRIBUTES = {"placeholder", "tooltip", "border_title", "border_subtitle", "label"}
"""What a widget reads as markup whenever it is set."""

CONTENT = {"Content", "assemble", "styled", "Text"}
"""Makers of text that holds no markup."""


def faults(source: str) -> list[int]:
    """Lines on which something that is not wholly written in the source can be read as markup."""
    tree = ast.parse(source)
    found = [*_in_calls(tree), *_in_updates(tree), *_in_attributes(tree), *_in_bases(tree), *_in_renders(tree)]
    return sorted(set(found))


def _in_calls(tree: ast.Module) -> Iterator[int]:
    for call in _calls(tree):
        if _without_markup(call):
            continue
        name = _name(call.func)
        # An Input draws its placeholder as it is; a TextArea reads it.
        shown = ("tooltip",) if name == "Input" else ("tooltip", "placeholder")
        given = [keyword.value for keyword in call.keywords if keyword.arg in shown]
        if name in READERS:
            given += call.args + [keyword.value for keyword in call.keywords if keyword.arg in KEYWORDS]
        elif name == "print" and isinstance(call.func, ast.Attribute):
            given += call.args
        yield from (argument.lineno for argument in given if not _safe(argument))


def _in_updates(tree: ast.Module) -> Iterator[int]:
    """``update`` is safe when every static text of the file is made with ``markup=False``, or there is none."""
    if not any(isinstance(node, ast.Name) and node.id in STATICS for node in ast.walk(tree)):
        return
    made = [call for call in _calls(tree) if _name(call.func) in STATICS]
    if made and all(_without_markup(call) for call in made):
        return
    for call in _calls(tree):
        if _name(call.func) == "update" and call.args and not _safe(call.args[0]):
            yield call.lineno


def _in_attributes(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr in ATTRIBUTES and not _safe(node.value):
                    yield node.lineno


def _in_bases(tree: ast.Module) -> Iterator[int]:
    """A widget of one's own hands its text to a widget that reads markup."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or not {_name(base) for base in node.bases} & WIDGETS:
            continue
        for call in _calls(node):
            if ast.unparse(call.func) == "super().__init__" and not _without_markup(call):
                yield from (argument.lineno for argument in call.args if not _safe(argument))


def _in_renders(tree: ast.Module) -> Iterator[int]:
    """A string that ``render`` returns is read as markup."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "render" and _name(node.returns) == "str":
            yield node.lineno


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _without_markup(call: ast.Call) -> bool:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    markup = given.get("markup")
    return isinstance(markup, ast.Constant) and markup.value is False


def _safe(node: ast.expr) -> bool:
    """Written in the source, or a constant of it, or made without markup."""
    if isinstance(node, ast.IfExp):
        return _safe(node.body) and _safe(node.orelse)
    if isinstance(node, ast.Call):
        return _name(node.func) in CONTENT
    if isinstance(node, ast.Name):
        return node.id.lstrip("_").isupper()
    return isinstance(node, ast.Constant)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_from_outside_is_read_as_markup(path: Path) -> None:
    assert faults(path.read_text("utf-8")) == []


def test_there_are_screens_to_read() -> None:
    assert {"chat.py", "blocks.py", "inspector.py"} <= {path.name for path in SOURCES}


@pytest.mark.parametrize(
    "bad",
    [
        "Static(text)",
        'Label(f"{title}")',
        "self.notify(str(error))",
        "self.app.notify(message=error)",
        'Static("x" + title)',
        "Button(label)",
        "Option(name)",
        "TextArea(placeholder=hint)",
        "widget.border_title = title",
        "widget.tooltip = f'{x}'",
        "console.print(reply)",
        'Static("x").update(text)',
        "query_one('#x', Static).update(text)",
        "Static(text, markup=True)",
        "class Line(Static):\n    def __init__(self, text):\n        super().__init__(text)",
        "class Line(Widget):\n    def render(self) -> str:\n        return self.text",
        "Content.from_markup(text)",
    ],
)
def test_what_must_not_be_written_is_found(bad: str) -> None:
    assert faults(bad) != []


@pytest.mark.parametrize(
    "good",
    [
        'Static("words")',
        "Static(Content(text))",
        "Static(text, markup=False)",
        "Static(HINT)",
        "self.notify(str(error), markup=False)",
        "Static('', markup=False)\nwidget.update(text)",
        "widget.update(Content(text))",
        "Option(Content(name) if name else Content('none'))",
        "class Line(Static):\n    def __init__(self, text):\n        super().__init__(Content(text))",
        "print(text)",
        "Input(placeholder=hint)",
        "click.echo(text)",
    ],
)
def test_what_may_be_written_passes(good: str) -> None:
    assert faults(good) == []
