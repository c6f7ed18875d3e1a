"""Sources that are not read, though they may belong to the program: told in one line each kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from opi_xform.cli.outcome import Problem
from opi_xform.cli.shown import shown

CPLUSPLUS = frozenset((".C", ".cc", ".cpp", ".cxx", ".c++", ".cu"))
FORTRAN = frozenset(
    (".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".F", ".F77", ".F90", ".F95", ".F03")
)

_OTHERS = (("C++", CPLUSPLUS), ("Fortran", FORTRAN))
_ADVICE = "opi-xform reads C alone; what they do with the program's buffers is not seen"


def notes(
    sources: Sequence[str], searched: Iterable[str], listed: Sequence[str], database: str, apart: Iterable[str]
) -> list[Problem]:
    """What to say of files that are not among the ``sources``.

    searched: every file beside them.  listed: what the ``database`` compiles, '' without one.  apart: C files in the
    directory of -o that it did not write.
    """
    given = {os.path.realpath(source) for source in sources}
    found = []
    others = dict.fromkeys(os.path.realpath(file) for file in (*listed, *searched))
    for language, extensions in _OTHERS:
        names = sorted(file for file in others if os.path.splitext(file)[1] in extensions)
        if names:
            found.append(_note(names, f"{language}: {_ADVICE}", lambda many: f"{many} in"))
    more = sorted(file for file in dict.fromkeys(listed) if file.endswith(".c") and os.path.realpath(file) not in given)
    if more:
        what = f"compiled by {shown(database)} but not given; name what belongs to the program, or take all by -p alone"
        found.append(_note(more, what, lambda many: "is" if many == 1 else "are"))
    left = sorted(file for file in apart if os.path.realpath(file) not in given)
    if left:
        what = "left out: the directory of the output is no input, but opi-xform did not write that"
        found.append(_note(left, what, lambda many: "is" if many == 1 else "are"))
    return found


def _note(names: Sequence[str], what: str, verb: Callable[[int], str]) -> Problem:
    del verb
    more = f"and {len(names) - 1} more: " if len(names) > 1 else ""
    return Problem(f"{more}{what}", shown(names[0]), severity="note")
