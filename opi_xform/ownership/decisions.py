"""One decision per buffer use in the sources, from the verdicts on the buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from opi_xform.budget import COPIES, TooLargeError
from opi_xform.codes import Reason
from opi_xform.effects.model import Effects, MpiBuffer
from opi_xform.ir import ast
from opi_xform.ir.lowering.truths import is_null
from opi_xform.ir.span import Span
from opi_xform.ownership.buffers.message_sizes import how_small_as_written, small_as_written
from opi_xform.ownership.buffers.uses import all_calls, sides
from opi_xform.ownership.deciding.agreement import Verdict
from opi_xform.ownership.explain.choosing.argument import BEGINS_INSIDE
from opi_xform.ownership.explain.choosing.in_program import InProgram
from opi_xform.ownership.explain.choosing.text_names import Found
from opi_xform.ownership.explain.deepest import NO_FORM
from opi_xform.ownership.explain.reasons import BUFFER_HERE, SENT_AGAIN, SENT_HERE
from opi_xform.ownership.explain.unreached import NEVER, never_comes, never_true
from opi_xform.ownership.model import lines
from opi_xform.ownership.model.buffers import Buffer, Place, Refusal
from opi_xform.ownership.model.plan import Advice, Decision, Note, Plan, SiteKey

_SHOWN = frozenset(
    {
        *Reason.READ_LATER.codes,
        *Reason.OLD_ADDRESS.codes,
        *Reason.OLD_BYTES.codes,
        *Reason.CALL_FORM.codes,
        *Reason.SMALL.codes,
        *Reason.REQUESTED.codes,
        Reason.NULL_SOURCE.recv.code,
        Reason.PENDING.recv.code,
    }
)
"""Codes that say what becomes of a buffer, or of its call, whatever the rest of the program does."""


PASSES = "ownership passes"
REPLACING = "ownership passes; from MPI_PROC_NULL the buffer stays as it is"


def all_kept(functions: Mapping[str, ast.Function], effects: Effects, found: TooLargeError) -> Plan:
    """The plan for a program that is too large to be analysed."""
    function = functions.get(found.most)
    here = ((function.span, "this function"),) if function is not None else ()
    name = function.name if function is not None else found.most
    message = f"the program is beyond the analysis' budget: {found.why}, `{name}` more than {found.copies} times"
    if found.why != COPIES:
        message = f"the program is beyond the analysis' budget: {found.why}"
        here = ()
    stray: dict[Place, Refusal] = {}
    for _, call, called in all_calls(functions.values(), effects):
        op = effects[called].mpi
        assert op is not None
        for side, buffer in sides(op.send, op.recv):
            place = (call.span.file, call.span.begin, side, buffer.buf)
            if not op.convertible:
                stray[place] = Refusal(Reason.CALL_FORM, op.reason or NO_FORM)
            elif buffer.buf < len(call.args) and is_null(call.args[buffer.buf]):
                stray[place] = Refusal(Reason.SEVERAL_BUFFERS, "`NULL` names no buffer")
    return Plan(tuple(decisions_of(functions, effects, {}, stray, lambda _: Refusal(Reason.BUDGET, message, here))))


def with_shown(kept: Plan, plan: Plan) -> Plan:
    """A plan with what another one shows, of functions that were looked at by themselves."""
    of_call = [d for d in plan.decisions if d.message and (d.code in _SHOWN or d.message.startswith(BEGINS_INSIDE))]
    shown = [*of_call, *(d for d in plan.decisions if d.decision == "convert")]
    kept = _with(kept, shown)
    return replace(
        kept,
        edits=(*kept.edits, *plan.edits),
        needs_header=tuple(sorted({*kept.needs_header, *plan.needs_header})),
        diagnostics=(*kept.diagnostics, *plan.diagnostics),
    )


def with_reasons(kept: Plan, plan: Plan) -> Plan:
    """A plan whose sites that stay do so for what another one says, of functions with all that leads to them from main.

    What stays there because some function was not followed, may do so in the whole program only by the budget.  What
    converts there, stays.
    """
    converted = {_site(d) for d in kept.decisions if d.decision == "convert"}
    told = [d for d in plan.decisions if d.decision == "keep" and d.message and _followed(d)]
    return _with(kept, [d for d in told if _site(d) not in converted])


def _with(plan: Plan, decisions: Iterable[Decision]) -> Plan:
    known = {_site(d): d for d in decisions}
    return replace(plan, decisions=tuple(known.get(_site(d), d) for d in plan.decisions))


def _site(d: Decision) -> SiteKey:
    return (d.span.file, d.span.begin, d.side)


def _followed(decision: Decision) -> bool:
    """What is said of a site rests on no function that was not followed."""
    said = (decision.message, *(note.message for note in decision.notes))
    return not any("not followed" in text or "not be followed" in text or "budget" in text for text in said)


def decisions_of(
    functions: Mapping[str, ast.Function],
    effects: Effects,
    verdicts: Mapping[Place, tuple[Verdict, Buffer]],
    stray: Mapping[Place, Refusal],
    otherwise: Callable[[str], Refusal],
) -> list[Decision]:
    """One decision per buffer use in the sources, in source order.  otherwise: why those of a function stay that were
    not seen.
    """
    out: list[Decision] = []
    every = list(all_calls(functions.values(), effects))
    of_call = _OfCall(functions, effects).refusal
    places = Counter(_places(every, effects))  # of several calls in one macro, too, which have one place
    for function, call, name in every:
        op = effects[name].mpi
        assert op is not None
        for side, buffer in sides(op.send, op.recv):
            p = (call.span.file, call.span.begin, side, buffer.buf)
            written = call.args[buffer.buf].span if buffer.buf < len(call.args) else call.span
            found = verdicts.get(p)
            title = found[1].name if found is not None else ""
            if found is not None and p in found[0].converted:
                assumptions = tuple(sorted(found[0].assumptions.get(p, ())))
                text = REPLACING if p in found[0].replacing else PASSES
                out.append(
                    Decision(
                        call.span,
                        function.name,
                        name,
                        side,
                        _text(written),
                        title,
                        "convert",
                        "",
                        text,
                        (),
                        assumptions,
                    )
                )
                continue
            refusal = stray.get(p) if found is None else found[0].refusals.get(p)
            other = stray.get(p) if refusal is not None and refusal.reason is Reason.SMALL else None
            if other is not None and other.message:  # other messages of the call need not be small
                title, refusal = "", other
            if refusal is None:
                refusal = of_call(otherwise(function.key), function, call, side, buffer)
            elif places[p] > 1 and refusal.message and small_as_written(call, buffer):
                title, refusal = "", Refusal(Reason.SMALL, how_small_as_written(call, buffer), form=refusal.reason)
            code = refusal.reason.code(side)
            notes = _notes(refusal, call.span)
            out.append(
                Decision(
                    call.span,
                    function.name,
                    name,
                    side,
                    _text(written),
                    title,
                    "keep",
                    code,
                    lines.told(refusal.message, call.span.file),
                    notes,
                    form=refusal.form.code(side) if refusal.form else "",
                    advice=_advice(refusal, call.span.file),
                )
            )
    out.sort(key=lambda d: (d.span.file, d.span.begin, d.side == "recv"))
    return out


def _places(calls: Iterable[tuple[ast.Function, ast.Call, str]], effects: Effects) -> Iterator[Place]:
    for _, call, name in calls:
        op = effects[name].mpi
        for side, buffer in sides(op.send, op.recv) if op is not None else ():
            yield call.span.file, call.span.begin, side, buffer.buf


class _OfCall:
    """Of calls that were not looked at: what the sources alone say of each."""

    def __init__(self, functions: Mapping[str, ast.Function], effects: Effects) -> None:
        self.functions = functions
        self.effects = effects
        self.text = InProgram(Found(functions, effects))

    def refusal(
        self, refusal: Refusal, function: ast.Function, call: ast.Call, side: str, buffer: MpiBuffer
    ) -> Refusal:
        """refusal: for what is around the call.  A small message stays whatever that does, and so do one that the
        function itself goes on reading, and a place inside a buffer.  In a program beyond the budget so does a buffer
        that several callers give.
        """
        if refusal.message and small_as_written(call, buffer):
            return Refusal(Reason.SMALL, how_small_as_written(call, buffer), form=refusal.reason)
        if never_comes(refusal.message) and (why := never_true(function, call)):
            refusal = replace(refusal, message=f"{NEVER}: {why}", notes=())
        if not refusal.message or never_comes(refusal.message):
            return refusal
        return self.text.besides(refusal, function, call, side, buffer)


def _notes(refusal: Refusal, call: Span) -> tuple[Note, ...]:
    """Each line once by the same words; and none that says of the call's own line what the call says."""
    out: dict[tuple[str, int, str], Note] = {}
    for span, message in refusal.notes:
        if span != call or not message.endswith((BUFFER_HERE, f"` {SENT_HERE}", SENT_AGAIN)):
            out.setdefault((span.file, span.line, message), Note(span, lines.told(message, span.file)))
    return tuple(out.values())


def _advice(refusal: Refusal, file: str) -> Advice | None:
    advice = refusal.advice
    return None if advice is None else replace(advice, words=lines.told(advice.words, file))


def _text(span: Span) -> str:
    try:
        with open(span.file, "rb") as f:
            data = f.read()
    except OSError:
        return ""
    return data[span.begin : span.end].decode("utf-8", "replace")
