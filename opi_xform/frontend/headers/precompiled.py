"""The includes that files begin with, parsed once for all files that begin alike.

Only for what asks nothing of headers (``parse_outline``): declarations in the precompiled part are not visited.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from opi_xform.frontend.clang.libclang import TranslationUnit, library
from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.flags import arguments, headers
from opi_xform.frontend.headers.system_part import known_part
from opi_xform.frontend.parse import on_big_stack

Job = tuple[str, tuple[str, ...]]
"""A source file and its compiler flags."""

ENOUGH = 4  # files that begin alike: parsing the beginning alone costs nearly as much as parsing one of them
_OTHERS = ("-include", "-imacros")
_BEGINNING = re.compile(
    rb"(?:\s|//[^\n]*\n|/\*.*?\*/|\#[ \t]*include[ \t]*(?:<[^>\n]+>|\"[^\"\n]+\")[ \t]*(?=[/\r\n]))*", re.DOTALL
)
_TOKEN = re.compile(rb"//[^\n]*\n|/\*.*?\*/|(\#[ \t]*include[ \t]*(?:<[^>\n]+>|\"[^\"\n]+\"))", re.DOTALL)
_FOR_SERIALIZATION = 0x12  # it is no whole program, and it is going to be saved


def beginning(data: bytes) -> tuple[bytes, ...]:
    """The include directives before anything else in a file; none where lines are joined, which takes care to read."""
    found = _BEGINNING.match(data)
    text = found.group() if found is not None else b""
    if b"\\\n" in text or b"\\\r\n" in text or b"??/" in text:
        return ()
    return tuple(line for line in _TOKEN.findall(text) if line)


def with_beginnings(jobs: Sequence[Job], real: Sequence[tuple[str, ...]] | None = None) -> list[Job]:
    """The jobs, with flags that bring the precompiled beginning where enough files of a folder share it; else those of
    the system's headers that an earlier run, or the parse of the program, has left.

    real: the flags of each file where its program stands; without them nothing of earlier runs is used.
    Writes beside the files: they have to lie in a folder that is thrown away.  A file that does not compile so may
    still compile as it is.
    """
    groups: dict[tuple[str, tuple[str, ...], tuple[bytes, ...]], list[int]] = {}
    for i, (path, flags) in enumerate(jobs):
        try:
            with open(path, "rb") as file:
                lines = beginning(file.read())
        except OSError:
            continue
        if lines and not any(flag.startswith(_OTHERS) for flag in flags):
            groups.setdefault((os.path.dirname(path), flags, lines), []).append(i)
    out = list(jobs)
    for (folder, flags, lines), members in groups.items():
        if len(members) >= ENOUGH:
            made = _precompiled(folder, flags, lines)
            for i in members if made else ():
                out[i] = (jobs[i][0], (*flags, "-include-pch", made))
    for i, (path, flags) in enumerate(jobs if real is not None else ()):
        if real is not None and out[i] == jobs[i]:
            made = known_part(path, flags, real[i])
            if made:
                out[i] = (path, (*flags, "-include-pch", made))
    return out


def _precompiled(folder: str, flags: tuple[str, ...], lines: tuple[bytes, ...]) -> str:
    """The precompiled lines, in a file of that folder; '' when that does not work."""
    name = next(n for n in (os.path.join(folder, f".opi-beginning-{i}.h") for i in range(1 << 30)) if _free(n))
    used = [flag for flag in flags if flag != "-w"]

    def compile_() -> bool:
        command = [*arguments(used, headers(used)), "-Wimplicit-function-declaration", "-x", "c-header"]
        with TranslationUnit(name, command, None, _FOR_SERIALIZATION) as unit:
            clean = not any(severity >= 3 for severity, *_ in unit.diagnostics())
            return clean and library().clang_saveTranslationUnit(unit.handle, os.fsencode(f"{name}.pch"), 0) == 0

    try:
        with open(name, "wb") as file:
            file.write(b"\n".join(lines) + b"\n")
        return f"{name}.pch" if on_big_stack(compile_) else ""
    except (OSError, FrontendError):
        return ""


def _free(name: str) -> bool:
    return not os.path.lexists(name)
