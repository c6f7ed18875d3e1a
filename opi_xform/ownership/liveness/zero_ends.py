"""Texts whose end may be a zero that is in their buffer before they arrive: what is put there, and who looks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from opi_xform.graph.graph import Bind, Unbind
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.walk import uncast
from opi_xform.ownership.liveness.read_ends import ReadEnds
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.model.names import Name, Names, names_of
from opi_xform.ownership.model.object_index import index_of


def zeros_put(program: Program, buffer: Buffer) -> int | None:
    """The first call that fills the buffer with zeros."""
    return min(all_zeros(program, buffer), default=None)


def all_zeros(program: Program, buffer: Buffer) -> list[int]:
    """The calls that fill the buffer with zeros: ``calloc`` that makes it, ``memset``, ``bzero``."""
    table = program.values.objects.table
    known = [table[o] for o in buffer.objects]
    heaps = [table[h] for info in known for h in (info.members if info.kind == "family" else (info.number,))]
    made = (n for heap in heaps if heap.kind == "heap" for n in heap.nodes)
    out = [n for n in made if called_key(program.graph.nodes[n].action) == "calloc"]
    for o in buffer.objects:
        for n in index_of(program).accesses.nodes(o):
            if filled_by(program, n) == 0:
                out.append(n)
    return out


def filled_by(program: Program, n: int) -> int | None:
    """The byte that a call of ``memset`` or ``bzero`` fills memory with."""
    name, values = called_key(program.graph.nodes[n].action), program.values.args.get(n, ())
    if name == "bzero":
        return 0
    return values[1].constant if name == "memset" and len(values) > 1 else None


def read_to_an_end(program: Program, buffer: Buffer) -> bool:
    """How far the buffer is read is told by what it contains: by a library function, or by the test of a loop.

    Whole numbers are followed (``ReadEnds``).  Floating ones count where they are compared as they came: a residual
    that is made of them ends many loops, and tells no end of a text.
    """
    found = ReadEnds(program, buffer.objects)
    if found.ends or given_as_text(program, buffer) or _as_text(program, found.copied, ()) is not None:
        return True
    nodes = {n for o in buffer.objects for n in index_of(program).accesses.of(o)}
    loaded = {n for n in nodes if isinstance(program.graph.nodes[n].action, ins.Load)}
    leaving = {inside for loop in program.nest.loops for inside, _ in loop.exits}
    return _compared(program, names_of(program), loaded, leaving)


def ends_at_zero(program: Program, buffer: Buffer) -> bool:
    """A list of whole numbers is read up to a zero."""
    return ReadEnds(program, buffer.objects).ends_at_zero()


def read_to_zero(program: Program, buffer: Buffer) -> bool:
    """A library function reads it as a text, or a loop up to a zero, also one that a function is asked for."""
    if given_as_text(program, buffer):
        return True
    found = ReadEnds(program, buffer.objects)
    return found.walked_to_zero() or found.answered_at_zero()


def has_characters(program: Program, buffer: Buffer) -> bool:
    """Whole numbers of one or two bytes are read of it, whatever its pointer says that it is."""
    nodes = {n for o in buffer.objects for n in index_of(program).accesses.of(o)}
    actions = (program.graph.nodes[n].action for n in sorted(nodes))
    return any(isinstance(a, ins.Load) and a.type.kind == "int" and (a.type.size or 0) <= 2 for a in actions)


def given_as_text(program: Program, buffer: Buffer) -> bool:
    """A library function reads it, and no argument says how far: it prints a text, also a member of a struct."""
    return reads_as_text(program, buffer) is not None


def reads_as_text(program: Program, buffer: Buffer) -> int | None:
    """The first call of such a function; None for none."""
    return _as_text(program, buffer.objects, {u.node for u in buffer.uses})


def _as_text(program: Program, objects: Iterable[int], sites: Collection[int]) -> int | None:
    """The first call that reads some objects as texts, beside the sites.  ``strncmp`` stops at the end of one, too."""
    for o in objects:
        for n, accesses in index_of(program).accesses.of(o).items():
            call = program.graph.nodes[n].action
            if not isinstance(call, ins.CallInstr) or n in sites or _of_messages(program, call):
                continue
            text = called_key(program.graph.nodes[n].action).startswith(("str", "wcs"))
            if any(a.kind == "R" and (a.length is None or text) for a in accesses):
                return n
    return None


def copied_as_text(program: Program, buffer: Buffer) -> bool:
    """A library function copies it to other characters, of which the end may be asked for there."""
    for o in buffer.objects:
        for n, accesses in index_of(program).accesses.of(o).items():
            call = program.graph.nodes[n].action
            if not isinstance(call, ins.CallInstr) or not any(a.kind == "R" for a in accesses):
                continue
            effect = program.effects.get(called_key(call))
            for flow in effect.flows if effect is not None and effect.mpi is None else ():
                to = uncast(call.call.args[flow.target]) if flow.target < len(call.call.args) else None
                if to is not None and to.type.elem is not None and to.type.elem.size == 1:
                    return True
    return False


def is_numbers(program: Program, buffer: Buffer) -> bool:
    """All that is read of it are numbers of 4 bytes or more, one by one, and none of them tells an end."""
    for o in buffer.objects:
        for n, accesses in index_of(program).accesses.of(o).items():
            action = program.graph.nodes[n].action
            if not any(a.kind == "R" for a in accesses):
                continue
            if isinstance(action, ins.Load):
                if action.type.kind not in ("int", "float") or (action.type.size or 0) < 4:
                    return False
            elif not isinstance(action, ins.CallInstr) or not _of_messages(program, action):
                return False
    return not read_to_an_end(program, buffer)


def _of_messages(program: Program, call: ins.CallInstr) -> bool:
    effect = program.effects.get(called_key(call))
    return effect is not None and (effect.mpi is not None or effect.frees is not None)


def _compared(program: Program, names: Names, loaded: Collection[int], leaving: Collection[int]) -> bool:
    """The test of a loop compares a floating number that the buffer held."""
    held = {name for n in loaded for name in names.defined(program.graph.nodes[n])}
    while held:
        more: set[Name] = set()
        for node in program.graph.nodes:
            match node.action:
                case ins.Branch(cond=ins.Nondet(args=args)) if node.block in leaving:
                    if any(names.name(node.frame, _uncast(arg)) in held for arg in args):
                        return True
                case ins.Define(value=value) if names.name(node.frame, _uncast(value)) in held:
                    more.update(names.defined(node))
                case Bind(caller=caller, params=params, args=args):
                    for param, arg in zip(params, args, strict=False):
                        if names.name(caller, _uncast(arg)) in held:
                            more.add(("v", names.objects.variable(node.frame, param), 0))
                case Unbind(callee=callee, target=ins.Temp(number=number), value=value) if value is not None:
                    if names.name(callee, _uncast(value)) in held:
                        more.add(("t", node.frame, number))
                case _:
                    pass
        if more <= held:
            return False
        held |= more
    return False


def _uncast(operand: ins.Operand) -> ins.Operand:
    while isinstance(operand, ins.Op) and operand.op == "cast":
        operand = operand.args[0]
    return operand
