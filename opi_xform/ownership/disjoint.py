"""``/* opi: assume disjoint(a, b) */``: pointers that are said never to stand for the same memory.

Where one of them, in the function that the comment stands in, is known to stand for one buffer, and the other may stand
for that buffer and more, the buffer is taken out of what the other may stand for: assumption U3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from opi_xform.ir import ast
from opi_xform.memory.objects import Objects
from opi_xform.ownership.model.buffers import Program, Where
from opi_xform.ownership.model.plan import Decision, Plan, Told
from opi_xform.record import dataclass

DISJOINT = "U3"
SAME = "stand for the same memory"


@dataclass(frozen=True, slots=True)
class Apart:
    """In a frame, the pointer ``variable`` never stands for the memory ``where``."""

    frame: int
    variable: str
    where: Where
    of: int  # the frame of that memory, where it is a variable


@dataclass(frozen=True, slots=True)
class Said:
    """What came of the comments: facts by comment, and why a comment makes none."""

    facts: tuple[tuple[Told, Apart], ...]
    refused: tuple[tuple[Told, str], ...]


def said_apart(program: Program, told: Iterable[Told]) -> Said:
    """What the comments say of a program that was analysed without them."""
    facts: list[tuple[Told, Apart]] = []
    refused: list[tuple[Told, str]] = []
    for one in told:
        found: list[Apart] = []
        reasons: list[str] = []
        for frame, function in _frames(program, one):
            made = _in_frame(program, one, frame, function)
            if isinstance(made, str):
                reasons.append(made)
            else:
                found.append(made)
        denied = next((reason for reason in reasons if reason.endswith(SAME)), None)
        if denied is not None:
            refused.append((one, denied))
            continue
        facts += [(one, fact) for fact in found]
        if not found:
            refused.append((one, reasons[0] if reasons else "no site depends on the function that it stands in"))
    return Said(tuple(facts), tuple(refused))


def _frames(program: Program, told: Told) -> Iterator[tuple[int, ast.Function]]:
    for frame in program.graph.frames:
        function = program.functions[frame.function]
        span = function.span
        if span.file == told.file and span.begin < told.end and told.begin < span.end:
            yield frame.number, function


def _in_frame(program: Program, told: Told, frame: int, function: ast.Function) -> Apart | str:
    """What a comment says in one copy of its function, or why it says nothing there."""
    names = told.name.split(",")
    keys = [_variable(program, function, name) for name in names]
    for name, key in zip(names, keys, strict=True):
        if key is None:
            return f"`{name}` is no one pointer or array here"
    one, two = (_memory(program, frame, key) for key in keys if key is not None)
    if len(one) == 1 and one == two:
        return f"`{names[0]}` and `{names[1]}` {SAME}"
    for (other, key), mine in (((two, keys[1]), one), ((one, keys[0]), two)):
        assert key is not None
        if len(mine) == 1 and mine < other and program.variables[key].type.is_pointer:
            info = program.values.objects.table[next(iter(mine))]
            if len(info.nodes) == 1:
                return Apart(frame, key, ("heap", info.node), -1)
            if info.kind == "variable" and info.variable is not None:
                return Apart(frame, key, ("variable", info.variable), info.frame)
    if one and two and not one & two:
        return "that is known without it"
    return f"neither `{names[0]}` nor `{names[1]}` is known to stand for one buffer"


def _variable(program: Program, function: ast.Function, name: str) -> str | None:
    mine = [v for v in function.variables.values() if v.name == name]
    if not mine:
        keys = (k for k, v in program.variables.items() if v.name == name and v.is_global and not v.function)
        mine = [program.variables[k] for k in keys]
    if len(mine) != 1 or not (mine[0].type.is_pointer or mine[0].type.is_array):
        return None
    return mine[0].key


def _memory(program: Program, frame: int, key: str) -> frozenset[int]:
    """The objects that a name may stand for."""
    if program.variables[key].type.is_array:
        return frozenset({program.values.objects.variable(frame, key)})
    return program.points_to.variable(frame, key)


def never_of(objects: Objects, apart: Iterable[Apart]) -> dict[int, frozenset[int]]:
    """By pointer variable: the objects that it is said never to point to."""
    out: dict[int, frozenset[int]] = {}
    for fact in apart:
        kind, what = fact.where
        gone = objects.heap(int(what)) if kind == "heap" else objects.variable(fact.of, str(what))
        pointer = objects.variable(fact.frame, fact.variable)
        out[pointer] = out.get(pointer, frozenset()) | {gone}
    return out


def with_assumption(without: Plan, plan: Plan) -> tuple[Plan, bool]:
    """The better plan, with what rests on the comments; and whether anything does."""
    before = {_site(d) for d in without.decisions if d.decision == "convert"}
    after = {_site(d) for d in plan.decisions if d.decision == "convert"}
    if not after - before or before - after:
        return without, False
    decisions = tuple(
        replace(d, assumptions=tuple(sorted((*d.assumptions, DISJOINT)))) if _site(d) in after - before else d
        for d in plan.decisions
    )
    return replace(plan, decisions=decisions), True


def _site(d: Decision) -> tuple[str, int, str]:
    return (d.span.file, d.span.begin, d.side)
