"""Decides every buffer use: the conditions look at the facts of its buffer, in the order of ``TABLE``; then the calls
are placed (``convert_together.py``); then the edits are made.

A site that stays may keep another one, so conditions and placement follow one another until nothing changes: each round
keeps more.  Why a site stays is found by trying what would be without one thing (``_left``, ``_small``), once it stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ownership.buffers.message_sizes import how_small
from opi_xform.ownership.buffers.message_sizes import small as is_small
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.conditions.addresses import parameters
from opi_xform.ownership.conditions.calls import small
from opi_xform.ownership.conditions.contents import budget
from opi_xform.ownership.conditions.contents.ends import TEXT_ENDS
from opi_xform.ownership.conditions.memory.allocators import FARTHER, aligned_farther
from opi_xform.ownership.conditions.table import TABLE
from opi_xform.ownership.convert_together import convert_together, keep, twin, unwritable
from opi_xform.ownership.deciding.agreement import Verdict, agreed, tellers
from opi_xform.ownership.deciding.facts import WORDLESS, BufferFacts, ProgramFacts, Site, Supposed
from opi_xform.ownership.deciding.receives import replacing_together
from opi_xform.ownership.decisions import decisions_of
from opi_xform.ownership.explain.choosing.periodic import never_null
from opi_xform.ownership.explain.culprits import unwritten
from opi_xform.ownership.explain.deepest import Deepest, in_its_words, shared_places
from opi_xform.ownership.explain.hints import first_contents, waited
from opi_xform.ownership.explain.hints import told as hint_told
from opi_xform.ownership.explain.pointers.exchanged import by_the_other_name
from opi_xform.ownership.explain.pointers.unknown_buffers import stray_refusal
from opi_xform.ownership.explain.unreached import Unreached
from opi_xform.ownership.last.edits import of_blocks
from opi_xform.ownership.last.tested import kept_by_tests
from opi_xform.ownership.model.buffers import Buffer, Options, Place, Program, Refusal, Use
from opi_xform.ownership.model.plan import Edit, Plan, ReplaceCall
from opi_xform.ownership.patterns.agree import disagreement
from opi_xform.ownership.placement.leftovers import leftover_edits, without_empty_loops
from opi_xform.ownership.requests.pending import NO_WAITS
from opi_xform.ownership.spelling.comments import PACKED, Remark, about, remarks
from opi_xform.ownership.spelling.configurations import LEFT_OUT
from opi_xform.ownership.swaps import joined

SMALL = 2_000
"""Nodes of a program of which a buffer is judged in milliseconds: in a larger one it takes that much longer, about."""


def decide(units: Sequence[ast.Unit], program: Program, options: Options) -> Plan:
    """The plan for a whole program."""
    found: list[Verdict] = []
    if options.more_than >= 0 and not options.told:
        plan = _decided(units, program, options, True, found)
        if sum(d.decision == "convert" for d in plan.decisions) <= options.more_than:
            return plan
    return _decided(units, program, options, False, found)


def _decided(
    units: Sequence[ast.Unit], program: Program, options: Options, silent: bool, before: list[Verdict]
) -> Plan:
    """silent: nothing is looked for that is only said.  before: verdicts of such a run; it gets those of this one."""
    uses = collect(program)
    groups, strays = buffers(program, uses)
    stray: dict[Place, Refusal] = {}
    deepest = Deepest(program, options.strict, shared_places(groups, strays), options.min_bytes)
    facts = ProgramFacts(units, program, options)
    closed = next(filter(None, (c.program(facts) for c in TABLE if c.program is not None)), None)
    if closed is not None:  # its paths may not be known: nothing is asked of any buffer
        groups = []
        stray = {u.place: closed if silent else deepest.in_program.whole(program, u, closed) for u in uses}
        if closed.reason is Reason.CALL_FORM and not silent:  # its paths are known
            large = {u.place for u in uses if not is_small([u])}
            few = {u.place: Refusal(Reason.SMALL, how_small([u]), form=closed.reason) for u in uses}
            stray.update((p, refusal) for p, refusal in few.items() if p not in large)
    else:
        for use in strays:
            stray.setdefault(use.place, WORDLESS if silent else stray_refusal(program, use))
        stray = stray if silent else deepest.strays(stray, uses)
    groups, swapped = joined(program, groups, options.strict)
    staying = {**stray, **swapped}
    together = frozenset() if options.strict or program.alone else replacing_together(program, groups)
    facts = ProgramFacts(units, program, options, together)
    found = agreed(
        groups,
        facts.parameters,
        staying,
        lambda b, kept, wordless, known: _buffer(BufferFacts(facts, b, known), kept, deepest, wordless),
        options.processes,
        not options.told and not any(buffer.swaps for buffer in groups),
        silent,
        before,
        len(program.graph.nodes) // SMALL + 1,
    )
    before[:] = found
    verdicts: dict[Place, tuple[Verdict, Buffer]] = {}
    edits: list[Edit] = []
    files: set[str] = set()
    if closed is None:
        kept = {p for verdict in found for p in verdict.refusals} | set(staying)
        taken = {o for b, verdict in zip(groups, found, strict=True) if verdict.converted for o in b.objects}
        for buffer, verdict in of_blocks(units, program, options, uses, kept, taken):
            groups.append(buffer)
            found.append(verdict)
        if not silent and not program.alone:
            kept_by_tests(units, program, options, uses, groups, found)
    told_by = tellers(groups)
    for i, (buffer, verdict) in enumerate(zip(groups, found, strict=True)):
        for use in buffer.uses:
            if use.place in verdict.converted or told_by[use.place] == i:
                verdicts[use.place] = (verdict, buffer)
        edits.extend(verdict.edits)
        files.update(verdict.files)
    if edits:
        edits = without_empty_loops(facts.parameters, dict.fromkeys(edits))
        edits.extend(leftover_edits(facts.parameters, edits))
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


def _buffer(
    facts: BufferFacts, kept: Mapping[Place, Refusal], deepest: Deepest, wordless: Collection[Place] = ()
) -> Verdict:
    """Everything about one buffer: what it allows, what each site does, what all of them together do.

    kept: places that stay for another buffer.  wordless: places of which another one tells why they stay: nobody reads
    what is said of them here.
    """
    verdict = Verdict()
    verdict.refusals = _small(facts, kept, wordless)
    if verdict.refusals:
        return verdict
    if _kept_by_form(facts, kept):
        if all(u.place in wordless for u in facts.found.uses):
            verdict.refusals = {u.place: kept.get(u.place, WORDLESS) for u in facts.found.uses}
            return verdict
        facts = replace(facts, told_only=True)
    sites = _sites(facts, wordless)
    whole = next(filter(None, (c.buffer(facts) for c in TABLE if c.buffer is not None)), None)
    if whole is not None:
        verdict.refusals = {u.place: in_its_words(whole, facts.found, u) for u in reversed(facts.found.uses)}
        for site in sites if whole.reason is Reason.BUDGET else ():  # how a call is written says more than that
            at_site = budget.at_site(facts, site.uses[0])
            verdict.refusals[site.place] = _refused(site, form=True) or at_site or verdict.refusals[site.place]
        if whole is facts.left_out_so_far:  # what the program does with it would keep it wherever that is compiled, too
            told = {s.place: _refused(s) for s in sites if s.place not in wordless}
            verdict.refusals.update((p, replace(r, form=whole.reason)) for p, r in told.items() if r is not None)
        if facts.judges_so_far or facts.options.told:
            verdict.remarks += facts.liveness.remarks
        else:
            facts = replace(facts, told_only=True)
        _deepened(deepest, facts, verdict, wordless)
        return verdict
    verdict.remarks += facts.liveness.remarks
    verdict.replacing = facts.buffer.replacing
    for site in sites:
        p = site.place
        refusal = kept.get(p) or _refused(site)
        _remark(site, verdict)
        if refusal is None:
            assert site.needed is None, f"{p}: {site.needed}"
            verdict.converted.add(p)
            findings = (site.finding(u) for u in site.uses)
            believed = {a for finding in findings if finding is not None for a in finding.assumptions}
            verdict.assumptions[p] = believed | ({PACKED} if p in facts.liveness.by_hand else set())
        else:
            verdict.refusals[p] = refusal
    keep(verdict, dict(verdict.refusals))
    convert_together(facts, verdict, facts.values.null_tests)
    _assumed(facts, verdict)
    keep(verdict, unwritable(facts.options, verdict))
    _deepened(deepest, facts, verdict, wordless)
    for site in (s for s in sites if s.place not in wordless):
        verdict.refusals.update(_instead(facts, site, verdict))
    hinted = [(p, r) for p, r in verdict.refusals.items() if r.hint and p not in wordless]
    for p, refusal in hinted:
        same = {other for other, r in hinted if refusal.reason is Reason.OLD_ADDRESS and r.hint == refusal.hint}
        rest = _left(facts, verdict.converted | same, next(s for s in sites if s.place == p), refusal)
        if rest is not None and rest.reason is not refusal.reason and never_null(facts.program, refusal):
            verdict.refusals[p] = replace(rest, hint=None)
            continue
        verdict.refusals[p] = hint_told(refusal, rest, p in deepest.shared)
    return verdict


def _small(facts: BufferFacts, kept: Mapping[Place, Refusal], wordless: Collection[Place]) -> dict[Place, Refusal]:
    """Of each site that its message is small, where that is told of all: which bytes are live is not asked then."""
    uses = facts.found.uses
    if facts.options.told or facts.found.swaps or any(u.place in kept or not is_small([u]) for u in uses):
        return {}
    facts = replace(facts, unasked=True)
    if any(c.buffer(facts) is not None for c in TABLE if c.buffer is not None):
        return {}
    ahead = TABLE[: TABLE.index(small.CONDITION) + 1]
    out: dict[Place, Refusal] = {}
    for site in _sites(facts, wordless):
        found = next(filter(None, (c.site(site) for c in ahead if c.site is not None)), None)
        if found is None or found.reason is not Reason.SMALL:
            return {}
        out[site.place] = found
    return out


def _kept_by_form(facts: BufferFacts, kept: Mapping[Place, Refusal]) -> bool:
    """Each site stays for another buffer, or for how its call is written: liveness decides nothing."""
    if facts.options.told or facts.found.swaps:
        return False
    sites = _sites(replace(facts, unasked=True), ())
    return all(site.place in kept or _refused(site, form=True) is not None for site in sites)


def _sites(facts: BufferFacts, wordless: Collection[Place]) -> list[Site]:
    by_place: dict[Place, list[Use]] = {}
    for use in facts.found.uses:
        by_place.setdefault(use.place, []).append(use)
    return [Site(facts, p, uses, p in wordless) for p, uses in by_place.items()]


def _refused(site: Site, form: bool = False, but: Reason | None = None) -> Refusal | None:
    """What the first condition says that keeps a site.  form: of those about how the call is written."""
    for condition in TABLE:
        if condition.site is None or (form and not condition.form):
            continue
        refusal = condition.site(site)
        if refusal is not None and refusal.reason is not but:
            return refusal
    return None


def _remark(site: Site, verdict: Verdict) -> None:
    """A comment that keeps a site which would stay anyway."""
    told = about(site.facts.options.told, site.buffer, site.uses[0], "keep")
    if told is not None:
        anyway = _refused(site, but=Reason.REQUESTED)
        verdict.remarks.append(Remark(told, f"the call stays anyway: {anyway.message}" if anyway else ""))


def _assumed(facts: BufferFacts, verdict: Verdict) -> None:
    """Edits that see to it that what is assumed holds, and the assumptions."""
    lifted = verdict.lifted if verdict.converted else ()
    assert not isinstance(facts.left_out, Refusal)
    others = (*facts.left_out, *facts.of.parameters.others(lifted))
    if verdict.converted and others:
        verdict.edits = (*verdict.edits, *dict.fromkeys(others))
        for p in verdict.converted:
            verdict.assumptions[p].add(LEFT_OUT)
    if aligned_farther(facts.program, facts.buffer):
        for p in verdict.converted:
            verdict.assumptions[p].add(FARTHER)


def _deepened(deepest: Deepest, facts: BufferFacts, verdict: Verdict, wordless: Collection[Place]) -> None:
    refusals = {p: refusal for p, refusal in verdict.refusals.items() if p not in wordless}
    deepest.of_buffer(facts.found, refusals, lambda: facts.liveness.judges)
    for use in facts.found.uses if facts.found.swaps else ():
        if (told := refusals.get(use.place)) is not None:
            refusals[use.place] = by_the_other_name(deepest.live_data, use, told)
    verdict.refusals.update(refusals)


def _instead(facts: BufferFacts, site: Site, verdict: Verdict) -> dict[Place, Refusal]:
    """What keeps a site besides that a text may come without its end, which nothing in its process hints at."""
    refusal = verdict.refusals.get(site.place)
    if refusal is None or refusal.message != TEXT_ENDS:
        return {}
    rest = _refused(site, but=refusal.reason) or _left(facts, verdict.converted, site, refusal)
    return {} if rest is None or rest.reason is refusal.reason else {site.place: rest}


def _left(facts: BufferFacts, others: set[Place], site: Site, why: Refusal) -> Refusal | None:
    """What keeps a site when ``why``, which was found first, is not there.  others: sites that convert with it then."""
    refusal = parameters.check(site)
    if refusal is not None:
        return refusal
    judges, buffer = facts.liveness.judges, facts.buffer
    here = {u.object for u in site.uses}
    first = next((o for o in buffer.objects if judges[o].initial and o not in here), None)
    if first is not None:
        return first_contents(judges[first], site.place)
    going = {*others, site.place, *(u.place for u in buffer.uses if u.place == twin(site.place))}
    tests = () if why.reason is Reason.OLD_ADDRESS else facts.values.null_tests  # the only such reason with a hint
    packs = why.hint is not None and why.hint.kind == "pack"
    packed = frozenset(u.node for u in site.uses) if packs else frozenset()
    if packed and not buffer.cleared and any(unwritten(judge, packed) for judge in judges.values()):
        return why  # what is packed may be memory that comes only then, and others read it before
    trial = Verdict(converted=going)
    waits = waited(facts.program, why.hint) if why.hint is not None and why.hint.kind == "wait" else NO_WAITS
    convert_together(facts, trial, tests, Supposed(waits, why.reason is Reason.PENDING and not waits, packed))
    keep(trial, unwritable(facts.options, trial))
    left = trial.refusals.get(site.place)
    return disagreement(facts.program, buffer, site.uses, facts.patterns, packed) if left is None and packed else left
