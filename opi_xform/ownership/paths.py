"""How a pointer in a struct is written at a statement: ``s.out``, ``h->out``, ``m->face[1].out``.

The text is right where it names the same place in every copy of the function: what it begins with is the struct
itself, or a pointer that is set once, before, to that struct; what it goes through is set once, before, too; and the
structs are there: they have been allocated, and have not been freed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.poly import ZERO, Poly
from opi_xform.ownership.flow import Edge, Flow, Level
from opi_xform.ownership.members import dominates, place
from opi_xform.ownership.mentions import Texts, in_scope
from opi_xform.ownership.model import Member, Program, Where
from opi_xform.ownership.names import Names, names_of

Step = tuple[str, int]  # what is read on the way: a member's key, and bytes from where it points to the next


@dataclass(frozen=True, slots=True)
class Path:
    """An lvalue: the variable it begins with, and the pointers that it follows from there.

    offset: bytes from where ``root`` points (or begins) to the first of ``steps``, or to the member itself.
    """

    root: ast.VarRef
    offset: int
    steps: tuple[Step, ...]


class Paths:
    """The texts of one member."""

    def __init__(self, program: Program, flow: Flow, member: Member, texts: Texts) -> None:
        self.program = program
        self.flow = flow
        self.member = member
        self.texts = texts
        self.names: Names = names_of(program)
        self.symbols = program.values.symbols

    # --- the parts of an lvalue ----------------------------------------------------------------------------------

    def path(self, e: ast.Expr) -> Path | None:
        """An lvalue of the member; None when it is made of more than names, members and constant subscripts."""
        steps: list[Step] = []
        offset = 0
        while True:
            match e:
                case ast.Member(base=base, offset=at):
                    offset += at
                    e = base
                    continue
                case ast.Index(base=base, index=ast.IntLit(value=index)) if e.type.size is not None:
                    offset += index * e.type.size
                    e = base
                    if base.type.is_array:
                        continue
                case ast.Deref(operand=inner):
                    e = inner
                case ast.VarRef():
                    return Path(e, offset, tuple(steps))
                case _:
                    return None
            # a pointer has been followed
            if isinstance(e, ast.VarRef):
                return Path(e, offset, tuple(steps))
            through = next((m.key for m in self.program.members.values() if place(e) in m.spans), None)
            if through is None:
                return None
            steps.insert(0, (through, offset))
            offset = 0

    # --- texts ---------------------------------------------------------------------------------------------------

    def text(self, level: Level, where: str) -> str | None:
        """The member as written at a statement; None when there is no way that is known to be right."""
        function = self.flow.graph.frames[level[0]].function
        for candidate, root, path in self.candidates(function):
            if self.visible(level, root) and all(
                self.right(root, path, frame, self.edges((frame, level[1]), where))
                for frame in self.flow.frames_of[function]
            ):
                return candidate
        return None

    def candidates(self, function: str) -> Iterator[tuple[str, ast.Variable, Path]]:
        """(text, variable that it begins with, the rest): first as the function itself writes the member."""
        written: list[tuple[str, str, Path]] = []
        for owner, e in self.member.exprs:
            path = self.path(e)
            if path is None or not e.span.editable or e.span.begin != path.root.span.begin:
                continue
            text, name = self.texts.of(e.span), self.texts.of(path.root.span)
            if text.startswith(name):
                written.append((owner, text[len(name) :], path))
        for owner, suffix, path in written:
            root = self.program.variables[path.root.var]
            if owner == function or root.is_global:
                yield root.name + suffix, root, path
        for _, suffix, path in written:
            body = suffix.removeprefix("->").removeprefix(".")
            struct = path.root.type.elem if path.root.type.is_pointer else path.root.type
            if body == suffix or struct is None or struct.kind != "record":
                continue
            for root in self.program.functions[function].variables.values():
                if root.type.is_pointer and root.type.elem is not None and _alike(root.type.elem, struct):
                    yield f"{root.name}->{body}", root, path
                elif _alike(root.type, struct):
                    yield f"{root.name}.{body}", root, path

    def visible(self, level: Level, root: ast.Variable) -> bool:
        lowered = self.flow.lowered(level[0])
        for other in lowered.function.variables.values():
            if other.name == root.name and other.key != root.key and in_scope(lowered, other, level[1]):
                return False
        if root.function:
            return root.function == lowered.function.key and in_scope(lowered, root, level[1])
        anchor = lowered.stmts[level[1]].stmt.span
        places = [d.span for d in root.declarators] + [
            path.root.span for _, e in self.member.exprs if (path := self.path(e)) and path.root.var == root.key
        ]
        return any(_same_file(s.file, anchor.file) and s.begin < anchor.end for s in places)

    def edges(self, level: Level, where: str) -> Sequence[Edge]:
        entering, leaving = self.flow.boundary(level, self.flow.succs, self.flow.preds)
        if where == "before":
            return entering
        if where == "return":
            inside = [n for n in self.flow.by_frame[level[0]] if self.flow.stmt[n] == level[1]]
            returns = [n for n in inside if isinstance(self.flow.graph.nodes[n].action, ins.ReturnInstr)]
            return [(u, n) for n in returns for u in self.flow.preds[n]]
        return leaving

    # --- is it right ---------------------------------------------------------------------------------------------

    def right(self, root: ast.Variable, path: Path, frame: int, edges: Sequence[Edge]) -> bool:
        """The path leads to the member on these edges, in one copy of the function."""
        wanted: list[tuple[Where, int]] = [self.place_of(key) for key, _ in path.steps]
        wanted.append((self.member.object, self.member.offset))
        if not all(self.alive(key, edges) for key in (*(key for key, _ in path.steps), self.member.key)):
            return False
        for (key, _), target, offset in zip(path.steps, wanted[1:], (at for _, at in path.steps), strict=True):
            pointer = ("v", self.names.objects.variable(-1, key), 0)
            if not self.points(pointer, -1, target, offset, edges):
                return False
        o = self.names.objects.variable(frame, root.key)
        if not root.type.is_pointer:
            return self.number(wanted[0][0]) == o and wanted[0][1] == path.offset
        if o in self.names.address_taken or o in self.names.writes or root.type.volatile or root.thread_local:
            return False
        return self.points(("v", o, 0), -1 if root.is_global else frame, wanted[0], path.offset, edges)

    def place_of(self, key: str) -> tuple[Where, int]:
        member = self.program.members[key]
        return member.object, member.offset

    def number(self, where: Where) -> int:
        """The object's number in this analysis."""
        kind, name = where
        objects = self.names.objects
        if kind == "heap":
            return objects.by_node.get(int(name), -1)
        found = objects.by_name.get(str(name), [])
        return found[0] if len(found) == 1 else -1

    def points(
        self, pointer: tuple[str, int, int], frame: int, target: tuple[Where, int], offset: int, edges: Sequence[Edge]
    ) -> bool:
        """A pointer that is set once, ahead of the edges, to ``offset`` bytes before the target."""
        nodes = self.names.graph.nodes
        if pointer[1] in self.names.writes:
            return False
        defs = [n for n in self.names.defs.get(pointer, ()) if not isinstance(nodes[n].action, ins.Birth)]
        values = {n: self.given(n, pointer) for n in defs}
        setting = [n for n in defs if values[n] != ZERO]
        if len(setting) != 1 or any(self.names.follows(setting[0], n) for n in defs if n != setting[0]):
            return False
        given = values[setting[0]]
        if given is None or not all(self.ahead(setting[0], edge) for edge in edges):
            return False
        value = self.symbols.not_null(given)
        if value != given and not all(self.tested(given, edge) for edge in edges):
            return False
        at = self.symbols.resolve(self.symbols.offset(value)).constant
        return self.symbols.base(value) == self.number(target[0]) and at is not None and at + offset == target[1]

    def tested(self, value: Poly, edge: Edge) -> bool:
        """What may be NULL is not, on an edge: it has been followed before, or compared with NULL."""
        found = self.program.values
        if any(self.ahead(n, edge) for s in value.symbols() for n in found.followed.get(s, ())):
            return True
        graph = self.names.graph
        for n, condition in found.conditions.items():
            if condition.left != value or condition.right != ZERO or condition.op not in ("==", "!="):
                continue
            succs = graph.succs[graph.nodes[n].block]
            there = succs[0 if condition.op == "!=" else 1] if len(succs) == 2 else -1
            if there >= 0 and len(graph.preds[there]) == 1 and self.inside(there, edge):
                return True
        return False

    def inside(self, block: int, edge: Edge) -> bool:
        """A block is on every way over an edge."""
        nodes = self.names.graph.nodes
        return any(n < len(nodes) and self.program.nest.dominates(block, nodes[n].block) for n in edge[:1])

    def given(self, n: int, pointer: tuple[str, int, int]) -> Poly | None:
        """What a node sets a pointer to."""
        node = self.names.graph.nodes[n]
        found = self.program.values.operands.get(n, ())
        defined = self.names.defined(node)
        if pointer not in defined or len(found) != len(defined):
            return None
        return found[defined.index(pointer)]

    def alive(self, key: str, edges: Sequence[Edge]) -> bool:
        """The struct that a member lies in is there on the edges."""
        member = self.program.members[key]
        if member.start >= 0 and not all(self.ahead(member.start, edge) for edge in edges):
            return False
        count = len(self.names.graph.nodes)
        near = {n for edge in edges for n in edge if n < count}
        return not any(self.names.follows(end, n) for end in member.ends for n in near) and not any(
            u == end for end in member.ends for u, _ in edges
        )

    def ahead(self, n: int, edge: Edge) -> bool:
        """Every way over an edge has passed a node."""
        u, v = edge
        count = len(self.names.graph.nodes)
        if u < count and (u == n or dominates(self.program, n, u)):
            return True
        return v < count and v != n and dominates(self.program, n, v)


def _alike(a: Type, b: Type) -> bool:
    return a.kind == "record" and a.record == b.record and a.size is not None and not a.volatile


def _same_file(a: str, b: str) -> bool:
    return a == b or os.path.realpath(a) == os.path.realpath(b)
