"""From translation units to a plan: the order in which everything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from opi_xform.budget import TooLargeError
from opi_xform.effects.model import Effects
from opi_xform.effects.outside import foreign
from opi_xform.effects.table import load_effects
from opi_xform.graph.around import Around
from opi_xform.graph.copies import Relevance, build
from opi_xform.graph.graph import MAIN, Graph
from opi_xform.graph.islands import islands
from opi_xform.graph.loops import LoopNest, loop_nest
from opi_xform.graph.whole import Whole, called_back, entries, initialised, merge
from opi_xform.ir import ast
from opi_xform.ir.ast import Units
from opi_xform.ir.calls import functions_called
from opi_xform.memory.objects import Objects
from opi_xform.memory.values import Values
from opi_xform.ownership.buffers.members import counters, promote, wanted
from opi_xform.ownership.buffers.number_tables import number_tables, promoted
from opi_xform.ownership.buffers.tables import find_tables
from opi_xform.ownership.buffers.uses import all_calls
from opi_xform.ownership.decide import decide
from opi_xform.ownership.decisions import all_kept, with_shown
from opi_xform.ownership.disjoint import Apart, never_of, said_apart, with_assumption
from opi_xform.ownership.model.buffers import Member, Options, Program
from opi_xform.ownership.model.plan import Decision, Plan, Told
from opi_xform.ownership.placement.leftovers import leftover_edits
from opi_xform.ownership.relevance import followed_all, relevant
from opi_xform.ownership.spelling.comments import ENTRIES, entry_remarks, no_effect, remarks
from opi_xform.ownership.spelling.configurations import written_at
from opi_xform.ownership.spelling.parameters import parameters_of
from opi_xform.ownership.swaps import Found, placed, sound
from opi_xform.ownership.swaps import find as find_swaps
from opi_xform.pointsto.constraints import GraphPointsTo
from opi_xform.pointsto.successive import successive
from opi_xform.program.own_memalign import without_misread
from opi_xform.program.succeeding import succeeding
from opi_xform.program.threads import followed
from opi_xform.values.interp import interpret


class _TakenApartError(Exception):
    """Addresses travel as bytes: a function whose calls are passed over may move them."""


Part = Callable[[str], AbstractContextManager[None]]
"""Called with the name of a part of the analysis, around it: times are taken there."""


def _untimed(_name: str) -> AbstractContextManager[None]:
    return nullcontext()


def program(
    whole: Whole,
    effects: Effects,
    part: Part = _untimed,
    everything: bool = True,
    apart: Sequence[Apart] = (),
    exchanges: bool = False,
    relevance: Relevance | None = None,
    alone: frozenset[str] = frozenset(),
    around: Around | None = None,
) -> Program:
    """The analysed graph of what the entries reach: of everything, or of all that a decision can depend on.

    everything: every call has a copy of its function, however large that gets.  relevance: if it is known already.
    apart: what a person says of pointers.  exchanges: pointers that change places stay where they are in the graph
    (``ownership/swaps.py``); who asks for it has to look at ``Program.exchanges``.  alone: functions that are looked at
    by themselves (``graph/islands.py``); the others may do anything.  around: if that is known already.
    """
    starts = tuple(sorted(alone)) or entries(whole)
    complete = starts == (MAIN,) and not alone
    variables: Mapping[str, ast.Variable] = whole.variables
    with part("calls"):
        around = around or Around(whole, effects, complete)
        lowerings, pointers = around.lowerings, around.pointers
    if complete and not everything and relevance is None:
        with part("relevance"):
            relevance = relevant(lowerings, effects, pointers, variables, called_back(whole))
    with part("graph"):
        never_fail = succeeding(whole.functions, variables, effects) if complete else frozenset()
        graph = build(
            lowerings,
            starts,
            effects,
            pointers,
            relevance,
            initialised(whole),
            never_fail,
            alone,
            around.bodies if alone else None,
        )
        nest = loop_nest(graph.succs, graph.preds)
    try:
        known = _memory(
            whole, effects, graph, nest, variables, {}, complete, part, apart, graph.partial, around=around, alone=alone
        )
    except _TakenApartError:
        assert relevance is not None
        del graph, nest
        return program(whole, effects, part, False, apart, exchanges, followed_all(relevance))
    swaps = find_swaps(known) if exchanges else []
    while swaps:
        without, exchanged = placed(graph, swaps, {}, variables)
        relative = known.values.objects.relative
        first = _memory(
            *(whole, effects, without, nest, variables, {}, complete, part, apart),
            exchanged=True,
            relative=relative,
            around=around,
        )
        found = _promoted(whole, effects, [replace(first, exchanges=exchanged)], complete, part, apart, swaps, around)
        right = sound(found, swaps)
        if len(right) == len(swaps):
            known.end()
            return found
        found.end()
        swaps = right
    last = [known]
    del known  # a program's values are large: two at a time are enough
    return _promoted(whole, effects, last, complete, part, apart, (), around, alone)


def _promoted(
    whole: Whole,
    effects: Effects,
    last: list[Program],
    complete: bool,
    part: Part,
    apart: Sequence[Apart],
    swaps: Sequence[Found],
    around: Around,
    alone: frozenset[str] = frozenset(),
) -> Program:
    """The program with pointers in structs, and numbers, as variables.  It takes the program out of the list."""
    found = last.pop()
    for _ in range(MEMBER_ROUNDS):
        if found.nest.irreducible:
            break
        through = wanted(found)
        with part("members"):
            more = promote(found, find_tables) if through else counters(found)
        if more is None:
            break
        with part("members"):
            graph, variables = promoted(more.graph, more.variables, number_tables(found) if through else ())
            graph, exchanged = placed(graph, swaps, more.members, variables)
        found.end()
        nest, before = found.nest, {} if swaps else found.values.objects.first
        relative = found.values.objects.relative
        del found
        found = _memory(
            whole,
            effects,
            graph,
            nest,
            variables,
            more.members,
            complete,
            part,
            apart,
            False,
            before,
            bool(swaps),
            relative,
            around=around,
            alone=alone,
        )
        found = replace(found, exchanges=exchanged)
    return found


MEMBER_ROUNDS = 3
"""Pointers in structs that are reached through one another: each round follows one more."""


def _memory(
    whole: Whole,
    effects: Effects,
    graph: Graph,
    nest: LoopNest,
    variables: Mapping[str, ast.Variable],
    members: Mapping[str, Member],
    complete: bool,
    part: Part,
    apart: Sequence[Apart],
    partial: bool = False,
    before: Mapping[int, int] | None = None,
    exchanged: bool = False,
    relative: frozenset[int] = frozenset(),
    *,
    around: Around,
    alone: frozenset[str] = frozenset(),
) -> Program:
    """What a program graph's memory holds.  It is looked at once more where allocations count as one.

    partial: some calls are passed over.  Raises _TakenApartError where they may not be.  before: allocations that count
    as one in a graph that does the same: so they do here.  exchanged: pointers change places, and the graph does not
    show it.  relative: calls in a graph of the same program that make datatypes with no address in them: they do here.
    alone: only these functions are followed.
    """

    def looked_at(joined: Mapping[int, int], relative: frozenset[int]) -> tuple[Objects, GraphPointsTo, Values]:
        while True:  # once more where calls that make datatypes with no address in them are found early on
            objects = Objects(variables, foreign(whole.variables, complete), joined)
            objects.relative = relative
            objects.promoted = frozenset(variables.keys() - whole.variables.keys())
            objects.first_frame, objects.first_node = graph.background.frame, graph.background.node
            for key in sorted(key for key, v in variables.items() if v.is_global):
                o = objects.variable(-1, key)
                if not complete and (alone or variables[key].kind == "extern"):
                    objects.exposed.add(o)
            objects.called_back.update(objects.variable(-1, key) for key in around.called_back)
            objects.hidden = around.hidden
            objects.floats_apart = around.floats_apart
            with part("points-to"):
                points_to = GraphPointsTo(graph, variables, objects, effects, never_of(objects, apart))
            if partial and points_to.taken_apart():
                raise _TakenApartError
            with part("values"):
                unwritten = {key for key, member in members.items() if member.raw}
                values = interpret(graph, nest, variables, objects, points_to, effects, complete, unwritten)
            if values.whole:
                return objects, points_to, values
            relative |= values.relative
            del objects, points_to, values  # they are large

    objects, points_to, values = looked_at(before or {}, relative)
    relative = objects.relative
    more = successive(graph, objects, points_to, values, effects, exchanged)
    fresh = values.relative - relative
    if more or fresh:
        relative |= fresh
        del objects, points_to, values
        if before and more:  # these may have to do with those
            return _memory(
                *(whole, effects, graph, nest, variables, members, complete, part, apart, partial),
                exchanged=exchanged,
                relative=relative,
                around=around,
                alone=alone,
            )
        objects, points_to, values = looked_at(more or before or {}, relative)
    size = 4 if "MPICH_VERSION" in whole.constants or "MPICH_NUMVERSION" in whole.constants else 8
    return Program(
        graph,
        nest,
        values,
        variables,
        whole.functions,
        effects,
        whole.constants,
        size,
        complete,
        points_to,
        members,
        frozenset(whole.taken),
        whole.files,
        whole.unsteady,
        whole.names_proc_null,
        never_of(objects, apart),
        threads=whole.threads,
        freeing=whole.freeing,
        shared=whole.shared,
        alone=alone,
        left_out=whole.left_out,
    )


def analyse(
    units: Sequence[ast.Unit],
    options: Options,
    part: Part = _untimed,
    seen: Callable[[Program], None] = lambda known: None,
) -> Plan:
    """What to do with every buffer use of a program, and the edits that do it.  ``seen`` gets what was found out."""
    with part("merge"):
        effects = loaded = load_effects(options.effects, strict=options.strict)
        units, threads = followed(without_misread(units), effects)
        units = Units.of(units)
        whole = replace(merge(units), threads=threads)
    if not all_calls(whole.functions.values(), effects):
        return Plan(())
    effects = _of_libraries(effects, whole)
    try:
        plan, known = _decided(units, whole, effects, options, part)
    except TooLargeError as found:
        plan = by_themselves(units, whole, effects, options, all_kept(whole.functions, effects, found), part)
    else:
        seen(known)
    plan = replace(plan, header=options.header)
    return plan if options.effects is None else _with_entries(plan, whole, loaded, options.effects)


def looked_at(units: Sequence[ast.Unit], options: Options) -> Program | None:
    """What is known of a program before anything is decided; None where it is too large."""
    effects = load_effects(options.effects, strict=options.strict)
    units, threads = followed(without_misread(units), effects)
    units = Units.of(units)
    whole = replace(merge(units), threads=threads)
    try:
        return program(whole, _of_libraries(effects, whole), everything=False)
    except TooLargeError:
        return None


def _decided(
    units: Sequence[ast.Unit], whole: Whole, effects: Effects, options: Options, part: Part
) -> tuple[Plan, Program]:
    """Raises TooLargeError."""
    everything = False
    known = program(whole, effects, part, everything, exchanges=True)
    with part("decide"):
        plan = decide(units, known, options)
    if _changes_what_was_passed(plan, known):  # no rule makes such an edit, and none may: see how it is with all there
        everything = True
        known.end()
        known = program(whole, effects, part, exchanges=True)
        with part("decide"):
            plan = decide(units, known, options)
    return _with_told(units, whole, effects, options, plan, known, part, everything)


def by_themselves(
    units: Sequence[ast.Unit], whole: Whole, effects: Effects, options: Options, kept: Plan, part: Part
) -> Plan:
    """The plan of a program beyond the budget, ``kept``, with what its functions show that are looked at alone."""
    around = Around(whole, effects, False)
    sending: dict[str, list[ast.Call]] = {}
    for function, call, _ in all_calls(whole.functions.values(), effects):
        sending.setdefault(function.key, []).append(call)
    with part("alone"):
        groups = islands(around.lowerings, sending)
    shared = {name for name, many in Counter(n for group in groups for n in group).items() if many > 1}
    last: Program | None = None
    heard: set[Told] = set()
    for alone in groups:
        told = _told_of(options.told, alone, sending)
        try:
            known = program(whole, effects, part, alone=alone, around=around)
            with part("decide"):
                plan = decide(units, known, replace(options, told=told))
        except TooLargeError:
            continue
        known.end()
        if not _changes(plan, known, known.functions.keys() - alone | shared):
            kept, last = with_shown(kept, plan), known
            heard.update(told)
    kept = replace(kept, diagnostics=(*kept.diagnostics, *_unheard(options.told, heard, kept)))
    if last is None or not kept.edits:
        return kept
    unused = leftover_edits(parameters_of(last, units), kept.edits)  # what several groups together call no more
    return replace(kept, edits=tuple(dict.fromkeys((*kept.edits, *unused))))


def _told_of(
    told: Sequence[Told], functions: Collection[str], calls: Mapping[str, Sequence[ast.Call]]
) -> tuple[Told, ...]:
    """The comments at calls in these functions: of the others a plan of these alone has nothing to say."""
    spans = [call.span for name in functions for call in calls.get(name, ())]
    return tuple(t for t in told if any(t.file == s.file and t.begin <= s.begin < t.end for s in spans))


def _unheard(told: Iterable[Told], heard: Container[Told], kept: Plan) -> list[Decision]:
    """Remarks about comments that no function looked at by itself has made use of."""
    rest = [one for one in told if one not in heard]
    apart = [one for one in rest if one.what == "disjoint"]
    why = "functions are looked at by themselves here, which makes no use of it"
    return [*remarks(rest, (), kept.decisions), *(no_effect(one, why) for one in apart)]


def _of_libraries(effects: Effects, whole: Whole) -> Effects:
    """Without functions that the program defines itself; of the MPI's, ``conditions/calls/own_mpi.py`` has to know.

    Names like ``s_copy`` and ``f_open`` may be those of any library.  They are libf2c's only where its header is read.
    """
    mine = {name for name in whole.functions if name in effects and not name.startswith(("MPI_", "PMPI_"))}
    if not whole.f2c:
        mine.update(name for name in effects if effects[name].source == "libf2c.toml")
    return Effects({name: effects[name] for name in effects if name not in mine}) if mine else effects


def _with_told(
    units: Sequence[ast.Unit],
    whole: Whole,
    effects: Effects,
    options: Options,
    plan: Plan,
    known: Program,
    part: Part,
    everything: bool,
) -> tuple[Plan, Program]:
    """The plan with what a person says of pointers, where that makes it a better one."""
    told = [one for one in options.told if one.what == "disjoint"]
    if not told:
        return plan, known
    said = said_apart(known, told)
    remarks = [no_effect(one, reason) for one, reason in said.refused]
    if options.strict:
        remarks = [no_effect(one, "--strict does without it") for one in told]
    elif said.facts:
        again = program(whole, effects, part, everything, [fact for _, fact in said.facts], exchanges=True)
        with part("decide"):
            other, better = with_assumption(plan, decide(units, again, options))
        if better and (everything or not _changes_what_was_passed(other, again)):
            known.end()
            plan, known = other, again
        else:
            again.end()
            remarks += [no_effect(one, "no site converts because of it") for one in dict(said.facts)]
    return replace(plan, diagnostics=(*plan.diagnostics, *remarks)), known


def _changes_what_was_passed(plan: Plan, known: Program) -> bool:
    """An edit lies in a function that also runs where its calls are passed over."""
    return _changes(plan, known, known.graph.passed)


def _changes(plan: Plan, known: Program, functions: Collection[str]) -> bool:
    """An edit lies in one of these functions."""
    where: dict[str, list[tuple[int, int]]] = {}
    for name in sorted(functions):
        span = known.functions[name].span
        where.setdefault(span.file, []).append((span.begin, span.end))
    places = (written_at(edit) for edit in plan.edits)
    return any(begin <= p.begin < end for p in places for begin, end in where.get(p.file, ()))


def _with_entries(plan: Plan, whole: Whole, effects: Effects, path: Path) -> Plan:
    """The plan with what rests on the entries of an opi.toml (all that converts), and those that say nothing."""
    called = {name for f in whole.functions.values() for name in functions_called(f)}
    unused = entry_remarks(effects, path, whole.functions, called)
    theirs = {name for name, effect in effects.items() if effect.user}
    decisions = plan.decisions
    if theirs & called - whole.functions.keys():
        decisions = tuple(
            replace(d, assumptions=(*d.assumptions, ENTRIES)) if d.decision == "convert" else d for d in decisions
        )
    return replace(plan, decisions=decisions, diagnostics=(*plan.diagnostics, *unused))
