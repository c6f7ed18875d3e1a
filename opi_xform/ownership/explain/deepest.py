"""The deepest reason of a site whose buffer has a form that cannot be handed over.

Another form of the buffer is no help where the message is small, or where its bytes are read after the send anyway.
That is said instead then.  Which sites convert does not depend on any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import uncast
from opi_xform.ownership.buffers.message_sizes import INLINE_LIMIT, how_small, small, too_small
from opi_xform.ownership.buffers.uses import touches
from opi_xform.ownership.explain.called import only_printed
from opi_xform.ownership.explain.choosing import right_after
from opi_xform.ownership.explain.choosing.argument import begins_inside, by_its_arguments, is_text
from opi_xform.ownership.explain.choosing.beginnings import only_the_beginning
from opi_xform.ownership.explain.choosing.in_program import InProgram
from opi_xform.ownership.explain.choosing.in_the_text import read_after, read_beside
from opi_xform.ownership.explain.choosing.in_turns import begun_in_each_turn
from opi_xform.ownership.explain.choosing.order import PERHAPS, also, in_order
from opi_xform.ownership.explain.choosing.places import is_all, other_start, set_to_a_place
from opi_xform.ownership.explain.choosing.requests_told import never_completed, without_an_end
from opi_xform.ownership.explain.choosing.text_names import Found
from opi_xform.ownership.explain.culprits import (
    same_words,
    unknown_place,
)
from opi_xform.ownership.explain.datatypes import (
    beyond_variable,
    gaps_of,
    in_one_block,
    layout_refusal,
    more_than_there_is,
    of_one_piece,
    of_structs,
    one_of_several,
)
from opi_xform.ownership.explain.later import TWICE, begun_again, of_another_process, read_early
from opi_xform.ownership.explain.live_data import LiveData
from opi_xform.ownership.explain.other_pointers import first_of_rows, row_of, row_within
from opi_xform.ownership.explain.part_reasons import READS_ONLY
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.in_common import meets
from opi_xform.ownership.explain.reaching.other_threads import started
from opi_xform.ownership.explain.reaching.turns import moving_loop
from opi_xform.ownership.explain.reasons import liveness_refusal, named_in, written
from opi_xform.ownership.explain.sure_reads import partly_known, surely_read
from opi_xform.ownership.explain.unreached import Unreached
from opi_xform.ownership.liveness.asked import Judges, Steps
from opi_xform.ownership.liveness.findings import Finding
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.addresses import COMPUTED_PLACE, NO_START, POINTS_INTO
from opi_xform.ownership.model.buffers import Buffer, Carrier, Place, Program, Refusal, Swap, Use
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import base_of

FORM = frozenset(
    (Reason.CARRIER, Reason.CALL_FORM, Reason.OUTSIDE, Reason.DECLARATION, Reason.BUDGET, Reason.SEVERAL_BUFFERS)
)
UNSURE = frozenset((Reason.OLD_BYTES, Reason.SEVERAL_BUFFERS))
OUTSIDE = frozenset((Reason.ESCAPE, Reason.UNKNOWN_FUNCTION, Reason.CONCURRENT))
BESIDE = frozenset((Reason.ESCAPE, Reason.UNKNOWN_FUNCTION, Reason.SEVERAL_BUFFERS))
PLACE = frozenset((Reason.NO_ANCHOR, Reason.UNPAIRED))
LIES = frozenset((Reason.CARRIER, Reason.READ_LATER, Reason.OLD_BYTES))
"""Where a message lies: another place for it has to have another datatype, too, where that may have gaps."""
AROUND = frozenset((Reason.OUTSIDE, Reason.CONCURRENT))
"""What another call would leave as it is: threads, text of other configurations, files that were not given."""
NOT_ASKED = "; whether its bytes are needed later was not looked for (the budget of reasons)"
NO_FORM = "this form of call has no ownership-passing counterpart"


def shared_places(groups: Sequence[Buffer], strays: Sequence[Use]) -> frozenset[Place]:
    """Sites to which several buffers come, or one that is not known."""
    seen: set[Place] = set()
    out = {use.place for use in strays}
    for buffer in groups:
        places = {use.place for use in buffer.uses}
        out |= places & seen
        seen |= places
    return frozenset(out)


def in_its_words(refusal: Refusal, buffer: Buffer, use: Use) -> Refusal:
    """A lost buffer by the name that the call has for it: another one may be a variable of another function."""
    rest = refusal.message.removeprefix(f"`{buffer.name}`: ")
    name = named_in(use)
    return refusal if rest == refusal.message or name == UNSPELLED else replace(refusal, message=f"`{name}`: {rest}")


class Deepest:
    """One per program: ``refusal``."""

    def __init__(self, program: Program, strict: bool, shared: frozenset[Place], least: int = 0) -> None:
        """shared: see ``shared_places``.  least: see ``message_sizes.too_small``."""
        self.program = program
        self.strict = strict
        self.least = least
        self.shared = shared
        self.unreached = Unreached(program)
        self.in_program = InProgram(Found(program.functions, program.effects))
        self.alone = not program.complete and "main" in program.functions  # a part of a program beyond the budget
        self.steps = Steps()
        self.swapping = {key for e in program.exchanges for key in (e.first, e.second)}

    def strays(self, stray: dict[Place, Refusal], uses: Sequence[Use]) -> dict[Place, Refusal]:
        """Sites whose buffer is not known: where its object is, that says enough."""
        by_place: dict[Place, list[Use]] = {}
        for use in sorted(uses, key=lambda use: small([use])):  # what keeps a small message matters least
            by_place.setdefault(use.place, []).append(use)
        judges = Judges(self.steps)
        return {p: self.refusal(by_place[p], r, self.buffers(by_place[p], uses), judges) for p, r in stray.items()}

    def of_buffer(
        self, buffer: Buffer, refusals: dict[Place, Refusal], known: Callable[[], Mapping[int, Judge]]
    ) -> None:
        """The sites of one buffer.  known: gives what is found of its objects."""
        judges = Judges(self.steps, known) if self.cut(buffer) is buffer else Judges(self.steps)
        buffers = dict.fromkeys(buffer.objects, buffer)
        for p, refusal in refusals.items():
            refusals[p] = self.refusal([u for u in buffer.uses if u.place == p], refusal, buffers, judges)

    def buffers(self, mine: Sequence[Use], uses: Sequence[Use]) -> dict[int, Buffer]:
        """A buffer of every object that is known, which nothing is said of but what happens to its bytes."""
        out: dict[int, Buffer] = {}
        for o in {u.object for u in mine if u.object >= 0}:
            info = self.program.values.objects.table[o]
            if info.kind not in ("variable", "heap"):
                continue
            these = tuple(u for u in uses if u.object == o)
            carrier = Carrier("array" if info.kind == "variable" else "pointer", info.variable or "")
            out[o] = Buffer(named_in(mine[0]), carrier, (o,), these, touches(self.program, {o}, list(these)))
        return out

    def refusal(self, uses: Sequence[Use], refusal: Refusal, buffers: dict[int, Buffer], judges: Judges) -> Refusal:
        """Of one site.  buffers: by object.  judges: of the objects.

        What else would have to be changed at the call is told with it: one change alone would be no help.
        """
        use, found = uses[0], self.first(uses, refusal, buffers, judges)
        if not judges.settle() and found.reason is refusal.reason:
            found = replace(found, message=found.message + NOT_ASKED)
        if found.reason is not Reason.SMALL:
            again, never = begun_again(self.program, use), never_completed(self.program, use)
            found = self.in_program.first(self.program, use, found, again or never)
            pending = found.reason is Reason.PENDING
            found = without_an_end(self.program, use, found) if pending else found
            said = again or ("" if pending else never)
            said = "" if said.removeprefix("; ") in found.message else said
            said += more_than_there_is(self.program, use) + of_another_process(self.program, uses, found)
            found = replace(found, message=found.message + said)
        if found.reason not in LIES and found.reason is not Reason.CALL_FORM:
            return found
        others = [None if use.op.convertible else Refusal(Reason.CALL_FORM, use.op.reason or NO_FORM)]
        others += [gaps_of(self.program, use)]
        if found.reason is Reason.CALL_FORM:
            others += [_inside(use) or (None if use.op.convertible else self.live_data.place(use))]
            others += [refusal if refusal.reason in AROUND else None]
        if use.op.convertible:
            return in_order((found, *others)) or found
        return reduce(also, others, found)  # another datatype, or another place, is no help to such a call

    def first(self, uses: Sequence[Use], refusal: Refusal, buffers: dict[int, Buffer], judges: Judges) -> Refusal:
        """The reason that is told first."""
        if uses[0].op.persistent and not (uses[0].op.convertible or small(uses)):  # nothing else would help
            return Refusal(Reason.CALL_FORM, uses[0].op.reason or NO_FORM)
        plain = by_its_arguments(uses[0]) or right_after.freed_while_pending(self.program, uses[0])
        if plain is not None and not small(uses):
            return replace(plain, form=refusal.reason)
        if refusal.reason is Reason.SMALL and beyond_variable(self.program, uses[0]):
            return gaps_of(self.program, uses[0]) or refusal
        if refusal.reason is Reason.ENTERED_AGAIN:  # so it does where each call has a buffer of its own
            found = _inside(uses[0]) or right_after.part_of_its_own(self.program, uses[0]) or self.in_the_text(uses[0])
            return refusal if found is None else replace(found, form=refusal.reason)
        if refusal.reason in BESIDE and not small(uses):  # what a thread does is not followed, and so nor whose it is
            use = uses[0]
            function = self.program.graph.frames[self.program.graph.nodes[use.node].frame].function
            if (beside := self.unreached.elsewhere(function)) is not None:
                part, e = self.inside(use) or self.live_data.place(use), use.call.args[use.argument]
                known = (self.in_the_text(use), part or set_to_a_place(self.program.functions[function], e), beside)
                return replace(in_order(known) or beside, form=refusal.reason)
        if only_printed(refusal):  # what the program does with its data would keep it without that, too
            found = self.deeper(uses, refusal, buffers, judges) or self.in_each_turn(uses[0])
            found = found or self.inside(uses[0]) or self.live_data.place(uses[0])
            return refusal if found is None else replace(found, form=refusal.reason)
        if refusal.reason in OUTSIDE:  # nor does a datatype with gaps become another one
            found = Refusal(Reason.SMALL, how_small(uses)) if small(uses) else self.live(uses, buffers, judges)
            found = found or (self.made(uses[0]) if refusal.reason is Reason.ESCAPE else None)
            moving = moving_loop(self.program, uses[0])
            if found is None and uses[0].side == "send" and not moving:
                found = self.in_the_text(uses[0])
            other = found is None and (refusal.reason is not Reason.ESCAPE or moving)
            found = found or (self.inside(uses[0]) if other else None) or self.in_the_text(uses[0])
            found = found or right_after.put_away(self.program, uses[0])
            return refusal if found is None else replace(found, form=refusal.reason)
        if refusal.reason is Reason.OLD_ADDRESS and small(uses):
            return replace(Refusal(Reason.SMALL, how_small(uses)), form=refusal.reason)
        if refusal.reason is Reason.OLD_ADDRESS and moving_loop(self.program, uses[0]):  # pieces, by whatever name
            found = self.inside(uses[0])
            return refusal if found is None else replace(found, form=refusal.reason)
        if refusal.reason is Reason.PATTERN:  # what the program does tells more than how it was found
            return self.found_in_program(uses, refusal)
        if refusal.reason in PLACE:  # a message that begins inside a buffer stays, wherever that is allocated
            told = ": " in refusal.message  # which line is in the way
            row = self.live_data.place(uses[0]) if uses[0].row is not None and not told else None
            return self.made(uses[0]) or self.inside(uses[0]) or (row and replace(row, form=refusal.reason)) or refusal
        sent = refusal.reason is Reason.READ_LATER and uses[0].side == "send"
        if uses[0].row is not None and (sent or (uses[0].side == "recv" and refusal.message.startswith(READS_ONLY))):
            return self.live_data.another_row(uses[0], refusal) or refusal
        if uses[0].side == "recv" and refusal.message.startswith(READS_ONLY):
            found = self.live_data.refusal(uses)  # of a part of a block, of which other calls bring the rest
            return refusal if found is None else replace(found, form=refusal.reason)
        if TWICE in refusal.message:
            return self.live_data.place(uses[0]) or refusal  # rows that are parts of one block would stay anyway
        if refusal.reason not in FORM:
            return refusal
        found = self.deeper(uses, refusal, buffers, judges)
        if (found or refusal).reason is Reason.OLD_BYTES:
            found = right_after.given_to_a_pointer(self.program, uses[0]) or found
        if found is None and refusal.reason is Reason.SEVERAL_BUFFERS:
            found = read_early(self.program, uses[0], named_in(uses[0]), self.own_reads(uses[0]))
            found = found or self.in_each_turn(uses[0]) or self.in_the_text(uses[0])
            first = only_the_beginning(self.program, uses[0], self.live_data.uses, self.live_data.touch.set_anew)
            found = found or first
        if found is None and refusal.reason is Reason.CARRIER:
            found = self.in_each_turn(uses[0])  # a variable of another kind would be received into again, too
        if (found or refusal).reason in UNSURE:  # what others do meanwhile is why that is not known
            base = base_of(uncast(uses[0].call.args[uses[0].argument]))
            found = (started(self.program, base.var) if isinstance(base, ast.VarRef) else None) or found
        if found is not None and (found.reason, refusal.reason) == (Reason.OLD_BYTES, Reason.CALL_FORM):
            return refusal  # neither is easier to do without
        if refusal.message.endswith(NO_START) and (found is None or found.reason is refusal.reason):
            found = found or (self.live_data.place(uses[0]) if named_in(uses[0]) in refusal.message else None)
            live = found or self.live_data.refusal(uses) or self.live_data.place(uses[0])
            return live or other_start(self.program, uses[0], refusal) or refusal
        if found is None or found.reason is refusal.reason:
            return found if found is not None and found.notes and not refusal.notes else refusal
        return replace(found, form=refusal.reason)

    def found_in_program(self, uses: Sequence[Use], refusal: Refusal) -> Refusal:
        """Where two analyses disagree: a place inside a block, or live data, where the message is either.

        A place that is the same number wherever the call runs may be that of a part, which is a buffer of its own then.
        """
        first = uses[0]
        never, nodes = branches_of(self.program).never, self.program.graph.nodes
        if all(never(nodes[use.node].block) for use in uses):
            return Refusal(Reason.NOT_ANALYSED, "no process comes to the call: what is tested around it holds for none")
        found = self.made(first)
        if found is None and (first.lo is None or first.lo.constant is None):
            found = self.inside(first) or self.live_data.place(first) or self.live_data.refusal(uses)
        return refusal if found is None else replace(found, form=refusal.reason)

    def deeper(
        self, uses: Sequence[Use], refusal: Refusal, buffers: dict[int, Buffer], judges: Judges
    ) -> Refusal | None:
        first = uses[0]
        if small(uses) or self.little(first):
            return Refusal(Reason.SMALL, how_small(uses))
        if (few := too_small(self.program, uses, self.least)) is not None:
            return few
        if is_text(first.call.args[first.argument]):
            return Refusal(Reason.DECLARATION, "a string literal is no buffer that could be handed over")
        form = None if first.op.convertible else Refusal(Reason.CALL_FORM, first.op.reason or NO_FORM)
        if first.op.persistent:
            return form
        needed, swapped = refusal.reason is Reason.BUDGET, False
        for use in uses if not needed else ():
            buffer = buffers.get(use.object)
            if buffer is None or use.lo is None or use.length is None:
                needed = True
                continue
            whole, buffer = buffer, self.cut(buffer)
            swapped = swapped or buffer is not whole
            judge = judges.of(use.object, partial(Judge, self.program, buffer, use.object, self.strict, told_only=True))
            if judge is None:
                needed = True
                continue
            found = surely_read(judge, use)
            if found:
                shared = meets(judge, use, found[0])
                if form is not None and not shared:  # it stays whatever is read
                    live_then = Finding(False, Reason.READ_LATER)
                    later = liveness_refusal(self.program, buffer, use, live_then, found, shared)
                    return form if _inside(use) is not None else also(form, later)
                carrier = refusal.reason is Reason.CARRIER
                if carrier and use.side == "recv" and unknown_place(self.program, use, found[0]):
                    return self.live_data.refusal(uses)  # else only that it begins inside is sure
                resent = found[0] in judge.use_nodes
                other = not (shared or resent or same_words(self.live_data.written, self.program, use, found[0]))
                if carrier and other and _elsewhere_each_turn(judge, use):
                    return self.read_live(uses)  # what is read may as well be what another turn sends, or nobody
                if carrier and branches_of(self.program).other_rank(use.node, found[0]):
                    return None  # it comes anew there
                if carrier and resent and _inside(use) is not None and written(self.program, use, buffer.name, True):
                    return self.read_live(uses)  # it may be packed anew; that it begins inside is sure
                live_then = Finding(False, Reason.READ_LATER)
                return liveness_refusal(self.program, buffer, use, live_then, found, shared)
            finding = judge.findings.get((use.node, use.argument))
            unsaid = finding is not None and not finding.ok and (use.side == "recv" or partly_known(judge, use))
            needed = needed or judge.exceeded or unsaid
        unsure = form is None and (needed or swapped)  # another form of call is easier to see than what may be read
        live = self.live_data.refusal(uses, swapped and not needed, self.alone) if unsure else None
        part = refusal.message.startswith(COMPUTED_PLACE) or POINTS_INTO in refusal.message
        if part and live is not None and live.message.endswith(PERHAPS):
            live = None  # that it is a part of a block, or has parts, is sure
        made = self.made(first)  # another call would still send what the datatype says
        several = one_of_several(self.program, first)
        begins = first.lo is not None and first.lo.constant == 0 and not several
        sure = made if live is not None and begins else None
        if sure is None and made is not None and live is not None and live.message.endswith(PERHAPS):
            sure = also(made, live)
        kept = (form or made) if several else (made or form)  # gaps of a datatype are sure, which one it is is not
        lasting = sure or live or kept  # of a message that is no part of other data its gaps are sure
        if lasting is None and refusal.reason is Reason.SEVERAL_BUFFERS:
            return self.inside(first) or self.live_data.place(first)
        return lasting

    def read_live(self, uses: Sequence[Use]) -> Refusal | None:
        """What reads memory that a send's message lies in, or lies beside; None where that is sure of none."""
        found = self.live_data.refusal(uses) if uses[0].side == "send" else None
        return found if found is not None and found.reason is Reason.READ_LATER else None

    def live(self, uses: Sequence[Use], buffers: dict[int, Buffer], judges: Judges) -> Refusal | None:
        """A message in live data of the program itself, whoever else may use it."""
        if uses[0].side == "recv":
            return self.live_data.refusal(uses)
        for use in uses:
            buffer = buffers.get(use.object)
            if use.side != "send" or buffer is None or use.lo is None or use.length is None:
                continue
            judge = judges.of(use.object, partial(Judge, self.program, buffer, use.object, self.strict, told_only=True))
            found = () if judge is None else surely_read(judge, use)
            if judge is not None and found and meets(judge, use, found[0]):  # they may write it anew before it is sent
                return liveness_refusal(self.program, buffer, use, Finding(False, Reason.READ_LATER), found)
        return None

    def inside(self, use: Use) -> Refusal | None:
        """The call names a place after the one that a pointer points to; of a whole table of rows these tell more."""
        return (self.live_data.place(use) if first_of_rows(use) else None) or _inside(use)

    def made(self, use: Use) -> Refusal | None:
        """The datatype is one that the program makes, perhaps with gaps; of MPI_BOTTOM the place says more."""
        bottom = self.program.values.args[use.node][use.argument].constant == 0
        structs = of_structs(self.program, use)
        if use.length is not None or bottom:
            return None
        if _inside(use) is not None and (structs or in_one_block(self.program, use)):
            return None
        found = layout_refusal(self.program, use)
        row = self.live_data.place(use) if found.notes and (structs or of_one_piece(self.program, use)) else None
        return row or (found if found.notes else None)  # its length alone would be easier to do without

    def in_the_text(self, use: Use) -> Refusal | None:
        """What the function around a message goes on reading by the words of the call."""
        function = self.program.graph.frames[self.program.graph.nodes[use.node].frame].function
        if use.op.replaces:
            return None
        text, e = self.in_program.text, use.call.args[use.argument]
        if use.side == "send":
            return read_after(text, function, use.call, e, is_all(self.program, use))
        return read_beside(text, function, use.call, e)

    def in_each_turn(self, use: Use) -> Refusal | None:
        """A loop begins it again and again, and completes none."""
        frame, e = self.program.graph.nodes[use.node].frame, use.call.args[use.argument]
        if use.side != "recv" or use.op.blocking or use.op.persistent or use.op.request is None:
            return None
        key, program = self.program.graph.frames[frame].function, self.program
        return begun_in_each_turn(program.functions, program.effects, key, use.call, e)

    def own_reads(self, use: Use) -> set[int]:
        """Nodes that read from a message's memory by the name that the call has for it, before that is set anew."""
        live, graph = self.live_data, self.program.graph
        found = live.roots.of(use.call.args[use.argument], graph.nodes[use.node].frame)
        if found is None:
            return set()
        loads = (node.number for node in graph.nodes if isinstance(node.action, ins.Load))
        mine = {n for n in loads if found.root in live.touch.by(n) and live.touch.reads(n)}
        if (row := row_of(use.call.args[use.argument])) is not None:  # a line that names another row reads that one
            rows = {n: [row_within(e) for e in live.touch.lvalues(n)] for n in mine}
            mine = {n for n in mine if any(r is not None and spelling(r) == spelling(row) for r in rows[n])}
        return mine - live.renewed(use, found.root, mine, False)

    @cached_property
    def live_data(self) -> LiveData:
        return LiveData(self.program)

    def little(self, use: Use) -> bool:
        """The whole variable has no more bytes than that, so no message of a derived datatype has."""
        e = uncast(use.call.args[use.argument])
        if use.length is not None or not isinstance(e, ast.AddrOf) or not isinstance(e.operand, ast.VarRef):
            return False
        return 0 < (e.operand.type.size or 0) <= INLINE_LIMIT

    def cut(self, buffer: Buffer) -> Buffer:
        """After the place where the pointer changes places with another, its name says nothing of the buffer."""
        key = buffer.carrier.variable
        if buffer.swaps or key not in self.swapping:
            return buffer
        swaps = []
        for e in self.program.exchanges:
            if key in (e.first, e.second):
                swaps.append(Swap(e.start, e.nodes, e.second if key == e.first else e.first, False, False))
        return replace(buffer, swaps=tuple(swaps))


def _elsewhere_each_turn(judge: Judge, use: Use) -> bool:
    """The message begins elsewhere in each turn of a loop."""
    return use.lo is not None and bool(judge.symbols.scope(judge.symbols.resolve(use.lo)))


def _inside(use: Use) -> Refusal | None:
    """The argument names a place after the one that a pointer points to: `&p[k]`, `p + k`."""
    if use.lo is not None and use.lo.constant == 0:
        return None  # whatever it says, the message begins where its memory does
    return begins_inside(use.call.args[use.argument])
