"""What ``otto verify`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory.errors import StoreDamaged, StoreTooNew, StoreUnavailable
from otto_tui.prepared import library_of
from otto_tui.shapes import verify_shape
from otto_tui.terminal import say, say_json, say_notices

if TYPE_CHECKING:
    from memory.verify import VerifyReport
    from sessions.library import Library
    from sessions.options import Options


async def verify_one(options: Options, session_id: str, *, as_json: bool) -> bool:
    """Check one session; True when all holds."""
    async with library_of(options) as library:
        report = await _verify(library, session_id)
    if as_json:
        say_json(verify_shape(report))
    else:
        say("\n".join(report_lines(report)))
    return report.ok


async def verify_all(options: Options, *, as_json: bool) -> bool:
    """Check every session, the broken ones too; True when all holds."""
    reports: dict[str, VerifyReport] = {}
    async with library_of(options) as library:
        for row in await library.list():
            reports[row.id] = await _verify(library, row.id)
        say_notices(library.take_notices())
    sound = all(report.ok for report in reports.values())
    if as_json:
        shapes = {id: verify_shape(report) for id, report in reports.items()}
        checks = [{"session": id, **check} for id, shape in shapes.items() for check in shape["checks"]]
        say_json({"ok": sound, "checks": checks})
        return sound
    for id, report in reports.items():
        say(f"{id}:")
        say("\n".join(f"  {line}" for line in report_lines(report)))
    if not reports:
        say("There is no session yet.")
    return sound


async def _verify(library: Library, id: str) -> VerifyReport:
    """The report on one session; a file that does not even open is a check that fails."""
    from memory.verify import Check, VerifyReport

    try:
        return await library.verify(id)
    except (StoreDamaged, StoreTooNew, StoreUnavailable) as error:
        return VerifyReport(False, (Check("the file opens", False, (str(error),)),))


def report_lines(report: VerifyReport) -> Iterator[str]:
    """A line a check, and the rows of those that failed."""
    for check in report.checks:
        yield f"{'ok    ' if check.ok else 'BROKEN'}  {check.name}"
        yield from (f"          {row}" for row in check.rows)
    broken = sum(not check.ok for check in report.checks)
    yield f"{broken} of {len(report.checks)} checks failed." if broken else f"All {len(report.checks)} checks hold."
