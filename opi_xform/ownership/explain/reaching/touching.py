"""What nodes of a program touch, by the names that its text has for that: for reasons that are told."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from opi_xform.graph.graph import Lost
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.lvalues import Expressions
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import STORED, Root, Roots, base_of


class Touching:
    """One per program.  uses: the messages of each node."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.names = names_of(program)
        self.written = Expressions(program, by_type=True)
        self.roots = Roots(program)
        self.known: dict[int, tuple[Root, ...]] = {}  # ``by``
        self.uses: dict[int, list[Use]] = {}
        for use in collect(program):
            self.uses.setdefault(use.node, []).append(use)

    def by(self, n: int) -> tuple[Root, ...]:
        """The names by which a node touches memory."""
        known = self.known.get(n)
        if known is None:
            found = (self.roots.of(e, self.graph.nodes[n].frame) for e in self.places(n))
            known = self.known[n] = tuple(origin.root for origin in filter(None, found))
        return known

    def places(self, n: int) -> Iterator[ast.Expr]:
        """Lvalues that a node names, with what a pointer that it reads lies in."""
        for e in self.lvalues(n):
            yield e
            if isinstance(e, ast.Member) and isinstance(self.graph.nodes[n].action, ins.Load) and e.type.is_pointer:
                yield e.base
            inner = base_of(e)
            if isinstance(inner, ast.Member) and inner.type.is_array:  # it lies where its struct does
                yield inner.base

    def lvalues(self, n: int) -> Iterator[ast.Expr]:
        node = self.graph.nodes[n]
        action = node.action
        if isinstance(action, (ins.Load, ins.Store)):
            e = self.written.of(self.graph.frames[node.frame].function, action)
            if e is not None:
                yield e
        elif isinstance(action, ins.CallInstr):
            yield from (a for a in action.call.args if a.type.is_pointer or a.type.is_array)

    def reads(self, n: int, root: Root | None = None) -> bool:
        """A node that reads what lies in memory, and is no message itself.  root: a name by which it does."""
        node = self.graph.nodes[n]
        action = node.action
        if isinstance(action, ins.CallInstr):
            effect = self.names.effect(action)
            if n in self.uses or (effect is not None and effect.frees is not None):
                return False
            if root is None or effect is None or effect.format is not None or root not in self.by(n):
                return True
            regions = [r for r in effect.reads if r.arg < len(action.call.args)]
            found = (self.roots.of(action.call.args[r.arg], node.frame) for r in regions)
            return any(r.rest or r.indirect for r in regions) or any(o is not None and o.root == root for o in found)
        return isinstance(action, ins.Load) and (not action.type.is_pointer or self.linked(n, root))

    def linked(self, n: int, root: Root | None) -> bool:
        """A node reads a pointer to more of the same that lies in a message's own memory: a member of what is there."""
        e = next(self.lvalues(n), None)
        if root is None or not isinstance(e, ast.Member):
            return False
        found = self.roots.of(e.base, self.graph.nodes[n].frame)
        return found is not None and found.root == root and found.moved

    def unknown(self, n: int) -> bool:
        """A call of a function of which nothing is known."""
        action = self.graph.nodes[n].action
        return isinstance(action, ins.CallInstr) and n not in self.uses and self.names.effect(action) is None

    def computes(self, n: int, cleared: bool = True) -> bool:
        """A node that puts something into memory, and is no message; cleared: a number written there counts, too."""
        action = self.graph.nodes[n].action
        if not isinstance(action, ins.Store) or action.type.is_pointer:
            return False
        match action.value:
            case ins.Const() | ins.Nondet(reason="floating constant"):
                return cleared
            case _:
                return True

    def copies_into(self, n: int, root: Root) -> bool:
        """A call of a library, and no message, that writes into memory by a name, at a place after its beginning."""
        node = self.graph.nodes[n]
        action = node.action
        effect = self.names.effect(action) if isinstance(action, ins.CallInstr) else None
        if not isinstance(action, ins.CallInstr) or effect is None or effect.mpi is not None:
            return False
        written = (action.call.args[r.arg] for r in effect.all_writes if not r.rest and r.arg < len(action.call.args))
        found = (self.roots.of(e, node.frame) for e in written)
        return any(o is not None and o.root == root and (o.inside or o.moved) for o in found)

    def set_anew(self, root: Root) -> set[int]:
        """Nodes that set the pointer which the call names to something else; an array is none."""
        kind, key, frame = root
        if kind == STORED or (key in self.program.variables and self.program.variables[key].type.is_array):
            return set()
        keys = (key, *(m.key for m in self.program.members.values() if key in m.named))
        found = [self.program.values.objects.variable(frame, k) for k in keys]
        defs = (self.names.defs.get(("v", o, 0), ()) for o in found)
        return set(chain(chain.from_iterable(defs), (a.node for o in found for a in self.names.writes(o))))


def supposed(program: Program, n: int, o: int) -> bool:
    """A node is a call of a function from inside itself, and what is followed of that function does not read an object,
    nor is the call given it.
    """
    graph, values = program.graph, program.values
    again = graph.entered_again(graph.nodes[n])
    if again < 0:
        return False
    bases = (values.symbols.base(v) for v in values.args.get(n, ()))
    if o in program.points_to.reachable(frozenset(base for base in bases if base is not None)):
        return False
    for m in values.accesses.nodes(o):
        frame = graph.nodes[m].frame
        while frame not in (again, -1):
            frame = graph.frames[frame].parent
        if frame == again and not isinstance(graph.nodes[m].action, Lost) and values.accesses.touches(m, (o,), "R"):
            return False
    return True
