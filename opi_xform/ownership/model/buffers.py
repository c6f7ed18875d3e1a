"""Buffers and their sites, as the checks and the placement see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path

from opi_xform.codes import Reason
from opi_xform.effects.model import Effects, MpiBuffer, MpiOp
from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.memory.poly import Poly
from opi_xform.memory.queries import PointsTo
from opi_xform.memory.values import Values
from opi_xform.once import Findings
from opi_xform.ownership.model.plan import Advice, Edit, Told
from opi_xform.record import dataclass

ALIGNMENT = 64  # bytes, of every buffer that OPI_Alloc and the takes return (opi.h)
Where = tuple[str, str | int]  # an object: ("variable", key) or ("heap", node of the allocation)
Place = tuple[str, int, str, int]  # a use in the source: file, offset of the call, side, argument


@dataclass(frozen=True, slots=True)
class Options:
    """strict: no named assumptions, no user-supplied effects.  root: files below it may be edited ('': all).

    effects: an opi.toml with more library effects.  obstacle: why an edit cannot be made ('' when it can), as the
    rewriter sees it: a macro writes the text, an array type hides behind a typedef.  A site that needs it is kept.
    told: comments that say more than the analysis finds.  processes: that may work on it; the plan is the same.
    header: what files include for the OPI calls.  more_than: why sites stay is looked for only where more than so many
    convert; a plan that is no better than another one is not shown to anybody.  min_bytes: calls stay whose messages
    are known to have fewer.  rewritten: the text is another one than the program's, and one malloc may have become
    several, of which a test asks the first alone.  pointers: a subscript in the text may be one of a pointer in the
    program's own, which does not stay in the row that it begins with.
    """

    strict: bool = False
    root: str = ""
    effects: Path | None = None
    obstacle: Callable[[Edit], str] = lambda edit: ""
    told: tuple[Told, ...] = ()
    processes: int = 1
    header: str = "opi.h"
    more_than: int = -1
    min_bytes: int = 0
    rewritten: bool = False
    pointers: bool = False


@dataclass(frozen=True, slots=True)
class Twin:
    """One of several structs whose member is written with the same words (``same_member``); the words of ``Member``."""

    object: Where
    offset: int
    nodes: tuple[int, ...]
    start: int
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A pointer in a struct that counts as a variable (``members``); ``key`` is its name in ``Program.variables``.

    It lies ``offset`` bytes from the start of ``object``.  nodes: those that were loads and stores of it.  exprs: how
    it is written, each with its function; spans: the same as places of text.  start: the node before which it is not
    there (-1: none); ends: nodes at which its memory goes.  raw: nobody knows what it holds before it is set.
    stride: of a table of pointers (``tables``), bytes from one to the next (0: it is one pointer); count: how many (0:
    not known).  twins: the places in the structs that share their words, one per row; then ``object``, ``offset`` and
    ``start`` are those of none of them.  named: it is no member, but this variable (of twins: these), whose address is
    given to functions (``program/addressed.py``).  cast: where it is reached through a pointer to a const struct, its
    address becomes one that it can be set by ('': it may be const itself).
    """

    key: str
    name: str
    object: Where
    offset: int
    nodes: tuple[int, ...]
    exprs: tuple[tuple[str, ast.Expr], ...]
    spans: frozenset[tuple[str, int, int]]
    start: int
    ends: tuple[int, ...]
    raw: bool
    stride: int = 0
    count: int = 0
    twins: tuple[Twin, ...] = ()
    named: tuple[str, ...] = ()
    cast: str = ""

    @property
    def rows(self) -> bool:
        """It stands for several pointers."""
        return self.stride > 0 or bool(self.twins)


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two pointers change places (``swaps``): at two nodes, which the program graph has as copies of their blocks.

    start: the first node of the swap.
    """

    start: int
    nodes: tuple[int, int]
    first: str
    second: str


@dataclass(frozen=True, eq=False)
class Program:
    """Everything known about one program graph.  Compared by identity.

    What is found out about it is kept with it (``once.py``), under the function that found it: no reader can tell
    whether it was there before.  A program made from it by ``replace`` begins with none.
    """

    graph: Graph
    nest: LoopNest
    values: Values
    variables: Mapping[str, ast.Variable]
    functions: Mapping[str, ast.Function]
    effects: Effects
    constants: Mapping[str, int]  # integer macros of the MPI (MPI_PROC_NULL, …)
    request_size: int  # bytes of an MPI_Request
    complete: bool  # main is among the files: nothing outside them calls in
    points_to: PointsTo
    members: Mapping[str, Member] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()  # functions whose address is taken
    files: tuple[str, ...] = ()  # all that was read, headers too
    unsteady: frozenset[str] = frozenset()  # macros that mean one thing here and another there
    names_proc_null: bool = True  # the program's text mentions MPI_PROC_NULL
    apart: Mapping[int, frozenset[int]] = field(default_factory=dict)  # pointer variable -> objects it is never of
    exchanges: tuple[Exchange, ...] = ()  # pointers that change places, which the graph does not show as such
    threads: tuple[Span, ...] = ()  # text that several threads may run
    freeing: frozenset[str] = frozenset()  # files in which the C library's free is declared
    shared: frozenset[str] = frozenset()  # files that several units read
    alone: frozenset[str] = frozenset()  # if only these functions are followed, each also by itself
    left_out: tuple[Span, ...] = ()  # text that the preprocessor leaves out
    pointers: bool = False  # subscripts may have been a pointer's (``Options``)

    @cached_property
    def findings(self) -> Findings:
        """What was found out about it, and is not to be found again."""
        return {}

    def __getstate__(self) -> dict[str, object]:
        """What a copy has: everything but the findings, which are about this one."""
        return {name: value for name, value in self.__dict__.items() if name != "findings"}

    def end(self) -> None:
        """Nobody asks about it any more, or not soon: findings refer to it, and would keep it in memory."""
        self.findings.clear()

    def names(self, e: ast.Expr, key: str) -> bool:
        """The expression, casts aside, is the variable, or written as the place that counts as one."""
        e = uncast(e)
        if isinstance(e, ast.VarRef) and e.var == key:
            return True
        member = self.members.get(key)
        return member is not None and (e.span.file, e.span.begin, e.span.end) in member.spans

    def dominates(self, a: int, b: int) -> bool:
        """Every way to node ``b`` goes through node ``a``; no node dominates itself."""
        above, at = self.graph.nodes[a].block, self.graph.nodes[b].block
        return a < b if above == at else self.nest.dominates(above, at)


@dataclass(frozen=True, slots=True)
class Use:
    """One buffer use of one MPI call in one copy of its function.

    ``side`` is ``send`` or ``recv``; ``argument`` the index of the buffer argument.  ``lo`` and ``length`` are the
    region in bytes (length None: not known); ``row``: index of the row it starts at, when the object is an array of
    buffers.
    """

    node: int
    call: ast.Call
    op: MpiOp
    buffer: MpiBuffer
    side: str
    argument: int
    object: int
    lo: Poly | None
    length: Poly | None
    row: Poly | None = None

    @property
    def place(self) -> Place:
        """The site in the source: the same for all copies."""
        return (self.call.span.file, self.call.span.begin, self.side, self.argument)


@dataclass(frozen=True, slots=True)
class Carrier:
    """The lvalue that names a buffer's base.

    kind ``array``: the variable is an array, declared where it stands, and becomes a pointer.  kind ``pointer``: a
    pointer variable given fresh memory by ``allocations`` (graph nodes of malloc and calloc calls).  ``rows``: leading
    dimensions that stay an array of pointers (0 or 1); then the buffer of one index is ``variable[index]``.
    """

    kind: str
    variable: str
    rows: int = 0
    row_bytes: int = 0
    allocations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Swap:
    """The carrier and another pointer change places at two nodes; whether their buffers are live after the second.

    start: the first node of the swap, which nothing may be put behind.
    """

    start: int
    nodes: tuple[int, int]
    other: str
    live: bool
    other_live: bool


@dataclass(frozen=True, slots=True)
class Buffer:
    """All copies of one source-level buffer: the unit that is declared, converted or kept.

    ``objects``: its abstract objects, one per frame.  ``uses`` in source order; ``touches``: graph nodes that access
    its bytes, or pass its address on, other than the sites.  ``lifted``: parameters that get the carrier's address
    (``parameters``).  named: local pointers, nothing but other names of it, that sites give.  swaps: where the carrier
    changes places with another.  zeros: the zeros of its callocs are read, and OPI_Calloc stands where they stood.
    replacing: receives that keep what is there where the source is MPI_PROC_NULL.  cleared: what is there from the
    start is read then, and OPI_Calloc stands where else OPI_Alloc would.
    """

    name: str
    carrier: Carrier
    objects: tuple[int, ...]
    uses: tuple[Use, ...]
    touches: tuple[int, ...]
    lifted: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    swaps: tuple[Swap, ...] = ()
    zeros: bool = False
    replacing: frozenset[Place] = frozenset()
    cleared: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a site (or a whole buffer) stays: its kind, a sentence, and the deciding places.

    hint: a change of the source with which this reason would not be there; advice: one with which none is left.  form:
    the reason of the check that refused the buffer's form, where a deeper reason is told instead.
    """

    reason: Reason
    message: str
    notes: tuple[tuple[Span, str], ...] = field(default=())
    hint: Advice | None = None
    form: Reason | None = None
    advice: Advice | None = None
