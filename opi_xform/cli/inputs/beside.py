"""Sources that are not read, though they may belong to the program: told in one line each kind."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from opi_xform.cli.inputs.files import CPLUSPLUS, FORTRAN, Inputs
from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.outcome import Problem

_OTHERS = (("C++", CPLUSPLUS), ("Fortran", FORTRAN))
_ADVICE = "opi-xform reads C alone; what {} with the program's buffers is not seen"


def notes(
    inputs: Inputs, searched: Iterable[str], listed: Sequence[str], database: str, apart: Iterable[str]
) -> list[Problem]:
    """What to say of files that are not among the sources.

    searched: every file beside them.  listed: what the ``database`` compiles, '' without one.  apart: C files in
    directories that runs write to, which none wrote so.
    """
    given = {os.path.realpath(source) for source in inputs.sources}
    found = []
    others = sorted({os.path.realpath(file) for file in (*listed, *searched)})
    for language, extensions in _OTHERS:
        names = [file for file in others if os.path.splitext(file)[1] in extensions]
        one, several = (_ADVICE.format(who) for who in ("it does", "they do"))
        found += _note(names, f"is {language}: {one}", f"are {language}: {several}")
    more = sorted(file for file in dict.fromkeys(listed) if file.endswith(".c") and os.path.realpath(file) not in given)
    what = f"compiled by {shown(database)} but not given"
    one, several = "name it, too, if it belongs to the program", "name those that belong to the program"
    found += _note(more, f"is {what}; {one}", f"are {what}; {several}")
    rest = sorted(file for file in inputs.unlisted if os.path.realpath(file) not in given)
    what = f"left out: {shown(database)} does not compile"
    found += _note(rest, f"is {what} it", f"are {what} them")
    left = sorted(file for file in apart if os.path.realpath(file) not in given)
    what = "left out: opi-xform writes that directory, but did not write this; name what belongs to the program"
    found += _note(left, f"is {what}", f"are {what}")
    for other, one in inputs.twice:
        message = f"is another name of {shown(one)}, which is read; -o writes it there alone"
        found.append(Problem(message, shown(other), severity="note"))
    return found


def _note(names: Sequence[str], one: str, several: str) -> list[Problem]:
    """One line about files: the first is named, the others are counted."""
    if not names:
        return []
    text = f"and {len(names) - 1} more {several}" if len(names) > 1 else one
    return [Problem(text, shown(names[0]), severity="note")]
