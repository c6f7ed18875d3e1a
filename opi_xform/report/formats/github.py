"""Annotations for GitHub's workflows: one command a line, which shows at the line of the file it names.

GitHub shows ten errors, ten warnings and ten notices of a step: what failed the check stands first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opi_xform.ir.ast import Diagnostic
from opi_xform.ownership.model.plan import Note, Plan
from opi_xform.report.codes import CODES
from opi_xform.report.finding import Finding
from opi_xform.report.formats.columns import Columns

Shown = Callable[[str], str]


def commands(
    plan: Plan, warnings: Iterable[Diagnostic], findings: Iterable[Finding], shown: Shown, columns: Columns
) -> list[str]:
    """Findings as errors, warnings as such, then the sites that stay and remarks as notices."""

    def place(file: str, line: int, column: int) -> tuple[tuple[str, str], ...]:
        if not file:
            return ()
        where = (("line", str(line)), ("col", str(columns.column(file, line, column)))) if line else ()
        return (("file", shown(file)), *where)

    def told(message: str, notes: Iterable[Note]) -> str:
        steps = (f"{shown(note.span.file)}:{note.span.line}: {_one_line(note.message)}" for note in notes)
        return "\n".join((_one_line(message), *steps))

    lines = [_command("error", place(f.file, f.line, f.column), f.code, told(f.message, f.notes)) for f in findings]
    lines += [_command("warning", place(w.file, w.line, w.column), "OPI905", _one_line(w.message)) for w in warnings]
    kept = (decision for decision in plan.decisions if decision.decision == "keep")
    for decision in (*kept, *plan.diagnostics):
        span = decision.span
        what = f"{decision.call} of {decision.buffer} stays: " if decision.call else ""
        text = told(what + decision.message, decision.notes)
        lines.append(_command("notice", place(span.file, span.line, span.column), decision.code, text))
    return lines


def _command(level: str, place: tuple[tuple[str, str], ...], code: str, message: str) -> str:
    known = CODES.get(code)
    title = f"{code} {known.title}" if known else code
    properties = ",".join(f"{key}={_property(value)}" for key, value in (*place, ("title", title)))
    return f"::{level} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _one_line(text: str) -> str:
    return " ".join(text.split())
