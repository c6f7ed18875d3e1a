"""A message in a buffer of its own: one that is sent is copied there first, one that is received is copied from there.

The program has one copy where the MPI has two.  Nothing else reads or writes the new buffer, and it lives in a block of
its own: whatever the old one is used for, it may be handed over.
"""

from __future__ import annotations

import re

from opi_xform.changes.behind import unchanged
from opi_xform.changes.call import CallText
from opi_xform.changes.ground import SAID
from opi_xform.changes.model import Change
from opi_xform.ir import ast
from opi_xform.ir.walk import uncast
from opi_xform.ownership.liveness.failures import failures_of
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import SiteKey
from opi_xform.text.edit import ByteEdit


def copied(program: Program, site: SiteKey, call: CallText, kind: str, nobody: bool) -> Change | None:
    """A send from a copy, or a receive into a buffer that is copied from.

    Nothing is copied to or from MPI_PROC_NULL: the buffer need not be one then.  kind: the C type that the message
    consists of.  nobody: the partner may be MPI_PROC_NULL.
    """
    use, buffer, op = call.use, call.use.buffer, call.use.op
    if not kind or not op.blocking or op.persistent or op.replaces or buffer.vector or buffer.per_rank:
        return None
    if buffer.count is None or buffer.type is None or buffer.peer is None or not (op.opi_send or op.opi_recv):
        return None
    if not (call.alone(use.argument) and call.again(buffer.count, buffer.type, buffer.peer)):
        return None
    if call.ground.means_its_own((*SAID, *re.findall(r"\w+", kind))):
        return None
    included = call.ground.includes(call.span.begin)
    test = call.somebody(buffer.peer) if nobody else ""
    edits = _sent(call, kind, test) if use.side == "send" else _received(program, call, kind, test)
    if included is None or edits is None:
        return None
    if use.side == "send":
        return Change("copy", site, {site[0]: (*included, *edits)}, "a copy of the message in a buffer of its own")
    words = "a buffer of its own to receive into, from which what came is copied"
    return Change("copy-out", site, {site[0]: (*included, *edits)}, words)


def _sent(call: CallText, kind: str, test: str) -> tuple[ByteEdit, ...]:
    use = call.use
    new = call.name("_copy")
    count = use.buffer.count
    assert count is not None
    alone = use.op.recv is None and call.target is None
    some = "" if _number(use.call.args[count]) > 0 else f"{call.number(count)} > 0"
    tests = [t for t in (some, "" if alone else test) if t]
    copy = f"memcpy({new}, {call.text(use.argument)}, {_bytes(call.number(count), kind)});"
    before = [*_made(call, new, kind), *(_tested(" && ".join(tests), copy) if tests else [copy])]
    return call.around(before, [f"free({new});"], [(use.argument, new)], test if alone else "")


def _received(program: Program, call: CallText, kind: str, test: str) -> tuple[ByteEdit, ...] | None:
    use = call.use
    count, datatype, status = use.buffer.count, use.buffer.type, use.op.status
    if use.op.kind != "recv" or status is None or use.buffer.tag is None or "struct" in kind:
        return None  # of a pair one half may come
    assert count is not None
    assert datatype is not None
    ignored = is_ignored(use.call.args[status])
    args, frame = use.call.args, program.graph.nodes[use.node].frame
    if (test and not ignored) or not call.again(status) or failures_of(program).returns:
        return None  # the status of a receive from nobody is set, too; that of one that fails may not be
    behind = [args[i] for i in (use.argument, count, datatype)]
    if not unchanged(program, frame, behind, None if ignored else args[status], call.target):
        return None
    new, came = call.name("_copy"), call.name("_came")
    own = call.name("_status") if ignored else ""
    told = f"&{own}" if own else call.text(status)
    before = [*([f"MPI_Status {own};"] if own else []), f"int {came};", *_made(call, new, kind)]
    copy = f"memcpy({call.text(use.argument)}, {new}, {_bytes(came, kind)});"
    some = f"{came} > 0" if _number(args[count]) > 0 else f"{came} > 0 && {came} <= {call.number(count)}"
    after = [f"MPI_Get_count({told}, {call.text(datatype)}, &{came});", *_tested(some, copy), f"free({new});"]
    other = [(use.argument, new), *([(status, told)] if own else [])]
    return call.around(before, after, other, "" if call.target is not None else test)


def _made(call: CallText, new: str, kind: str) -> list[str]:
    """A block for the message, never of no bytes; without memory the program ends."""
    count = call.use.buffer.count
    assert count is not None
    some = _number(call.use.call.args[count]) > 0
    size = _bytes(call.number(count), kind) if some else f"((size_t){call.number(count)} + 1) * sizeof({kind})"
    cast = f"({kind} *)" if call.ground.is_c_plus_plus else ""
    return [
        f"{kind} *{new} = {cast}malloc({size});",
        f"if ({new} == NULL)",
        "    MPI_Abort(MPI_COMM_WORLD, 1);",
    ]


def _number(e: ast.Expr) -> int:
    """A count that is written as a number; 0 where it is not."""
    e = uncast(e)
    return e.value if isinstance(e, ast.IntLit) else 0


def _bytes(count: str, kind: str) -> str:
    return f"(size_t){count} * sizeof({kind})"


def _tested(condition: str, statement: str) -> list[str]:
    return [f"if ({condition})", f"    {statement}"]


def is_ignored(status: ast.Expr) -> bool:
    """``MPI_STATUS_IGNORE``, as either MPI writes it."""
    status = uncast(status)
    return isinstance(status, ast.IntLit)
