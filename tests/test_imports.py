"""The house's import rule, and what must not be imported before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

FLOORS = {"otto_tui": 3, "screens": 2, "service": 2, "sessions": 1, "memory": 0}
"""Imports only point down; the two of the same floor know nothing of each other."""

HEAVY = ("litellm", "fastembed", "onnxruntime", "numpy")
"""Imported on first use, inside a function."""


def modules() -> list[Path]:
    return [path for package in FLOORS for path in sorted((ROOT / package).rglob("*.py"))]


def imported(tree: ast.AST, *, top_level: bool) -> Iterator[str]:
    """Modules that are imported anywhere, or only when the module itself is."""
    nodes = _executed(tree) if top_level else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Statements that run on import: not in functions, not under ``TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _executed(node)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down_and_heavy_ones_wait(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    tree = ast.parse(path.read_text("utf-8"))
    for name in imported(tree, top_level=False):
        floor = FLOORS.get(name.partition(".")[0])
        if floor is not None and name.partition(".")[0] != package:
            assert floor < FLOORS[package], f"{package} may not import {name}"
    for name in imported(tree, top_level=True):
        assert name.partition(".")[0] not in HEAVY, f"{name} is imported when the module is"


def test_no_module_imports_itself_in_a_circle() -> None:
    names = {_name(path): path for path in modules()}
    edges = {
        name: {
            found
            for found in imported(ast.parse(path.read_text("utf-8")), top_level=True)
            if found in names and found != name
        }
        for name, path in names.items()
    }
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"a circle of imports: {' -> '.join((*above, name))}"
        if name in done:
            return
        for below in sorted(edges[name]):
            visit(below, (*above, name))
        done.add(name)

    for name in sorted(names):
        visit(name, ())


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize(
    "module", ["memory.queue", "memory.verify", "sessions.session", "sessions.library", "otto_tui.app"]
)
def test_importing_the_engine_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
