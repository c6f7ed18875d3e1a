"""Calls of large programs that are told as a whole: a function that no message needs is not copied for each call.

The graph has a copy of a function's body for each way that leads to it.  That is exact, and grows as call depth times
fan-out.  Where it grows too large, *quiet* functions are left out: they, and all that they call, touch no buffer of a
message and change no pointer to one.  What else they may read and change is found once, for each function, and a call
may do all of it (``calls/summarised.py``).  Points-to sees their instructions, each function once (``background``).

Which ones: always the one whose copies cost most, until the graph is small enough.

Where that is not enough, functions that use messages' buffers are left out as well, if nothing happens in them but what
their instructions tell: they call no MPI but what moves no data, nothing unknown, and nothing escapes.  Buffers that
they may have to do with are given up (``Background.handling``); others in the program may still change owner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from opi_xform import budget
from opi_xform.graph.flat import Flat
from opi_xform.graph.graph import MAIN, Background, Bind, Node, Unbind, evaluated
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Quiet:
    """The functions that may be summarised, of a program with each function once.

    functions: finds the quiet ones.  mute: finds those in which nothing happens but what their instructions tell.
    """

    flat: Flat
    functions: Callable[[], frozenset[str]]
    mute: Callable[[], frozenset[str]] = frozenset

    def chosen(self, calls: Callable[[str], Sequence[str]], most: int, limit: int) -> frozenset[str]:
        """Those that are, so that the graph has about ``limit`` instructions; none where it has up to ``most``.

        Of a graph that is within the budget then, no message's buffer is given up.  calls: of a function, that it
        copies.
        """
        sizes = {name: sum(map(len, body.blocks)) for name, body in zip(self.flat.names, self.flat.bodies, strict=True)}
        called = _calls(calls)
        cut: set[str] = set()
        quiet: frozenset[str] | None = None
        mute: frozenset[str] | None = None
        while True:
            total, copies = _cost(called, sizes, cut)
            if total[MAIN] <= (limit if cut else max(most, limit)):
                break
            if quiet is None:
                quiet = self.functions() - {MAIN}
            best = "" if mute is not None else _costliest(quiet - cut, total, copies)
            if not best:
                nodes = total[MAIN] + 2 * sum(copies.values())  # each copy is entered and left
                if nodes <= (budget.HANDLED if mute is not None else budget.NODES):
                    break
                if mute is None:
                    mute = self.mute() - {MAIN}
                best = _costliest((mute | quiet) - cut, total, copies)
            if not best:
                break
            cut.add(best)
        return frozenset(cut)

    def background(self, chosen: Collection[str], frames: int, nodes: int) -> Background:
        """The instructions of these functions and of all that they call.  frames, nodes: how many the graph has."""
        flat = self.flat
        inside = below(flat, chosen)
        number = {flat.number[name]: frames + i for i, name in enumerate(inside)}
        out: list[Node] = []
        followed = []
        named: set[str] = set()
        for node in flat.nodes:
            action = node.action
            if node.frame not in number:
                continue
            if isinstance(action, Bind):
                if action.caller not in number:
                    continue
                action = replace(action, caller=number[action.caller])
            elif isinstance(action, Unbind):
                if action.callee not in number:
                    continue
                action = replace(action, callee=number[action.callee])
            if node.number in flat.followed:
                followed.append(nodes + len(out))
            if isinstance(action, ins.Define) and isinstance(action.target, ins.Var):
                named.add(action.target.key)
            named.update(p.key for o in evaluated(node.action) for p in parts_of(o) if isinstance(p, ins.AddrVar))
            out.append(Node(nodes + len(out), number[node.frame], -1, action))
        lowered = {name: flat.bodies[flat.number[name]] for name in inside}
        named = {key for key in named if key in flat.lowerings.globals}
        parts = (part for node in out for o in evaluated(node.action) for part in parts_of(o))
        negative = any(map(_negative, parts))
        handling = frozenset(chosen) - self.functions()
        return Background(
            tuple(inside), tuple(out), lowered, frozenset(followed), frames, nodes, frozenset(named), negative, handling
        )


WORTHWHILE = 200
"""A function is summarised where its copies are at least this part of the graph."""


def _costliest(names: Collection[str], total: Mapping[str, int], copies: Mapping[str, int]) -> str:
    """Of these functions, the one that saves most; '' where none does that is worth it."""
    saved = {n: (copies[n] - 1) * total[n] for n in sorted(names) if copies.get(n, 0) > 1}
    best = max(saved, key=lambda n: saved[n], default="")
    return best if best and saved[best] * WORTHWHILE >= total[MAIN] else ""


def callees(flat: Flat) -> list[list[int]]:
    """By function: those that it calls, or that a library calls for it."""
    out: list[dict[int, None]] = [{} for _ in flat.names]
    for node in flat.nodes:
        if isinstance(node.action, Bind):
            out[node.action.caller][node.frame] = None
    return [list(found) for found in out]


def below(flat: Flat, names: Collection[str]) -> list[str]:
    """These functions, and all that run below them."""
    next_ = callees(flat)
    seen: dict[int, None] = {}
    work = [flat.number[name] for name in sorted(names, reverse=True)]
    while work:
        n = work.pop()
        if n not in seen:
            seen[n] = None
            work += next_[n]
    return [flat.names[n] for n in seen]


def _calls(calls: Callable[[str], Sequence[str]]) -> dict[str, list[str]]:
    """Of all that main leads to, callees before their callers; without calls that lead back."""
    out: dict[str, list[str]] = {}
    active: set[str] = {MAIN}
    stack: list[tuple[str, list[str], int]] = [(MAIN, list(calls(MAIN)), 0)]
    while stack:
        name, found, at = stack.pop()
        if at < len(found):
            stack.append((name, found, at + 1))
            to = found[at]
            if to not in out and to not in active:
                active.add(to)
                stack.append((to, list(calls(to)), 0))
            continue
        out[name] = [to for to in found if to in out]
        active.discard(name)
    return out


def _cost(
    called: Mapping[str, Sequence[str]], sizes: Mapping[str, int], cut: Collection[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Instructions that a copy of each function brings with it, and how many copies there are."""
    total: dict[str, int] = {}
    for name, found in called.items():
        total[name] = sizes.get(name, 0) + sum(total[to] for to in found if to not in cut)
    copies = {MAIN: 1}
    for name in reversed(list(called)):
        if name in cut and name != MAIN:
            continue
        for to in called[name]:
            copies[to] = copies.get(to, 0) + copies.get(name, 0)
    return total, copies


def _negative(part: ins.Operand) -> bool:
    """A negative number, or an operation that makes such a number of others that are not."""
    match part:
        case ins.Const(value=value):
            return value < 0
        case ins.Op(op=op):
            return op in ("neg", "-", "~")
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Relevance:
    """What to follow (``ownership/relevance.py``), besides calls whose results are wanted.

    seen: functions whose calls have to be followed wherever they are.  ending: functions that never return.  reached:
    all that may run.  quiet: those that may be summarised.
    """

    seen: frozenset[str]
    ending: frozenset[str]
    reached: tuple[str, ...]
    quiet: Quiet
