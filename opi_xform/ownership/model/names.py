"""Where addresses of a buffer are held: names (scalar variables and temporaries), their uses and definitions.

An address of an object starts at the mention of an array, at an allocation, or at a reading of the carrier.  From there
it can only travel through names, because a value that goes anywhere else (memory, an unknown function, a library that
keeps it, an integer) is a problem that refuses the buffer.  So following the names is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opi_xform.effects.model import FunctionEffect, MpiOp
from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.span import NOWHERE, Span
from opi_xform.ir.walk import children
from opi_xform.memory.accesses import Access
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass

Name = tuple[str, int, int]  # ("v", object, 0) for a scalar variable, ("t", frame, number) for a temporary


def leaves(operand: ins.Operand) -> Iterator[ins.Operand]:
    """The operands at the tips of a tree, from left to right."""
    stack = [operand]
    while stack:
        item = stack.pop()
        if isinstance(item, ins.Op):
            stack.extend(reversed(item.args))
        elif isinstance(item, ins.PtrAdd):
            stack.append(item.index)
            stack.append(item.base)
        else:
            yield item


def operands(node: Node) -> list[tuple[int, ins.Operand]]:
    """(frame in which it is evaluated, operand) of everything that a node evaluates, in order."""
    frame = node.frame
    match node.action:
        case ins.Define(value=value):
            return [(frame, value)]
        case ins.Load(address=address):
            return [(frame, address)]
        case ins.Store(address=address, value=value):
            return [(frame, address), (frame, value)]
        case ins.CopyBytes(target=target, source=source):
            return [(frame, target), (frame, source)]
        case ins.Branch(cond=cond):
            return [(frame, cond)]
        case ins.SwitchOn(value=value):
            return [(frame, value)]
        case ins.ReturnInstr(value=returned):
            return [] if returned is None else [(frame, returned)]
        case ins.Escape(values=values):
            return [(frame, v) for v in values]
        case ins.CallInstr(callee=callee, args=args):
            return [(frame, callee), *((frame, a) for a in args)]
        case Bind(caller=caller, args=args):
            return [(caller, a) for a in args]
        case Unbind(callee=callee_frame, value=returned):
            return [] if returned is None else [(callee_frame, returned)]
        case Lost(call=call):
            return [(frame, call.callee), *((frame, a) for a in call.args)]
        case _:
            return []


class Names:
    """Uses and definitions of every name of a program graph, and the nodes that mention each variable's address."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.objects = program.values.objects
        self.uses: dict[Name, list[int]] = {}
        self.defs: dict[Name, list[int]] = {}
        self.mentions: dict[int, list[int]] = {}
        self.address_taken: set[int] = set()
        self.operations: dict[int, MpiOp] = {}  # MPI calls of library functions, in program order
        self.left: dict[int, list[int]] = {}  # frame -> nodes at which it is left
        self.behind: dict[int, list[int]] = {}  # ``leaving``, by birth
        self.written: dict[int, list[Access]] = {}  # ``writes``
        self.tests: dict[int, tuple[Name, str, int] | None] = {}  # ``requests/completions.py``: by branch
        self.completing: dict[int, object] = {}  # ``requests/completions.py``: by object
        self.reached: dict[tuple[object, ...], bool] = {}  # ``requests/pending.py``: by what was asked
        self.ends: list[int] = []  # calls in which some request may complete
        self.onward: dict[int, frozenset[int]] = {}  # by the first block of an outermost loop: what follows its blocks
        self.address_taken.update(self.objects.variable(-1, key) for key in sorted(self.graph.background.named))
        self.address_taken.update(self.objects.variable(-1, key) for key in _initialising(program))
        for node in self.graph.nodes:
            self.index(node)
            self.classify(node)

    def writes(self, o: int) -> list[Access]:
        """What may write to an object."""
        found = self.written.get(o)
        if found is None:
            found = self.written[o] = self.program.values.accesses.written(o)
        return found

    def index(self, node: Node) -> None:
        n = node.number
        for frame, operand in operands(node):
            for leaf in leaves(operand):
                if isinstance(leaf, ins.AddrVar):
                    o = self.objects.variable(frame, leaf.key)
                    _note(self.mentions.setdefault(o, []), n)
                    if self.program.variables[leaf.key].type.is_scalar:
                        self.address_taken.add(o)
                else:
                    name = self.name(frame, leaf)
                    if name is not None:
                        _note(self.uses.setdefault(name, []), n)
        for name in self.defined(node):
            _note(self.defs.setdefault(name, []), n)

    def classify(self, node: Node) -> None:
        n = node.number
        match node.action:
            case Unbind(callee=callee):
                self.left.setdefault(callee, []).append(n)
            case Lost():
                self.ends.append(n)
            case ins.CallInstr() as call if not self.entered(node):
                effect = self.effect(call)
                if effect is not None and effect.mpi is not None:
                    self.operations[n] = effect.mpi
                if effect is None or (effect.mpi is not None and effect.mpi.completes is not None):
                    self.ends.append(n)

    def name(self, frame: int, leaf: ins.Operand) -> Name | None:
        if isinstance(leaf, ins.Var):
            return ("v", self.objects.variable(frame, leaf.key), 0)
        if isinstance(leaf, ins.Temp):
            return ("t", frame, leaf.number)
        return None

    def defined(self, node: Node) -> list[Name]:
        """The names that a node gives a new value, or takes the old one from."""
        frame = node.frame
        match node.action:
            case ins.Define(target=target) | ins.Load(target=target):
                name = self.name(frame, target)
                assert name is not None
                return [name]
            case ins.Birth(var=key):
                return [("v", self.objects.variable(frame, key), 0)]
            case ins.CallInstr(target=result) if result is not None and not self.entered(node):
                return [("t", frame, result.number)]
            case Lost(call=call) if call.target is not None:
                return [("t", frame, call.target.number)]
            case Bind(params=params):
                return [("v", self.objects.variable(frame, key), 0) for key in params]
            case Unbind(target=result) if result is not None:
                return [("t", frame, result.number)]
            case _:
                return []

    def entered(self, node: Node) -> bool:
        """Whether a call's body is copied after it (then its result comes with the Unbind)."""
        action = node.action
        return (
            node.number in self.graph.followed
            and isinstance(action, ins.CallInstr)
            and isinstance(action.callee, ins.AddrFunc)
            and action.callee.key in self.program.functions
        )

    def effect(self, call: ins.CallInstr) -> FunctionEffect | None:
        return self.program.effects.get(called_key(call))

    def follows(self, start: int, n: int) -> bool:
        """The node can be executed after ``start``."""
        block, other = self.graph.nodes[start].block, self.graph.nodes[n].block
        return (block == other and n > start) or other in self.blocks_after(block)

    def blocks_after(self, block: int) -> frozenset[int]:
        """The blocks that can be reached from a block's end."""
        nest = self.program.nest
        around = nest.chain(block)
        first = nest.loops[around[-1]].header if around else block  # in a loop every block follows every other
        found = self.onward.get(first)
        if found is None:
            seen: set[int] = set()
            stack = list(self.graph.succs[first])
            while stack:
                b = stack.pop()
                if b not in seen:
                    seen.add(b)
                    stack.extend(self.graph.succs[b])
            found = self.onward[first] = frozenset(seen)
        return found

    def leaving(self, birth: int) -> list[int]:
        """The first nodes after the inner block in which a local variable is declared, on all ways that leave it."""
        if birth not in self.behind:
            self.behind[birth] = self.find_leaving(birth)
        return self.behind[birth]

    def find_leaving(self, birth: int) -> list[int]:
        graph = self.graph
        frame, action = graph.nodes[birth].frame, graph.nodes[birth].action
        assert isinstance(action, ins.Birth)
        stmts = graph.lowered[graph.frames[frame].function].stmts
        scope = stmts[action.stmt].parent
        if scope < 0 or stmts[scope].parent < 0:
            return []  # the function's own block
        out: list[int] = []
        seen: set[int] = set()
        stack = [(graph.nodes[birth].block, birth + 1)]
        while stack:
            block, first = stack.pop()
            for n in graph.blocks[block]:
                node = graph.nodes[n]
                if n < first or node.frame != frame or not isinstance(node.action, ins.Instr) or node.action.stmt < 0:
                    continue
                at = node.action.stmt
                while at >= 0 and at != scope:
                    at = stmts[at].parent
                if at != scope:
                    out.append(n)
                    break
            else:
                new = [b for b in graph.succs[block] if b not in seen]
                seen.update(new)
                stack.extend((b, 0) for b in new)
        return sorted(out)

    def span(self, n: int) -> Span:
        """Where a node stands in the source."""
        action = self.graph.nodes[n].action
        while True:
            match action:
                case Lost(call=call):
                    return call.span
                case Bind() | Unbind():
                    inner = action.callee if isinstance(action, Unbind) else self.graph.nodes[n].frame
                    at = self.graph.frames[inner].call
                    if at < 0:
                        return NOWHERE
                    n, action = at, self.graph.nodes[at].action
                case ins.Instr():
                    return action.span

    def text(self, name: Name) -> str:
        """A name as people know it."""
        return f"`{self.objects.table[name[1]].name}`" if name[0] == "v" else "a value computed before"


def _initialising(program: Program) -> list[str]:
    """Scalar variables whose address is what static storage begins with: ``static double **where = &cur;``."""
    found: set[str] = set()
    stack = [v.init for v in program.variables.values() if v.is_global and v.init is not None]
    while stack:
        e = stack.pop()
        if isinstance(e, ast.VarRef) and e.var in program.variables and program.variables[e.var].type.is_scalar:
            found.add(e.var)
        elif not isinstance(e, ast.SizeOf):
            stack.extend(children(e))
    return sorted(found)


@once
def names_of(program: Program) -> Names:
    """The index of a program: all its buffers share it."""
    return Names(program)


def _note(list_: list[int], n: int) -> None:
    if not list_ or list_[-1] != n:
        list_.append(n)


@dataclass(frozen=True, slots=True)
class Range:
    """Where a name is live, and where it may hold what some of its definitions (``holding``) gave it."""

    names: Names
    uses: dict[int, list[int]]  # block -> nodes, ascending
    defs: dict[int, list[int]]
    holding: frozenset[int]
    live_in: frozenset[int]  # blocks
    reach_in: frozenset[int]

    def live(self, n: int, after: bool) -> bool:
        """A use can follow (``after`` the node, or from the node on) before the next definition."""
        block = self.names.graph.nodes[n].block
        first = n + 1 if after else n
        use = next((u for u in self.uses.get(block, ()) if u >= first), None)
        definition = next((d for d in self.defs.get(block, ()) if d >= first), None)
        if use is not None and (definition is None or use <= definition):
            return True
        return definition is None and any(s in self.live_in for s in self.names.graph.succs[block])

    def holds(self, n: int, after: bool = False) -> bool:
        """The value before (or behind) a node may come from one of the definitions."""
        block = self.names.graph.nodes[n].block
        last = None
        for d in self.defs.get(block, ()):
            if d < n or (after and d == n):
                last = d
        return last in self.holding if last is not None else block in self.reach_in

    def crosses(self, n: int, after: bool) -> bool:
        """The value that the name has before the node may be used after it (not ``after``: by the node already)."""
        if after and n in self.defs.get(self.names.graph.nodes[n].block, ()):
            return False
        return self.live(n, after) and self.holds(n)

    def source(self, n: int) -> int | None:
        """The nearest of the definitions before a node, going back."""
        graph = self.names.graph
        start = graph.nodes[n].block
        seen: set[int] = set()
        work = [(start, n)]
        while work:
            following = []
            for block, before in work:
                found = [d for d in self.defs.get(block, ()) if d <= before]
                if found:
                    if found[-1] in self.holding:
                        return found[-1]
                    continue
                for p in graph.preds[block]:
                    if p not in seen:
                        seen.add(p)
                        following.append((p, len(graph.nodes)))
            work = following
        return None

    def next_use(self, n: int, after: bool) -> int | None:
        """The nearest use after a node, before the next definition."""
        graph = self.names.graph
        seen: set[int] = set()
        work = [(graph.nodes[n].block, n + 1 if after else n)]
        while work:
            following = []
            for block, first in work:
                use = next((u for u in self.uses.get(block, ()) if u >= first), None)
                definition = next((d for d in self.defs.get(block, ()) if d >= first), None)
                if use is not None and (definition is None or use <= definition):
                    return use
                if definition is None:
                    for s in graph.succs[block]:
                        if s not in seen:
                            seen.add(s)
                            following.append((s, 0))
            work = following
        return None


def value_range(names: Names, name: Name, holding: frozenset[int]) -> Range:
    """Live range and reach of one name: costs the blocks it lives in."""
    graph = names.graph
    uses = _by_block(names, names.uses.get(name, ()))
    defs = _by_block(names, names.defs.get(name, ()))
    live: set[int] = set()
    work = [b for b, nodes in uses.items() if b not in defs or nodes[0] <= defs[b][0]]
    while work:
        b = work.pop()
        if b in live:
            continue
        live.add(b)
        work.extend(p for p in graph.preds[b] if p not in live and p not in defs)
    reach: set[int] = set()
    work = [s for b, nodes in defs.items() if nodes[-1] in holding for s in graph.succs[b]]
    while work:
        b = work.pop()
        if b in reach or (b not in live and b not in uses and b not in defs):
            continue  # a value that is not used any more matters nowhere
        reach.add(b)
        if b not in defs:
            work.extend(graph.succs[b])
    return Range(names, uses, defs, holding, frozenset(live), frozenset(reach))


def _by_block(names: Names, nodes: Sequence[int]) -> dict[int, list[int]]:
    out: dict[int, list[int]] = {}
    for n in nodes:
        out.setdefault(names.graph.nodes[n].block, []).append(n)
    return out
