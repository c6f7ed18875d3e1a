"""Expressions, statements and declarations of one translation unit, as the front end reads them.

The tree is C's own, with implicit conversions left out: whether an expression is read, written or decays is decided by
its place, in lowering.  Parentheses are dropped (spans of operands keep theirs out, spans of calls and statements are
exact).  What the front end does not understand is an ``Opaque`` that keeps the sub-expressions it found; lowering turns
it into an escape of everything reachable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from opi_xform.ir.span import Span
from opi_xform.ir.types import Record, Type
from opi_xform.once import Findings

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from opi_xform.ir.record import dataclass

PROC_NULL = "MPI_PROC_NULL"  # a constant that is written so, or made with it, keeps this name: nothing is folded

# --- expressions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expr:
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class IntLit(Expr):
    """An integer constant expression.  ``name``: the macro or enumerator it is written as (``MPI_INT``), else ''."""

    value: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class FloatLit(Expr):
    value: float | None = None  # None: not known


@dataclass(frozen=True, slots=True)
class StringLit(Expr):
    """``text``: what it says, up to its first zero, with escapes as written; None: not known (wide characters)."""

    length: int  # bytes, the terminating zero included
    text: str | None = None


@dataclass(frozen=True, slots=True)
class MacroConst(Expr):
    """An expression written as one object-like macro that is no integer constant (Open MPI's ``MPI_DOUBLE``)."""

    name: str
    operand: Expr | None = None


@dataclass(frozen=True, slots=True)
class VarRef(Expr):
    var: str  # Variable.key


@dataclass(frozen=True, slots=True)
class FuncRef(Expr):
    name: str  # Function.key: the linker name, or "file.c:name" for static functions


@dataclass(frozen=True, slots=True)
class Member(Expr):
    """``base.field``; ``p->field`` is ``Member(Deref(p), field)``.

    offset: bytes from the start of the record.  padding: bytes after the member that belong to none.
    last: no other member lies after it.  punned: numbers in it, or it as a number, lie where another
    member may hold an address (a union).
    """

    base: Expr
    field: str
    offset: int
    padding: int = 0
    last: bool = False
    punned: bool = False


@dataclass(frozen=True, slots=True)
class Index(Expr):
    """``base[index]``, the pointer or array operand always in ``base``."""

    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Deref(Expr):
    operand: Expr


@dataclass(frozen=True, slots=True)
class AddrOf(Expr):
    operand: Expr


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """An explicit cast; implicit arithmetic conversions that change the value's width or signedness appear too."""

    operand: Expr
    explicit: bool = True


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    op: str  # - + ~ !
    operand: Expr


@dataclass(frozen=True, slots=True)
class IncDec(Expr):
    op: str  # ++ or --
    prefix: bool
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    op: str  # + - * / % << >> & | ^ < > <= >= == !=
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Logical(Expr):
    op: str  # && or ||
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Conditional(Expr):
    cond: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, slots=True)
class Comma(Expr):
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Assign(Expr):
    """``target op= value``; ``op`` is '' for plain assignment, else the binary operator."""

    op: str
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """``callee`` is a ``FuncRef`` for direct calls.  ``callee_span`` is the written name, to be replaced by an edit."""

    callee: Expr
    args: tuple[Expr, ...]
    callee_span: Span


@dataclass(frozen=True, slots=True)
class SizeOf(Expr):
    """``sizeof``/``_Alignof``; ``operand`` None when a type was named.  ``value`` None for variable length arrays."""

    value: int | None
    operand: Expr | None
    operand_type: Type


@dataclass(frozen=True, slots=True)
class InitList(Expr):
    """A braced initialiser, in semantic form: ``items[i]`` initialises bytes from ``offsets[i]``; the rest is zero."""

    items: tuple[Expr, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompoundLit(Expr):
    init: Expr


@dataclass(frozen=True, slots=True)
class Opaque(Expr):
    """Not understood: ``reason`` names the construct (``statement expression``, ``inline asm``, ``va_arg`` …)."""

    reason: str
    children: tuple[Expr, ...] = ()


# --- declarations ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declarator:
    """One written declaration of a variable, for the rewriter.

    ``span`` covers the declarator with its initialiser (``sbuf[8][N] = {0}``), ``name_span`` the identifier, ``suffix``
    everything between identifier and initialiser (``[8][N]``), ``init_span`` the initialiser without ``=`` or None.
    ``statement`` is the whole declaration from its specifiers to the ``;``.  ``first`` is true for the first declarator
    of that statement, ``alone`` when it is the only one.  ``specifiers`` is the text before the first declarator.
    """

    span: Span
    name_span: Span
    suffix: Span | None
    init_span: Span | None
    statement: Span
    first: bool
    alone: bool
    specifiers: str
    storage: str  # '', 'static', 'extern', 'register', 'auto', 'typedef'
    definition: bool
    tentative: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the program.

    key: linker name for external ones, ``file.c:name`` for file statics, ``function.key/name@offset`` for locals,
    parameters and function statics.  kind: ``extern``, ``static`` (file scope), ``local``, ``param``, ``local-static``.
    declarators: every written declaration of it in this unit, headers included, in source order.
    attributes: of a declaration, or of a macro.  alignment: of its type.
    lengths: elements of each array in its type or in what it points to, the outermost first, where one has a variable
    length and they can be told once more.
    """

    key: str
    name: str
    type: Type
    kind: str
    span: Span
    declarators: tuple[Declarator, ...] = ()
    init: Expr | None = None
    function: str = ""
    thread_local: bool = False
    attributes: bool = False
    alignment: int = 0
    lengths: tuple[Expr, ...] = ()

    @property
    def is_global(self) -> bool:
        return self.kind in ("extern", "static", "local-static")


# --- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stmt:
    span: Span  # with the terminating ';' where the statement has one


@dataclass(frozen=True, slots=True)
class Block(Stmt):
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class ExprStmt(Stmt):
    expr: Expr


@dataclass(frozen=True, slots=True)
class DeclStmt(Stmt):
    """Declares local variables (keys), in order; their ``Variable.init`` is evaluated here.

    sizes: what sizes of variable length arrays read, call or change (plain variables are not listed), each with the
    number of variables of the statement that are declared before it is evaluated.
    """

    variables: tuple[str, ...]
    sizes: tuple[tuple[int, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class If(Stmt):
    cond: Expr
    then: Stmt
    other: Stmt | None


@dataclass(frozen=True, slots=True)
class For(Stmt):
    init: Stmt | None
    cond: Expr | None
    step: Expr | None
    body: Stmt


@dataclass(frozen=True, slots=True)
class While(Stmt):
    cond: Expr
    body: Stmt


@dataclass(frozen=True, slots=True)
class DoWhile(Stmt):
    body: Stmt
    cond: Expr


@dataclass(frozen=True, slots=True)
class Switch(Stmt):
    cond: Expr
    body: Stmt


@dataclass(frozen=True, slots=True)
class Case(Stmt):
    """``case low … high:`` followed by ``body``; ``low`` None for ``default:``."""

    low: int | None
    high: int | None
    body: Stmt


@dataclass(frozen=True, slots=True)
class Break(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Goto(Stmt):
    label: str


@dataclass(frozen=True, slots=True)
class Label(Stmt):
    label: str
    body: Stmt


@dataclass(frozen=True, slots=True)
class Null(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class OpaqueStmt(Stmt):
    """Not understood: inline asm, computed goto, OpenMP region …; the function that holds it is refused with a code."""

    reason: str
    children: tuple[Expr, ...] = ()


# --- units ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Function:
    """A function with a body in this unit.  ``params`` are variable keys, in order."""

    key: str
    name: str
    type: Type
    params: tuple[str, ...]
    variables: Mapping[str, Variable]  # parameters, locals and function statics
    body: Block
    span: Span
    static: bool
    refused: str = ""  # why this function cannot be analysed ('' when it can)
    threads: tuple[Span, ...] = ()  # statements, parts of which several threads may run
    pragmas: tuple[str, ...] = ()  # of each of them the directive that is about it, in words
    declares: frozenset[str] = frozenset()  # types, tags (`struct x`) and constants of its own, whoever wrote them


@dataclass(frozen=True, slots=True)
class Skipped:
    """Text under a false ``#if``: code that another configuration would compile.

    own: only macros of the program's own decide whether it is compiled, none of a compiler, a system or an MPI.
    never: plain ``#if 0 … #endif``, which nobody compiles.
    certain: nothing but whether there is OpenMP decides, so every compiler leaves it out.
    bodies: names in what macros are defined as there, which mean something wherever the macro is used.
    """

    span: Span
    identifiers: frozenset[str]
    own: bool = False
    never: bool = False
    certain: bool = False
    bodies: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something the front end has to tell: ``severity`` is ``error`` or ``warning``."""

    severity: str
    file: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Unseen:
    """What has code run, or gives something a name, that no name of the source shows (``frontend.lower.attributes``).

    word: the attribute, or what it is.  symbol: the label of a declaration, whose name is ``name``; the flag.
    """

    span: Span
    word: str
    symbol: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """One translation unit.  ``files`` maps every file read (source and non-system headers) to its bytes' sha256."""

    path: str
    functions: Mapping[str, Function]
    globals: Mapping[str, Variable]
    records: Mapping[str, Record]
    declared: Mapping[str, Type]  # functions declared but not defined here
    skipped: tuple[Skipped, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: Mapping[str, str]
    int_macros: Mapping[
        str, int
    ]  # object-like macros of the MPI's header with integer values (MPI_PROC_NULL, MPI_ANY_TAG …)
    address_taken_functions: frozenset[str] = frozenset()
    never: tuple[Span, ...] = ()  # text that nobody compiles
    names_proc_null: bool = True  # its text, headers and flags mention MPI_PROC_NULL (the MPI's own headers apart)
    f2c: bool = False  # it reads the header of the programs that f2c writes, the system's or one of its own
    type_mentions: tuple[VarRef, ...] = ()  # arrays that constants and types name, and no expression
    macros: tuple[tuple[str, str], ...] = ()  # name and body of those that its text defines or uses
    unseen: tuple[Unseen, ...] = ()
    loose: bool = False  # its flags or its text let memory be read as another type than it was written (``typed.py``)


class Units(tuple[Unit, ...]):
    """Units that are looked at together.  Programs that are made of them share what is found out about their text."""

    @classmethod
    def of(cls, units: Iterable[Unit]) -> Units:
        """The same units, with what was found out about them where they are such a tuple already."""
        return units if isinstance(units, Units) else cls(units)

    @cached_property
    def findings(self) -> Findings:
        """What was found out about them (``once.py``): of the text alone, so that no program is kept by it."""
        return {}
