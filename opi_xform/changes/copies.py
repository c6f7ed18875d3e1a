"""A message in a buffer of its own: one that is sent is copied there first, one that is received is copied from there.

The program has one copy where the MPI has two.  Nothing else reads or writes the new buffer, and it lives in a block of
its own: whatever the old one is used for, it may be handed over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opi_xform.changes.call import CallText, element
from opi_xform.changes.model import Change, Site
from opi_xform.ir import ast
from opi_xform.ownership.mentions import walk
from opi_xform.ownership.model import Program, Use
from opi_xform.rewrite.edit import ByteEdit
from opi_xform.rewrite.lex import SourceText

FUNCTIONS = {"malloc": "<stdlib.h>", "free": "<stdlib.h>", "memcpy": "<string.h>"}
"""What the new text calls, and the header that declares it."""


def copied(
    program: Program, units: Sequence[ast.Unit], site: Site, uses: Sequence[Use], source: SourceText
) -> Change | None:
    """A send from a copy, or a receive into a buffer that is copied from.

    Nothing is copied to or from MPI_PROC_NULL: the buffer need not be one then.
    """
    use = uses[0]
    buffer, op = use.buffer, use.op
    kind = element(program, uses)
    if not kind or not op.blocking or op.persistent or op.replaces or buffer.vector or buffer.per_rank:
        return None
    if buffer.count is None or buffer.type is None or buffer.peer is None or not (op.opi_send or op.opi_recv):
        return None
    call = CallText.of(program, use, source)
    if call is None or not (call.alone(use.argument) and call.again(buffer.count, buffer.type, buffer.peer)):
        return None
    included = _includes(units, site[0], source)
    edits = (_sent if use.side == "send" else _received)(program, call, kind)
    if included is None or edits is None:
        return None
    if use.side == "send":
        return Change("copy", site, {site[0]: (*included, *edits)}, "a copy of the message in a buffer of its own")
    words = "a buffer of its own to receive into, from which what came is copied"
    return Change("copy-out", site, {site[0]: (*included, *edits)}, words)


def _sent(program: Program, call: CallText, kind: str) -> tuple[ByteEdit, ...] | None:
    use = call.use
    new = call.name("_copy")
    count, peer = use.buffer.count, use.buffer.peer
    assert count is not None
    assert peer is not None
    test = nobody(program, call, peer)
    alone = use.op.recv is None
    some = "" if _number(use.call.args[count]) > 0 else f"{_one(call.text(count))} > 0"
    tests = [t for t in (some, "" if alone else test) if t]
    copy = f"memcpy({new}, {call.text(use.argument)}, {_bytes(call.text(count), kind)});"
    before = [*_made(call, new, kind), *(_tested(" && ".join(tests), copy) if tests else [copy])]
    return call.around(before, [f"free({new});"], [(use.argument, new)], test if alone else "")


def _received(program: Program, call: CallText, kind: str) -> tuple[ByteEdit, ...] | None:
    use = call.use
    count, peer, status = use.buffer.count, use.buffer.peer, use.op.status
    if use.op.kind != "recv" or status is None or use.buffer.tag is None:
        return None
    assert count is not None
    assert peer is not None
    test = nobody(program, call, peer)
    ignored = is_ignored(use.call.args[status])
    if (test and not ignored) or not call.again(status) or _reads_a_status(use.call.args[use.argument]):
        return None  # the status of a receive from nobody is set, too
    new, came = call.name("_copy"), call.name("_came")
    own = call.name("_status") if ignored else ""
    told = f"&{own}" if own else call.text(status)
    datatype = use.buffer.type
    assert datatype is not None
    before = [*([f"MPI_Status {own};"] if own else []), f"int {came};", *_made(call, new, kind)]
    copy = f"memcpy({call.text(use.argument)}, {new}, {_bytes(came, kind)});"
    some = f"{came} > 0" if _number(use.call.args[count]) > 0 else f"{came} > 0 && {came} <= {_one(call.text(count))}"
    after = [f"MPI_Get_count({told}, {call.text(datatype)}, &{came});", *_tested(some, copy), f"free({new});"]
    other = [(use.argument, new), *([(status, told)] if own else [])]
    return call.around(before, after, other, test)


def _made(call: CallText, new: str, kind: str) -> list[str]:
    """A block for the message, never of no bytes; without memory the program ends."""
    count = call.use.buffer.count
    assert count is not None
    text = call.text(count)
    some = _number(call.use.call.args[count]) > 0
    size = _bytes(text, kind) if some else f"((size_t){_one(text)} + 1) * sizeof({kind})"
    return [
        f"{kind} *{new} = malloc({size});",
        f"if ({new} == NULL)",
        "    MPI_Abort(MPI_COMM_WORLD, 1);",
    ]


def _number(e: ast.Expr) -> int:
    """A count that is written as a number; 0 where it is not."""
    while isinstance(e, ast.Cast):
        e = e.operand
    return e.value if isinstance(e, ast.IntLit) else 0


def _reads_a_status(e: ast.Expr) -> bool:
    """What a receive sets may be read: the address is not the same behind it."""
    return any(isinstance(x, ast.Member) and "Status" in x.base.type.spelling for x in walk(e))


def _bytes(count: str, kind: str) -> str:
    return f"(size_t){_one(count)} * sizeof({kind})"


def _one(text: str) -> str:
    """In parentheses where it may be more than one operand."""
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _tested(condition: str, statement: str) -> list[str]:
    return [f"if ({condition})", f"    {statement}"]


def nobody(program: Program, call: CallText, peer: int) -> str:
    """The test that a partner is somebody; '' where it always is."""
    e = call.use.call.args[peer]
    while isinstance(e, ast.Cast):
        e = e.operand
    if not program.names_proc_null or (isinstance(e, ast.IntLit) and e.name != "MPI_PROC_NULL" and _somebody(e)):
        return ""
    text = call.text(peer)
    plain = re.fullmatch(r"[\w.>\[\]-]+", text)
    return f"{text if plain else f'({text})'} != MPI_PROC_NULL"


def _somebody(e: ast.IntLit) -> bool:
    return e.value >= 0 or e.name == "MPI_ANY_SOURCE"


def is_ignored(status: ast.Expr) -> bool:
    """``MPI_STATUS_IGNORE``, as either MPI writes it."""
    while isinstance(status, ast.Cast):
        status = status.operand
    return isinstance(status, ast.IntLit)


def _includes(units: Sequence[ast.Unit], file: str, source: SourceText) -> tuple[ByteEdit, ...] | None:
    """Headers that the file lacks; None where they cannot be put in, or a function is one of the program's own."""
    mine = [unit for unit in units if file in (unit.path, *unit.files)]
    missing: dict[str, None] = {}
    for unit in mine:
        if any(name in unit.functions or name in unit.globals for name in FUNCTIONS):
            return None
        missing.update((header, None) for name, header in FUNCTIONS.items() if name not in unit.declared)
    if not missing:
        return () if mine else None
    at = _behind_include(source)
    if at is None or any(file != unit.path for unit in mine):
        return None
    eol = source.eol
    return (ByteEdit(at, at, (0,), b"".join(b"#include %s%s" % (name.encode(), eol) for name in missing)),)


def _behind_include(source: SourceText) -> int | None:
    """The line after the first ``#include`` that every configuration reads."""
    depth = 0
    for region in source.regions:
        text = source.data[region.begin : region.end].lstrip()
        if region.kind != "directive":
            continue
        word = text.lstrip(b"#").strip()
        if word.startswith(b"if"):
            depth += 1
        elif word.startswith(b"endif"):
            depth -= 1
        elif depth == 0 and word.startswith(b"include"):
            end = source.data.find(b"\n", region.end - 1)
            return None if end < 0 else end + 1
    return None
