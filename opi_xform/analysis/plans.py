"""What to do with every buffer use of a program: decided of the whole, or function by function beyond the budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opi_xform import budget
from opi_xform.analysis.known import Analysis, Part, untimed
from opi_xform.budget import TooLargeError
from opi_xform.effects.model import Effects
from opi_xform.effects.table import load_effects
from opi_xform.graph.around import Around
from opi_xform.graph.graph import MAIN
from opi_xform.graph.islands import Names, islands
from opi_xform.graph.loops import without_two_entries
from opi_xform.graph.whole import Whole, entries, merge
from opi_xform.ir import ast
from opi_xform.ir.ast import Units
from opi_xform.ir.calls import functions_called
from opi_xform.ownership.buffers.uses import all_calls
from opi_xform.ownership.decide import decide
from opi_xform.ownership.decisions import all_kept, with_reasons, with_shown
from opi_xform.ownership.disjoint import said_apart, with_assumption
from opi_xform.ownership.model.buffers import Options, Program
from opi_xform.ownership.model.plan import Decision, Plan, Told
from opi_xform.ownership.placement.leftovers import leftover_edits
from opi_xform.ownership.spelling.comments import ENTRIES, entry_remarks, no_effect, remarks
from opi_xform.ownership.spelling.configurations import written_at
from opi_xform.ownership.spelling.parameters import parameters_of
from opi_xform.program.own_memalign import without_misread
from opi_xform.program.threads import followed


def analyse(units: Sequence[ast.Unit], options: Options, part: Part = untimed) -> tuple[Plan, Program | None]:
    """The plan for a program, with the edits that make it, and what is known of the program.

    None: there is nothing to decide, or it is too large to be known as a whole.
    """
    with part("merge"):
        loaded = load_effects(options.effects, strict=options.strict)
        units, whole = _merged(units, loaded)
        whole = replace(whole, pointers=options.pointers)
    if not all_calls(whole.functions.values(), loaded):
        return Plan(()), None
    effects = _of_libraries(loaded, whole)
    known: Program | None = None
    try:
        plan, known = _decided(units, whole, effects, options, part)
    except TooLargeError as found:
        plan = by_themselves(units, whole, effects, options, all_kept(whole.functions, effects, found), part)
    plan = replace(plan, header=options.header)
    return (plan if options.effects is None else _with_entries(plan, whole, loaded, options.effects)), known


def looked_at(units: Sequence[ast.Unit], options: Options) -> Program | None:
    """What is known of a program before anything is decided; None where it is too large."""
    effects = load_effects(options.effects, strict=options.strict)
    _, whole = _merged(units, effects)
    try:
        return Analysis.of(whole, _of_libraries(effects, whole)).program(everything=False)
    except TooLargeError:
        return None


def _merged(units: Sequence[ast.Unit], effects: Effects) -> tuple[Units, Whole]:
    """The files as one program, and as they are followed: with what OpenMP's threads run marked."""
    followed_units, threads = followed(without_misread(units), effects)
    units = Units.of(without_two_entries(followed_units))
    return units, replace(merge(units), threads=threads)


def _decided(
    units: Sequence[ast.Unit], whole: Whole, effects: Effects, options: Options, part: Part
) -> tuple[Plan, Program]:
    """Raises TooLargeError."""
    analysis = Analysis.of(whole, effects, part)
    everything = False
    known = analysis.program(everything, exchanges=True)
    with part("decide"):
        plan = decide(units, known, options)
    if _changes_what_was_passed(plan, known):  # no rule makes such an edit, and none may: see how it is with all there
        everything = True
        known.end()
        known = analysis.program(everything, exchanges=True)
        with part("decide"):
            plan = decide(units, known, options)
    return _with_told(units, analysis, options, plan, known, everything)


def by_themselves(
    units: Sequence[ast.Unit], whole: Whole, effects: Effects, options: Options, kept: Plan, part: Part
) -> Plan:
    """The plan of a program beyond the budget, ``kept``, with what its functions show that are looked at alone."""
    around = Around(whole, effects, entries(whole) == (MAIN,))
    sending: dict[str, list[ast.Call]] = {}
    for function, call, _ in all_calls(whole.functions.values(), effects):
        sending.setdefault(function.key, []).append(call)
    with part("alone"):
        names = Names(units, around)
        groups = islands(names, sending)
    entered = [one for group in groups for one in (*group.parts, group) if not one.rooted]
    shared = _several(one.functions for one in entered)
    last: Program | None = None
    heard: set[Told] = set()
    rooted = 0
    for island in (*entered, *(group for group in groups if group.rooted)):
        if rooted > budget.ALL_ROOTED:
            break
        alone = island.functions
        told = _told_of(options.told, alone, sending)
        own = names.own(alone) if island.rooted else frozenset[str]()
        try:
            analysis = Analysis(whole, effects, around, island.rooted, part, alone=alone, own=own)
            known = analysis.program(exchanges=island.rooted)
            with part("decide"):
                plan = decide(units, known, replace(options, told=told))
        except TooLargeError:
            continue
        known.end()
        if island.rooted:
            rooted += len(known.graph.nodes)
            kept = with_reasons(kept, plan)
        elif not _changes(plan, known, known.functions.keys() - alone | shared):
            kept, last = with_shown(kept, plan), known
            heard.update(told)
    kept = replace(kept, diagnostics=(*kept.diagnostics, *_unheard(options.told, heard, kept)))
    if last is None or not kept.edits:
        return kept
    unused = leftover_edits(parameters_of(last, units), kept.edits)  # what several groups together call no more
    last.end()
    return replace(kept, edits=tuple(dict.fromkeys((*kept.edits, *unused))))


def _several(groups: Iterable[Iterable[str]]) -> set[str]:
    """Functions that more than one group has."""
    return {name for name, many in Counter(n for group in groups for n in group).items() if many > 1}


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
    units: Sequence[ast.Unit], analysis: Analysis, options: Options, plan: Plan, known: Program, everything: bool
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
        again = replace(analysis, apart=[fact for _, fact in said.facts]).program(everything, exchanges=True)
        with analysis.part("decide"):
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
