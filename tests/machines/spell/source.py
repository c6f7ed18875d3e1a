"""A program as text and as the front end reads it: where its expressions and statements stand, and how text changes.

Texts are kept as Latin-1, so that a place in a text is the place of the byte that the front end names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from opi_xform.frontend.parse import parse_once
from opi_xform.ir import ast, walk
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type

Texts = Mapping[str, str]
MARK = re.compile(r"/\*@(\d+)\*/")
ATOMS = (ast.VarRef, ast.Index, ast.Member, ast.Call, ast.StringLit, ast.FloatLit)
SENDS = ("MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Issend")
RECEIVES = ("MPI_Recv", "MPI_Irecv")
MESSAGES = (*SENDS, *RECEIVES, "MPI_Sendrecv")


@dataclass(frozen=True, slots=True)
class Edit:
    """The bytes from ``begin`` to ``end`` of a file become ``text``."""

    file: str
    begin: int
    end: int
    text: str


Change = tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """A statement where it stands.  above: the statements around it, the nearest first."""

    stmt: ast.Stmt
    above: tuple[ast.Stmt, ...]
    function: ast.Function

    @property
    def block(self) -> ast.Block | None:
        """The block right around it."""
        return self.above[0] if self.above and isinstance(self.above[0], ast.Block) else None

    @property
    def in_head(self) -> bool:
        """It is what a ``for`` begins with, and can be no block."""
        return bool(self.above) and isinstance(self.above[0], ast.For) and self.stmt is self.above[0].init

    @property
    def following(self) -> tuple[ast.Stmt, ...]:
        """What comes after it in its block."""
        if self.block is None:
            return ()
        at = next(n for n, s in enumerate(self.block.body) if s is self.stmt)
        return self.block.body[at + 1 :]


@dataclass(frozen=True, slots=True)
class Place:
    """An expression where it stands.  above: the expressions around it, the nearest first."""

    expr: ast.Expr
    above: tuple[ast.Expr, ...]
    spot: Spot

    @property
    def parent(self) -> ast.Expr | None:
        return self.above[0] if self.above else None

    @property
    def is_read(self) -> bool:
        """Its value is used: it is not assigned to, and neither its address nor its size is asked for."""
        match self.parent:
            case ast.Assign(target=target) if target is self.expr:
                return False
            case ast.IncDec() | ast.AddrOf() | ast.SizeOf():
                return False
            case _:
                return True


class Source:
    """One use each: after a change the texts are parsed anew."""

    def __init__(self, texts: Texts, flags: Sequence[str] = ()) -> None:
        self.texts = dict(texts)
        self._fresh = 0
        with TemporaryDirectory(prefix="spell") as name:
            folder = Path(name).resolve()
            for file, text in self.texts.items():
                (folder / file).write_text(text, encoding="latin-1")
            self.folder = str(folder)
            self.units = tuple(parse_once(str(folder / f), flags) for f in self.sources)

    @property
    def sources(self) -> list[str]:
        return [file for file in self.texts if file.endswith(".c")]

    # --- text -------------------------------------------------------------------------------------------------------

    def file(self, span: Span) -> str:
        return Path(span.file).name

    def may_edit(self, *things: ast.Expr | ast.Stmt | Span) -> bool:
        """All of it is written as it stands, in a file of the program."""
        spans = [thing if isinstance(thing, Span) else thing.span for thing in things]
        return all(s.editable and s.begin < s.end and s.file.startswith(self.folder) for s in spans)

    def text(self, thing: ast.Expr | ast.Stmt | Span) -> str:
        span = thing if isinstance(thing, Span) else thing.span
        return self.texts[self.file(span)][span.begin : span.end]

    def between(self, first: Span, last: Span) -> str:
        """What stands between the ends of the one and the other."""
        return self.texts[self.file(first)][first.end : last.end]

    def atom(self, expr: ast.Expr) -> str:
        """The text as an operand of anything."""
        text = self.text(expr)
        plain = isinstance(expr, ATOMS) or re.fullmatch(r"\w+", text)
        return text if plain and not text.startswith(("*", "&")) else f"({text})"

    def is_arrow(self, member: ast.Member) -> bool:
        return self.between(member.base.span, member.span).lstrip().startswith("->")

    def is_star(self, expr: ast.Expr) -> bool:
        """It is written with a ``*``; what ``->`` follows is not."""
        return isinstance(expr, ast.Deref) and self.text(expr).startswith("*")

    def mark(self, thing: ast.Expr | ast.Stmt) -> str:
        """The last mark in front of something: that of a call, if it is one."""
        found = MARK.findall(self.texts[self.file(thing.span)], 0, thing.span.begin)
        return f"/*@{found[-1]}*/" if found else ""

    def marked(self, thing: ast.Expr | ast.Stmt) -> str:
        """The text of something with the mark that stands before it."""
        return self.mark(thing) + self.text(thing)

    def as_block(self, stmt: ast.Stmt) -> str:
        """The text of a statement as a block."""
        return self.marked(stmt) if isinstance(stmt, ast.Block) else f"{{ {self.marked(stmt)} }}"

    def unused(self, stem: str) -> str:
        """A name that the program does not have."""
        whole = "\n".join(self.texts.values())
        while True:
            self._fresh += 1
            name = f"{stem}_{self._fresh}"
            if not re.search(rf"\b{name}\b", whole):
                return name

    # --- edits ------------------------------------------------------------------------------------------------------

    def edit(self, thing: ast.Expr | ast.Stmt | Span, text: str) -> Edit:
        span = thing if isinstance(thing, Span) else thing.span
        return Edit(self.file(span), span.begin, span.end, text)

    def before(self, thing: ast.Expr | ast.Stmt | Span, text: str) -> Edit:
        span = thing if isinstance(thing, Span) else thing.span
        return Edit(self.file(span), span.begin, span.begin, text)

    def after(self, thing: ast.Expr | ast.Stmt | Span, text: str) -> Edit:
        span = thing if isinstance(thing, Span) else thing.span
        return Edit(self.file(span), span.end, span.end, text)

    def above(self, function: ast.Function, text: str) -> Edit:
        """Text at file level, in front of a function."""
        return self.before(function.span, text + "\n\n")

    def including(self, file: str, header: str) -> Change:
        """Includes a header of the system's, where it is not."""
        line = f"#include <{header}>"
        return () if line in self.texts[file] else (Edit(file, 0, 0, line + "\n"),)

    def braced(self, spot: Spot, first: str, stmt: str = "") -> Edit:
        """The statement becomes a block that begins with something else."""
        return self.edit(spot.stmt, f"{{ {first} {stmt or self.text(spot.stmt)} }}")

    def conditional(self, spot: Spot, text: str) -> Edit:
        """The statement becomes an ``if`` without ``else``: in braces where it is no item of a block, as an ``else``
        that follows would go with it.
        """
        return self.edit(spot.stmt, text if spot.block is not None else f"{{ {text} }}")

    # --- places -----------------------------------------------------------------------------------------------------

    @property
    def functions(self) -> list[ast.Function]:
        """With what can be edited, each once."""
        found = {}
        for unit in self.units:
            for function in unit.functions.values():
                if self.may_edit(function.span):
                    found.setdefault((function.span.file, function.span.begin), function)
        return list(found.values())

    @cached_property
    def variables(self) -> dict[str, ast.Variable]:
        found: dict[str, ast.Variable] = {}
        for unit in self.units:
            found |= unit.globals
            for function in unit.functions.values():
                found |= function.variables
        return found

    @cached_property
    def all_spots(self) -> list[Spot]:
        return [spot for function in self.functions for spot in _spots(function) if self.may_edit(spot.stmt)]

    @cached_property
    def spots(self) -> list[Spot]:
        return [spot for spot in self.all_spots if not self._has_pragma(spot.stmt)]

    def _has_pragma(self, stmt: ast.Stmt) -> bool:
        """A pragma in the line before is about it, and wants it as it is; between the two may be other directives."""
        before = self.texts[self.file(stmt.span)][: stmt.span.begin].rstrip().replace("\\\n", " ")
        while (line := before.rpartition("\n")[2].lstrip()).startswith("#") and not line.startswith("#pragma"):
            before = before.rpartition("\n")[0].rstrip()
        return line.startswith("#pragma")

    def in_pragma(self, file: str, name: str) -> bool:
        """A pragma of the file names it: a variable has to stay what it is for that."""
        lines = self.texts[file].replace("\\\n", " ").splitlines()
        return any(re.search(rf"\b{name}\b", line) for line in lines if line.lstrip().startswith("#pragma"))

    @cached_property
    def places(self) -> list[Place]:
        """Every expression that can be edited, but those that have to be constant."""
        return [
            place
            for spot in self.spots
            for root in own(spot.stmt, spot.function)
            for place in _places(root, spot)
            if self.may_edit(place.expr)
        ]

    def of(self, kind: type[ast.Stmt]) -> list[Spot]:
        return [spot for spot in self.spots if isinstance(spot.stmt, kind) and not spot.in_head]

    def calls(self, *names: str) -> Iterator[tuple[Spot, ast.Call]]:
        """Statements that are a call of one of these functions and nothing else, all of it written there."""
        for spot in self.of(ast.ExprStmt):
            match spot.stmt:
                case ast.ExprStmt(expr=ast.Call(callee=ast.FuncRef(name=name)) as call) if name in names:
                    if self.may_edit(call, *call.args):
                        yield spot, call


def _spots(function: ast.Function) -> Iterator[Spot]:
    stack: list[Spot] = [Spot(function.body, (), function)]
    while stack:
        spot = stack.pop()
        yield spot
        around = (spot.stmt, *spot.above)
        stack.extend(Spot(inner, around, function) for inner in reversed(walk.parts(spot.stmt)))


def own(stmt: ast.Stmt, function: ast.Function) -> Iterator[ast.Expr]:
    """The full expressions of a statement, without those of statements in it."""
    match stmt:
        case ast.ExprStmt(expr=e) | ast.Switch(cond=e) | ast.If(cond=e) | ast.While(cond=e) | ast.DoWhile(cond=e):
            yield e
        case ast.For(cond=cond, step=step):
            yield from (e for e in (cond, step) if e is not None)
        case ast.Return(value=value) if value is not None:
            yield value
        case ast.DeclStmt(variables=keys):
            for variable in (function.variables[key] for key in keys if key in function.variables):
                if variable.init is not None and not variable.is_global:
                    yield variable.init
        case _:
            pass


def _places(root: ast.Expr, spot: Spot) -> Iterator[Place]:
    stack = [Place(root, (), spot)]
    while stack:
        place = stack.pop()
        yield place
        around = (place.expr, *place.above)
        stack.extend(Place(inner, around, spot) for inner in reversed(walk.children(place.expr)))


# --- what holds of expressions and statements -------------------------------------------------------------------------


def root_of(expr: ast.Expr) -> str:
    """The variable that a place is in, if it is in one; else ''."""
    while True:
        match expr:
            case ast.VarRef(var=var):
                return var
            case ast.Member(base=base):
                expr = base
            case ast.Index(base=base) if base.type.is_array:
                expr = base
            case _:
                return ""


def has_effect(*roots: ast.Expr) -> bool:
    """Something in it is called, assigned or not understood."""
    kinds = (ast.Call, ast.Assign, ast.IncDec, ast.Opaque, ast.CompoundLit)
    return any(isinstance(e, kinds) for root in roots for e in walk.within(root))


def changed(root: ast.Stmt, function: ast.Function) -> set[str]:
    """Variables that a statement assigns to, or of which it takes the address."""
    found = set()
    for e in walk.within_statement(root, function.variables):
        match e:
            case ast.Assign(target=target):
                found.add(root_of(target))
            case ast.IncDec(operand=target) | ast.AddrOf(operand=target):
                found.add(root_of(target))
            case _:
                pass
    return found


def calls_own(root: ast.Stmt, function: ast.Function) -> bool:
    """It calls something other than a function of the MPI's or the C library's."""
    known = re.compile(r"MPI_|printf$|malloc$|calloc$|free$|mem|sqrt$|fabs$")
    for e in walk.within_statement(root, function.variables):
        if isinstance(e, ast.Call) and not (isinstance(e.callee, ast.FuncRef) and known.match(e.callee.name)):
            return True
    return False


def is_stable(expr: ast.Expr, during: ast.Stmt, source: Source, function: ast.Function) -> bool:
    """Its value stays the same while a statement runs: it reads only plain variables that this does not change."""
    touched = changed(during, function)
    for e in walk.within(expr):
        match e:
            case ast.VarRef(var=var, type=type_):
                variable = source.variables.get(var)
                if variable is None or var in touched or not (type_.is_scalar or type_.is_array):
                    return False
                if variable.is_global and type_.is_scalar and calls_own(during, function):
                    return False
            case ast.IntLit() | ast.FloatLit() | ast.Cast() | ast.SizeOf():
                pass
            case ast.Binary() | ast.Unary():
                pass
            case _:
                return False
    return True


def jumps(root: ast.Stmt, *kinds: type[ast.Stmt]) -> bool:
    """A statement of these kinds is in it; ``break`` and ``continue`` only where they leave it."""
    stack = [root]
    while stack:
        s = stack.pop()
        if isinstance(s, kinds):
            return True
        inner = walk.parts(s)
        if isinstance(s, (ast.For, ast.While, ast.DoWhile)) and s is not root:
            kinds = tuple(kind for kind in kinds if kind not in (ast.Break, ast.Continue))
        stack.extend(inner)
    return False


def mentioned(root: ast.Stmt, function: ast.Function) -> set[str]:
    return {e.var for e in walk.within_statement(root, function.variables) if isinstance(e, ast.VarRef)}


def declared(type_: Type, name: str) -> str:
    """The declaration of a variable of this type, or '' where it cannot be written."""
    while True:
        match type_.kind:
            case "pointer" if type_.elem is not None and type_.elem.kind != "function":
                qualified = "const " if type_.const else ""
                name, type_ = f"*{qualified}{name}", type_.elem
                if type_.is_array:
                    name = f"({name})"
            case "array" if type_.elem is not None and type_.count:
                name, type_ = f"{name}[{type_.count}]", type_.elem
            case "int" | "float" | "record" | "void" if "(" not in type_.spelling:
                return f"{type_.spelling} {name}"
            case _:
                return ""


def decayed(type_: Type) -> Type:
    """Of the value of an expression: arrays become pointers, and values have no qualifiers."""
    if type_.is_array and type_.elem is not None:
        return Type("pointer", "", 8, elem=type_.elem)
    if type_.const:
        return Type(type_.kind, type_.spelling.replace("const ", ""), type_.size, type_.signed, type_.elem)
    return type_


def is_number(type_: Type) -> bool:
    return type_.kind in ("int", "float") and not type_.boolean


# --- applying ---------------------------------------------------------------------------------------------------------


def edited(texts: Texts, changes: Iterable[Change]) -> dict[str, str]:
    """The texts after changes that do not touch each other; an edit of a file that is not there makes it."""
    edits = [edit for change in changes for edit in change]
    out = dict(texts)
    for file in dict.fromkeys(edit.file for edit in edits):
        unique = dict.fromkeys(edits) if file in texts else edits  # two changes may include the same header
        own_edits = sorted((e for e in unique if e.file == file), key=lambda e: (e.begin, e.end))
        text = out.get(file, "")
        for edit in reversed(own_edits):
            text = text[: edit.begin] + edit.text + text[edit.end :]
        out[file] = text
    return out


def apart(first: Iterable[Edit], other: Iterable[Edit]) -> bool:
    """No two of the edits touch, other than at their ends."""
    them = list(other)
    return not any(a.file == b.file and a.begin < b.end and b.begin < a.end for a in first for b in them) and not any(
        a.file == b.file and a.begin == b.begin and a.end == b.end and a.begin < a.end for a in first for b in them
    )
