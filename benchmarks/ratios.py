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
    """Milliseconds; the median."""
    theirs: float
    target: float
    """The ratio that is to be kept below."""

    @property
    def value(self) -> float:
        return round(self.ours / self.theirs, 3)


def ratio(name: str, ours: Sequence[float], theirs: Sequence[float], target: float) -> Ratio:
    """Of the medians of two series of seconds."""
    return Ratio(name, 1_000 * median(ours), 1_000 * median(theirs), target)


def tell(measure: Callable[[], Sequence[Ratio]], about: str | None) -> None:
    """Measure, and print what came of it; ``--json`` prints a flat object of name to ratio."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--json", action="store_true", help="print a flat object of name to ratio")
    as_json = parser.parse_args().json
    ratios = measure()
    if as_json:
        print(json.dumps({each.name: each.value for each in ratios}))
        return
    for each in ratios:
        verdict = "ok" if each.value <= each.target else "over the target"
        print(
            f"{each.name:<28} {each.ours:>8.1f} ms / {each.theirs:>8.1f} ms = {each.value:>6.3f}"
            f"   target {each.target}  {verdict}"
        )
