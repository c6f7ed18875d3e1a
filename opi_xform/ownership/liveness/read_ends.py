"""Whether what a program reads tells it how far to read: numbers are followed to the tests that end loops.

They are followed through arithmetic, parameters, results and other memory, and to what is set only where a test of them
comes out one way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from opi_xform.graph.graph import Bind, Node, Unbind
from opi_xform.ir import instr as ins
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import Name, leaves, names_of
from opi_xform.ownership.model.object_index import index_of

_CHARACTER = 2  # bytes, at most
_COPIES = frozenset(("memcpy", "memmove"))
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">="))


class ReadEnds:
    """Of the whole numbers that are read from some objects, and from copies of their bytes (``x = in[i]``, memcpy).

    ends: one of them decides that a loop ends.  copied: other objects that get some.
    """

    def __init__(self, program: Program, objects: Collection[int]) -> None:
        self.program = program
        self.graph, self.nest, self.names = program.graph, program.nest, names_of(program)
        self.accesses = index_of(program).accesses
        self.objects, copying = self.with_copies(objects)
        self.loads = [n for n in sorted({n for o in self.objects for n in self.accesses.nodes(o)}) if self.whole(n)]
        self.characters = any(self.size(n) <= _CHARACTER for n in self.loads)
        self.walked = frozenset(loop for n in (*self.loads, *copying) for loop in self.moving(n))
        self.copied: set[int] = set()
        first = [name for n in self.loads for name in self.names.defined(self.graph.nodes[n])]
        _, near = self.followed(first, False)
        self.held, self.tests = self.followed(first, True)  # of what was read, or made of that
        sure = [t for t in self.tests if self.characters or self.compared(t, None)]
        self.ends = any(map(self.left, (*near, *sure))) or self.decided(sure)

    def with_copies(self, objects: Collection[int]) -> tuple[frozenset[int], list[int]]:
        """The objects, and those that get bytes of them as they are; and what copies these."""
        found, copying = set(objects), list[int]()
        work = sorted(found)
        while work:
            for n in self.accesses.nodes(work.pop()):
                if self.copies_bytes(n) and found.intersection(self.accesses.objects(n, "R")):
                    new = {o for o in self.accesses.objects(n, "W") if o >= 0} - found
                    found |= new
                    work += sorted(new)
                    copying.append(n)
        return frozenset(found), copying

    def copies_bytes(self, n: int) -> bool:
        action = self.graph.nodes[n].action
        if isinstance(action, ins.CallInstr):
            return isinstance(action.callee, ins.AddrFunc) and action.callee.key in _COPIES
        return isinstance(action, ins.CopyBytes)

    def whole(self, n: int) -> bool:
        action = self.graph.nodes[n].action
        return isinstance(action, ins.Load) and action.type.kind != "float"

    def size(self, n: int) -> int:
        action = self.graph.nodes[n].action
        return action.type.size or 0 if isinstance(action, ins.Load) else 0

    def moving(self, n: int) -> frozenset[int]:
        """Loops from turn to turn of which another element is read; where that is not known, all around it."""
        around = frozenset(self.nest.chain(self.graph.nodes[n].block))
        symbols = self.program.values.symbols
        places = [a.lo for o in sorted(self.objects) for a in self.accesses.at_object(n, o) if a.kind == "R"]
        if any(p is None for p in places):
            return around
        return around & {loop for p in places if p is not None for loop in symbols.scope(symbols.resolve(p))}

    def left(self, node: Node) -> frozenset[int]:
        """The loops that a test may end."""
        return self.nest.left(node.block, self.graph.succs[node.block])

    # --- what is made of them -------------------------------------------------------------------------------------

    def followed(self, first: Collection[Name], copies: bool) -> tuple[set[Name], list[Node]]:
        """Names that hold them, or what is made of them, and the tests of these.  copies: in other memory, too."""
        held, tests = set(first), dict[int, Node]()
        work = sorted(held)
        while work:
            for n in self.names.uses.get(work.pop(), ()):
                node = self.graph.nodes[n]
                if isinstance(node.action, ins.Branch | ins.SwitchOn):
                    tests[n] = node
                new = [name for name in self.onward(node, held, copies) if name not in held]
                held.update(new)
                work += new
        return held, list(tests.values())

    def onward(self, node: Node, held: Collection[Name], copies: bool) -> Iterator[Name]:
        """What a node makes of names that are held."""
        match node.action:
            case Bind(caller=caller, params=params, args=args):
                for param, arg in zip(params, args, strict=False):
                    if self.of(caller, arg, held) and (name := self.names.name(node.frame, ins.Var(param))) is not None:
                        yield name
            case Unbind(callee=callee, target=target, value=value):
                if target is not None and value is not None and self.of(callee, value, held):
                    name = self.names.name(node.frame, target)
                    assert name is not None
                    yield name
            case ins.Store(value=value):
                if copies and self.of(node.frame, value, held):
                    for o in sorted(set(self.accesses.objects(node.number, "W")) - self.objects - self.copied):
                        yield from self.copies(o)
            case _:
                yield from self.names.defined(node)

    def copies(self, o: int) -> Iterator[Name]:
        """What is read from another object that gets some."""
        if o >= 0:
            self.copied.add(o)
            for n in self.accesses.nodes(o):
                if self.whole(n):
                    yield from self.names.defined(self.graph.nodes[n])

    def of(self, frame: int, operand: ins.Operand, held: Collection[Name]) -> bool:
        return any(self.names.name(frame, leaf) in held for leaf in leaves(operand))

    # --- what they decide -----------------------------------------------------------------------------------------

    def decided(self, tests: Collection[Node]) -> bool:
        """What is set, or not, by one of these tests ends a loop around it in which they are read one by one."""
        if self.characters and any(self.graph.body(t.frame).function.key in self.graph.cyclic for t in tests):
            return True
        around = self.walked.intersection(loop for t in tests for loop in self.nest.chain(t.block))
        return bool(around) and bool(self.ended_by(tests) & around)

    def ended_by(self, tests: Collection[Node]) -> frozenset[int]:
        """The loops that what is set, or not, by some tests may end."""
        blocks = {b for t in tests for b in self.controlled(t.block)}
        names = {name for node in self.graph.nodes if node.block in blocks for name in self.defined(node)}
        _, found = self.followed(names - self.held, False)
        return frozenset[int]().union(*map(self.left, found))

    def defined(self, node: Node) -> list[Name]:
        if isinstance(node.action, Unbind) and node.action.target is not None:
            name = self.names.name(node.frame, node.action.target)
            return [] if name is None else [name]
        return [] if isinstance(node.action, Bind) else self.names.defined(node)

    def controlled(self, block: int) -> frozenset[int]:
        """Blocks of the innermost loop that run, in the same turn, only where the block's test comes out one way."""
        inner = self.nest.of[block]
        if inner < 0:
            return frozenset()
        loop = self.nest.loops[inner]
        ways = []
        for first in self.graph.succs[block]:
            seen: set[int] = set()
            work = [first]
            while work:
                b = work.pop()
                if b not in seen and b in loop.blocks and b != loop.header:
                    seen.add(b)
                    work += self.graph.succs[b]
            ways.append(frozenset(seen))
        return frozenset[int]().union(*ways) - (frozenset.intersection(*ways) if ways else frozenset())

    def compared(self, test: Node, with_: Collection[int] | None) -> bool:
        """A test asks for one of some numbers; None: for any one, or for zero."""
        match test.action:
            case ins.SwitchOn(cases=cases):
                return with_ is None or any(c is not None and any(c[0] <= x <= c[1] for x in with_) for c in cases)
            case ins.Branch(cond=cond):
                return _asks(cond, with_)
            case _:
                return False

    def ends_at_zero(self) -> bool:
        """A test for zero ends a loop in which they are read one by one, itself or by what is set where it holds."""
        return self.walked_to_zero() or self.decided([t for t in self.tests if self.compared(t, (0,))])

    def walked_to_zero(self) -> bool:
        """A test for zero ends a loop in which they are read one by one."""
        return any(self.left(t) & self.walked for t in self.tests if self.compared(t, (0,)))

    def answered_at_zero(self) -> bool:
        """What a function returns where a test for zero holds ends the loop that calls it for each of them."""
        for t in self.tests:
            loop, call = self.nest.of[t.block], self.graph.frames[t.frame].call
            called = loop in self.walked and call >= 0 and self.graph.nodes[call].block in self.nest.loops[loop].blocks
            if called and self.compared(t, (0,)) and loop in self.ended_by([t]):
                return True
        return False

    def tell(self, marks: Collection[int]) -> bool:
        """A test of what was read asks for one of these numbers."""
        return any(self.compared(t, marks) for t in self.tests)


def _asks(cond: ins.Operand, numbers: Collection[int] | None) -> bool:
    while isinstance(cond, ins.Op) and cond.op in ("not", "cast"):
        cond = cond.args[0]
    if not isinstance(cond, ins.Op) or cond.op not in _COMPARISONS:
        return numbers is None or 0 in numbers
    if numbers is None and cond.op not in ("==", "!="):
        return False
    if numbers is not None and 0 in numbers and cond.op not in ("==", "!="):
        numbers = (*numbers, 1, -1)  # ``x >= 1`` is ``x > 0``
    found = [a.value for a in cond.args if isinstance(a, ins.Const)]
    return any(numbers is None or value in numbers for value in found)
