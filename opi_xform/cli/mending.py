"""What to do about a source that cannot be read, and about an MPI that is not found: the end of an error's line."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.outcome import Problem, fail
from opi_xform.frontend import FrontendError
from opi_xform.frontend.flags import gcc_headers, mpicc_path

MPICC = "OPI_MPICC"
_MISSING = "file not found"
_BESIDE = ' with <angled> include; use "quotes" instead'
"""What clang adds where the header lies beside the file: the build finds it by a flag (`-I.`), no text is wrong."""
_MOST_FOLDERS = 5000
"""Directories that are looked into for a header that is missing."""


def problems(error: FrontendError) -> list[Problem]:
    """All that is wrong with a file, a line each."""
    return [problem(one.message, one.file, one.line) for one in (error, *error.others)]


def problem(message: str, file: str, line: int) -> Problem:
    """One thing that is wrong with a file."""
    return Problem(_advice(message, file, line), shown(file), line, code="OPI901")


def gathered(found: Iterable[Problem]) -> list[Problem]:
    """Each problem once: a header that several files miss is told of the first, with their number."""
    once = list(dict.fromkeys(found))
    many = Counter(one.message for one in once if _MISSING in one.message)
    out: dict[str, Problem] = {}
    for one in once:
        more = many[one.message] - 1
        files = "1 more file misses it" if more == 1 else f"{more} more files miss it"
        text = one.message.replace(_MISSING, f"{_MISSING}, and {files}", 1) if more > 0 else one.message
        out.setdefault(one.message if more > 0 else str(one), replace(one, message=text))
    return list(out.values())


def strays(wrong: int, given: int) -> list[Problem]:
    """What to say where some files given have errors and others have none: a directory may have more than a program."""
    if not wrong or wrong == given:
        return []
    have = "has" if wrong == 1 else "have"
    what = f"{wrong} of {given} files {have} errors"
    advice = "what the build does not compile is no part of the program: name the others, or take its list by -p"
    return [Problem(f"{what}; {advice}", severity="note")]


def require_mpicc() -> None:
    """Raises Failure where ``OPI_MPICC`` names nothing that can be run."""
    named = os.environ.get(MPICC)
    if named and shutil.which(named) is None:
        what = "is no program that can be run" if os.path.exists(named) else "no such command"
        raise fail(f"{what}; set {MPICC} to the mpicc of your MPI, or unset it", f"{MPICC}={named}")


def _advice(message: str, file: str, line: int = 0) -> str:
    """A message of the front end, with what to do where it says nothing of it."""
    message = message.removesuffix(_BESIDE)
    if "; " in message:  # clang's own have a `;` that is expected
        return message
    gcc, folder = gcc_headers(), os.path.realpath(os.path.dirname(file))
    if os.path.basename(file) == "tgmath.h" or (gcc and folder == os.path.realpath(gcc)):
        return f"{message}; clang's own header is needed in its place: pip install 'opi_xform[headers]'"
    if message == "'mpi.h' file not found":
        return f"{message}; {_about_mpi()}"
    if _MISSING in message:
        return f"{message}; {_about_header(message[1 : message.rindex(_MISSING) - 2])}"
    if message.startswith("use of undeclared identifier"):
        c23 = ", which C23 (-std=c2x) asks of functions, too" if _called(message, file, line) else ""
        return f"{message}; declare it before its use{c23}"
    return f"{message}; the file must compile before it can be analysed"


def _called(message: str, file: str, line: int) -> bool:
    """The line calls what a message names between quotes; a macro may hide that."""
    name = message.partition("'")[2].partition("'")[0]
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            found = next(islice(text, max(line - 1, 0), None), "")
    except OSError:
        return False
    return bool(name) and re.search(rf"\b{re.escape(name)}\s*\(", found) is not None


def _about_header(name: str) -> str:
    found = _folders(name, os.getcwd())
    if not found:
        return "name its directory, as in `opi-xform FILES -Iinclude`, or use -p"
    flags = ", ".join(f"-I{shlex.quote(folder)}" for folder in found[:3])
    which = "" if len(found) == 1 else f"there are {len(found)} of this name: "
    return f"name its directory: {which}{flags}{', …' if len(found) > 3 else ''}; or use -p"


@lru_cache(maxsize=64)
def _folders(name: str, top: str) -> tuple[str, ...]:
    """The directories below ``top`` that have a header, as seen from there, the nearest first."""
    found: list[str] = []
    for number, (folder, below, _) in enumerate(os.walk(top)):
        if number > _MOST_FOLDERS:
            return ()
        below[:] = sorted(one for one in below if not one.startswith("."))
        if os.path.isfile(os.path.join(folder, name)):
            found.append(os.path.relpath(folder, top))
    return tuple(sorted(found, key=lambda one: (one.count(os.sep), one)))


def _about_mpi() -> str:
    named, found = os.environ.get(MPICC), mpicc_path()
    if named:
        return f"{MPICC}={named} does not tell where it is: set it to the mpicc of your MPI, or unset it"
    if found is None:
        return f"there is no mpicc: install an MPI (`pip install mpich` is one), or set {MPICC} to the mpicc of yours"
    return f"{found} does not tell where it is: set {MPICC} to the mpicc of your MPI, or name its directory with -I"
