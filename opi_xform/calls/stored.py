"""Which bytes a store may change, found before values are.

An address is followed back to what it is made of: the address of a variable, or what an allocation gave, some constant
number of bytes further.  No order of instructions counts for that, so what is found holds at every turn of every loop.
A pointer variable is followed to all that it is ever set to, where nothing else can set it: no store through its
address, no call that may reach it.  A constant subscript counts; one that is not constant, a pointer that was read from
memory, and one that is moved in a loop are not followed.
"""

from __future__ import annotations

from collections.abc import Collection

from opi_xform.calls.calls import Calls
from opi_xform.effects.model import ArgRegion
from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.extent import extent

MOST = 64  # operands that one address is followed through
Places = frozenset[tuple[int, int]]
"""(object, byte from its start)."""

_Source = tuple[int, ins.Operand | None]  # an operand in its frame; None: something that is not followed


class Stored:
    """``loose``: objects of which it is not known who sets them, beside definitions of the variable itself."""

    def __init__(self, calls: Calls, loose: Collection[int], whole_program: bool) -> None:
        self.calls = calls
        self.objects = calls.objects
        self.loose = loose
        self.whole_program = whole_program
        self.temps: dict[tuple[int, int], list[_Source]] = {}
        self.variables: dict[int, list[_Source]] = {}
        self.bound: set[int] = set()  # parameters that the program gives
        for node in calls.graph.nodes:
            self.note(node)

    def note(self, node: Node) -> None:
        """What a node sets variables and temporaries to."""
        frame = node.frame
        match node.action:
            case ins.Define(target=ins.Temp(number=t), value=value):
                self.temps.setdefault((frame, t), []).append((frame, value))
            case ins.Define(target=ins.Var(key=key), value=value):
                self.variables.setdefault(self.objects.variable(frame, key), []).append((frame, value))
            case ins.Load(target=t):
                self.temps.setdefault((frame, t.number), []).append((frame, None))
            case Bind(caller=caller, params=params, args=args):
                for key, value in zip(params, args, strict=True):
                    self.bound.add(self.objects.variable(frame, key))
                    self.variables.setdefault(self.objects.variable(frame, key), []).append((caller, value))
            case Unbind(callee=callee, target=result, value=returned) if result is not None:
                self.temps.setdefault((frame, result.number), []).append((callee, returned))
            case ins.CallInstr(target=result) as call if result is not None:
                if not self.calls.is_followed(node, call):
                    self.temps.setdefault((frame, result.number), []).append((frame, self.made(node, call)))
            case Lost(call=ins.CallInstr(target=result)) if result is not None:
                self.temps.setdefault((frame, result.number), []).append((frame, None))
            case _:
                pass

    def made(self, node: Node, call: ins.CallInstr) -> ins.Operand | None:
        """The memory that a call allocates."""
        effect = self.calls.effect(call)
        if effect is None or effect.allocates is None or effect.allocates.into is not None or effect.returns:
            return None
        return ins.AddrHeap(node.number)

    def places(self, frame: int, address: ins.Operand) -> Places | None:
        """All that an address may be, NULL left out; None: not known."""
        out: set[tuple[int, int]] = set()
        work: list[tuple[int, ins.Operand | None, int]] = [(frame, address, 0)]
        seen: set[tuple[object, int]] = set()
        while work:
            at, operand, offset = work.pop()
            found: list[_Source] | None = None
            key: object = None
            match operand:
                case ins.AddrVar(key=name):
                    out.add((self.objects.variable(at, name), offset))
                    continue
                case ins.AddrHeap(node=n):
                    out.add((self.objects.heap(n), offset))
                    continue
                case ins.Const(value=0):
                    continue
                case ins.PtrAdd(base=base, index=ins.Const(value=index), scale=scale) if scale or not index:
                    work.append((at, base, offset + index * scale))
                    continue
                case ins.Op(op="cast", args=(inner,), type=type_) if type_.is_pointer:
                    work.append((at, inner, offset))
                    continue
                case ins.Temp(number=t):
                    key, found = (at, t), self.temps.get((at, t))
                case ins.Var(key=name):
                    o = self.objects.variable(at, name)
                    key, found = o, self.set_to(o)
                case _:
                    pass
            if not found:
                return None
            if (key, offset) not in seen:
                seen.add((key, offset))
                work.extend((source, value, offset) for source, value in found)
            if len(seen) > MOST:  # a pointer that moves by itself
                return None
        return frozenset(out) or None

    def set_to(self, o: int) -> list[_Source] | None:
        """All that a pointer variable is set to; it begins as NULL, or as what nobody may read."""
        info = self.objects.table[o]
        if o in self.loose or o in self.objects.foreign or o in self.objects.exposed or info.variable is None:
            return None
        if info.type is None or not info.type.is_pointer or info.type.volatile or info.type.atomic:
            return None
        var = self.calls.objects.variables[info.variable]
        if var.is_global and not (self.whole_program and begins_as_null(var)):
            return None
        if var.kind == "param" and o not in self.bound:  # somebody outside calls the function
            return None
        return self.variables.get(o)


def begins_as_null(var: ast.Variable) -> bool:
    return var.init is None and (var.kind != "extern" or any(d.definition or d.tentative for d in var.declarators))


def fixed_length(region: ArgRegion, arg: int, call: ins.CallInstr) -> int | None:
    """Bytes of a region where they are the same at each call."""
    if region.length is None or region.indirect or region.rest:
        return None
    out = 1
    for f in region.length:
        size: int | None = None
        if f.kind == "const":
            size = f.value
        elif f.kind == "arg" and f.value < len(call.args):
            given = call.args[f.value]
            size = given.value if isinstance(given, ins.Const) else None
        elif f.kind == "extent" and f.value < len(call.args):
            size = extent(call.args[f.value])
        elif f.kind == "elem":
            type_ = call.call.args[arg].type
            size = type_.elem.size if type_.elem is not None else None
        if size is None or size < 0:
            return None
        out *= size
    return out
