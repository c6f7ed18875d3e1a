"""A copy of a program beside the real one: other contents of some files, and flags that find them.

Relative includes find what they found before; include directories in the flags are mirrored too.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

from opi_xform.file_names import standing
from opi_xform.ir.ast import Unit
from opi_xform.text.sources import Sources

_PATH_OPTIONS = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")


def lay_out(top: str, units: Sequence[Unit], changed: Mapping[str, bytes], sources: Sources) -> None:
    """Every file that the units read, new where it changed; other spellings of a changed file are written alike."""
    for file in sorted({file for unit in units for file in (unit.path, *unit.files)}):
        data = changed.get(sources.name(file))
        for absolute in {os.path.abspath(file), sources.name(file)}:
            target = mirrored(top, absolute)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if data is None:
                shutil.copyfile(absolute, target)
            else:
                with open(target, "wb") as stream:
                    stream.write(data)


def mirrored(top: str, path: str) -> str:
    """Where a file or folder lies in the mirror."""
    return os.path.join(top, os.path.abspath(path).lstrip(os.sep))


def original(top: str, path: str) -> str:
    """The name a person knows for a file in the mirror."""
    absolute = standing(path)
    return os.sep + os.path.relpath(absolute, top) if absolute.startswith(top + os.sep) else path


def mirrored_flags(top: str, flags: Sequence[str]) -> tuple[str, ...]:
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
        there = mirrored(top, value)
        option = option or "-I"
        if option in ("-include", "-imacros"):
            out += [option, there if os.path.exists(there) else value]
        else:
            out += [option, there, option, value]
    return tuple(out)
