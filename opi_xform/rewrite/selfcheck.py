"""The result is parsed before it is written: a transformation that does not compile is refused as a whole.

The changed files are laid out in a temporary mirror of the file system, with all other files of the program beside
them (``mirror``).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from opi_xform.frontend import FrontendError
from opi_xform.frontend.headers.precompiled import with_beginnings
from opi_xform.ir.ast import Diagnostic, Unit
from opi_xform.record import dataclass
from opi_xform.rewrite.mirror import lay_out, mirrored, mirrored_flags, original
from opi_xform.text.sources import Sources

Parse = Callable[[Sequence[tuple[str, tuple[str, ...]]]], Sequence[Unit | FrontendError]]
"""Parses (path, flags) pairs: the unit of each, or why there is none."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why the result is refused: a place in the transformed text, named as the original file."""

    file: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What the front end says of a transformed program.

    rejected: what it has against it.  unused: what it finds that nothing uses, by the original's name and the line and
    column of the transformed text.  affected: the units that were parsed again.
    """

    rejected: tuple[Rejected, ...] = ()
    unused: tuple[Diagnostic, ...] = ()
    affected: tuple[Unit, ...] = ()


def self_check(
    units: Sequence[Unit],
    flags: Callable[[str], tuple[str, ...]],
    changed: Mapping[str, bytes],
    sources: Sources,
    parse: Parse,
) -> Checked:
    """Parses the transformed program with ``parse_outline``.

    Only units that read a changed file are parsed again.  Raises OSError when the mirror cannot be written.
    """
    affected = tuple(unit for unit in units if any(sources.name(file) in changed for file in (unit.path, *unit.files)))
    if not affected:
        return Checked()
    with tempfile.TemporaryDirectory(prefix="opi-xform-") as mirror:
        top = os.path.realpath(mirror)
        lay_out(top, affected, changed, sources)
        jobs = [(mirrored(top, sources.name(unit.path)), mirrored_flags(top, flags(unit.path))) for unit in affected]
        quick = with_beginnings(jobs, [flags(unit.path) for unit in affected])
        results = list(parse(quick))
        found = [_problems(top, unit, result) for unit, result in zip(affected, results, strict=True)]
        doubtful = [i for i, problems in enumerate(found) if problems and quick[i] != jobs[i]]
        for i, result in zip(doubtful, parse([jobs[i] for i in doubtful]) if doubtful else (), strict=True):
            found[i], results[i] = _problems(top, affected[i], result), result
        unused = [
            replace(diagnostic, file=original(top, diagnostic.file))
            for result in results
            if not isinstance(result, FrontendError)
            for diagnostic in result.diagnostics
            if diagnostic.severity == "warning"
        ]
    return Checked(
        tuple(dict.fromkeys(problem for problems in found for problem in problems)),
        tuple(dict.fromkeys(unused)),
        affected,
    )


def _problems(top: str, before: Unit, after: Unit | FrontendError) -> list[Rejected]:
    if isinstance(after, FrontendError):
        return [Rejected(original(top, after.file), after.line, after.message)]
    return _compare(top, before, after)


def _compare(top: str, before: Unit, after: Unit) -> list[Rejected]:
    """Errors of the result, and what hints at one: a lost function, a call of something that nothing declares.

    What the program itself calls before its definition may stay so.
    """
    found = [Rejected(original(top, d.file), d.line, d.message) for d in after.diagnostics if d.severity == "error"]
    known = {*before.declared, *(function.name for function in before.functions.values())}
    found += [
        Rejected(before.path, 0, f"{name} is called without a declaration")
        for name, type in sorted(after.declared.items())
        if type.params is None and name not in known
    ]
    kept = {function.name for function in after.functions.values()}
    needed = {function.name for function in before.functions.values() if not function.static}
    if not (needed <= kept <= {function.name for function in before.functions.values()}) and not found:
        found.append(Rejected(before.path, 0, "the result does not define the same functions"))
    return found
