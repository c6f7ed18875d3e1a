"""What local numbers are equal to on a way through the program: ``h = height;`` before ``while (h < height)``."""

from __future__ import annotations

from collections.abc import Mapping
from operator import eq, ge, gt, le, lt, ne

from opi_xform.graph.graph import Node
from opi_xform.ir import instr as ins
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import Name, Names

Value = int | Name
Equal = Mapping[Name, Value]
_OPS = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


class Equalities:
    """The step over one node, and the way that a branch takes."""

    def __init__(self, program: Program, names: Names) -> None:
        self.program = program
        self.names = names
        self.sets: dict[int, frozenset[Name]] = {}  # by node

    def step(self, node: Node, known: Equal) -> Equal:
        """What is known after a node."""
        changed = self.defined(node)
        if not changed:
            return known
        out = known
        if not (changed.isdisjoint(known) and changed.isdisjoint(known.values())):
            out = {name: value for name, value in known.items() if name not in changed and value not in changed}
        action = node.action
        if isinstance(action, ins.Define) and len(changed) == 1:
            (target,) = changed
            value = self.copied(node.frame, action, known)
            if value is not None and value != target and value not in changed and self.steady(target):
                out = {**out, target: value}
        return out

    def defined(self, node: Node) -> frozenset[Name]:
        """The names that a node sets, which is asked for on each way to it."""
        found = self.sets.get(node.number)
        if found is None:
            found = self.sets[node.number] = frozenset(self.names.defined(node))
        return found

    def copied(self, frame: int, action: ins.Define, known: Equal) -> Value | None:
        """The whole number, or the name, that a name is set to as it is."""
        t = action.type
        if t.kind != "int" or (t.size or 0) < 4:
            return None
        match action.value:
            case ins.Const(value=value):
                return value if t.holds(value) else None
            case ins.Var(key=key):
                name = self.names.name(frame, action.value)
                same = (
                    self.program.variables[key].type.size == t.size and self.program.variables[key].type.kind == "int"
                )
                if name is None or not same or not self.steady(name):
                    return None
                return known.get(name, name)
            case ins.Temp(number=number):
                return known.get(("t", frame, number))
            case _:
                return None

    def steady(self, name: Name) -> bool:
        """Only what names it sets it: a local variable whose address nobody takes, or a temporary."""
        if name[0] == "t":
            return True
        variable = self.program.variables.get(self.names.objects.table[name[1]].variable or "")
        if variable is None or variable.kind not in ("local", "param") or name[1] in self.names.address_taken:
            return False
        return not (variable.type.volatile or variable.type.atomic)

    def taken(self, frame: int, cond: ins.Operand, known: Equal) -> bool | None:
        """Whether a condition holds; None: it is not known."""
        match cond:
            case ins.Op(op="not", args=(inner,)):
                found = self.taken(frame, inner, known)
                return None if found is None else not found
            case ins.Op(op=op, args=(left, right)) if op in _OPS:
                a, b = self.value(frame, left, known), self.value(frame, right, known)
                if a is None or b is None:
                    return None
                if a == b:
                    return op in ("==", "<=", ">=")
                if isinstance(a, int) and isinstance(b, int) and (not cond.unsigned or min(a, b) >= 0):
                    return bool(_OPS[op](a, b))
                return None
            case ins.Var() | ins.Temp() | ins.Const():
                value = self.value(frame, cond, known)
                return value != 0 if isinstance(value, int) else None
            case _:
                return None

    def value(self, frame: int, operand: ins.Operand, known: Equal) -> Value | None:
        if isinstance(operand, ins.Const):
            return operand.value
        name = self.names.name(frame, operand)
        if name is None or not self.steady(name):
            return None
        if isinstance(operand, ins.Var):
            t = self.program.variables[operand.key].type
            if t.kind != "int" or (t.size or 0) < 4:
                return None
        return known.get(name, name)


def both(a: Equal, b: Equal) -> Equal:
    """What is known on either of two ways: the first itself, where that is all of it."""
    if a is b:
        return a
    out = {name: value for name, value in a.items() if b.get(name) == value}
    return out if len(out) < len(a) else a
