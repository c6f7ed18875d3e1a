"""Addresses that are older than a change of the carrier (docs/soundness.md, "old addresses").

When a buffer is given, taken, allocated or freed, its carrier changes.  No other name may bring an address in the
buffer across such a point: it would go on pointing to the memory that was there before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.lowering.memalign import given_memory
from opi_xform.ir.span import Span
from opi_xform.ir.walk import children
from opi_xform.memory.poly import Poly
from opi_xform.ownership.conditions.calls.pending_requests import Point, point_refusal
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import Placed
from opi_xform.ownership.model.addresses import AddressFlow, ValueCheck, value_refusal
from opi_xform.ownership.model.buffers import Buffer, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.names import Name, value_range
from opi_xform.ownership.requests.pending import NO_WAITS, Waits, pending_at

__all__ = ["Point", "ValueCheck", "alias_refusal", "value_refusal"]


def alias_refusal(
    flow: AddressFlow,
    buffer: Buffer,
    points: Iterable[Point],
    rows: Mapping[Point, tuple[Poly, ...]] | None = None,
    renamed: Collection[str] = (),
    waits: Waits = NO_WAITS,
) -> Refusal | None:
    """The first name that carries an address in the buffer across one of ``points``, or an operation pending there.

    points: where the carrier changes, the converted calls and the inserted ones.  A nonblocking receive among them
    changes it at some time up to its completion.  rows: see ``Placement``.  renamed: variables in the place of which
    the carrier will be written (``second_names``).  waits: those that are supposed.
    """
    places = sorted(set(points))
    table = flow.names.objects.table
    for name in sorted(flow.ranges):
        if name[0] == "v" and table[name[1]].variable in renamed:
            continue
        found = flow.ranges[name]
        for n, when in places:
            after = when == "after"
            if found.crosses(n, after):
                return _refusal(flow, name, found.source(n), n, found.next_use(n, after))
    for n, when in places:
        refusal = _unsequenced(flow, n, when == "before")
        if refusal is not None:
            return refusal
    nodes = {n for n, _ in places}
    for use in buffer.uses:
        if use.node in nodes:
            refusal = _window(flow, use, renamed)
            if refusal is not None:
                return refusal
    return point_refusal(flow.names, buffer, {p: _what(flow, p[0]) for p in places}, rows or {}, waits)


def _window(flow: AddressFlow, use: Use, renamed: Collection[str]) -> Refusal | None:
    """A name that takes the address between a nonblocking receive and its completion, and is used after that; or a
    test against NULL there, where the carrier is NULL."""
    if use.op.blocking or use.side != "recv":
        return None
    tested = sorted(pending_at(flow.names, use, flow.null_tests))
    if tested:
        notes = ((flow.names.span(use.node), "this receive"), (flow.names.span(tested[0]), "the test"))
        message = f"`{flow.buffer.name}` is compared with NULL while a receive into it may be under way"
        return Refusal(Reason.PENDING, message, notes)
    ends = flow.names.ends
    carried = [name for name, found in sorted(flow.ranges.items()) if any(found.crosses(n, True) for n in ends)]
    pending = pending_at(flow.names, use, {n for name in carried for n in flow.holding[name]})
    for name in carried:
        if name[0] == "v" and flow.names.objects.table[name[1]].variable in renamed:
            continue
        early = frozenset(flow.holding[name] & pending)
        if not early:
            continue
        found = value_range(flow.names, name, early)
        for n in ends:
            if found.crosses(n, True):
                source = found.source(n)
                return _refusal(flow, name, source, use.node, found.next_use(n, True))
    return None


def _refusal(flow: AddressFlow, name: Name, source: int | None, point: int, use: int | None) -> Refusal:
    names, buffer = flow.names, flow.buffer.name
    text = names.text(name)
    notes: list[tuple[Span, str]] = []
    if source is not None:
        notes.append((names.span(source), f"{text} is set from `{buffer}` here"))
    notes.append((names.span(point), _what(flow, point)))
    if use is not None:
        notes.append((names.span(use), f"{text} is used here"))
    message = f"{text} points into `{buffer}` from before the buffer changes hands to after it"
    if name[0] == "v" and source is not None:
        message += f"; setting it again after {line_of(names.span(point))} would mend that"
    return Refusal(Reason.OLD_ADDRESS, message, tuple(notes))


def _what(flow: AddressFlow, point: int) -> str:
    action = flow.graph.nodes[point].action
    effect = flow.names.effect(action) if isinstance(action, ins.CallInstr) else None
    if effect is not None and effect.mpi is not None:
        kind = effect.mpi.kind
        if kind in ("send", "recv", "sendrecv"):
            side = {u.side for u in flow.buffer.uses if u.node == point}
            if side:
                return "the message is sent here" if side == {"send"} else "the message arrives here"
    return "the buffer changes hands here"


def _unsequenced(flow: AddressFlow, point: int, before: bool) -> Refusal | None:
    """A mention of the buffer in the same full expression as the call, before or after which it may be evaluated.

    before: a call is put in before the statement that begins with the point: nothing of that one comes first.

    A function that uses the buffer mentions it, too.  Where the point is the call of a function of the program, what
    changes hands there does so in a statement that is put beside it; what does so in the function has a point of its
    own there.
    """
    graph = flow.graph
    around = graph.frames[graph.nodes[point].frame].call
    at = around if before or point in flow.entered else point
    while at >= 0:
        node = graph.nodes[at]
        action = node.action
        if isinstance(action, ins.CallInstr):
            info = graph.statement(node)
            held = {name for name in flow.holding if name[0] == "v"}
            for whole in _expressions(flow, info.stmt) if info is not None else ():
                for e in _beside(whole, action.call):
                    if at in flow.buffer.carrier.allocations and _is_set(flow, whole, e):
                        continue
                    if _mentions(flow, node.frame, e, held):
                        text = f"`{flow.buffer.name}` is used in the expression in which it changes hands"
                        notes = ((e.span, "evaluated before or after the call, as the compiler likes"),)
                        return Refusal(Reason.OLD_ADDRESS, text, notes)
        at = graph.frames[node.frame].call
    return None


def _is_set(flow: AddressFlow, whole: ast.Expr, e: ast.Expr) -> bool:
    """The carrier, where a test of its own allocation sets it: nothing is read of it."""
    match whole:
        case ast.Binary(left=ast.Assign(target=target) as given) if given_memory(given):
            return e is target and flow.program.names(e, flow.buffer.carrier.variable)
        case _:
            return False


def _mentions(flow: AddressFlow, frame: int, e: ast.Expr, held: set[Name]) -> bool:
    stack = [e]
    while stack:
        item = stack.pop()
        if not isinstance(item, ast.Cast) and flow.program.names(item, flow.buffer.carrier.variable):
            return True
        if isinstance(item, ast.VarRef) and item.var in flow.program.variables:
            o = flow.names.objects.variable(frame, item.var)
            if ("v", o, 0) in held:
                return True
        if isinstance(item, ast.Call) and (frame, item.span.file, item.span.begin) in flow.calling:
            return True
        if not isinstance(item, ast.SizeOf):
            stack.extend(children(item))
    return False


def _expressions(flow: AddressFlow, stmt: ast.Stmt) -> Iterator[ast.Expr]:
    """The full expressions of one statement, those of its parts left out."""
    match stmt:
        case ast.DeclStmt(variables=keys):
            for key in keys:
                init = flow.program.variables[key].init
                if init is not None:
                    yield init
        case ast.ExprStmt(expr=e):
            yield e
        case ast.If(cond=e) | ast.While(cond=e) | ast.DoWhile(cond=e) | ast.Switch(cond=e):
            yield e
        case ast.For(cond=cond, step=step):
            if cond is not None:
                yield cond
            if step is not None:
                yield step
        case ast.Return(value=value) if value is not None:
            yield value
        case _:
            return


def _beside(whole: ast.Expr, call: ast.Call) -> Iterator[ast.Expr]:
    """Parts of a full expression that are not sequenced before or after ``call``."""
    path = _path(whole, call)
    for outer, inner in pairwise(path):
        if isinstance(outer, (ast.Logical, ast.Comma, ast.Conditional)):
            continue
        for child in children(outer):
            if child is not inner:
                yield child


def _path(whole: ast.Expr, call: ast.Call) -> list[ast.Expr]:
    """From ``whole`` down to ``call``; empty when the call is not in it."""
    stack: list[tuple[ast.Expr, tuple[ast.Expr, ...]]] = [(whole, (whole,))]
    while stack:
        item, path = stack.pop()
        if item is call:
            return list(path)
        stack.extend((child, (*path, child)) for child in children(item))
    return []


def check(placed: Placed) -> Refusal | None:
    """See ``alias_refusal``."""
    placement = placed.placement
    supposed = placed.going.supposed
    found = alias_refusal(placed.flow, placed.buffer, placement.points, placement.rows, waits=supposed.waited)
    return None if supposed.apart and found is not None and found.reason is Reason.PENDING else found


CONDITION = Condition(
    "old addresses",
    "No older address, by whatever name, is used after a hand-over.",
    enforced=("ownership.conditions.addresses.aliases:alias_refusal",),
    calls=check,
)
