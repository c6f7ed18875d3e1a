"""From which mentions of a buffer's name the addresses in a program are made.

A pointer that is made from a mention, or from another such pointer, by adding to it, stays in the part that the mention
names, or is not used.  Whatever else happens to an address (it is compared, stored, returned, turned into a number)
ends the matter: ``Trouble``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from opi_xform.divide.mentions import Place, mentions_of
from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program

Name = tuple[int, str | int]  # a variable or temporary of a frame (-1: a global)
_MOVING = frozenset({"send", "recv", "sendrecv", "collective"})


class Trouble(Exception):
    """Why the parts cannot be told apart, and where."""

    def __init__(self, span: Span, message: str) -> None:
        super().__init__(message)
        self.span = span
        self.message = message


def other_memory(program: Program, node: Node) -> str:
    """What a node that sets a pointer to other memory than its own does."""
    assert isinstance(node.action, ins.Define)
    graph, value = program.graph, node.action.value
    for n in reversed(graph.blocks[node.block]):
        before = graph.nodes[n].action
        while isinstance(value, ins.Op) and value.op == "cast":
            value = value.args[0]
        if n < node.number and isinstance(before, ins.Define) and before.target == value:
            value = before.value
    if isinstance(value, ins.PtrAdd) and not zero_constant(value.index):
        return "sets its pointer to a computed place inside a block"
    return "sets its pointer to something else"


@dataclass(slots=True)
class Pointers:
    """roots: what each operand that holds an address was made from, by node and operand: a mention, or a name.

    made: of each name, the nodes that set it, with the root of what they set it to.
    """

    roots: dict[tuple[int, int], Place | Name] = field(default_factory=dict)
    made: dict[Name, list[tuple[int, Place | Name]]] = field(default_factory=dict)


def operands(node: Node) -> tuple[tuple[ins.Operand, ...], int]:
    """All operands of a node, in an order of their own, and the frame they are evaluated in."""
    match node.action:
        case ins.Define(value=value):
            return (value,), node.frame
        case ins.Load(address=address):
            return (address,), node.frame
        case ins.Store(address=address, value=value):
            return (address, value), node.frame
        case ins.CopyBytes(target=target, source=source):
            return (target, source), node.frame
        case ins.CallInstr(callee=callee, args=args):
            return (*args, callee), node.frame
        case ins.Escape(values=values):
            return values, node.frame
        case ins.Branch(cond=cond):
            return (cond,), node.frame
        case ins.SwitchOn(value=value):
            return (value,), node.frame
        case ins.ReturnInstr(value=returned) if returned is not None:
            return (returned,), node.frame
        case Bind(caller=caller, args=args):
            return args, caller
        case Unbind(callee=callee, value=returned) if returned is not None:
            return (returned,), callee
        case Lost(call=call):
            return (*call.args, call.callee), node.frame
        case _:
            return (), node.frame


def leaves(operand: ins.Operand) -> Iterator[ins.Operand]:
    """The operand's leaves."""
    stack = [operand]
    while stack:
        item = stack.pop()
        if isinstance(item, ins.Op):
            stack.extend(item.args)
        elif isinstance(item, ins.PtrAdd):
            stack.extend((item.base, item.index))
        else:
            yield item


class VariableFlow:
    """One use: ``run``.  ``keys``: the buffer's variables.  ``links``: nodes that make one of them of another."""

    def __init__(self, program: Program, keys: Collection[str], links: Collection[int] = ()) -> None:
        self.program = program
        self.keys = keys
        self.links = links
        self.array = any(program.variables[key].type.is_array for key in keys)
        freeing = mentions_of(program).freeing
        self.freed = {key for name, f in program.functions.items() if name in freeing for key in f.params}
        self.found = Pointers()

    def run(self) -> Pointers:
        """Raises Trouble."""
        using: dict[Name, list[int]] = {}
        worklist: list[int] = []
        for node in self.program.graph.nodes:
            found, frame = operands(node)
            mine = False
            for operand in found:
                for leaf in leaves(operand):
                    name = self.name(leaf, frame)
                    if self.is_buffer(leaf):
                        mine = True
                    elif isinstance(leaf, ins.AddrVar):
                        using.setdefault(self.variable(leaf.key, frame), []).append(node.number)
                    elif name is not None:
                        using.setdefault(name, []).append(node.number)
            if mine:
                worklist.append(node.number)
        worklist.reverse()
        while worklist:
            for name in self.visit(self.program.graph.nodes[worklist.pop()]):
                worklist.extend(reversed(using.get(name, [])))
        return self.found

    def is_buffer(self, leaf: ins.Operand) -> bool:
        return isinstance(leaf, (ins.Var, ins.AddrVar)) and leaf.key in self.keys

    def name(self, leaf: ins.Operand, frame: int) -> Name | None:
        """The name of a leaf that may hold an address of the buffer by way of a definition."""
        if isinstance(leaf, ins.Temp):
            return (frame, leaf.number)
        if isinstance(leaf, ins.Var) and leaf.key not in self.keys:
            return self.variable(leaf.key, frame)
        return None

    def variable(self, key: str, frame: int) -> Name:
        return (-1 if self.program.variables[key].is_global else frame, key)

    def root(self, operand: ins.Operand, node: Node, frame: int) -> Place | Name | None:
        """What the operand was made from; None when it has nothing of the buffer's.  Raises Trouble."""
        at = operand
        while isinstance(at, ins.PtrAdd):
            if any(self.held(leaf, frame) for leaf in leaves(at.index)):
                raise Trouble(node_span(self.program, node.number), "makes a number of an address in it")
            if at.scale == 0:
                raise Trouble(node_span(self.program, node.number), "adds to an address in it what has no known size")
            at = at.base
        if isinstance(at, ins.Op):
            if any(self.held(leaf, frame) for leaf in leaves(at)):
                called = isinstance(node.action, ins.CallInstr)
                what = (
                    "passes on an address in it that is computed" if called else "compares or converts an address in it"
                )
                raise Trouble(node_span(self.program, node.number), what)
            return None
        if not self.held(at, frame):
            return None
        if isinstance(at, (ins.Var, ins.AddrVar)) and at.key in self.keys:
            if isinstance(at, ins.AddrVar) and not self.array:
                raise Trouble(node_span(self.program, node.number), "takes the address of its pointer")
            if not at.span.file:
                raise Trouble(node_span(self.program, node.number), "uses it in a way that is not written")
            return (at.span.file, at.span.begin)
        return self.name(at, frame)

    def held(self, leaf: ins.Operand, frame: int) -> bool:
        """The leaf holds, or may hold, an address of the buffer."""
        if self.is_buffer(leaf):
            return True
        if isinstance(leaf, ins.AddrVar):
            if self.variable(leaf.key, frame) in self.found.made:
                raise Trouble(leaf.span, "takes the address of a pointer into it")
            return False
        name = self.name(leaf, frame)
        return name is not None and name in self.found.made

    def visit(self, node: Node) -> list[Name]:
        """The names that now hold addresses."""
        if node.number in self.links:
            return []
        given, frame = operands(node)
        span = node_span(self.program, node.number)
        if isinstance(node.action, (ins.Branch, ins.Define)) and self.null_test(node.action):
            return []
        roots: list[Place | Name | None] = [self.root(operand, node, frame) for operand in given]
        for i, root in enumerate(roots):
            if root is not None:
                self.found.roots[(node.number, i)] = root
        held = [root for root in roots if root is not None]
        match node.action:
            case ins.Define(target=target) if held:
                if isinstance(target, ins.Var) and target.key in self.keys:
                    raise Trouble(span, "moves its pointer")
                name = self.name(target, frame)
                assert name is not None
                return self.note(name, node.number, held[0], span)
            case Bind(params=params):
                out = []
                for key, root in zip(params, roots, strict=True):
                    if root is not None:
                        out += self.note((node.frame, key), node.number, root, span)
                return out
            case ins.Load() | ins.CopyBytes():
                return []
            case ins.Store() if roots[1] is None:
                return []
            case ins.CallInstr() as call if held:
                return self.call(node, call, roots, span)
            case ins.Branch() as test if held and with_null(test) is not None:
                raise Trouble(span, "")  # a parameter that is tested for NULL: no reason that is worth telling
            case _ if held:
                raise Trouble(span, _WHAT.get(type(node.action), "stores an address in it"))
        return []

    def note(self, name: Name, n: int, root: Place | Name, span: Span) -> list[Name]:
        known = self.found.made.setdefault(name, [])
        if (n, root) in known:
            return []
        if name[0] == -1:
            raise Trouble(span, "sets a global pointer to it")
        known.append((n, root))
        return [name] if len(known) == 1 else []

    def call(self, node: Node, call: ins.CallInstr, roots: list[Place | Name | None], span: Span) -> list[Name]:
        if node.number in self.program.graph.followed:
            return []  # the parameters are bound after it
        effect = None
        if isinstance(call.callee, ins.AddrFunc):
            effect = self.program.effects.get(call.callee.key)
        if effect is None or not harmless(effect, [i for i, root in enumerate(roots) if root is not None]):
            raise Trouble(span, "gives an address in it to a call of which that is not known to be harmless")
        if call.target is not None and effect.returns_arg is not None:
            root = roots[effect.returns_arg] if effect.returns_arg < len(call.args) else None
            if root is not None:
                if effect.returns_inside:
                    raise Trouble(span, "searches it for an address")
                return self.note((node.frame, call.target.number), node.number, root, span)
        return []

    def null_test(self, action: ins.Branch | ins.Define) -> bool:
        """Only whether the pointer is NULL matters: it is of all parts or of none."""
        operand = with_null(action)
        if self.array or operand is None:
            return False
        return operand.key in self.keys or operand.key in self.freed


def with_null(action: ins.Branch | ins.Define) -> ins.Var | None:
    """The variable that is only compared with NULL; None for anything else."""
    operand = action.cond if isinstance(action, ins.Branch) else action.value
    if isinstance(action, ins.Define) and not isinstance(operand, ins.Op):
        return None
    while isinstance(operand, ins.Op) and operand.op == "not":
        operand = operand.args[0]
    if isinstance(operand, ins.Op) and operand.op in ("==", "!="):
        left, right = operand.args
        if not any(isinstance(side, ins.Const) and side.value == 0 for side in operand.args):
            return None
        operand = right if isinstance(left, ins.Const) else left
    return operand if isinstance(operand, ins.Var) else None


_WHAT: Mapping[type, str] = {
    ins.Escape: "does with it what is not understood",
    ins.ReturnInstr: "returns an address in it",
    Unbind: "returns an address in it",
    Lost: "gives an address in it to a call that is not followed",
    ins.SwitchOn: "makes a number of an address in it",
    ins.Branch: "compares an address in it",
}


def harmless(effect: FunctionEffect, arguments: list[int]) -> bool:
    """The function reads and writes where the addresses point, or frees them, and remembers none."""
    if effect.mpi is not None:
        if effect.mpi.kind not in _MOVING or effect.mpi.persistent:
            return False
    elif effect.name.startswith(("MPI_", "PMPI_")) or any(i in effect.retains for i in arguments):
        return False
    if effect.allocates is not None or effect.calls or effect.returns_stored is not None or effect.returns_retained:
        return False
    if effect.frees is not None and effect.frees.indirect:
        return False
    return not any(f.source in arguments for f in effect.flows if f.kind == "stores")
