"""Functions that are given the address of an element: ``pack(&buf[s], n); MPI_Send(&buf[s], n, …);``, ``memcpy``.

What such a function touches by that address is as good as elements by their number, where the address goes nowhere but
there: it is not stored, returned or compared (``divide/flow.py``), all that is touched by it travels, and nothing else
of the buffer is touched by what it is mixed with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from opi_xform.divide.flow import Name, Trouble, VariableFlow, harmless, operands
from opi_xform.divide.mentions import Mention, Place
from opi_xform.divide.passages.called import uncast
from opi_xform.graph.graph import Bind, Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.once import once
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.object_index import index_of


@once
def leading(program: Program) -> frozenset[str]:
    """The functions in which, or in those that they call, messages are."""
    graph, out = program.graph, set[str]()
    for use in collect(program):
        frame = graph.nodes[use.node].frame
        while frame >= 0:
            out.add(graph.frames[frame].function)
            frame = graph.frames[frame].parent
    return frozenset(out)


def given(program: Program, m: Mention) -> bool:
    """The address of an element, as an argument of a function that sends and receives nothing: ``pack(buf + s, n)``."""
    if len(m.terms) != 1 or m.terms[0].sign < 0 or m.kind != "value" or uncast(m.around) is not m.ref:
        return False
    address: ast.Expr | None = m.address if m.indexed else m.whole
    if address is None or not all(e.span.editable for e in (m.ref, m.whole, address, m.terms[0].expr)):
        return False
    inner: ast.Expr = address
    above = list(m.parents[m.parents.index(address) + 1 :])
    while above and isinstance(above[0], ast.Cast):
        inner = above.pop(0)
    call = above[0] if above else None
    if not isinstance(call, ast.Call) or not isinstance(call.callee, ast.FuncRef):
        return False
    name = call.callee.name
    if name in program.functions:
        return name not in leading(program)
    effect, at = program.effects.get(name), [i for i, e in enumerate(call.args) if e is inner]
    return effect is not None and effect.mpi is None and harmless(effect, at)


def gives(program: Program, node: Node) -> bool:
    """A node is a call, and sends and receives nothing."""
    if not isinstance(node.action, ins.CallInstr):
        return False
    callee = node.action.callee
    effect = program.effects.get(callee.key) if isinstance(callee, ins.AddrFunc) else None
    return (effect is None or effect.mpi is None) and not (
        isinstance(callee, ins.AddrFunc) and callee.key in leading(program)
    )


class Given(VariableFlow):
    """Where addresses go that are made where one copy of a function names a variable at some places: ``touching``."""

    def __init__(self, program: Program, key: str, frame: int, places: Collection[Place]) -> None:
        super().__init__(program, (key,))
        self.frame = frame
        self.places = places
        self.at = frame  # of the node that is looked at
        self.bound: set[int] = set()  # calls after which parameters are bound to what they are given

    def is_buffer(self, leaf: ins.Operand) -> bool:
        if not isinstance(leaf, (ins.Var, ins.AddrVar)) or leaf.key not in self.keys or self.at != self.frame:
            return False
        return (leaf.span.file, leaf.span.begin) in self.places

    def visit(self, node: Node) -> list[Name]:
        self.at = operands(node)[1]
        found = super().visit(node)
        self.at = self.frame
        return found

    def touching(self, o: int, inside: Collection[int]) -> dict[int, set[Place]] | None:
        """The nodes that such addresses get to, with the places that they come from; None where they get elsewhere.

        o: the buffer's object.  inside: nodes beyond which none may get.
        """
        try:
            found = self.run()
        except Trouble:
            return None
        nodes, out = self.program.graph.nodes, dict[int, set[Place]]()
        begun = [
            node.action.args
            for node in map(nodes.__getitem__, sorted({n for n, _ in found.roots}))
            if isinstance(node.action, Bind)
        ]
        self.bound = {n for n, _ in found.roots if any(_args(nodes[n]) == args for args in begun)}
        for n, i in found.roots:
            origins = set(self.origins(found.roots[n, i]))
            out.setdefault(n, set()).update(origins)
        if not all(n in inside and self.only(n, o) for n in out) or not self.made_of_it():
            return None
        return out if not any((n, i) in found.roots for n, i in index_of(self.program).frees) else None

    def origins(self, root: Place | Name) -> Iterator[Place]:
        seen, work = set[Place | Name](), [root]
        while work:
            at = work.pop()
            if at in seen:
                continue
            seen.add(at)
            if isinstance(at[0], str):
                yield at[0], int(at[1])
            else:
                work += [source for _, source in self.found.made.get((at[0], at[1]), ())]

    def only(self, n: int, o: int) -> bool:
        """What a node touches of the object it touches by such addresses, and no message does."""
        node = self.program.graph.nodes[n]
        action = node.action
        if isinstance(action, Bind):
            return self.program.graph.frames[node.frame].function not in self.program.graph.levels
        if isinstance(action, ins.CallInstr) and n in self.program.graph.followed:
            return n in self.bound and not self.program.values.accesses.at_object(n, o)
        if not isinstance(action, (ins.CallInstr, ins.CopyBytes)):
            return True
        if isinstance(action, ins.CallInstr):
            effect = self.program.effects.get(called_key(action))
            if effect is None or effect.mpi is not None:
                return False
        points_to, (found, frame) = self.program.points_to, operands(node)
        return all((n, i) in self.found.roots or o not in points_to.operand(frame, e) for i, e in enumerate(found))

    def made_of_it(self) -> bool:
        """A name that holds such an address is a called function's, or holds it for one expression; it holds nothing
        else.
        """
        made = self.found.made
        if any(frame == self.frame and isinstance(key, str) for frame, key in made):
            return False
        for node in self.program.graph.nodes:
            match node.action:
                case ins.Define(target=ins.Var(key=key)):
                    set_here = [self.variable(key, node.frame)]
                case Bind(params=params):
                    set_here = [(node.frame, key) for key in params]
                case ins.Define(target=ins.Temp(number=number)):
                    set_here = [(node.frame, number)]
                case _:
                    continue
            for name in set_here:
                if name in made and not any(n == node.number for n, _ in made[name]):
                    return False
        return True


def _args(node: Node) -> tuple[ins.Operand, ...] | None:
    return node.action.args if isinstance(node.action, ins.CallInstr) else None
