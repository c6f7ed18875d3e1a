"""Text under a false ``#if`` that names a divided buffer, or a pointer into it: there it may go from part to part.

It is not read, so nothing is proved of it.  Each such piece gets an ``#error`` (assumption A6), as text has that names
a buffer that converts (``ownership/spelling/configurations.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opi_xform.divide.flow import Trouble
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import StopOthers
from opi_xform.ownership.spelling.configurations import everywhere, means
from opi_xform.ownership.spelling.mentioned import mentions_of


def left_out(
    units: Sequence[ast.Unit], program: Program, keys: Collection[str], objects: Collection[int], strict: bool
) -> tuple[StopOthers, ...]:
    """What keeps other configurations from compiling text that names it.  Raises Trouble.

    keys: the variables of its parts.  objects: the memory that is divided.  A function that only such text calls may
    not name it anyway: it is one that the analysis does not get to.
    """
    names = sorted({*keys, *_pointing(program, objects)})
    out: dict[StopOthers, None] = {}
    for unit in units:
        for skipped in unit.skipped:
            found = {
                program.variables[key].name
                for key in names
                if program.variables[key].name in skipped.identifiers
                and means(unit, program, skipped, program.variables[key].name, key)
            }
            for name in sorted(found):
                if strict or not skipped.own or not everywhere(mentions_of(units), skipped.span, name):
                    raise Trouble(skipped.span, f"leaves out text with `{name}`, which another configuration compiles")
                out[StopOthers(skipped.span, name)] = None
    return tuple(out)


def nobodys(units: Sequence[ast.Unit]) -> tuple[Span, ...]:
    """Text that nobody compiles."""
    return tuple(dict.fromkeys(span for unit in units for span in unit.never))


def of_others(units: Sequence[ast.Unit], program: Program, keys: Collection[str]) -> tuple[Span, ...]:
    """Text that only units leave out which do not read the files where these variables, all static, are declared.

    A header that both read may be compiled by the one, and be left out by the other.
    """
    variables = [program.variables[key] for key in keys]
    if not all(v.kind == "static" and v.declarators for v in variables):
        return ()
    declared = {d.name_span.file for v in variables for d in v.declarators}
    owners = [unit for unit in units if not declared.isdisjoint((unit.path, *unit.files))]
    mine = {file for unit in owners for file in (unit.path, *unit.files)}
    spans = (skipped.span for unit in units if unit not in owners for skipped in unit.skipped)
    return tuple(dict.fromkeys(span for span in spans if span.file not in mine))


def _pointing(program: Program, objects: Collection[int]) -> set[str]:
    """Variables that may hold an address in these objects."""
    known = program.values.objects.by_variable
    return {key for frame, key in known if not program.points_to.variable(frame, key).isdisjoint(objects)}
