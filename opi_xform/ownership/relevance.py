"""Which functions have to be looked at: those that a message buffer, or what is known of one, can depend on.

Most of a large program computes.  A function that touches no message buffer, no address of one, and changes no integer
and no pointer that a function which does may read, can be called between two statements without any decision depending
on it: its calls stay in the program graph as calls, but are not followed.  docs/soundness.md says why nothing is lost.

The question is answered before the graph exists, for each function once: points-to without contexts finds what every
function reads, writes and can hold the address of; then the functions that matter are closed under

- their callers (a call of theirs is followed wherever it is), and
- the writers of every object that they read: any writer where they read an integer or a pointer, writers of anything
  but floating numbers where they copy its bytes.

A function whose integer or pointer result is wanted by one that matters is followed there, and there only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from opi_xform.dataflow.scc import components
from opi_xform.ir import ast
from opi_xform.memory.constraints import GraphPointsTo
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.memory.reach import Facts, Reach, bits_of, ones
from opi_xform.program.effects import Effects
from opi_xform.program.flat import Flat
from opi_xform.program.graph import MAIN, Lowerings, Relevance
from opi_xform.program.pointers import PointerCalls


def relevant(
    lowerings: Lowerings,
    effects: Effects,
    pointers: PointerCalls,
    variables: Mapping[str, ast.Variable],
    called_back: Iterable[str],
) -> Relevance:
    """What to follow of a program with a main.  ``called_back``: globals that unknown code may use (``driver``)."""
    flat = Flat(lowerings, effects, pointers)
    objects = Objects(variables)
    for key in sorted(key for key, v in variables.items() if v.is_global):
        objects.variable(-1, key)
    objects.called_back.update(objects.variable(-1, key) for key in called_back)
    points_to = GraphPointsTo(flat.graph(), variables, objects, effects)
    reader = Reach(flat, points_to, variables, effects)
    facts = [reader.facts(number) for number in range(len(flat.names))]
    seen = _closed(flat, facts, _interesting(points_to, facts), points_to)
    return Relevance(seen, flat.ending, tuple(flat.names))


def _interesting(points_to: GraphPointsTo, facts: Sequence[Facts]) -> int:
    """Objects given to MPI or to code that may keep them, and the variables that hold pointers to them.

    Single numbers are none: they stay as they are, and what they hold is followed as what every variable holds.
    """
    found = 0
    for one in facts:
        found |= one.given
    for o in ones(found):
        type_ = points_to.objects.table[o].type
        if o == UNKNOWN or (type_ is not None and type_.kind in ("int", "float")):
            found ^= 1 << o
    held = found
    for name, objects in points_to.sets.items():
        if name[0] == "c" and isinstance(name[1], int) and name[1] != UNKNOWN and bits_of(objects) & found:
            type_ = points_to.objects.table[name[1]].type
            while type_ is not None and type_.is_array:
                type_ = type_.elem
            if type_ is not None and type_.is_pointer:
                held |= 1 << name[1]
    return held


def _closed(flat: Flat, facts: Sequence[Facts], interesting: int, points_to: GraphPointsTo) -> frozenset[str]:
    """The least set that the rules at the top of this page allow."""
    count = len(facts)
    callers: list[list[int]] = [[] for _ in range(count)]
    callees = [[flat.number[name] for name in one.callees] for one in facts]
    for number, targets in enumerate(callees):
        for target in targets:
            callers[target].append(number)
    writers: dict[int, list[int]] = {}
    for number, one in enumerate(facts):
        for o in ones(one.written):
            writers.setdefault(o, []).append(number)
    local = [bits_of(points_to.objects.locals_of(number)) for number in range(count)]
    seen = [False] * count  # to be followed everywhere
    read = [False] * count  # in the graph: what it reads counts
    alive = ~bits_of(o for number in range(count) for o in points_to.objects.locals_of(number))
    typed = copied = typed_done = copied_done = 0
    work: list[int] = []

    def see(number: int) -> None:
        if not seen[number]:
            seen[number] = True
            work.append(number)

    taken = {flat.number[name] for name in flat.pointers.taken if name in flat.number}
    recursive = {n for group in components(range(count), lambda n: callees[n]) if len(group) > 1 for n in group}
    for number, one in enumerate(facts):
        if one.loud or one.touched & interesting or number in taken or number in recursive or number in callees[number]:
            see(number)
    see(flat.number[MAIN])
    while work:
        number = work.pop()
        if seen[number]:
            for caller in callers[number]:
                see(caller)
        if read[number]:
            continue
        read[number] = True
        one = facts[number]
        for name in one.wanted:
            if not read[flat.number[name]]:
                work.append(flat.number[name])
        alive |= local[number]  # locals of a function that is not in the graph are nobody's there
        typed |= one.typed
        copied |= one.copied
        for o in ones(typed & alive & ~typed_done):
            for writer in writers.get(o, ()):
                see(writer)
        for o in ones(copied & alive & ~copied_done):
            for writer in writers.get(o, ()):
                if facts[writer].moved >> o & 1:
                    see(writer)
        typed_done |= typed & alive
        copied_done |= copied & alive
    return frozenset(flat.names[n] for n in range(count) if seen[n])
