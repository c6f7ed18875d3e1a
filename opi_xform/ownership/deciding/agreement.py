"""Sites that several buffers share: a helper is written once, so all that pass through it convert, or none does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from opi_xform.codes import Reason
from opi_xform.ir.span import Span
from opi_xform.ownership.buffers.message_sizes import small
from opi_xform.ownership.deciding.judging import Known
from opi_xform.ownership.model.buffers import Buffer, Place, Refusal
from opi_xform.ownership.model.plan import Edit
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.spelling.comments import Remark
from opi_xform.ownership.spelling.configurations import siblings
from opi_xform.ownership.spelling.parameters import Parameters
from opi_xform.parallel import each


@dataclass(slots=True)
class Verdict:
    """One buffer: which places convert, why the others stay, and the edits.

    lifted: parameters that change for it.  replacing: of the places, those that keep what is there from MPI_PROC_NULL.
    """

    refusals: dict[Place, Refusal] = field(default_factory=dict)
    converted: set[Place] = field(default_factory=set)
    assumptions: dict[Place, set[str]] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    files: tuple[str, ...] = ()
    lifted: frozenset[str] = frozenset()
    replacing: frozenset[Place] = frozenset()
    remarks: list[Remark] = field(default_factory=list)


def agreed(
    groups: Sequence[Buffer],
    parameters: Parameters,
    strays: Mapping[Place, Refusal],
    judge: Callable[[Buffer, Mapping[Place, Refusal], Collection[Place], Known], Verdict],
    processes: int = 1,
    brief: bool = False,
    silent: bool = False,
    before: Sequence[Verdict] = (),
    weight: int = 1,
) -> list[Verdict]:
    """The verdict on each buffer; ``judge`` gives one, some places being kept whatever it finds, some without words.

    Buffers that are names of the same memory are judged one after the other: what is found out for one of them is known
    to those that follow.
    Each round keeps more places, so there is an end.  brief: of a place that several buffers come to, one tells
    why it stays (``tellers``).  What the others would say is looked for only where one of them keeps it alone.
    silent: nobody reads why places stay.  before: what a silent run came to; of a buffer with all of its places
    converted, there was nothing to say.  weight: a buffer takes as long as so many of a small program.
    """
    kept: dict[Place, Refusal] = dict(strays)
    places = [{u.place for u in buffer.uses} for buffer in groups]
    wordless = places if silent else _told_by_others(groups) if brief else [set[Place]() for _ in groups]
    found: list[Verdict | None] = [None if v.refusals else v for v in before] or [None] * len(groups)
    families = _families(groups)

    def judged(family: Sequence[int]) -> list[Verdict]:
        known: Known = {}
        return [judge(groups[i], kept, wordless[i], known) for i in family]

    while True:
        open_ = [family for family in ([i for i in f if found[i] is None] for f in families) if family]
        sizes = [sum(len(groups[i].uses) * (len(groups[i].touches) + 1) for i in family) for family in open_]
        every = each(judged, open_, processes, weight * sum(map(len, open_)), sizes)
        for family, own in zip(open_, every, strict=True):
            for i, verdict in zip(family, own, strict=True):
                found[i] = verdict
        verdicts = [verdict for verdict in found if verdict is not None]
        converted = {p for verdict in verdicts for p in verdict.converted}
        asked = [i for i, verdict in enumerate(verdicts) if wordless[i] & converted - verdict.converted]
        if asked and not silent:
            for i in asked:
                wordless[i], found[i] = set(), None
            continue
        new = _disagreements(groups, parameters, verdicts)
        if not new:
            return verdicts
        kept.update(new)
        found = [None if mine & set(new) else v for mine, v in zip(places, verdicts, strict=True)]


def _families(groups: Sequence[Buffer]) -> list[list[int]]:
    """Buffers that have memory in common, each such family in order."""
    family: dict[int, int] = {}  # of a buffer: its first one
    first: dict[int, int] = {}  # by object
    for i, buffer in enumerate(groups):
        joined = {family[first[o]] for o in buffer.objects if o in first}
        family[i] = min(joined, default=i)
        for k in family if len(joined) > 1 else ():
            family[k] = family[i] if family[k] in joined else family[k]
        first.update((o, i) for o in buffer.objects)
    out: dict[int, list[int]] = {}
    for i, f in family.items():
        out.setdefault(f, []).append(i)
    return list(out.values())


def tellers(groups: Sequence[Buffer]) -> dict[Place, int]:
    """By place: which buffer tells why it stays: the last one that comes to it, but small messages matter least."""
    found: dict[Place, tuple[bool, int]] = {}
    for i, buffer in enumerate(groups):
        for use in buffer.uses:
            mine = not small([use]), i
            found[use.place] = max(found.get(use.place, mine), mine)
    return {p: i for p, (_, i) in found.items()}


def _told_by_others(groups: Sequence[Buffer]) -> list[set[Place]]:
    """By buffer: its places of which another one tells."""
    told_by = tellers(groups)
    return [{u.place for u in buffer.uses if told_by[u.place] != i} for i, buffer in enumerate(groups)]


def _elsewhere(parameters: Parameters, key: str, verdicts: Sequence[Verdict]) -> Span | None:
    """The same parameter in another file that includes the header, where it stays: called there with something else."""
    function, i = parameters.owner[key]
    lifted = {key for verdict in verdicts for key in verdict.lifted}
    for other in siblings(parameters.program, function):
        called = parameters.calls.get(other.key, ())
        if other.key in parameters.taken:
            return parameters.taken[other.key]
        if called and other.params[i] not in lifted:
            return called[0][1].span
    return None


def _disagreements(
    groups: Sequence[Buffer], parameters: Parameters, verdicts: Sequence[Verdict]
) -> dict[Place, Refusal]:
    """Places that convert for one buffer and must not, because of another or of the parameters on the way."""
    out: dict[Place, Refusal] = {}
    program = parameters.program
    staying: dict[Place, list[tuple[Buffer, Verdict]]] = {}
    for other, their in zip(groups, verdicts, strict=True):
        for p in {u.place for u in other.uses} - their.converted:
            staying.setdefault(p, []).append((other, their))
    for buffer, verdict in zip(groups, verdicts, strict=True):
        assert verdict.converted <= {u.place for u in buffer.uses}
        for p in sorted(verdict.converted & staying.keys()):
            for other, their in staying[p]:
                refusal = their.refusals[p]
                text = refusal.message
                if other.name != buffer.name or f"`{other.name}`" not in text:  # else it says that of the call's name
                    text = f"the same call sends or receives `{other.name}`, which stays: {text}"
                out[p] = Refusal(refusal.reason, text, refusal.notes, form=refusal.form)
    stay = {b.carrier.variable: v.refusals for b, v in zip(groups, verdicts, strict=True) if not v.converted}
    for buffer, verdict in zip(groups, verdicts, strict=True):
        alone = next((swap.other for swap in buffer.swaps if swap.other in stay), None)
        if alone is not None:
            name = program.variables[alone].name
            why = min(stay[alone].items(), key=lambda found: found[0])[1]
            message = f"`{buffer.name}` changes places with `{name}`, which stays: {why.message}"
            for p in sorted(verdict.converted):
                out.setdefault(p, Refusal(Reason.SEVERAL_BUFFERS, message, why.notes))
    for key in sorted({key for verdict in verdicts for key in verdict.lifted}):
        takers = [(b, v) for b, v in zip(groups, verdicts, strict=True) if key in v.lifted]
        carriers = {b.carrier.variable: b.carrier for b, _ in takers}
        common = frozenset.intersection(*(v.lifted for _, v in takers))
        converted = {p for v in verdicts for p in v.converted}
        span = next((c.span for c in parameters.strangers(key, carriers, common)), None)
        span = span or parameters.exposed(key, common, converted) or _elsewhere(parameters, key, verdicts)
        if span is None:
            continue
        name = program.variables[key].name
        message = (
            f"`{name}` is a parameter, a copy of the caller's pointer, and not all calls pass a buffer that converts"
        )
        for buffer, verdict in takers:
            for use in buffer.uses:
                if use.place in verdict.converted and key in path(program, use)[0]:
                    out.setdefault(use.place, Refusal(Reason.CARRIER, message, ((span, "here"),)))
    return out
