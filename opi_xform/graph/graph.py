"""The program as one control-flow graph: every call of an analysed function replaced by a copy of its body.

Each copy is a ``Frame``.  Values, regions and decisions are then exact per calling context; a site is converted only
when every copy of it agrees.  ``graph/copies.py`` builds it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import field, replace
from itertools import chain
from typing import TYPE_CHECKING

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import operands_of
from opi_xform.ir.types import Type
from opi_xform.ir.walk import expressions, within

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from opi_xform.ir.record import dataclass

MAIN = "main"


@dataclass(frozen=True, slots=True)
class Frame:
    """One copy of a function.  ``call`` is the node of the call in ``parent`` (-1 for an entry)."""

    number: int
    function: str
    parent: int
    call: int


@dataclass(frozen=True, slots=True)
class Bind:
    """Entering a copy: parameters of ``Node.frame`` take argument values of the caller's frame."""

    caller: int
    params: tuple[str, ...]
    args: tuple[ins.Operand, ...]


@dataclass(frozen=True, slots=True)
class Unbind:
    """Leaving copy ``callee``: ``target`` in ``Node.frame`` takes the returned value."""

    callee: int
    target: ins.Temp | None
    value: ins.Operand | None


@dataclass(frozen=True, slots=True)
class Lost:
    """A call that is not followed: ``reason`` says why."""

    call: ins.CallInstr
    reason: str
    functions: tuple[str, ...]


RECURSION = "recursion"
POINTER = "call through a pointer"
COUNT_DIFFERS = "argument count differs"
NOT_FOLLOWED = "the budget of the analysis: the function is not followed"
SUMMARY = "the budget of the analysis: what the function does is only known as a whole"
Action = ins.Instr | Bind | Unbind | Lost


@dataclass(frozen=True, slots=True)
class Node:
    """One action in one frame; ``number`` is its place in ``Graph.nodes``."""

    number: int
    frame: int
    block: int
    action: Action


@dataclass(frozen=True, slots=True)
class Background:
    """Functions that are not copied, each once: ``graph/summaries.py``.  They have no control flow.

    Frames and nodes count on from those of the graph: the first ones are ``frame`` and ``node``.
    """

    functions: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    lowered: Mapping[str, ins.Lowered] = field(default_factory=dict)
    followed: frozenset[int] = frozenset()
    frame: int = 1 << 60
    node: int = 1 << 60
    named: frozenset[str] = frozenset()  # global variables that they set, or whose address they take
    negative: bool = False  # they, or what is not followed, may make a negative number
    handling: frozenset[str] = frozenset()  # those of them that may use messages' buffers


@dataclass(frozen=True, slots=True)
class Graph:
    """Blocks of nodes.  Block 0 is the entry.  ``blocks[b]`` lists node numbers in order."""

    nodes: tuple[Node, ...]
    blocks: tuple[tuple[int, ...], ...]
    succs: tuple[tuple[int, ...], ...]
    preds: tuple[tuple[int, ...], ...]
    frames: tuple[Frame, ...]
    lowered: Mapping[str, ins.Lowered]
    followed: frozenset[int]  # call nodes whose callee, or whose callbacks, are copied after them, or do not matter
    out_parameters: Mapping[int, str] = field(default_factory=dict)  # by frame: the one that is put back
    passed: frozenset[str] = (
        frozenset()
    )  # functions that may run where their bodies are not: passed over, or summarised
    addressed: frozenset[str] = frozenset()  # pointers that are read and set through their address (``addressed.py``)
    levels: frozenset[str] = frozenset()  # functions that may run at more levels than the graph has (``cycles.py``)
    cyclic: frozenset[str] = frozenset()  # those of them that lead to a call of themselves
    background: Background = field(default_factory=Background)
    partial: bool = False  # some calls are not followed since addresses do not travel as bytes

    def body(self, frame: int) -> ins.Lowered:
        """The function of a frame, in the background as well."""
        if frame < len(self.frames):
            return self.lowered[self.frames[frame].function]
        return self.background.lowered[self.background.functions[frame - self.background.frame]]

    def returned(self, frame: int) -> Type | None:
        """The type of what comes back from a frame: of its out parameter, where it has one."""
        function = self.body(frame).function
        out = self.out_parameters.get(frame)
        return function.type.elem if out is None else function.variables[out].type.elem

    def follows(self, n: int) -> bool:
        """Whether the body of what node n calls is somewhere, or does not matter."""
        return n in self.followed or n in self.background.followed

    def entered_again(self, node: Node) -> int:
        """The frame whose function a call enters once more, from inside it; -1: it is no such call."""
        lost = node.action
        if not isinstance(lost, Lost) or lost.reason != RECURSION:
            return -1
        at = node.frame
        while at >= 0 and self.frames[at].function != lost.functions[0]:
            at = self.frames[at].parent
        known = at >= 0 and not miscounted(self.lowered[self.frames[at].function].function, len(lost.call.args))
        return at if known and not self.lowered[self.frames[at].function].function.type.variadic else -1

    def stands_for(self, node: Node) -> int:
        """The frame whose function a call that is not followed enters: summarised, or once more; -1: none is known."""
        lost = node.action
        if isinstance(lost, Lost) and lost.reason == SUMMARY:
            return self.background.frame + self.background.functions.index(lost.functions[0])
        return self.entered_again(node)

    def statement(self, node: Node) -> ins.StmtInfo | None:
        """The statement an instruction was lowered from."""
        if not isinstance(node.action, ins.Instr) or node.action.stmt < 0:
            return None
        return self.lowered[self.frames[node.frame].function].stmts[node.action.stmt]


def evaluated(action: Action) -> tuple[ins.Operand, ...]:
    """What an action evaluates in its own frame."""
    if isinstance(action, Lost):
        return operands_of(action.call)
    return operands_of(action) if isinstance(action, ins.Instr) else ()


def wants(call: ins.CallInstr, used: Container[int]) -> bool:
    """Somebody uses what an analysed function returns, and it is no floating number: of those nothing is known."""
    target = call.target
    return target is not None and call.call.type.kind not in ("float", "void") and target.number in used


def anything(function: ast.Function) -> ins.CallInstr:
    """What the rest of the program does before a function begins."""
    start = replace(function.body.span, editable=False)
    name = ast.FuncRef(function.type, start, function.key)
    call = ast.Call(function.type, start, name, (), start)
    return ins.CallInstr(start, 0, None, ins.AddrFunc(function.key), (), call)


def miscounted(function: ast.Function, arguments: int, *, fewer: bool = False) -> str:
    """Why the function cannot be called with so many arguments; '' where it can.

    fewer: at the end numbers may be left out, and what the function does not name, as a call without a prototype may.
    C gives such a call no meaning, and programs live with it.  :func:`given` makes them any numbers.
    """
    left = function.params[arguments:]
    fits = arguments >= len(function.params) if function.type.variadic else arguments == len(function.params)
    fits = fits or (fewer and bool(left) and all(_any_number(function, key) for key in left))
    return "" if fits else COUNT_DIFFERS


def _any_number(function: ast.Function, key: str) -> bool:
    """A parameter is a number, or nothing that the function does depends on it."""
    if function.variables[key].type.kind in ("int", "float"):
        return True
    inits = (v.init for v in function.variables.values() if v.init is not None)
    named = (x for e in chain(expressions(function.body), inits) for x in within(e))
    return not any(isinstance(x, ast.VarRef) and x.var == key for x in named)


def given(function: ast.Function, arguments: tuple[ins.Operand, ...]) -> tuple[ins.Operand, ...]:
    """What each parameter gets in a call that goes into the function."""
    left = range(len(arguments), len(function.params))
    return arguments[: len(function.params)] + tuple(ins.Nondet(f"argument {i} is left out") for i in left)


def behind(call: ins.CallInstr, params: int, printed: bool) -> ins.Escape | None:
    """What happens to the arguments after the last parameter: nobody follows a va_list.

    printed: whoever gets it prints it (``printing.py``).
    """
    given = zip(call.args[params:], call.call.args[params:], strict=True)
    values = tuple(v for v, e in given if e.type.holds_address and not isinstance(v, ins.AddrString | ins.Const))
    if not values:
        return None
    return ins.Escape(call.span, call.stmt, "argument of a function with `...`", values, printed=printed)


def inside(pointer: ins.Operand) -> ins.Operand:
    """Some address in the object that ``pointer`` points into."""
    return ins.PtrAdd(pointer, ins.Nondet("element"), 1)
