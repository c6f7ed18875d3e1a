"""Numbers that say nothing of what comes in messages: what a program puts into a buffer as a mark.

They are made of constants, also by arithmetic and choices, and by way of variables and tables to which nothing else is
given.  A number that is set before the loops in which it is used is as good: it is the same in all their turns.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import instr as ins
from opi_xform.once import once
from opi_xform.ownership.liveness.zero_ends import filled_by
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.object_index import index_of

Name = tuple[int, str | int]  # a variable or a temporary in one copy of its function (-1: at file level)
Value = tuple[int, ins.Operand]  # in one copy

# what the headers make NAN, INFINITY and HUGE_VAL of
_NUMBERS = frozenset(
    f"{name}{letter}"
    for name in ("nan", "__builtin_nan", "__builtin_inf", "__builtin_huge_val")
    for letter in ("", "f", "l")
)


class Constants:
    """What is constant in the turns of some loops."""

    def __init__(self, program: Program, loops: frozenset[int]) -> None:
        self.program = program
        self.loops = loops
        self.known: set[Name] = set()

    def written(self, node: Node) -> bool:
        """The node writes the same number, or the same struct, whenever it runs."""
        if filled_by(self.program, node.number) is not None:
            return True
        values = self.source(node)
        return values is not None and all(self.constant(v) for v in values)

    def source(self, node: Node) -> list[Value] | None:
        """What a node makes of memory is one of these; None: not known."""
        action = node.action
        match action:
            case ins.Store(value=value):
                return [(node.frame, value)]
            case ins.CopyBytes(source=ins.Nondet(reason="compound literal")):
                return self.literal(node)
            case ins.CopyBytes(source=source):
                return self.contents(self.program.points_to.operand(node.frame, source))
            case ins.CallInstr(callee=ins.AddrFunc(key=key)):
                effect = self.program.effects.get(key)
                if effect is None or effect.mpi is not None:
                    return None
                texts = [action.args[r.arg] for r in effect.reads if not r.rest and r.arg < len(action.args)]
                if texts and all(isinstance(a, ins.AddrString) for a in texts):
                    return [(node.frame, a) for a in action.args[effect.format.first :]] if effect.format else []
                if len(effect.flows) != 1:
                    return None
                return self.contents(frozenset(index_of(self.program).accesses.objects(node.number, "R")))
            case _:
                return None

    def literal(self, node: Node) -> list[Value] | None:
        """The numbers in a compound literal."""
        block = self.program.graph.blocks[node.block]
        for n in reversed(block[: block.index(node.number)]):
            action = self.program.graph.nodes[n].action
            if isinstance(action, ins.Escape) and action.reason == "compound literal":
                return [(node.frame, value) for value in action.values]
        return None

    def contents(self, objects: frozenset[int]) -> list[Value] | None:
        """What is put in those loops into memory to which only the program's own stores are made."""
        out = list[Value]()
        for o in objects:
            writes = self.writes(o)
            if writes is None:
                return None
            for node in writes:
                if isinstance(node.action, ins.Store):
                    out.append((node.frame, node.action.value))
                elif not isinstance(node.action, ins.Birth) and filled_by(self.program, node.number) is None:
                    return None
        return out if objects else None

    def writes(self, o: int) -> list[Node] | None:
        """Where those loops may write an object; None where others may."""
        values, graph = self.program.values, self.program.graph
        if o in values.escaped or o in values.given_away or o in values.objects.foreign:
            return None
        accesses = index_of(self.program).accesses.of(o)
        nodes = [graph.nodes[n] for n, found in accesses.items() if any(a.kind == "W" for a in found)]
        return [node for node in nodes if not self.loops.isdisjoint(self.program.nest.chain(node.block))]

    def constant(self, value: Value) -> bool:
        """It is made of constants, and of names that are."""
        names = self.names(value)
        if names is None:
            return False
        made: dict[Name, tuple[Name, ...]] = {}
        work = [name for name in names if name not in self.known]
        while work:
            name = work.pop()
            if name in made:
                continue
            inner = self.made_of(name)
            if inner is None:
                return False
            made[name] = inner
            work += [n for n in inner if n not in self.known]
        while made:  # what is made of itself, as a counter is, is none
            done = [name for name, inner in made.items() if made.keys().isdisjoint(inner)]
            if not done:
                return False
            self.known.update(done)
            made = {name: inner for name, inner in made.items() if name not in self.known}
        return True

    def made_of(self, name: Name) -> tuple[Name, ...] | None:
        """The names in all that a name is given in those loops; None where one of them is not known."""
        program, (frame, key) = self.program, name
        given = _given(program).get(name, ())
        if isinstance(key, str):
            variable = program.variables[key]
            o = program.values.objects.variable(frame, key)
            by_address = index_of(program).accesses.nodes(o) and self.writes(o) != []
            if by_address or variable.type.volatile or variable.type.atomic:
                return None  # it may be set through its address
            if not given:
                first = variable.kind == "param" and program.graph.frames[frame].parent < 0  # of main
                return () if first or (variable.is_global and variable.kind != "extern") else None
        elif not given:
            return None
        out: list[Name] = []
        for at, value in given:
            if self.loops.isdisjoint(program.nest.chain(at.block)) and isinstance(key, str):
                continue
            action = at.action
            found: list[Value] | None
            if isinstance(action, ins.Load):
                found = self.contents(program.points_to.operand(at.frame, action.address))
            elif isinstance(action, ins.CallInstr):
                found = [] if isinstance(action.callee, ins.AddrFunc) and action.callee.key in _NUMBERS else None
            else:
                found = None if value is None else [value]
            for one in found or ():
                names = self.names(one)
                if names is None:
                    return None
                out += names
            if found is None:
                return None
        return tuple(out)

    def names(self, value: Value) -> list[Name] | None:
        """The names in an operand; None where it is made of anything but constants and these."""
        frame, out, work = value[0], list[Name](), [value[1]]
        while work:
            match work.pop():
                case ins.Op(args=args):
                    work += args
                case ins.Nondet(reason="floating arithmetic", args=args) if args:
                    work += args
                case ins.Const() | ins.Nondet(reason="floating constant"):
                    pass
                case ins.Temp(number=number):
                    out.append((frame, number))
                case ins.Var(key=key):
                    out.append(_name(self.program, frame, key))
                case _:
                    return None
        return out


def _name(program: Program, frame: int, key: str) -> Name:
    return (-1 if program.variables[key].is_global else frame, key)


@once
def _given(program: Program) -> dict[Name, list[tuple[Node, Value | None]]]:
    """By name: where it is given something, and what, where an operand is that."""
    out: dict[Name, list[tuple[Node, Value | None]]] = {}
    for node, name, value in _gifts(program):
        out.setdefault(name, []).append((node, value))
    return out


def _gifts(program: Program) -> Iterator[tuple[Node, Name, Value | None]]:
    followed = {frame.call for frame in program.graph.frames}
    for node in program.graph.nodes:
        match node.action:
            case ins.CallInstr() if node.number in followed:
                pass  # the function's own return gives it
            case ins.Define(target=ins.Temp(number=number), value=value):
                yield node, (node.frame, number), (node.frame, value)
            case ins.Define(target=ins.Var(key=key), value=value):
                yield node, _name(program, node.frame, key), (node.frame, value)
            case (
                ins.Load(target=target)
                | ins.CallInstr(target=ins.Temp() as target)
                | Lost(call=ins.CallInstr(target=ins.Temp() as target))
            ):
                yield node, (node.frame, target.number), None
            case Unbind(callee=callee, target=ins.Temp(number=number), value=value) if value is not None:
                yield node, (node.frame, number), (callee, value)
            case Bind(caller=caller, params=params, args=args):
                for key, argument in zip(params, args, strict=True):
                    yield node, (node.frame, key), (caller, argument)
            case _:
                pass
