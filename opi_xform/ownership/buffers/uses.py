"""Finds the buffer uses of a program, and groups them by the buffer they name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opi_xform.effects.model import Effects, MpiBuffer
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import calls_of
from opi_xform.memory.accesses import Access
from opi_xform.memory.extent import extent_of
from opi_xform.memory.poly import ZERO, Poly, number
from opi_xform.ownership.buffers.counted import never_overfull
from opi_xform.ownership.buffers.row_lengths import RowLengths
from opi_xform.ownership.model.buffers import Buffer, Carrier, Program, Use
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.split_rows import row_index, split_row
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.procnull.real_ranks import not_negative
from opi_xform.ownership.spelling.second_names import first_name
from opi_xform.values.unset.nullable import may_be_null

NO_OBJECT = -1
P2P = frozenset({"send", "recv", "sendrecv"})


def collect(program: Program) -> list[Use]:
    """Every use of a buffer by a point-to-point call in the graph, in node order."""
    out: list[Use] = []
    for node in program.graph.nodes:
        call = node.action
        if not isinstance(call, ins.CallInstr) or not isinstance(call.callee, ins.AddrFunc):
            continue
        effect = program.effects.get(call.callee.key)
        if effect is None or effect.mpi is None or effect.mpi.kind not in P2P:
            continue
        values = program.values.args.get(node.number)
        if values is None:
            continue
        for side, buffer in sides(effect.mpi.send, effect.mpi.recv):
            if buffer.buf >= len(values):
                continue
            symbols = program.values.symbols
            address, length = values[buffer.buf], length_of(program, buffer, call, values)
            if length is not None:  # of a basic type: NULL is nothing then, and not MPI_BOTTOM
                address = symbols.not_null(address)
            base = symbols.base(address)
            lo = symbols.offset(address) if base is not None else None
            lasting = base is not None and len(program.values.objects.table[base].nodes) > 1
            if lo is not None and (lasting or may_be_null(program.values, lo)):
                lo = symbols.resolve(lo, keep_rows=True)
            o = NO_OBJECT if base is None else base
            row = None if lo is None else row_index(program, o, lo)
            out.append(Use(node.number, call.call, effect.mpi, buffer, side, buffer.buf, o, lo, length, row))
    return out


def sides(send: MpiBuffer | None, recv: MpiBuffer | None) -> list[tuple[str, MpiBuffer]]:
    """The buffers of a call by side; what passes ownership already (named by its carrier's address) is no site."""
    return [(side, b) for side, b in (("send", send), ("recv", recv)) if b is not None and not b.indirect]


def length_of(program: Program, buffer: MpiBuffer, call: ins.CallInstr, values: tuple[Poly, ...]) -> Poly | None:
    """How many bytes a buffer of a call has; None where its datatype, or the count, is not known."""
    if buffer.count is None or buffer.type is None:
        return None
    size = extent_of(program.values, call.args[buffer.type], values[buffer.type])
    return None if size is None else values[buffer.count] * size


def is_rows(program: Program, o: int, uses: Iterable[Use]) -> int:
    """Bytes of one row when every access and use of the object stays in the row it names; else 0.

    Subscripting an array stays inside it (C 6.5.6).  But programs run over the rows of an array: with a message that is
    longer than one, with ``a[0][i]`` or a pointer to a row for all elements.  So of messages, calls, pointers, and of
    subscripts after a constant index it has to be shown that they end in their row.
    """
    type_ = program.values.objects.table[o].type
    if type_ is None or type_.elem is None or not type_.elem.is_array or not type_.elem.size:
        return 0
    row = type_.elem.size
    mine = [u for u in uses if u.object == o]
    if not _all_rows(program, mine, type_.count):
        return 0
    lengths = RowLengths(program, o, mine, row, type_.count)
    longer = []
    for use in mine:
        found = None if use.lo is None else split_row(program, o, use.lo)
        if found is None or found[1].terms:
            return 0
        if not _ends_in_row(program, use, row, lengths):
            longer.append(use)
    if longer and not never_overfull(program, o, mine, row):
        return 0
    nodes = {u.node for u in mine}
    for n, accesses in index_of(program).accesses.of(o).items():
        for a in accesses:
            if n in nodes:
                continue
            found = None if a.lo is None else split_row(program, o, a.lo)
            if found is None or not _stays_in_row(program, a, found, row, lengths):
                return 0
    return row


def _all_rows(program: Program, uses: list[Use], count: int | None) -> bool:
    """Whether every row is a message's buffer; rows of a live matrix that are sent in place are not."""
    indices: set[int] = set()
    for use in uses:
        if use.row is None:
            return False
        index = program.values.symbols.resolve(use.row)
        if index.constant is None:
            return True
        indices.add(index.constant)
    return count is not None and indices >= set(range(count))


def _ends_in_row(program: Program, use: Use, row: int, lengths: RowLengths) -> bool:
    """A message that begins with a row has no more bytes than a row: MPI does not mind going on in the next one."""
    if use.length is None:
        return False
    return not_negative(program, use.node, number(row) - use.length) or lengths.fits(use.node, use.length)


def _stays_in_row(program: Program, a: Access, found: tuple[Poly, Poly], row: int, lengths: RowLengths) -> bool:
    """An access that names a row touches no other one."""
    index, rest = found
    if a.length is None:
        return False
    if a.within == row and index.constant is None and not program.pointers:
        return True  # ``a[i][j]``: who means the whole array begins with a row of which the number is written
    start, room = program.values.symbols.resolve(rest), number(row) - a.length
    shown = not_negative(program, a.node, start) and not_negative(program, a.node, room - start)
    return shown or lengths.inside(a.node, start, a.length)


def buffers(program: Program, uses: list[Use]) -> tuple[list[Buffer], list[Use]]:
    """Uses grouped by buffer; and those whose buffer is not one known object."""
    groups: dict[tuple[str, str], list[int]] = {}
    strays: list[Use] = []
    objects = program.values.objects.table
    named = {path(program, use)[1] for use in uses if use.object != NO_OBJECT and objects[use.object].kind == "heap"}
    for use in uses:
        if use.object == NO_OBJECT:
            strays.append(use)
            continue
        o = objects[use.object]
        if o.kind == "variable":
            assert o.variable is not None
            key = ("array", o.variable)
        elif o.kind == "heap":
            key = ("pointer", first_name(program, path(program, use)[1], named))
        elif o.kind == "family":
            assert o.variable is not None
            key = ("family", o.variable)
        else:
            strays.append(use)
            continue
        if key[1] == "":
            strays.append(use)
            continue
        group = groups.setdefault(key, [])
        if use.object not in group:
            group.append(use.object)
    out: list[Buffer] = []
    for (kind, variable), members in groups.items():
        mine = [u for u in uses if u.object in members]
        carrier = Carrier(kind, variable)
        if kind == "array":
            sizes = {is_rows(program, o, mine) for o in members}
            if len(sizes) == 1 and 0 not in sizes:
                carrier = Carrier(kind, variable, 1, next(iter(sizes)))
            else:
                mine = [_from_the_start(program, u) for u in mine]
        elif kind == "family":
            nodes = tuple(sorted(n for o in members for h in objects[o].members for n in objects[h].nodes))
            carrier = Carrier("pointer", variable, 1, allocations=nodes)
        else:
            nodes = tuple(sorted(n for o in members for n in objects[o].nodes))
            carrier = Carrier(kind, variable, allocations=nodes)
        name = program.variables[variable].name
        out.append(Buffer(name, carrier, tuple(sorted(members)), tuple(mine), touches(program, set(members), mine)))
    return out, strays


def _from_the_start(program: Program, use: Use) -> Use:
    """A message that begins with the first row of an array which is one buffer begins with the array: ``a[0]``."""
    row = None if use.row is None else program.values.symbols.resolve(use.row)
    lo = None if use.lo is None else program.values.symbols.resolve(use.lo)
    return replace(use, row=None, lo=ZERO) if row == ZERO and lo == ZERO else use


def touches(program: Program, objects: set[int], uses: list[Use]) -> tuple[int, ...]:
    """Nodes other than the sites that access the buffer or pass its address on."""
    index = index_of(program)
    out: set[int] = set()
    for o in objects:
        out.update(index.accesses.nodes(o))
        out.update(index.addressed.get(o, ()))
    out.difference_update(u.node for u in uses)
    return tuple(sorted(out))


def all_calls(functions: Iterable[ast.Function], effects: Effects) -> list[tuple[ast.Function, ast.Call, str]]:
    """Every point-to-point call in the sources with its name, reached or not, in source order."""
    out: list[tuple[ast.Function, ast.Call, str]] = []
    for function in functions:
        for call in calls_of(function):
            if isinstance(call.callee, ast.FuncRef):
                effect = effects.get(call.callee.name)
                if effect is not None and effect.mpi is not None and effect.mpi.kind in P2P:
                    out.append((function, call, call.callee.name))
    return out


def datatype_of(program: Program, use: Use) -> ins.Operand:
    """What a use names as the datatype of its message."""
    action = program.graph.nodes[use.node].action
    assert isinstance(action, ins.CallInstr)
    return ins.Nondet("no datatype") if use.buffer.type is None else action.args[use.buffer.type]
