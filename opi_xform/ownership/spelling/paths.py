"""How a pointer in a struct is written at a statement: ``s.out``, ``h->out``, ``m->face[1].out``.

The text is right where it names the same place in every copy of the function: what it begins with is the struct
itself, or a pointer that is set once, before, to that struct; what it goes through is set once, before, too; and the
structs are there: they have been allocated, and have not been freed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from opi_xform.graph.graph import Lost
from opi_xform.graph.statements import Edge, Flow, Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.types import Type
from opi_xform.memory.poly import ZERO, Poly
from opi_xform.ownership.model.buffers import Member, Program, Twin, Where
from opi_xform.ownership.model.lvalues import fixed, hole, place, settable
from opi_xform.ownership.model.names import Names, names_of
from opi_xform.ownership.spelling.mentions import Mentions, Texts, in_scope
from opi_xform.record import dataclass

SOON = 500  # nodes to look at
HOLE = "\0"  # where the subscript goes in the text of a table's pointer

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
        table = hole(e, self.member.stride)
        while True:
            match e:
                case ast.Member(base=base, offset=at):
                    offset += at
                    e = base
                    continue
                case ast.Index(base=base) if e is table:
                    e = base
                    if base.type.is_array:
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
        written: list[tuple[str, str, str, Path, ast.Expr]] = []
        for owner, e in self.member.exprs:
            path = self.path(e)
            if path is None or not e.span.editable or (fixed(e) and not self.member.cast):
                continue
            opened = self.texts.of(replace(e.span, end=path.root.span.begin))
            text, name = self.texts.of(e.span), self.texts.of(path.root.span)
            if name != self.program.variables[path.root.var].name:
                continue  # a macro writes it: all parts of it have one place
            if self.member.stride:
                table = hole(e, self.member.stride)
                if table is None or not table.index.span.editable:
                    continue
                before = self.texts.of(replace(e.span, end=table.index.span.begin))
                text = before + HOLE + self.texts.of(replace(e.span, begin=table.index.span.end))
            if text.startswith(opened + name):
                written.append((owner, opened, text[len(opened + name) :], path, e))
        for owner, opened, suffix, path, e in written:
            root = self.program.variables[path.root.var]
            if owner == function or root.is_global:
                whole = settable(e, opened + root.name + suffix, self.member.cast)
                if whole is not None:
                    yield whole, root, path
        for _, opened, suffix, path, _ in written:
            if opened == "(*" and suffix.startswith(")."):
                suffix = "->" + suffix[2:]
            elif opened:
                continue
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

    # --- through a pointer to one element of a table -------------------------------------------------------------

    def element(self, rows: Mapping[int, Poly], level: Level, where: str, mentions: Mentions) -> tuple[str, str] | None:
        """(text, subscript) of a row as ``p->out`` with a pointer ``p`` that is set once, ahead; rows: per frame."""
        function = self.flow.graph.frames[level[0]].function
        if self.member.twins:
            return self.twin(rows, level, where)
        for owner, e in self.member.exprs:
            path = self.path(e)
            if owner != function or hole(e, self.member.stride) or path is None or path.steps or not e.span.editable:
                continue
            root = self.program.variables[path.root.var]
            if self.texts.of(path.root.span) != root.name:
                continue
            text = settable(e, self.texts.of(e.span), self.member.cast)
            if text is None or root.function != function or not root.type.is_pointer or not self.visible(level, root):
                continue
            frames = self.flow.frames_of[function]
            if set(frames) == set(rows) and all(
                self.leads(root, e, frame, rows[frame], (frame, level[1]), where, mentions) for frame in frames
            ):
                return text, self.distance(path, root, level, where)
        return None

    def twin(self, rows: Mapping[int, Poly], level: Level, where: str) -> tuple[str, str] | None:
        """(text, no subscript) where the words mean the row's own struct in each copy of the function."""
        function = self.flow.graph.frames[level[0]].function
        meant: dict[int, Twin] = {}
        for frame, row in rows.items():
            number = row.constant
            if number is None or not 0 <= number < len(self.member.twins):
                return None
            meant[frame] = self.member.twins[number]
        if set(meant) != set(self.flow.frames_of[function]):
            return None
        for candidate, root, path in self.candidates(function):
            if self.visible(level, root) and all(
                self.right(root, path, frame, self.edges((frame, level[1]), where), twin)
                for frame, twin in meant.items()
            ):
                return candidate, ""
        return None

    def leads(
        self, root: ast.Variable, e: ast.Expr, frame: int, row: Poly, level: Level, where: str, mentions: Mentions
    ) -> bool:
        """In one copy of the function, ``e`` means the row at the statement."""
        nodes, nest = self.names.graph.nodes, self.program.nest
        o = self.names.objects.variable(frame, root.key)
        if o in self.names.address_taken or self.names.writes(o) or root.type.volatile:
            return False
        defs = [n for n in self.names.defs.get(("v", o, 0), ()) if not isinstance(nodes[n].action, ins.Birth)]
        edges = self.edges(level, where)
        if len(defs) != 1 or (nodes[defs[0]].frame == frame and self.flow.inside(level, defs[0])):
            return False
        loops = self.symbols.scope(row)
        for edge in edges:
            around = [set(nest.chain(nodes[n].block)) for n in edge if n < len(nodes)]
            if not self.ahead(defs[0], edge) or any(not loops <= chain for chain in around):
                return False
        if not self.alive(self.member, edges):
            return False
        mine = [n for n in self.member.nodes if nodes[n].frame == frame and self.lvalue(n) == place(e)]
        found = [mentions.row(self.program.values.operands[n][0]) for n in mine if n in self.program.values.operands]
        return bool(found) and all(r == row for r in found)

    def lvalue(self, n: int) -> tuple[str, int, int] | None:
        """Where the lvalue of a load or store of the table is written."""
        action = self.names.graph.nodes[n].action
        if not isinstance(action, (ins.Load, ins.Store)) or not isinstance(action.address, ins.PtrAdd):
            return None
        base = action.address.base
        return (base.span.file, base.span.begin, base.span.end) if isinstance(base, ins.AddrVar) else None

    def distance(self, path: Path, root: ast.Variable, level: Level, where: str) -> str:
        """The subscript as ``p - nb``; '' when the table cannot be named."""
        table = self.text(level, where)
        inner = {self.inside_element(e) for _, e in self.member.exprs} - {None}
        size = root.type.elem.size if root.type.elem is not None else None
        if table is None or inner != {path.offset} or size != self.member.stride:
            return ""
        before = table.removeprefix(f"(*{self.member.cast}&").partition(HOLE)[0]
        return f"{root.name} - {before[:-1]}" if before.endswith("[") else ""  # a macro may write the subscript

    def inside_element(self, e: ast.Expr) -> int | None:
        """Bytes from an element of the table to the pointer in it."""
        table = hole(e, self.member.stride)
        if table is None:
            return None
        offset = 0
        while e is not table:
            if isinstance(e, ast.Member):
                offset += e.offset
                e = e.base
            elif isinstance(e, ast.Index) and isinstance(e.index, ast.IntLit) and e.type.size is not None:
                offset += e.index.value * e.type.size
                e = e.base
            else:
                return None
        return offset

    # --- is it right ---------------------------------------------------------------------------------------------

    def right(
        self, root: ast.Variable, path: Path, frame: int, edges: Sequence[Edge], twin: Twin | None = None
    ) -> bool:
        """The path leads to the member (of twins: to that one) on these edges, in one copy of the function."""
        passed = [self.program.members[key] for key, _ in path.steps]
        last: Member | Twin = twin or self.member
        if any(one.twins for one in passed) or not all(self.alive(one, edges) for one in (*passed, last)):
            return False
        wanted: list[tuple[Where, int]] = [(one.object, one.offset) for one in passed]
        wanted.append((last.object, last.offset))
        for (key, _), target, offset in zip(path.steps, wanted[1:], (at for _, at in path.steps), strict=True):
            pointer = ("v", self.names.objects.variable(-1, key), 0)
            if not self.points(pointer, target, offset, edges):
                return False
        o = self.names.objects.variable(frame, root.key)
        if not root.type.is_pointer or wanted[0][0] == ("variable", root.key):
            return self.number(wanted[0][0]) == o and wanted[0][1] == path.offset
        if o in self.names.address_taken or self.names.writes(o) or root.type.volatile or root.thread_local:
            return False
        others = self.follows(root, frame) if not root.is_global else frozenset[int]()
        return self.points(("v", o, 0), wanted[0], path.offset, edges, others)

    def number(self, where: Where) -> int:
        """The object's number in this analysis."""
        kind, name = where
        objects = self.names.objects
        if kind == "heap":
            return objects.by_node.get(int(name), -1)
        found = objects.by_name.get(str(name), [])
        return found[0] if len(found) == 1 else -1

    def points(
        self,
        pointer: tuple[str, int, int],
        target: tuple[Where, int],
        offset: int,
        edges: Sequence[Edge],
        others: frozenset[int] = frozenset(),
    ) -> bool:
        """A pointer that is set once, before the edges, to ``offset`` bytes before the target.

        others: nodes that follow it.
        """
        nodes = self.names.graph.nodes
        if self.names.writes(pointer[1]):
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
        if value != given and not all(self.tested(given, others, edge) for edge in edges):
            return False
        at = self.symbols.resolve(self.symbols.offset(value)).constant
        return self.symbols.base(value) == self.number(target[0]) and at is not None and at + offset == target[1]

    def follows(self, root: ast.Variable, frame: int) -> frozenset[int]:
        """Nodes in one copy of a function that read or set a member through a pointer, ``h->out``."""
        out: set[int] = set()
        for member in self.program.members.values():
            through = set[tuple[str, int, int]]()
            for function, e in member.exprs:
                path = self.path(e)
                if function == root.function and path is not None and not path.steps and path.root.var == root.key:
                    through.add(place(e))
            for n in member.nodes if through else ():
                node = self.names.graph.nodes[n]
                span = getattr(node.action, "span", None)
                if node.frame == frame and span is not None and (span.file, span.begin, span.end) in through:
                    out.add(n)
        return frozenset(out)

    def tested(self, value: Poly, others: frozenset[int], edge: Edge) -> bool:
        """What may be NULL is not, on an edge: it has been followed before, or compared with NULL, or soon will be.

        others: nodes that follow it, too.
        """
        found = self.program.values
        followers = {n for s in value.symbols() for n in found.followed.get(s, ())}
        followers |= others
        if any(self.ahead(n, edge) for n in followers) or self.soon(followers, edge):
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

    def soon(self, nodes: Collection[int], edge: Edge) -> bool:
        """Every way from an edge comes to one of the nodes: through no loop, and no call that may not return."""
        graph = self.names.graph
        open_: set[int] = set()  # on the way that is being walked
        done: set[int] = set()
        work = [(edge[1], False)]
        while work:
            n, left = work.pop()
            if left:
                open_.discard(n)
                done.add(n)
                continue
            if n in open_:
                return False
            if n in done or n in nodes:
                continue
            if n >= len(graph.nodes) or len(done) + len(open_) > SOON or not self.returns(n) or not self.flow.succs[n]:
                return False
            open_.add(n)
            work.append((n, True))
            work.extend((t, False) for t in self.flow.succs[n])
        return True

    def returns(self, n: int) -> bool:
        """A node that is sure to be left for the next ones, as long as MPI does its work; of other calls that is not
        known."""
        action = self.names.graph.nodes[n].action
        if isinstance(action, Lost):
            return False
        if not isinstance(action, ins.CallInstr) or n in self.names.graph.followed:
            return True
        effect = self.program.effects.get(called_key(action))
        return effect is not None and effect.mpi is not None

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

    def alive(self, member: Member | Twin, edges: Sequence[Edge]) -> bool:
        """The struct that a member lies in is there on the edges."""
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
        if u < count and (u == n or self.program.dominates(n, u)):
            return True
        return v < count and v != n and self.program.dominates(n, v)


def _alike(a: Type, b: Type) -> bool:
    plain = not a.volatile and not a.const
    return a.kind == "record" and a.record == b.record and a.size is not None and plain


def _same_file(a: str, b: str) -> bool:
    return a == b or os.path.realpath(a) == os.path.realpath(b)
