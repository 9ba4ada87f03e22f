"""What every benchmark here ends with: ratios against their targets, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Ratio:
    """One thing against another, each measured several times, in turns."""

    name: str
    ours: float
    """In ``unit``; the median, where the name does not say otherwise."""
    theirs: float
    target: float | None
    """The ratio that is to be kept below; None where there is nothing to keep."""
    unit: str = "ms"

    @property
    def value(self) -> float:
        return round(self.ours / self.theirs, 3)


def ratio(name: str, ours: Sequence[float], theirs: Sequence[float], target: float | None) -> Ratio:
    """Of the medians of two series of seconds."""
    return Ratio(name, 1_000 * median(ours), 1_000 * median(theirs), target)


def ratio_at(percent: int, name: str, ours: Sequence[float], theirs: Sequence[float], target: float | None) -> Ratio:
    """Of a percentile of two series of seconds."""
    return Ratio(name, 1_000 * percentile(ours, percent), 1_000 * percentile(theirs, percent), target)


def percentile(values: Sequence[float], percent: int) -> float:
    """The least of the values that so many percent of them do not exceed."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


def tell(measure: Callable[[], Sequence[Ratio]], about: str | None) -> None:
    """Measure, and print what came of it; ``--json`` prints a flat object of name to ratio."""
    parser = argparse.ArgumentParser(description=about)
    add_json_option(parser)
    as_json = parser.parse_args().json
    show(measure(), as_json=as_json)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a flat object of name to ratio")


def show(ratios: Sequence[Ratio], *, as_json: bool) -> None:
    """Print ratios as a table, or as one flat object of name to ratio."""
    if as_json:
        print(json.dumps({each.name: each.value for each in ratios}))
        return
    for each in ratios:
        line = f"{each.name:<28} {each.ours:>8.1f} {each.unit} / {each.theirs:>8.1f} {each.unit} = {each.value:>6.3f}"
        if each.target is not None:
            verdict = "ok" if each.value <= each.target else "over the target"
            line += f"   target {each.target}  {verdict}"
        print(line)
