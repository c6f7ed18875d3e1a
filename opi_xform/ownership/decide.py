"""Decides every buffer use: liveness, the conditions of DESIGN.md section 4, placement; then the plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from opi_xform.ir import ast
from opi_xform.ownership.buffers.counted import counted
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.conditions.agreement import Verdict, agreed
from opi_xform.ownership.conditions.aliases import alias_refusal, value_refusal
from opi_xform.ownership.conditions.allocators import FARTHER, aligned_farther
from opi_xform.ownership.conditions.bypass import bypass
from opi_xform.ownership.conditions.levels import levels_site, levels_written
from opi_xform.ownership.conditions.pending_requests import pending_refusal
from opi_xform.ownership.conditions.replacing import (
    replacing_places,
    replacing_refusal,
    replacing_together,
    touched_early,
)
from opi_xform.ownership.conditions.threads import threads_written
from opi_xform.ownership.decisions import decisions_of
from opi_xform.ownership.explain.culprits import least_count, readers_of_no_contents, touches_beyond, unwritten
from opi_xform.ownership.explain.deepest import Deepest, in_its_words, shared_places
from opi_xform.ownership.explain.hints import first_contents
from opi_xform.ownership.explain.hints import told as hint_told
from opi_xform.ownership.explain.reasons import ended_by_initialiser, liveness_refusal, marked, unwritten_refusal
from opi_xform.ownership.explain.unknown_buffers import stray_refusal
from opi_xform.ownership.explain.unreached import Unreached
from opi_xform.ownership.last.edits import last_sends
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Options, Place, Program, Refusal, Use
from opi_xform.ownership.model.plan import Edit, Plan, ReplaceCall, StopOthers, Told
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.patterns.agree import Patterns, disagreement
from opi_xform.ownership.placement.leftovers import leftover_edits, without_empty_loops
from opi_xform.ownership.placement.place import Placement, place
from opi_xform.ownership.refusals import WORDLESS, form_refusal, site_refusal, whole_refusal
from opi_xform.ownership.spelling.attributes import unseen_call
from opi_xform.ownership.spelling.comments import PACKED, Remark, about, keep_refusal, never_packed, remarks
from opi_xform.ownership.spelling.configurations import LEFT_OUT, left_out, several, shared_text
from opi_xform.ownership.spelling.declarations import array_edits
from opi_xform.ownership.spelling.parameters import parameters_of, reassigned
from opi_xform.ownership.spelling.second_names import renaming, second_names, with_names
from opi_xform.ownership.swaps import joined


def decide(units: Sequence[ast.Unit], program: Program, options: Options) -> Plan:
    """The plan for a whole program."""
    if options.more_than >= 0 and not options.told:
        plan = _decided(units, program, options, True)
        if sum(d.decision == "convert" for d in plan.decisions) <= options.more_than:
            return plan
    return _decided(units, program, options, False)


def _decided(units: Sequence[ast.Unit], program: Program, options: Options, silent: bool) -> Plan:
    """silent: nothing is looked for that is only said."""
    uses = collect(program)
    groups, strays = buffers(program, uses)
    stray: dict[Place, Refusal] = {}
    for use in strays:
        stray.setdefault(use.place, WORDLESS if silent else stray_refusal(program, use))
    deepest = Deepest(program, options.strict, shared_places(groups, strays), options.min_bytes)
    stray = stray if silent else deepest.strays(stray, uses)
    if program.nest.irreducible:
        groups, stray = [], {u.place: _irreducible() for u in uses}
    unseen = unseen_call(units)
    if unseen is not None:
        span, message = unseen
        groups, stray = [], {u.place: Refusal("11", message, ((span, "here"),)) for u in uses}
    passing = bypass(units, program.effects)
    closed = program.nest.irreducible or unseen is not None or passing is not None  # all sites stay
    if passing is not None:
        span, message = passing
        groups, stray = [], {u.place: Refusal("07", message, ((span, "here"),)) for u in uses}
    groups, swapped = joined(program, groups, options.strict)
    stray.update(swapped)
    parameters = parameters_of(program, units)
    together = frozenset() if options.strict or program.alone else replacing_together(program, groups)
    found = agreed(
        groups,
        parameters,
        stray,
        lambda b, kept, wordless: _buffer(units, program, b, options, kept, deepest, wordless, together),
        options.processes,
        not options.told and not any(buffer.swaps for buffer in groups),
        silent,
    )
    verdicts: dict[Place, tuple[Verdict, Buffer]] = {}
    edits: list[Edit] = []
    files: set[str] = set()
    if not closed:
        kept = {p for verdict in found for p in verdict.refusals} | set(stray)
        taken = {o for b, verdict in zip(groups, found, strict=True) if verdict.converted for o in b.objects}
        for buffer, verdict in last_sends(units, program, options, uses, kept, taken):
            groups.append(buffer)
            found.append(verdict)
    for buffer, verdict in zip(groups, found, strict=True):
        for use in buffer.uses:
            verdicts[use.place] = (verdict, buffer)
        edits.extend(verdict.edits)
        files.update(verdict.files)
    if edits:
        edits = without_empty_loops(parameters_of(program, units), dict.fromkeys(edits))
        edits.extend(leftover_edits(parameters_of(program, units), edits))
    unreached = (lambda _: WORDLESS) if program.alone else Unreached(program).refusal
    decisions = decisions_of(program.functions, program.effects, verdicts, stray, unreached)
    found_remarks = [remark for verdict in found for remark in verdict.remarks]
    return Plan(
        tuple(decisions),
        _merged(edits, uses),
        tuple(sorted(files)),
        tuple(remarks(options.told, found_remarks, decisions)),
    )


def _merged(edits: Sequence[Edit], uses: Sequence[Use]) -> tuple[Edit, ...]:
    """Two buffers of one call (a Sendrecv) make one edit of it."""
    both = {u.call.callee_span: u.op.opi_both for u in uses}
    out: dict[object, Edit] = {}
    for edit in edits:
        if not isinstance(edit, ReplaceCall):
            out.setdefault(edit, edit)
            continue
        known = out.get(edit.callee)
        if isinstance(known, ReplaceCall) and known.arguments != edit.arguments:
            arguments = tuple(dict.fromkeys((*known.arguments, *edit.arguments)))
            name = both[edit.callee]
            if "(" in known.name + edit.name:  # past the checking macros, see edits.Builder.forwarded
                name = f"({name})"
            edit = ReplaceCall(edit.callee, name, arguments)
        elif isinstance(known, ReplaceCall):
            assert known.name == edit.name, f"{edit.callee}: {known.name} and {edit.name}"  # one call cannot be both
        out[edit.callee] = edit
    return tuple(out.values())


def _irreducible() -> Refusal:
    return Refusal("11", "the program's control flow has a loop with two entries (goto into a loop)")


def _buffer(
    units: Sequence[ast.Unit],
    program: Program,
    buffer: Buffer,
    options: Options,
    kept: Mapping[Place, Refusal],
    deepest: Deepest,
    wordless: Collection[Place] = (),
    together: Collection[Place] = (),
) -> Verdict:
    """Everything about one buffer: first what each site allows, then what all of them together do.

    wordless: places of which another buffer tells why they stay: nobody reads what is said of them here.  together: see
    ``replacing_together``.
    """
    verdict = Verdict()
    places = list(dict.fromkeys(u.place for u in buffer.uses))
    whole = whole_refusal(units, program, buffer, options)
    shape = value_refusal(program, buffer) if whole is None else None
    if shape is not None:
        whole = shape.refusal
    facts: dict[int, Judge] = {}
    by_hand: set[Place] = set()
    if whole is None:
        facts = {o: Judge(program, buffer, o, options.strict) for o in buffer.objects}
        filled = _filled(program, buffer, options, facts)
        by_hand = _assumed_packed(program, buffer, options, facts, verdict, filled)
        if any(judge.exceeded for judge in facts.values()):
            whole = Refusal("401", "the regions of this buffer are too complicated; it counts as read everywhere")
        buffer = replace(
            buffer,
            zeros=any(judge.zeros for judge in facts.values()),
            replacing=replacing_places(buffer, facts, {*together, *touched_early(program, buffer, facts)}),
            cleared=any(judge.cleared for judge in facts.values()),
        )
        for judge in facts.values():
            judge.replacing = verdict.replacing = buffer.replacing
    others: tuple[StopOthers, ...] = ()
    if whole is None:
        whole = several(units, program, buffer)
    if whole is None:
        found_others = left_out(units, program, buffer, options.strict)
        if isinstance(found_others, Refusal):
            whole = found_others
        else:
            others = found_others
    if whole is not None or shape is None:
        assert whole is not None
        verdict.refusals = {u.place: in_its_words(whole, buffer, u) for u in reversed(buffer.uses)}
        for p in places if whole.code == "401" else ():  # how a call is written says more than that
            form = form_refusal(program, buffer, [u for u in buffer.uses if u.place == p], options.min_bytes)
            verdict.refusals[p] = form or verdict.refusals[p]
        _deepened(deepest, buffer, verdict, facts, wordless)
        return verdict
    second = {o: Patterns(program, buffer, o, judge.packed) for o, judge in facts.items()}
    for p in places:
        mine = [u for u in buffer.uses if u.place == p]
        refusal = levels_site(program, buffer, mine)
        refusal = refusal and in_its_words(refusal, buffer, mine[0])
        refusal = refusal or site_refusal(program, buffer, mine, facts, p in wordless, options.min_bytes)
        wished = keep_refusal(options.told, buffer, mine)
        if wished is not None:
            told = about(options.told, buffer, mine[0], "keep")
            assert told is not None
            verdict.remarks.append(Remark(told, f"the call stays anyway: {refusal.message}" if refusal else ""))
            refusal = wished
        refusal = kept.get(p, refusal) or _path_refusal(units, program, buffer, mine, options.strict)
        refusal = refusal or replacing_refusal(program, buffer, p, options.strict)
        refusal = refusal or ended_by_initialiser(program, buffer, mine[0].side)
        if refusal is None:
            believed = [u for u in mine if "A1" in facts[u.object].findings[(u.node, u.argument)].assumptions]
            refusal = marked(program, buffer, believed)
        first = next((o for o in buffer.objects if facts[o].initial), None)
        if refusal is None and first is not None:
            refusal = WORDLESS if p in wordless else first_contents(facts[first], p)
        refusal = refusal or disagreement(program, buffer, mine, second)
        if refusal is None:
            verdict.converted.add(p)
            found = [facts[u.object].findings[(u.node, u.argument)] for u in mine]
            verdict.assumptions[p] = {a for f in found for a in f.assumptions} | ({PACKED} if p in by_hand else set())
        else:
            verdict.refusals[p] = refusal
    _keep(verdict, dict(verdict.refusals))
    _settle(units, program, buffer, shape.null_tests, facts, verdict)
    others = (*others, *parameters_of(program, units).others(verdict.lifted if verdict.converted else ()))
    if verdict.converted and others:
        verdict.edits = (*verdict.edits, *dict.fromkeys(others))
        for p in verdict.converted:
            verdict.assumptions[p].add(LEFT_OUT)
    if aligned_farther(program, buffer):
        for p in verdict.converted:
            verdict.assumptions[p].add(FARTHER)
    _keep(verdict, _unwritable(options, verdict))
    _deepened(deepest, buffer, verdict, facts, wordless)
    for p, refusal in [(p, r) for p, r in verdict.refusals.items() if r.hint and p not in wordless]:
        rest = _left(units, program, buffer, shape.null_tests, facts, verdict.converted, p, refusal, options)
        verdict.refusals[p] = hint_told(refusal, rest, p in deepest.shared)
    return verdict


def _deepened(
    deepest: Deepest, buffer: Buffer, verdict: Verdict, facts: Mapping[int, Judge], wordless: Collection[Place]
) -> None:
    refusals = {p: refusal for p, refusal in verdict.refusals.items() if p not in wordless}
    deepest.of_buffer(buffer, refusals, facts)
    verdict.refusals.update(refusals)


def _left(
    units: Sequence[ast.Unit],
    program: Program,
    buffer: Buffer,
    null_tests: tuple[int, ...],
    facts: Mapping[int, Judge],
    others: set[Place],
    p: Place,
    why: Refusal,
    options: Options,
) -> Refusal | None:
    """What keeps a site when ``why``, which was found first, is not there."""
    mine = [u for u in buffer.uses if u.place == p]
    refusal = _path_refusal(units, program, buffer, mine, options.strict)
    if refusal is not None:
        return refusal
    here = {u.object for u in mine}
    first = next((o for o in buffer.objects if facts[o].initial and o not in here), None)
    if first is not None:
        return first_contents(facts[first], p)
    trial = Verdict(converted={*others, p, *(u.place for u in buffer.uses if u.place == _twin(p))})
    tests = () if why.code == "05" else null_tests  # the only such reason with a hint
    packed = {u.node for u in mine} if why.hint is not None and why.hint.kind == "pack" else set()
    if packed and not buffer.cleared and any(unwritten(judge, packed) for judge in facts.values()):
        return why  # what is packed may be memory that comes only then, and others read it before
    _settle(units, program, buffer, tests, facts, trial, why.code == "06", packed)
    _keep(trial, _unwritable(options, trial))
    return trial.refusals.get(p)


def _filled(program: Program, buffer: Buffer, options: Options, facts: dict[int, Judge]) -> frozenset[Place]:
    """Judges once more with what counters say of sends, where that may help."""
    if buffer.swaps or all(Judge.fine(judge.initial, judge.findings) for judge in facts.values()):
        return frozenset()  # what a counter says of a name is not said of the block that it got
    filled = counted(program, buffer)
    if filled:
        facts.update((o, Judge(program, buffer, o, options.strict, filled)) for o in facts)
    return filled


def _assumed_packed(
    program: Program,
    buffer: Buffer,
    options: Options,
    facts: dict[int, Judge],
    verdict: Verdict,
    filled: frozenset[Place],
) -> set[Place]:
    """Judges once more with what comments say of sends; the sites that convert only because of it."""
    packed: dict[Place, Told] = {}
    for use in buffer.uses:
        told = about(options.told, buffer, use, "packed")
        if told is None:
            continue
        if options.strict:
            verdict.remarks.append(Remark(told, "--strict does without it"))
        elif never_packed(program, buffer, use):
            message = f"nothing is written into `{buffer.name}` between its last hand-over and this send"
            verdict.remarks.append(Remark(told, message))
        else:
            packed[use.place] = told
    if not packed:
        return set()
    changed: set[Place] = set()
    for o, judge in list(facts.items()):
        again = Judge(program, buffer, o, options.strict, filled | frozenset(packed))
        for use in judge.uses:
            key = (use.node, use.argument)
            known, new = judge.findings.get(key), again.findings.get(key)
            better = new is not None and new.ok and (known is None or not known.ok)
            if better or (judge.initial, judge.zeros) > (again.initial, again.zeros):
                changed.add(use.place)
        facts[o] = again
    for told in packed.values():
        verdict.remarks.append(Remark(told, "" if changed else "the sites are judged the same without it"))
    return changed


def _settle(
    units: Sequence[ast.Unit],
    program: Program,
    buffer: Buffer,
    null_tests: tuple[int, ...],
    facts: Mapping[int, Judge],
    verdict: Verdict,
    waited: bool = False,
    packed: Collection[int] = (),
) -> None:
    """Pending requests, placement and aliases, until what converts is stable.

    waited: as if all was waited for.  packed: nodes that send as if all of it was written right before.
    """
    while verdict.converted:
        going = [u for u in buffer.uses if u.place in verdict.converted]
        staying = [u for u in buffer.uses if u.place not in verdict.converted]
        pending = {} if waited else pending_refusal(program, buffer, staying, going)
        if pending:
            _keep(verdict, pending)
            continue
        beyond = _beyond(program, buffer, facts, verdict.converted)
        if beyond:
            _keep(verdict, beyond)
            continue
        lifted = _lifting(program, buffer, verdict.converted)
        placed = _placed(units, program, lifted, frozenset(verdict.converted), null_tests, waited)
        if isinstance(placed, Refusal):
            _keep(verdict, _alone(units, program, buffer, verdict.converted, null_tests, placed))
            continue
        bare = None if buffer.cleared else next((judge for judge in facts.values() if unwritten(judge, packed)), None)
        if placed.guarded and bare is not None:
            why = unwritten_refusal(program, buffer, readers_of_no_contents(bare))
            _keep(verdict, dict.fromkeys(sorted(verdict.converted), why))
            continue
        shared = shared_text(program, verdict.converted, placed.edits)
        if shared is not None:
            _keep(verdict, dict.fromkeys(sorted(verdict.converted), shared))
            continue
        verdict.lifted = lifted.lifted
        changed = parameters_of(program, units).edits(verdict.lifted, verdict.converted)
        sizes = () if buffer.carrier.variable in program.members else array_edits(units, buffer.carrier, placed.edits)
        verdict.edits = (*placed.edits, *sizes, *changed)
        verdict.files = placed.files
        found = levels_written(program, buffer, verdict.edits) or threads_written(program, buffer, verdict.edits)
        if found is None:
            return
        verdict.edits = ()
        _keep(verdict, dict.fromkeys(sorted(verdict.converted), found))


def _unwritable(options: Options, verdict: Verdict) -> dict[Place, Refusal]:
    """All sites of the buffer, where an edit that they need cannot be made in the text as it is."""
    for edit in verdict.edits if verdict.converted else ():
        reason = options.obstacle(edit)
        if reason:
            verdict.edits = ()
            return dict.fromkeys(verdict.converted, Refusal("09", f"an edit is not possible here: {reason}"))
    return {}


def _beyond(
    program: Program, buffer: Buffer, facts: Mapping[int, Judge], converted: set[Place]
) -> dict[Place, Refusal]:
    """Receives that do not make room for all that is touched after them."""
    out: dict[Place, Refusal] = {}
    for o, judge in facts.items():
        found = judge.beyond(converted)
        for use in buffer.uses:
            if use.object == o and (use.node, use.argument) in found:
                finding = found[(use.node, use.argument)]
                least = least_count(judge, use, converted)
                refusal = liveness_refusal(program, buffer, use, finding, touches_beyond(judge, use), None, least)
                out.setdefault(use.place, refusal)
    return out


def _twin(p: Place) -> Place:
    """The other side of a call that sends and receives by one argument; of other calls there is no such site."""
    file, begin, side, argument = p
    return (file, begin, "recv" if side == "send" else "send", argument)


def _keep(verdict: Verdict, refusals: Mapping[Place, Refusal]) -> None:
    """The sites stay; with one side of an MPI_Sendrecv_replace the other one does, too."""
    for p, refusal in refusals.items():
        twin = _twin(p)
        if twin in verdict.converted:
            verdict.converted.discard(twin)
            verdict.refusals[twin] = refusal
        verdict.converted.discard(p)
        verdict.refusals[p] = refusal


def _placed(
    units: Sequence[ast.Unit],
    program: Program,
    buffer: Buffer,
    converted: frozenset[Place],
    null_tests: tuple[int, ...],
    waited: bool = False,
) -> Placement | Refusal:
    buffer = with_names(program, units, buffer, converted)
    placed = place(program, buffer, converted, null_tests)
    if isinstance(placed, Refusal):
        return placed
    stale = alias_refusal(program, buffer, placed.points, placed.rows)
    if stale is None or (waited and stale.code == "06"):
        return placed.test or placed
    seconds = second_names(program, units, buffer) if stale.code == "05" and not buffer.swaps else {}
    if not seconds or alias_refusal(program, buffer, placed.points, placed.rows, seconds) is not None:
        return stale
    setting = {n for second in seconds.values() for n in second.nodes}
    fewer = replace(buffer, touches=tuple(n for n in buffer.touches if n not in setting))
    again = place(program, fewer, converted, null_tests)  # nothing has to be there for a name that is not used
    if isinstance(again, Placement) and alias_refusal(program, buffer, again.points, again.rows, seconds) is None:
        placed = again
    more = renaming(program, seconds, placed.edits)
    if more is None:
        return stale
    if placed.test is not None:
        return placed.test
    return replace(placed, edits=(*placed.edits, *more))


def _lifting(program: Program, buffer: Buffer, converted: set[Place]) -> Buffer:
    """The buffer with the parameters through which it comes to the sites that convert."""
    found = {key for u in buffer.uses if u.place in converted for key in path(program, u)[0]}
    return replace(buffer, lifted=frozenset(found)) if found else buffer


def _path_refusal(
    units: Sequence[ast.Unit], program: Program, buffer: Buffer, uses: list[Use], strict: bool
) -> Refusal | None:
    """Why the buffer cannot come to a site through the parameters of the program's functions."""
    keys = list(dict.fromkeys(key for u in uses for key in path(program, u)[0]))
    parameters = parameters_of(program, units)
    for key in keys:
        refusal = parameters.refusal(key)
        if refusal is not None:
            return refusal
        stops = parameters.others([key]) if strict else ()
        if stops:
            note = (stops[0].span, "this text is left out here, and another configuration compiles it")
            return Refusal("12", f"code under a false #if calls `{stops[0].name}`, which would change", (note,))
    if keys and reassigned(program, buffer, keys):
        name = program.variables[keys[0]].name
        return Refusal("04", f"`{name}` is a parameter, and `{buffer.name}` itself changes while it stands for it")
    return None


def _alone(
    units: Sequence[ast.Unit],
    program: Program,
    buffer: Buffer,
    converted: set[Place],
    null_tests: tuple[int, ...],
    together: Refusal,
) -> dict[Place, Refusal]:
    """The sites that cannot convert even without the others; all of them when each could."""
    if len(converted) > 1:
        out: dict[Place, Refusal] = {}
        for p in sorted(converted):
            sides = {p, _twin(p)} & converted
            alone = _placed(units, program, _lifting(program, buffer, sides), frozenset(sides), null_tests)
            if isinstance(alone, Refusal):
                out[p] = alone
        if out:
            return out
    return dict.fromkeys(sorted(converted), together)
