"""The result is parsed before it is written: a transformation that does not compile is refused as a whole.

The changed files are laid out in a temporary mirror of the file system, with all other files of the program beside
them, so that relative includes find what they found before; include directories in the flags are mirrored too.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from opi_xform.frontend import FrontendError
from opi_xform.ir.ast import Unit
from opi_xform.rewrite.sources import Sources

Parse = Callable[[Sequence[tuple[str, tuple[str, ...]]]], Sequence[Unit | FrontendError]]
"""Parses (path, flags) pairs: the unit of each, or why there is none."""

_PATH_OPTIONS = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why the result is refused: a place in the transformed text, named as the original file."""

    file: str
    line: int
    message: str


def self_check(
    units: Sequence[Unit],
    flags: Callable[[str], tuple[str, ...]],
    changed: Mapping[str, bytes],
    sources: Sources,
    parse: Parse,
) -> tuple[Rejected, ...]:
    """What the front end has against the transformed program; () when nothing.

    Only units that read a changed file are parsed again.  Raises OSError when the mirror cannot be written.
    """
    affected = [unit for unit in units if any(sources.name(file) in changed for file in (unit.path, *unit.files))]
    if not affected:
        return ()
    with tempfile.TemporaryDirectory(prefix="opi-xform-") as mirror:
        top = os.path.realpath(mirror)
        _lay_out(top, affected, changed, sources)
        jobs = [(_mirrored(top, sources.name(unit.path)), _mirrored_flags(top, flags(unit.path))) for unit in affected]
        rejected: list[Rejected] = []
        for unit, result in zip(affected, parse(jobs), strict=True):
            if isinstance(result, FrontendError):
                rejected.append(Rejected(_original(top, result.file), result.line, result.message))
            else:
                rejected.extend(_compare(top, unit, result))
    return tuple(dict.fromkeys(rejected))


def _lay_out(top: str, units: Sequence[Unit], changed: Mapping[str, bytes], sources: Sources) -> None:
    """Every file that the units read, new where it changed; other spellings of a changed file are written alike."""
    for file in sorted({file for unit in units for file in (unit.path, *unit.files)}):
        data = changed.get(sources.name(file))
        for absolute in {os.path.abspath(file), sources.name(file)}:
            target = _mirrored(top, absolute)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if data is None:
                shutil.copyfile(absolute, target)
            else:
                with open(target, "wb") as stream:
                    stream.write(data)


def _mirrored(top: str, path: str) -> str:
    return os.path.join(top, os.path.abspath(path).lstrip(os.sep))


def _original(top: str, path: str) -> str:
    """The name a person knows for a file in the mirror."""
    absolute = os.path.realpath(path)
    return os.sep + os.path.relpath(absolute, top) if absolute.startswith(top + os.sep) else path


def _mirrored_flags(top: str, flags: Sequence[str]) -> tuple[str, ...]:
    """``flags``, with each include directory preceded by its mirror, and forced includes taken from there."""
    out: list[str] = []
    rest = iter(flags)
    for flag in rest:
        option = next((o for o in _PATH_OPTIONS if flag == o), None)
        joined = flag.startswith("-I") and option is None
        value = flag[2:] if joined else next(rest, "") if option else None
        if value is None:
            out.append(flag)
            continue
        mirrored = _mirrored(top, value)
        option = option or "-I"
        if option in ("-include", "-imacros"):
            out += [option, mirrored if os.path.exists(mirrored) else value]
        else:
            out += [option, mirrored, option, value]
    return tuple(out)


def _compare(top: str, before: Unit, after: Unit) -> list[Rejected]:
    """Errors of the result, and what hints at one: a lost function, a call of something that nothing declares."""
    found = [Rejected(_original(top, d.file), d.line, d.message) for d in after.diagnostics if d.severity == "error"]
    found += [
        Rejected(before.path, 0, f"{name} is called without a declaration")
        for name, type in sorted(after.declared.items())
        if type.params is None and name not in before.declared
    ]
    kept = {function.name for function in after.functions.values()}
    needed = {function.name for function in before.functions.values() if not function.static}
    if not (needed <= kept <= {function.name for function in before.functions.values()}) and not found:
        found.append(Rejected(before.path, 0, "the result does not define the same functions"))
    return found
