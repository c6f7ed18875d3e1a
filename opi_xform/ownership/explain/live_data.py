"""A message that lies in live data: what the program goes on reading, or sends again, where the message is.

The regions of such data are often beyond the analysis: rows of a grid that changes places with another one, places that
a function computes, a table of pointers.  Then the pointer is what the site stays for, and another pointer would be no
help.  What is told here is looked for in the names of the program: a read of memory that the message may be in, under
the name that the call has for it, or one that stands for the same memory.  Which sites convert does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.explain.called import called_in, loop_around, read_notes
from opi_xform.ownership.explain.choosing.order import PERHAPS
from opi_xform.ownership.explain.choosing.places import block_of, is_all
from opi_xform.ownership.explain.culprits import own_words_first, place_in_words, same_words, together
from opi_xform.ownership.explain.datatypes import has_gaps, several_rows
from opi_xform.ownership.explain.later import other_arm
from opi_xform.ownership.explain.other_memory import elsewhere_of
from opi_xform.ownership.explain.other_pointers import (
    added_to,
    brings_all,
    first_of_rows,
    first_row,
    member_of,
    named_row,
    other_row,
    other_turns_rows,
    row_of,
    row_within,
    sends_too,
    takes_all,
    times_as_much,
)
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.copied import copies
from opi_xform.ownership.explain.reaching.earlier import earlier
from opi_xform.ownership.explain.reaching.in_common import reads_what_comes
from opi_xform.ownership.explain.reaching.packed import writes_between
from opi_xform.ownership.explain.reaching.touching import Touching
from opi_xform.ownership.explain.reaching.trades import trades_of
from opi_xform.ownership.explain.reaching.turns import moving_loop, next_struct, set_in_turn
from opi_xform.ownership.explain.reaching.ways import ahead, reached, read_first, sweeps
from opi_xform.ownership.explain.reasons import SENT_AGAIN
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import STORED, Origin, Root, base_of, is_inside

SHOWN = PAIR = 2  # reads that are named; blocks that change places, by several names
MOST = 20_000  # nodes that may touch the memory of one message
Objects = frozenset[int]


class LiveData:
    """One per program: ``refusal``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.names = names_of(program)
        self.touch = Touching(program)
        self.written, self.roots, self.uses = self.touch.written, self.touch.roots, self.touch.uses
        branches = branches_of(program)
        self.excluded, self.behind, self.never = branches.excluded, branches.behind, branches.never
        self.elsewhere = elsewhere_of(program)
        self.line = self.elsewhere.line

    def refusal(self, uses: Sequence[Use], swapped: bool = False, own: bool = False) -> Refusal | None:
        """Why the message of a call could not be handed over, whatever its pointer were; of its copies, the first.

        swapped: its own name is known not to need it, only the pointer with which that changes places may.  own: only
        reads of the function around the call count, as what another one is given is not known.
        """
        return next(filter(None, (self.of_use(use, swapped, own) for use in uses[:SHOWN])), None)

    def of_use(self, use: Use, swapped: bool, own: bool) -> Refusal | None:
        action = self.graph.nodes[use.node].action
        assert isinstance(action, ins.CallInstr)
        frame = self.graph.nodes[use.node].frame
        argument = use.call.args[use.argument]
        found = self.roots.of(argument, frame)
        objects = self.objects(use)
        if found is None or objects <= {UNKNOWN}:
            return None
        first = use.side == "recv" and (first_row(argument) or first_of_rows(use))
        root, inside = found.root, found.inside and not first
        touched = objects.union(self.families[o] for o in objects if o in self.families)
        if use.side == "recv":
            own_row = self.own(argument, objects)
            inside = self.parted(use, root, touched, own_row) or (
                not own_row and (inside or has_gaps(self.program, use))
            )
            if not inside:
                return None
        if use.op.replaces:
            return None  # what is read after the call is what came in its place, or what the call sends from there
        touching = self.program.values.accesses.touching(touched - {UNKNOWN})
        if len(touching) > MOST:
            return None
        mine = {n for n in touching if self.means(n, root, objects) and not self.excluded(use.node, n)}
        filled = not first and any(self.touch.computes(n, cleared=False) for n in mine)  # before the message, too
        copied = copies(self.program, argument, frame)
        mine = {n for n in mine if root[0] != STORED or not self.of_another_struct(argument, frame, n)}
        if copied:  # which of the structs by that name a pointer elsewhere is of would have to be known
            mine = {n for n in mine if n == use.node or self.by_words(argument, frame, n)}
        later = self.behind(use.node) if mine else ()
        mine = {
            n
            for n in mine
            if n in later and not other_row(argument, self.touch.lvalues(n), self.own(argument, objects))
        }
        mine -= other_turns_rows(self.program, use, mine, self.touch.lvalues) | earlier(self.program, use.node, mine)
        mine -= self.elsewhere.made_anew(use, argument, objects, mine) if root[0] == STORED else set()
        kept = reached(self.graph, use.node, mine, self.elsewhere.freeing(touched)) if mine else mine
        mine = kept if any(self.touch.reads(n, root) for n in kept) else mine
        if use.side == "recv":
            turn = moving_loop(self.program, use)  # the other turns bring what this one does not
            mine = {n for n in mine if not turn or self.graph.nodes[n].block in turn}
            mine = {n for n in mine if not self.comes(argument, frame, n)}
            sent = any(u.side == "send" for n in mine & {use.node} for u in self.uses.get(n, ()))
            computed = sent or filled or any(self.touch.computes(n) for n in mine)
            if not computed and not self.exchanged(root) and not any(self.touch.copies_into(n, root) for n in touching):
                return None  # nothing but messages is in there
        if several := use.side == "send" and not inside and self.of_several(root):  # which block it is elsewhere
            mine = {n for n in mine if root in self.touch.by(n)}
        anew = self.renewed(use, root, mine, several)
        name = block_of(self.program, use) or spelling(base_of(argument))
        name = spelling(found.base) if name == UNSPELLED else name
        reads = {n for n in mine if self.program.values.accesses.touches(n, touched, "R") and self.touch.reads(n, root)}
        reads = {n for n in reads if not self.elsewhere.of_another_row(argument, frame, n, self.touch.lvalues(n))}
        reads = {n for n in reads if not (self.never(self.graph.nodes[n].block) or self.elsewhere.never_called(n))}
        reads = {n for n in reads if not own or self.graph.nodes[n].frame == frame}
        loads = {n for n in reads if isinstance(self.graph.nodes[n].action, ins.Load)}
        again = {n for n in mine - anew if root in self.touch.by(n) and sends_too(use, n, self.uses.get(n, ()))}
        if root[0] == STORED and not self.program.complete:  # another function need not be called with the same struct
            again = {n for n in again if self.elsewhere.entry(n) == self.elsewhere.entry(use.node)}
        if self.once(use, argument) or not reached(self.graph, use.node, [use.node], copied):
            again.discard(use.node)
        if use.side == "send" and again and not (inside or loads or swapped):
            return self.sent_again(use, name, ahead(self.graph, use.node, again))
        if inside:  # a collective call may be of other parts
            kinds = {n: op.kind for n, op in self.names.operations.items()}
            reads = {n for n in reads if kinds.get(n) != "collective"}
        nearest = self.nearest(use, reads - anew)
        if not nearest and inside:
            nearest = self.nearest(use, loads - self.renewed(use, root, mine, several, True))
        nearest = [] if swapped else nearest
        sends = self.nearest(use, again) if use.side == "send" and nearest else []
        if sends and self.shared(use, sends[0]) > self.shared(use, nearest[0]):
            around, moving = self.program.nest.chain(self.graph.nodes[use.node].block), moving_loop(self.program, use)
            turn = self.program.nest.loops[around[-self.shared(use, sends[0])]].blocks
            writes = (n for n in touching if self.program.values.accesses.touches(n, touched, "W"))
            same = not moving or moving > turn  # a loop inside the one that goes on to another place
            if same and not any(self.graph.nodes[n].block in turn for n in writes):
                return self.sent_again(use, name, sends, unwritten=True)
        other = "" if nearest else self.exchanged(root)
        if other:  # what it will be when it has changed places
            partner = (root[0], other, root[2])
            loads = {
                n.number for n in self.graph.nodes if self.touch.reads(n.number) and isinstance(n.action, ins.Load)
            }
            nearest = ahead(self.graph, use.node, {n for n in loads if partner in self.touch.by(n)})
            nearest.sort(key=lambda n: self.graph.nodes[n].frame != frame)  # what the function itself does goes first
        if not nearest or (use.side == "send" and inside and self.of_other_turns(use, nearest[0])):
            return None
        places: dict[tuple[str, int], tuple[Span, int]] = {}
        for n in nearest:
            places.setdefault(self.line(n), (self.names.span(n), n))
        told = self.program.variables[other].name if other else name
        near = together(self.written, self.program, use, list(places.values()))[:SHOWN]
        names = [self.named(n, told) for _, n in near]
        notes = read_notes(self.program, use.node, near, names)
        also = f", which changes places with `{told}`" if other else ""
        (span, _), called = near[0], names[0]
        if arm := other_arm(self.program, use, near[0][1], f"which reads `{called}`"):
            return Refusal(Reason.READ_LATER, arm, notes)
        where = f"the message lies in `{name}`{also}, and {line_of(span)} may read"
        what, beside = "bytes there that this receive does not bring", ""
        if use.side == "send":
            sure = any(self.surely(use, found, n) for n in nearest if self.line(n) == (span.file, span.line))
            part = None if sure or called == told else self.elsewhere.by_part(touched, told, called, span)
            if part is not None:
                return self.place(use) or part
            after = f"there after the send{self.elsewhere.next_call(use.node, near[0][1])}"
            what, beside = (f"it {after}", "") if sure else (after, ", of the message or beside it")
        return Refusal(
            Reason.READ_LATER, f"{where} {what}{f', as `{called}`' if called != told else ''}{beside}", notes
        )

    def surely(self, use: Use, found: Origin, n: int) -> bool:
        """A read is of a message's own place: by the words of the call, or from the beginning on, as the message is."""
        if is_all(self.program, use) or place_in_words(self.written, self.program, use, n):
            return True
        e = next(self.touch.lvalues(n), None)
        if found.inside or found.moved or not isinstance(e, ast.Index):
            return False
        read = self.roots.of(e.base, frame := self.graph.nodes[n].frame)
        if read is not None and read.moved:  # a parameter that is given a place further on
            return False
        if not isinstance(e.index, ast.VarRef):
            return isinstance(e.index, ast.IntLit)
        name = ("v", self.program.values.objects.variable(frame, e.index.var), 0)
        values = (getattr(self.graph.nodes[d].action, "value", None) for d in self.names.defs.get(name, ()))
        return ins.Const(0) in values

    def named(self, n: int, name: str) -> str:
        """The name by which a node reads a message's memory; the given one for another struct's member by that name."""
        action = self.graph.nodes[n].action
        called = [spelling(base_of(e)) for e in self.touch.lvalues(n) if isinstance(action, ins.Load)]
        effect = self.names.effect(action) if isinstance(action, ins.CallInstr) else None
        if isinstance(action, ins.CallInstr) and effect is not None and effect.format is None:
            args = action.call.args
            called = [spelling(base_of(args[r.arg])) for r in effect.reads if not r.rest and r.arg < len(args)]
        if len(called) != 1 or called[0] == UNSPELLED:
            return name
        if member_of(called[0]) == member_of(name) and (member_of(called[0]) != called[0] or called[0] == name):
            return name
        return called[0]

    def parted(self, use: Use, root: Root, objects: Objects, own: bool = False) -> bool:
        """A receive at the beginning of a block that brings only a part of it.

        The same call sends from further in, which MPI allows of no bytes that it brings; or another receive of the
        same function, which the same process may run, brings what lies further in; or another send is of a number
        of times as much, or of what lies so far in.  own: the block is a row of a table by itself, and receives into a
        place further in tell that its rows are longer.
        """
        node = self.graph.nodes[use.node]
        if takes_all(self.program, use, self.blocks(objects)):
            return False
        for n, others in self.uses.items():
            if self.graph.nodes[n].frame != node.frame or objects.isdisjoint(self.program.values.accesses.objects(n)):
                continue
            for other in others:
                argument = other.call.args[other.argument]
                found = self.roots.of(argument, node.frame)
                if found is None or found.root != root or (n != use.node and self.excluded(use.node, n)):
                    continue
                if other.side == "send" and n != use.node:
                    words = (argument, *(other.call.args[i] for i in (other.buffer.count,) if i is not None))
                    longer = not own and any(times_as_much(use, e) for e in words)
                elif own:
                    longer = other.side == "recv" and found.inside and row_of(argument) is None
                else:
                    longer = (found.moved or found.inside) and not first_row(argument)
                if longer:
                    return True
        return False

    def nearest(self, use: Use, nodes: set[int]) -> list[int]:
        """Of nodes after a message: those in its own loop before those after that, and of these what reads the same
        turn's place by the words of the call; of a receive a loop before one place, which may be what came.
        """
        one = {n for n in nodes if use.side == "recv" and not sweeps(self.program, use, n)}
        unsure = {n for n in nodes if self.touch.unknown(n)}
        shown, arm = (branches := branches_of(self.program)).only_shown, branches.in_other_arm
        file = {n: self.names.span(n).file != use.call.span.file for n in nodes}
        order = {n: (n in unsure, n in one, shown(use.node, n), file[n]) for n in nodes}
        sure = {n: (arm(use.node, n), -self.shared(use, n), *order[n]) for n in nodes}
        found = sorted(ahead(self.graph, use.node, nodes), key=sure.__getitem__)
        if found and is_inside(use.call.args[use.argument]):
            most = self.shared(use, found[0])
            own = (n for n in found if self.shared(use, n) == most)
            found = own_words_first(self.written, self.program, use, found, own)
        return found

    def shared(self, use: Use, n: int) -> int:
        """How many loops are around a message and a node."""
        nest, nodes = self.program.nest, self.graph.nodes
        return len({*nest.chain(nodes[use.node].block)}.intersection(nest.chain(nodes[n].block)))

    def once(self, use: Use, argument: ast.Expr) -> bool:
        """The message begins elsewhere in each turn of the one loop around its call."""
        node = self.graph.nodes[use.node]
        around = [*self.program.nest.chain(node.block)]
        if not self.program.complete and self.elsewhere.made_here(argument, node.frame):
            around = self.elsewhere.loops(use.node)
        return len(around) == 1 and bool(moving_loop(self.program, use))

    def of_other_turns(self, use: Use, n: int) -> bool:
        """Each turn of a loop sends another part of a block, and what reads it after that loop may be of none.

        Where more loops are around the call, in functions that call this one, only what those read counts.
        """
        turn = moving_loop(self.program, use)
        if not turn or self.graph.nodes[n].block in turn or same_words(self.written, self.program, use, n):
            return False
        if self.place(use) is None and not is_inside(use.call.args[use.argument]):
            return False
        frame, nest = self.graph.nodes[use.node].frame, self.program.nest
        around = nest.chain(self.graph.nodes[use.node].block)
        heads = (self.graph.blocks[nest.loops[i].header][:1] for i in around)
        here = sum(self.graph.nodes[m].frame == frame for head in heads for m in head)
        return len(around) == 1 or (here == 1 and called_in(self.program, n, frame) is None)

    def exchanged(self, root: Root) -> str:
        """The variable with which the pointer that a call names changes places; '' for none."""
        if root[0] == STORED:
            return ""
        found = ({e.first, e.second} - {root[1]} for e in self.program.exchanges if root[1] in (e.first, e.second))
        return next((key for keys in found for key in keys), "") or trades_of(self.program).get(root[1], ("", None))[0]

    def sent_again(self, use: Use, name: str, nodes: Sequence[int], unwritten: bool = False) -> Refusal:
        if nodes[0] == use.node and (other := next_struct(self.program, use, name)) is not None:
            return other
        span, loop = self.names.span(nodes[0]), loop_around(self.program, use.node)
        sends = "may send" if set_in_turn(self.program, use) else "sends"
        what = f"this call {sends} it once more" if span == self.names.span(use.node) else f"{line_of(span)} sends it"
        first, writes = writes_between(self.touch, self.program, use, self.objects(use), nodes[0])
        notes = [(span, f"`{name}` {SENT_AGAIN}"), *writes]
        message = f"the message lies in `{name}`, and {what}{first}, {PERHAPS}"
        unwritten = unwritten or (nodes[0] == use.node and self.unwritten_turn(use))
        if unwritten and loop is not None and nodes[0] == use.node:
            turn = "the next turn" if sends == "sends" else "a later turn"
            again = f"this call {sends} it again in {turn} of the loop in {line_of(loop)}"
            message = f"the message lies in `{name}`, and {again}, in which nothing is written to it"
            notes = notes[:1]
        return Refusal(Reason.OLD_BYTES, message, tuple(notes))

    def unwritten_turn(self, use: Use) -> bool:
        """The innermost loop around a send writes nothing of its memory, and does not change what the call names."""
        around, objects = self.program.nest.chain(self.graph.nodes[use.node].block), self.objects(use) - {UNKNOWN}
        if not around or moving_loop(self.program, use) or set_in_turn(self.program, use) or not objects:
            return False
        accesses, blocks = self.program.values.accesses, self.program.nest.loops[around[0]].blocks
        return not any(accesses.touches(n, objects, "W") for b in blocks for n in self.graph.blocks[b])

    def place(self, use: Use) -> Refusal | None:
        """The argument is a place in a block, by a pointer from a table, or one that was set to it before."""
        argument = use.call.args[use.argument]
        found = self.roots.of(argument, self.graph.nodes[use.node].frame)
        if found is None:
            return None
        e = row_within(argument) if (rows := first_of_rows(use)) else row_of(argument)
        if e is None:
            name, block = spelling(base_of(argument)), spelling(found.base)
            if not found.moved or name == block:
                e = uncast(argument)
                return self.pointed_into(use, spelling(e) if isinstance(e, ast.Deref) else name)
            node = self.graph.nodes[use.node]
            assert isinstance(node.action, ins.CallInstr)
            block = added_to(self.program, node.frame, node.action.args[use.argument]) or block
            message = f"`{name}` points into `{block}`, at a place that the program computes"
            if name == UNSPELLED:
                message = f"the call begins inside `{block}`, at a place that the program computes"
            there = found.base.span
            known = there.line > 0 and block == spelling(found.base)
            elsewhere = known and (there.file, there.line) != self.line(use.node)
            notes = ((there, f"it comes from `{block}` here"),) if elsewhere else ()
            return Refusal(Reason.CARRIER, f"{message}; a message needs a buffer of its own", notes)
        nodes = self.elsewhere.part_of(use.node, e, objects := self.objects(use))
        named = [n for n in nodes if found.root in self.touch.by(n)]
        nodes = named or (nodes if UNKNOWN not in objects else self.elsewhere.built(use.node, e))
        if not nodes:
            return None
        name, span = spelling(base_of(e)), self.names.span(nodes[0])
        message = f"the call names a row of `{name}`, and {line_of(span)} makes its rows parts of one block"
        whole = first_row(argument) and takes_all(self.program, use, self.blocks(objects))
        if whole or rows or (first_row(argument) and several_rows(use)):
            block = "the block that is the whole message" if whole else "the block in which the message begins"
            message = f"{line_of(span)} makes the rows of `{name}` parts of {block}"
            return Refusal(Reason.CARRIER, f"{message}: they would point to memory that is gone", ((span, "here"),))
        return Refusal(Reason.CARRIER, f"{message}; a message needs a buffer of its own", ((span, "here"),))

    def pointed_into(self, use: Use, name: str) -> Refusal | None:
        """The argument is a block of memory, and a table holds pointers to places inside it."""
        objects, symbols = self.objects(use), self.program.values.symbols
        nodes = [n for n, (_, inside) in self.elsewhere.parts.items() if not inside.isdisjoint(objects)]
        blocks = {n: symbols.base(v[1]) for n in nodes if (v := self.program.values.operands.get(n))}
        nodes = [n for n in nodes if blocks.get(n) is None or blocks[n] in objects]
        if not nodes or UNKNOWN in objects or len(objects) > PAIR:
            return None
        span = self.names.span(nodes[0])
        message = f"{line_of(span)} makes pointers to rows of the block that `{name}` names"
        return Refusal(Reason.CARRIER, f"{message}: they would point to memory that is gone", ((span, "here"),))

    def another_row(self, use: Use, told: Refusal) -> Refusal | None:
        """A row that is a place in a block: of a send, where all that is told to read it names its row by the variable
        of the call, which has moved on by then.
        """
        row, symbols = named_row(use.call.args[use.argument]), self.program.values.symbols
        if row is None or use.lo is None or not symbols.resolve(use.lo).terms or not moving_loop(self.program, use):
            return None
        lines = {(span.file, span.line) for span, _ in told.notes}
        nodes = self.program.values.accesses.nodes(use.object)
        spans = ((n, self.names.span(n)) for n in nodes)
        for n in (n for n, span in spans if use.side == "send" and (span.file, span.line) in lines):
            if not any(named_row(e) == row for e in self.touch.lvalues(n)):
                return None
        name = spelling(base_of(use.call.args[use.argument]))
        for n, known in sorted(self.program.values.operands.items()):
            action = self.graph.nodes[n].action
            if not isinstance(action, ins.Store) or not action.type.is_pointer:
                continue
            if symbols.base(known[1]) in self.objects(use) and symbols.offset(known[1]).constant != 0:
                span = self.names.span(n)
                message = f"the call names a row of `{name}`, and {line_of(span)} makes its rows parts of one block"
                message += "; a message needs a buffer of its own"
                return Refusal(Reason.CARRIER, message, ((span, "here"),))
        return None

    # --- the memory of a message ----------------------------------------------------------------------------------

    def objects(self, use: Use) -> Objects:
        if use.object >= 0:
            return self.blocks((use.object,))
        node = self.graph.nodes[use.node]
        assert isinstance(node.action, ins.CallInstr)
        return self.program.points_to.operand(node.frame, node.action.args[use.argument])

    def blocks(self, objects: Iterable[int]) -> Objects:
        """Objects, with the allocations of a family in its place."""
        table = self.program.values.objects.table
        return frozenset(m for o in objects for m in ((o >= 0 and table[o].members) or (o,)))

    @cached_property
    def families(self) -> dict[int, int]:
        """Allocations, each with the family that accesses are of in its place."""
        return {m: o.number for o in self.program.values.objects.table for m in o.members}

    def own(self, argument: ast.Expr, objects: Objects) -> bool:
        """The argument is a pointer from a table, to memory that is allocated for it alone."""
        if row_of(argument) is None:
            return False
        table = self.program.values.objects.table
        return any(
            table[o].kind == "heap" and self.program.nest.chain(self.graph.nodes[table[o].node].block) for o in objects
        )

    # --- what touches it ------------------------------------------------------------------------------------------

    def means(self, n: int, wanted: Root, objects: Objects) -> bool:
        """A node touches the memory by the name of the message, or by one that stands for the same memory."""
        found = self.touch.by(n)
        if wanted in found:
            return True
        if wanted[0] == STORED or UNKNOWN in objects or len(objects) > PAIR:
            return False
        variables = [root for root in found if root[0] != STORED]
        if variables and all(self.elsewhere.made_apart(wanted[1], root[1]) for root in variables):
            return False
        return bool(variables) and self.elsewhere.is_of(n, objects)

    def by_words(self, argument: ast.Expr, frame: int, n: int) -> bool:
        """A node names the pointer of a call by the same words, in the same call of its function."""
        name = spelling(base_of(argument))
        return self.graph.nodes[n].frame == frame and any(spelling(base_of(e)) == name for e in self.touch.lvalues(n))

    def comes(self, argument: ast.Expr, frame: int, n: int) -> bool:
        """By its words a node reads what a receive brings."""
        there = self.graph.nodes[n].frame
        return any(reads_what_comes(self.roots, argument, frame, e, there) for e in self.touch.lvalues(n))

    def of_another_struct(self, argument: ast.Expr, frame: int, n: int) -> bool:
        """All that a node names is of structs that the program keeps apart from that of a message."""
        there = self.graph.nodes[n].frame
        if self.elsewhere.of_another_parameter(argument, frame, n, self.touch.lvalues(n)):
            return True
        asked = (self.elsewhere.of_another_list, self.elsewhere.of_another_element)
        found = [any(of_another(argument, frame, e, there) for of_another in asked) for e in self.touch.lvalues(n)]
        return bool(found) and all(found)

    def of_several(self, root: Root) -> bool:
        """The pointer which a call names is set in several places, other than to change places with another one."""
        nodes = [n for n in self.touch.set_anew(root) if not isinstance(self.graph.nodes[n].action, ins.Birth)]
        return not self.exchanged(root) and len({self.names.span(n) for n in nodes}) > 1

    def renewed(self, use: Use, root: Root, mine: set[int], partly: bool, whole: bool = False) -> set[int]:
        """Those of the nodes that come only after the memory of a message is written or received anew.

        partly: or where something is written into it.  whole: no loop that writes counts, which may leave some out.
        """
        nest, blocks = self.program.nest, self.objects(use)
        around = set(nest.chain(self.graph.nodes[use.node].block))
        written: dict[int, list[int]] = {}  # by loop
        read: dict[int, list[int]] = {}
        stops = self.touch.set_anew(root)
        for n in sorted(mine):
            received = any(brings_all(self.roots, u, use, blocks) for u in self.uses.get(n, ()))
            received = received or self.elsewhere.given_anew(n, use, root, blocks)
            if received or self.elsewhere.overwritten(n, use, root) or (partly and self.touch.computes(n)):
                stops.add(n)
            outer = [loop for loop in nest.chain(self.graph.nodes[n].block) if loop not in around][-1:]
            for loop in outer if root in self.touch.by(n) else ():
                does = written if self.touch.computes(n) else read if self.touch.reads(n) else {}
                does.setdefault(loop, []).append(n)
        fills = (k for k in written if k not in read or (partly and not read_first(self.program, read[k], written[k])))
        barred = set[int]() if whole else {nest.loops[k].header for k in fills}
        barred |= branches_of(self.program).of_others(use.node) if stops else set()
        return mine - reached(self.graph, use.node, mine, stops, barred)
