"""Requests: what has to stay because an operation may be pending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.effects.model import MpiOp
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import Poly, symbol
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Going
from opi_xform.ownership.explain.choosing.argument import further_in
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.names import Names, names_of
from opi_xform.ownership.model.plan import Advice
from opi_xform.ownership.requests.given_up import ESCAPES, abandoned, given_up, only_posted
from opi_xform.ownership.requests.pending import NO_WAITS, Asked, Waits, pending, request_pending_at
from opi_xform.ownership.requests.slots import Slots, slots_of

Place = tuple[str, int, str, int]
Point = tuple[int, str]  # (node, "before" or "after")
TOLD = 3  # calls that may complete a request


# --- no older request is pending where the buffer is given away or taken -------------------------------------------


def pending_refusal(
    program: Program, buffer: Buffer, staying: Iterable[Use], going: Iterable[Use], waits: Waits = NO_WAITS
) -> dict[Place, Refusal]:
    """Sites of ``going``, which would pass ownership, that have to stay because of a request, with the reason.

    An operation on the buffer's bytes that stays (``staying``, and all that is no send or receive) may still be pending
    there; or the site's own request may be given up; or the carrier may change before the request is complete.
    waits: those that are supposed.
    """
    names = names_of(program)
    chosen = list(going)
    sites = {use.node for use in chosen} - {use.node for use in staying if use.op.request is not None}
    out: dict[Place, Refusal] = {}
    apart: dict[Place, Refusal] = {}  # by operations that other processes begin, as far as words go
    for use in chosen:
        left = abandoned(names, use) if use.op.request is not None else ()
        if left:
            notes = ((names.span(use.node), "the request is created here"), *left)
            span, end = left[-1]
            message = "the request may be cancelled or freed before it completes"
            if end.startswith(ESCAPES):
                message = "could not show that nobody cancels or frees the request before it completes:"
                message += f" its address goes out of sight at {line_of(span)}"
            out[use.place] = Refusal(Reason.PENDING, message, notes)
    for n, op in _operations(names, buffer):
        if n in sites:
            continue
        held = [(names.span(n), f"this operation uses `{buffer.name}` until it is complete")]
        if op.persistent:
            refusal = Refusal(Reason.PENDING, f"a persistent request holds the address of `{buffer.name}`", tuple(held))
            return dict.fromkeys((use.place for use in chosen), refusal)
        late = request_pending_at(names, n, op, [use.node for use in chosen], waits)
        for use in chosen:
            if use.node in late:
                message = f"another operation on `{buffer.name}` may still be pending"
                others, another = _of_other_rows(names, buffer, n, use)
                if another:
                    message = f"{line_of(names.span(n))} uses another row of `{buffer.name}`, and that operation may"
                    message += " still be pending: of one table no row is handed over then"
                elif others:
                    message = f"could not show that {line_of(names.span(n))}, whose operation on `{buffer.name}` may"
                    message += " still be pending, uses another row than this call"
                elif slots_of(names, n, op.request) is None:
                    message += f": which memory holds the request of {line_of(names.span(n))} is not known"
                here = (names.span(use.node), "here it may not be complete")
                left = given_up(names, n, op) if op.request is not None else ()
                if left:  # nobody may wait for it then
                    message += f": its request may be cancelled or freed at {line_of(left[-1][0])}"
                hint = None if left or (others and not another) else _waiting(names, n, op, use.node)
                refusal = Refusal(Reason.PENDING, message, (*held, here), hint=hint)
                if branches_of(program).excluded(n, use.node):
                    text = f"could not show that no process runs both this call and {line_of(names.span(n))}"
                    text += f", whose operation on `{buffer.name}` may still be pending"
                    apart.setdefault(use.place, replace(refusal, message=text))
                    continue
                out.setdefault(use.place, refusal)
    for use in chosen:
        if use.op.request is not None and use.place not in out:
            told = _told_only(names, buffer, use)
            if told:
                message = (
                    f"`{buffer.name}` may be used once it is known that the message is there, before it is waited for"
                )
                out[use.place] = Refusal(
                    Reason.PENDING, message, ((names.span(use.node), "the request is created here"), *told)
                )
                continue
        moved = _carrier_changes(names, buffer, use, waits) or _named_again(names, buffer, use, waits)
        if moved is not None:
            out.setdefault(use.place, moved)
    return apart | out


def point_refusal(
    names: Names,
    buffer: Buffer,
    points: Mapping[Point, str],
    rows: Mapping[Point, tuple[Poly, ...]],
    waits: Waits = NO_WAITS,
) -> Refusal | None:
    """An operation that may be pending at one of ``points``, where the carrier changes.

    points: each with a few words for it (``the message is sent here``).  rows: of an array of buffers, the rows whose
    cell changes there (none given: any).
    """
    nodes = {n for n, when in points if when == "after"}  # what is put in before a call that stays gives nothing away
    for n, op in _operations(names, buffer):
        received = op.recv is not None or op.kind == "recv"
        if n in nodes and not received:
            continue  # given away: the carrier is free at once
        asked = [a for p in sorted(points) if p[0] != n for a in _at_point(names, buffer, n, op, p, rows.get(p, ()))]
        late = pending(names, n, op, asked, waits)
        if late:
            at = late[0].node
            text = next(points[p] for p in sorted(points) if p[0] == at)
            notes = ((names.span(n), "this operation may not be complete"), (names.span(at), text))
            message = f"an operation on `{buffer.name}` may still be pending at {line_of(names.span(at))}"
            return Refusal(Reason.PENDING, message, notes, hint=None if buffer.swaps else _waiting(names, n, op, at))
    return None


def _waiting(names: Names, n: int, op: MpiOp, at: int) -> Advice | None:
    """Waiting for an operation before a node of the same function, where its request is one variable."""
    graph = names.program.graph
    action = graph.nodes[n].action
    if op.request is None or not isinstance(action, ins.CallInstr) or graph.nodes[n].frame != graph.nodes[at].frame:
        return None
    request = action.call.args[op.request]
    if not isinstance(request, ast.AddrOf) or not isinstance(request.operand, ast.VarRef):
        return None
    key = request.operand.var
    owner = -1 if names.program.variables[key].is_global else graph.nodes[n].frame
    if at in _outside(names, owner, key):
        return None
    operation, before = names.span(n), names.span(at)
    return Advice("wait", f"waiting for {line_of(operation)} before {line_of(before)}", (operation, before))


def _at_point(
    names: Names, buffer: Buffer, post: int, op: MpiOp, point: Point, rows: tuple[Poly, ...]
) -> Iterator[Asked]:
    """What to ask at one point: the requests of the rows that change there, as far as they can be told."""
    node, when = point
    ahead = when == "before"
    symbols = names.program.values.symbols
    block = names.graph.nodes[node].block
    loops = names.program.nest.chain(block)
    moving = [lp for lp in loops if ahead and names.program.nest.loops[lp].header == block]
    slot = slots_of(names, post, op.request)
    posted = {symbols.resolve(u.row) for u in buffer.uses if u.node == post and u.row is not None}
    if slot is None or len(posted) != 1 or not rows:
        yield Asked(node, ahead)
        return
    own = next(iter(posted))
    for row in {symbols.resolve(r) for r in rows}:
        scope = symbols.scope(row)
        if own.constant is not None and row.constant is not None:
            if own == row:
                yield Asked(node, ahead)
            continue
        if _rows_apart(names, (post, own), (node, row)):
            continue
        known = turns = None
        if scope <= set(loops) and not any(symbols.inner[lp] & scope for lp in moving):
            known = _slots_of_row(names, slot, own, row)
            turns = _turns_of_row(names, post, own) if own == row else None
        yield Asked(node, ahead, known, turns if turns in loops else None)


def _rows_apart(names: Names, one: tuple[int, Poly], other: tuple[int, Poly]) -> bool:
    """Two rows, each as a node counts it, are never the same: one loop counts up to where the other one begins."""
    first, second = _between(names, *one), _between(names, *other)
    return first is not None and second is not None and (first[1] < second[0] or second[1] < first[0])


def _between(names: Names, n: int, row: Poly) -> tuple[int, int] | None:
    """The least and the greatest number that a row has at a node, where loops around it count it, each a known number
    of turns, that it has begun.
    """
    symbols, nest = names.program.values.symbols, names.program.nest
    block, low, high = names.graph.nodes[n].block, row.constant_term, row.constant_term
    for m, c in row.terms:
        if not m:
            continue
        loop = next((lp for lp in nest.chain(block) if m == (symbols.count(lp),)), -1)
        turns = symbols.most_turns.get(loop)
        if loop < 0 or turns is None:
            return None
        info = nest.loops[loop]
        if block == info.header or {source for source, _ in info.exits} != {info.header}:
            return None  # where the turns are not those that are tested for before
        low, high = low + min(0, c * (turns - 1)), high + max(0, c * (turns - 1))
    return low, high


def _slots_of_row(names: Names, slot: Slots, own: Poly, row: Poly) -> Slots | None:
    """The request of another row, where the call that posts row ``own`` uses ``slot``; None when it is not clear."""
    symbols = names.program.values.symbols
    size = slot.length.constant
    if size is None:
        return None
    if own.constant is not None:  # any place does for another row, as long as the row's own request is there for itself
        return Slots(slot.object, slot.lo + (row - own).scaled(size), slot.length)
    varying = [s for s in own.symbols() if symbols.table[s].scope]
    if len(varying) != 1:
        return None
    x = varying[0]
    a, m = own.coefficient(x), slot.lo.coefficient(x)
    rest, base = own - symbol(x).scaled(a), slot.lo - symbol(x).scaled(m)
    if abs(a) != 1 or abs(m) < size or symbols.scope(rest) or symbols.scope(base):
        return None
    return Slots(slot.object, (row - rest).scaled(a * m) + base, slot.length)


def _turns_of_row(names: Names, post: int, row: Poly) -> int | None:
    """A loop around a call in each turn of which the row is another one."""
    symbols = names.program.values.symbols
    for loop in names.program.nest.chain(names.graph.nodes[post].block):
        step = row.coefficient(symbols.count(loop))
        if step and not symbols.scope(row - symbol(symbols.count(loop)).scaled(step)) & symbols.inner[loop]:
            return loop
    return None


def _operations(names: Names, buffer: Buffer) -> list[tuple[int, MpiOp]]:
    """Nonblocking operations that may use bytes of the buffer after the call returns."""
    mine = set(buffer.objects)
    out = []
    for n, op in names.operations.items():
        if op.blocking or op.completes is not None or op.kind == "start":
            continue
        action = names.graph.nodes[n].action
        assert isinstance(action, ins.CallInstr)
        effect = names.effect(action)
        if effect is None or not effect.retains:
            continue
        if names.program.values.accesses.touches(n, mine):
            out.append((n, op))
    return out


def _told_only(names: Names, buffer: Buffer, use: Use) -> tuple[tuple[Span, str], ...]:
    """Where a call tells that a receive is complete and leaves its request, and the buffer is used before one that ends
    it: only there the carrier is set; () where none does.
    """
    if use.side != "recv":
        return ()
    accesses, slot = names.program.values.accesses, slots_of(names, use.node, use.op.request)
    for n, op in names.operations.items():
        done = op.completes
        if done is None or done.releases or not names.follows(use.node, n):
            continue
        other = None if done.which == "one" else slots_of(names, n, done.requests)  # one: by its value
        if slot is not None and other is not None and other.object != slot.object and only_posted(names, other.object):
            continue  # none of these requests is a copy of it
        used = {m for o in buffer.objects for m in accesses.nodes(o) if m != use.node and names.follows(n, m)}
        late = request_pending_at(names, use.node, use.op, used)
        if late:
            return ((names.span(n), "its end is asked for here"), (names.span(min(late)), "the buffer is used here"))
    return ()


def _never_waited_for(names: Names, use: Use) -> tuple[tuple[Span, str], ...]:
    """For words: where a request is copied, else the calls that may complete it; () for none."""
    slot = slots_of(names, use.node, use.op.request)
    if slot is None:
        return ()
    accesses, o = names.program.values.accesses, slot.object
    copied = [n for n in sorted(accesses.nodes(o)) if n not in names.operations]
    copied = [n for n in copied if any(a.kind == "R" and _of_slot(a, slot) for a in accesses.at_object(n, o))]
    for n in [*names.uses.get(("v", o, 0), ()), *copied][:1]:
        return ((names.span(n), "its request is copied here; waits for copies are not followed"),)
    found: dict[tuple[Span, str], None] = {}
    for n, op in names.operations.items():
        other = slots_of(names, n, op.completes.requests) if op.completes is not None else None
        if other is not None and (other.lo == slot.lo or _among(op, other, slot)) and other.object == slot.object:
            found[names.span(n), "could not show that it is complete after this call"] = None
    return tuple(found)[:TOLD]


def _among(op: MpiOp, first: Slots, slot: Slots) -> bool:
    """A request may be one of several that a call completes, from the first on."""
    after = (slot.lo - first.lo).constant
    return op.completes is not None and op.completes.count is not None and (after is None or after > 0)


def _of_slot(a: Access, slot: Slots) -> bool:
    """An access may touch a request."""
    if a.lo is None or a.length is None:
        return True
    behind, before = (a.lo - slot.lo - slot.length).constant, (slot.lo - a.lo - a.length).constant
    return not ((behind is not None and behind >= 0) or (before is not None and before >= 0))


def _of_other_rows(names: Names, buffer: Buffer, n: int, use: Use) -> tuple[bool, bool]:
    """The rows of an array that a node uses are told by other numbers than that of a use: they need not be its own; and
    whether they are surely others.
    """
    resolve = names.program.values.symbols.resolve
    rows = [u.row for u in buffer.uses if u.node == n]
    if use.row is None or not rows:
        return False, False
    apart = [None if row is None else resolve(row - use.row).constant for row in rows]
    return None not in rows and 0 not in apart, None not in apart and 0 not in apart


# --- a carrier stays put while a request knows its address ---------------------------------------------------------


def _carrier_changes(names: Names, buffer: Buffer, use: Use, waits: Waits) -> Refusal | None:
    """Whether a nonblocking receive's carrier may be assigned, or may end its life, before the request completes."""
    graph = names.graph
    key = buffer.carrier.variable
    var = names.program.variables[key]
    if var.kind == "param":
        why = ((var.span, "the caller's pointer would not change"),)
        return Refusal(Reason.CARRIER, f"`{var.name}` is a parameter, a copy of the caller's pointer", why)
    if use.op.request is None or use.side != "recv":
        return None
    ends: dict[int, str] = {}
    frame = graph.nodes[use.node].frame
    owner = frame if var.is_global else _owner(names, buffer, frame)
    if not var.type.is_array:
        for n in names.defs.get(("v", names.objects.variable(owner, key), 0), ()):
            ends[n] = f"`{var.name}` is assigned here"
    member = names.program.members.get(key)
    if member is not None:
        ends.update(dict.fromkeys(member.ends, f"the memory that holds `{var.name}` goes here"))
    if not var.is_global:
        for n in names.left.get(owner, ()):
            ends[n] = f"the function that declares `{var.name}` is left here"
        ends.update(_outside(names, owner, key))
    # a call after the block that completes the request comes too late: its memory is gone before
    late = {a.node for a in pending(names, use.node, use.op, [Asked(n, ahead=True) for n in sorted(ends)], waits)}
    if not late:
        return None
    at = min(late)
    notes = ((names.span(use.node), "this receive may not be complete"), (names.span(at), ends[at]))
    return Refusal(Reason.PENDING, f"`{var.name}` may change while a request holds its address", notes)


def _named_again(names: Names, buffer: Buffer, use: Use, waits: Waits) -> Refusal | None:
    """Whether a call gives MPI the buffer while a nonblocking receive has its carrier, which is NULL until then.

    The receive itself in a later turn is such a call, too: of all messages that come, one pointer holds the last.
    Of an array of buffers, a row that varies is another one then: MPI allows no two receives into one at a time.
    """
    if use.op.request is None or use.side != "recv":
        return None
    nodes = {n for n, _ in _operations(names, buffer)} | {u.node for u in buffer.uses}
    if use.row is not None and use.row.constant is None:
        nodes.discard(use.node)
    asked: list[Asked] = []
    for n in sorted(nodes):
        rows = tuple(u.row for u in buffer.uses if u.node == n and u.row is not None)
        asked += _at_point(names, buffer, use.node, use.op, (n, "before"), rows)
    late = pending(names, use.node, use.op, asked, waits)
    if not late:
        return None
    line = line_of(names.span(at := late[0].node))
    notes: tuple[tuple[Span, str], ...]
    notes = ((names.span(use.node), "this receive may not be complete"), (names.span(at), "the buffer is used here"))
    if names.span(at) == names.span(use.node):
        message = f"this receive into `{buffer.name}` may still be pending when the call comes once more"
        if found := _never_waited_for(names, use):
            message = f"could not show that this receive into `{buffer.name}` is complete when the call comes once more"
            notes = found
        waiting = Advice("wait", "waiting for it, by the request that the call names,", (names.span(use.node),))
        return Refusal(Reason.PENDING, message, notes, hint=waiting)
    if any(u.node == at and u.side == "recv" and further_in(use, u) for u in buffer.uses):
        message = (
            f"the message lies in `{buffer.name}`, and {line} receives further in; a message needs a buffer of its own"
        )
        return Refusal(Reason.CARRIER, message, ((names.span(at), "a message begins further in here"),))
    message = f"{line} gives `{buffer.name}` to MPI while this receive into it may be pending"
    spans = tuple(dict.fromkeys(names.span(one.node) for one in late))
    if names.span(use.node) in spans:  # another buffer there leaves the call itself
        return Refusal(Reason.PENDING, message, notes)
    return Refusal(Reason.PENDING, message, notes, hint=Advice("other", f"another buffer at {lines_of(spans)}", spans))


def _owner(names: Names, buffer: Buffer, frame: int) -> int:
    """The frame whose variable the carrier is."""
    function = names.program.variables[buffer.carrier.variable].function
    while frame >= 0 and names.graph.frames[frame].function != function:
        frame = names.graph.frames[frame].parent
    return frame


def _outside(names: Names, frame: int, key: str) -> dict[int, str]:
    """Nodes of a frame outside the block that declares a local variable, and the declaration itself, reached anew."""
    if frame < 0:
        return {}
    graph = names.graph
    stmts = graph.lowered[graph.frames[frame].function].stmts
    declaring = next(
        (i for i, s in enumerate(stmts) if isinstance(s.stmt, ast.DeclStmt) and key in s.stmt.variables), None
    )
    if declaring is None:
        return {}
    scope = stmts[declaring].parent
    name = names.program.variables[key].name
    out: dict[int, str] = {}
    for node in graph.nodes:
        if node.frame != frame or not isinstance(node.action, ins.Instr) or node.action.stmt < 0:
            continue
        if isinstance(node.action, ins.Birth) and node.action.var == key:
            out[node.number] = f"`{name}` is declared anew here"
            continue
        at = node.action.stmt
        while at >= 0 and at != scope:
            at = stmts[at].parent
        if at != scope and scope >= 0:
            out[node.number] = f"the block that declares `{name}` has been left here"
    return out


def check(going: Going) -> dict[Place, Refusal]:
    """See ``pending_refusal``."""
    supposed = going.supposed
    if supposed.apart:
        return {}
    return pending_refusal(
        going.facts.program, going.facts.buffer, going.uses(False), going.uses(True), supposed.waited
    )


CONDITION = Condition(
    "pending requests",
    "No other operation on the buffer is pending where it changes hands.",
    codes=(Reason.PENDING.send, Reason.PENDING.recv),
    cases=("d_*",),
    enforced=(
        "ownership.conditions.calls.pending_requests:pending_refusal",
        "ownership.requests.completions:completing_edges",
    ),
    going=check,
)
