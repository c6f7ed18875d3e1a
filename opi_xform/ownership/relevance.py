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
from dataclasses import replace

from opi_xform.effects.model import Effects
from opi_xform.effects.outside import foreign
from opi_xform.graph.flat import Flat
from opi_xform.graph.graph import MAIN
from opi_xform.graph.summaries import Quiet, Relevance, callees
from opi_xform.ir import ast
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.ownership.reach import Facts, Reach
from opi_xform.pointsto.constraints import GraphPointsTo
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.pointers import PointerCalls


def relevant(
    lowerings: Lowerings,
    effects: Effects,
    pointers: PointerCalls,
    variables: Mapping[str, ast.Variable],
    called_back: Iterable[str],
) -> Relevance:
    """What to follow of a program with a main.  ``called_back``: globals that unknown code may use (``pipeline``).

    That is all of it where addresses travel as bytes, since any function may move them.
    """
    flat = Flat(lowerings, effects, pointers)
    objects = Objects(variables, foreign(variables, True))
    for key in sorted(key for key, v in variables.items() if v.is_global):
        objects.variable(-1, key)
    objects.called_back.update(objects.variable(-1, key) for key in called_back)
    points_to = GraphPointsTo(flat.graph(), variables, objects, effects, flat=True)
    made: list[list[Facts]] = []

    def facts() -> list[Facts]:
        if not made:
            reader = Reach(flat, points_to, variables, effects)
            made.append([reader.facts(number) for number in range(len(flat.names))])
        return made[0]

    def quiet() -> frozenset[str]:
        if points_to.taken_apart():
            return frozenset()  # what a function changes is not known by the addresses that it names
        return _quiet(flat, facts(), _interesting(points_to, facts()), points_to)

    def mute() -> frozenset[str]:
        return _mute(flat, facts())

    if points_to.taken_apart():
        seen = frozenset(flat.names)
    else:
        seen = _closed(flat, facts(), _interesting(points_to, facts()), points_to)
    return Relevance(seen, flat.ending, tuple(flat.names), Quiet(flat, quiet, mute))


def followed_all(relevance: Relevance) -> Relevance:
    """The same, but that no call is passed over, and none is summarised for what flat points-to knows."""
    return replace(relevance, seen=frozenset(relevance.reached), quiet=replace(relevance.quiet, functions=frozenset))


def _quiet(flat: Flat, facts: Sequence[Facts], interesting: set[int], points_to: GraphPointsTo) -> frozenset[str]:
    """Functions that, with all they call, touch nothing of interest, and change nothing in which a pointer to it is.

    What MPI holds (requests, and the numbers after a message) they do not change either.  What a function that hands
    out memory allocates is the caller's (``program/fresh.py``), and perhaps of interest: it is none of them.
    """
    given = {o for one in facts for o in one.given if o != UNKNOWN}
    guarded = {o for one in facts for o in one.held} | given & interesting
    for name, objects in points_to.sets.items():
        if name[0] == "c" and isinstance(name[1], int) and name[1] != UNKNOWN and not objects.isdisjoint(interesting):
            guarded.add(name[1])
    work = [flat.number[MAIN]]
    for number, one in enumerate(facts):
        if one.loud or not (one.touched.isdisjoint(interesting) and one.written.isdisjoint(guarded)):
            work.append(number)
    return _without_callers(flat, work)


def _mute(flat: Flat, facts: Sequence[Facts]) -> frozenset[str]:
    """Functions in which, with all they call, nothing happens but what their instructions and the tables tell.

    This asks for what they do, not for what they do it to.  Which messages' buffers they may have to do with is found
    in the program graph, and these are given up (``calls/summarised.py``): nothing here rests on points-to without
    contexts, and addresses may travel as bytes.
    """
    return _without_callers(flat, [flat.number[MAIN], *(number for number, one in enumerate(facts) if one.opaque)])


def _without_callers(flat: Flat, work: list[int]) -> frozenset[str]:
    """All functions that do not lead to one of these, and that do not hand out memory of their own."""
    callers: list[list[int]] = [[] for _ in flat.names]
    for caller, found in enumerate(callees(flat)):
        for callee in found:
            callers[callee].append(caller)
    noisy: set[int] = set()
    while work:
        number = work.pop()
        if number not in noisy:
            noisy.add(number)
            work += callers[number]
    return frozenset(name for n, name in enumerate(flat.names) if n not in noisy and flat.fresh.get(name) is None)


def _interesting(points_to: GraphPointsTo, facts: Sequence[Facts]) -> set[int]:
    """Objects given to MPI or to code that may keep them, and the variables that hold pointers to them.

    Single numbers are none: they stay as they are, and what they hold is followed as what every variable holds.
    """
    table = points_to.objects.table
    found: set[int] = set()
    for one in facts:
        found |= one.given
    for o in sorted(found):
        type_ = table[o].type
        if o == UNKNOWN or (type_ is not None and type_.kind in ("int", "float")):
            found.remove(o)
    held = set(found)
    for name, objects in points_to.sets.items():
        if name[0] == "c" and isinstance(name[1], int) and name[1] != UNKNOWN and not objects.isdisjoint(found):
            type_ = table[name[1]].type
            while type_ is not None and type_.is_array:
                type_ = type_.elem
            if type_ is not None and type_.is_pointer:
                held.add(name[1])
    return held


def _closed(flat: Flat, facts: Sequence[Facts], interesting: set[int], points_to: GraphPointsTo) -> frozenset[str]:
    """The least set that the rules at the top of this page allow."""
    count = len(facts)
    callers: list[list[int]] = [[] for _ in range(count)]
    callees = [[flat.number[name] for name in one.callees] for one in facts]
    for number, targets in enumerate(callees):
        for target in targets:
            callers[target].append(number)
    writers: dict[int, list[int]] = {}
    for number, one in enumerate(facts):
        for o in one.written:
            writers.setdefault(o, []).append(number)
    seen = [False] * count  # to be followed everywhere
    read = [False] * count  # in the graph: what it reads counts
    done: set[tuple[int, bool]] = set()
    # Locals of a function that is not in the graph are nobody's there: what is read of them counts once it is.
    waiting: dict[int, list[tuple[int, bool]]] = {}
    work: list[int] = []

    def reads(o: int, typed: bool) -> None:
        if (o, typed) in done:
            return
        owner = points_to.objects.table[o].frame
        if owner >= 0 and not read[owner]:
            waiting.setdefault(owner, []).append((o, typed))
            return
        done.add((o, typed))
        for writer in writers.get(o, ()):
            if typed or o in facts[writer].moved:
                see(writer)

    def see(number: int) -> None:
        if not seen[number]:
            seen[number] = True
            work.append(number)

    always = {flat.number[name] for name in flat.pointers.taken if name in flat.number}
    for number, one in enumerate(facts):
        if one.loud or one.speaks or number in always or not one.touched.isdisjoint(interesting):
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
        for o in one.typed:
            reads(o, True)
        for o in one.copied:
            reads(o, False)
        for o, typed in waiting.pop(number, ()):
            reads(o, typed)
    return frozenset(flat.names[n] for n in range(count) if seen[n])
