"""Sizes in the words of the program: text that is worth a number of elements where it is to be written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from opi_xform.divide.decompose import joined, pure, value_of
from opi_xform.divide.flow import leaves
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import children
from opi_xform.memory.poly import Poly
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import divided
from opi_xform.ownership.spelling.scopes import may_fall_apart
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """An expression of the program, and what it is in the program graph.

    root: the whole expression that it is a part of.
    """

    expr: ast.Expr
    operand: ins.Operand
    node: int
    frame: int
    root: ast.Expr


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a size is to be written: the node, its frame, the statement."""

    node: int
    frame: int
    stmt: ast.Stmt


class Words:
    """The words that sizes are made of, and which of them mean the same at another place."""

    def __init__(
        self, program: Program, read: Callable[[str], bytes], words: Sequence[Word], without: set[str]
    ) -> None:
        """without: variables that no size is written with."""
        self.program = program
        self.read = read
        self.words = [w for w in words if pure(w.expr) and not _variables(w.expr) & without]
        self.undefined, self.defined = self.macros(rb"undef"), self.macros(rb"define")

    def macros(self, directive: bytes) -> set[str]:
        """The names in all directives of a kind."""
        at = re.compile(rb"^[ \t]*#[ \t]*" + directive + rb"[ \t]+(\w+)", re.MULTILINE)
        texts = map(self.read, self.program.files)
        return {found[1].decode("utf-8", "surrogateescape") for text in texts for found in at.finditer(text)}

    def at(self, spot: Spot) -> list[Word]:
        """The words that can be written there; those from there first."""
        own = [w for w in self.words if w.node == spot.node and w.frame == spot.frame]
        return own + [w for w in self.words if w.node != spot.node and self.moves(w, spot)]

    def moves(self, word: Word, spot: Spot) -> bool:
        """Written at the spot, the text means the same variables; what these hold there is another question."""
        found = list(leaves(word.operand))
        if not all(isinstance(leaf, (ins.Var, ins.Const)) for leaf in found):
            return False
        keys = {leaf.key for leaf in found if isinstance(leaf, ins.Var)}
        if keys != _variables(word.expr):
            return False
        if word.frame != spot.frame and any(not self.program.variables[key].is_global for key in keys):
            return False
        function = self.program.graph.frames[spot.frame].function
        names = {self.program.variables[key].name for key in keys}
        if not names.isdisjoint(self.defined):
            return False  # a macro in a part of the file
        others = _spelled(word.expr, self.read) - names - {"sizeof"}
        body = self.program.functions.get(function)
        if body is None or not self.undefined.isdisjoint(others) or not declares_none(body, self.read):
            return False
        if any(v.name in others for v in body.variables.values()):
            return False
        return all(visible(self.program, key, function, spot.stmt) for key in keys)

    def text(self, elements: Poly, words: Sequence[tuple[Word, Poly]]) -> str | None:
        """A number of elements, written with words that have these values; None when it cannot be.

        A number that has a name there is written by its name: another configuration may give it another value.
        """
        for word, worth in words:
            text = self.source(word.expr)
            if worth == elements and text is not None:
                return text
        called = self.called(word for word, _ in words)
        if not self.called(self.words).keys() <= called.keys():
            called[""] = 0  # one has a name that cannot be written here
        for word, worth in words:
            text = self.source(word.expr)
            times = None if worth.constant is not None or text is None else divided(elements, worth)
            number = None if times is None or not times.constant else _number(times.constant, called)
            if number is not None and text is not None and times is not None and (times.constant or 0) > 0:
                return " * ".join([*number, _factor(word.expr, text)])
        known = {id(word.expr): worth for word, worth in words}
        names: dict[int, str] = {}
        for word, worth in words:
            text = self.source(word.expr)
            if worth.single is not None and text is not None:
                names.setdefault(worth.single, _factor(word.expr, text))
            self.inside(word.expr, known, names)
        terms = []
        for monomial, c in elements.terms:
            if any(s not in names for s in monomial):
                return None
            factors = [names[s] for s in monomial]
            if len(factors) > 1:
                factors[0] = f"(size_t){factors[0]}"
            number = _number(abs(c), called)
            if number is None:
                return None
            terms.append((1 if c > 0 else -1, " * ".join([*number, *factors]) or "1"))
        return joined(sorted(terms, key=lambda term: -term[0]))

    def called(self, words: Iterable[Word]) -> dict[str, int]:
        """Numbers that macros write, by their text ('': some are written by one in a way that is not followed)."""
        written: dict[tuple[str, int, int], list[ast.Expr]] = {}
        for word in words:
            for e in within(word.expr):
                if not isinstance(e, ast.Cast) or e.explicit:
                    found = written.setdefault((e.span.file, e.span.begin, e.span.end), [])
                    if all(other is not e for other in found):
                        found.append(e)
        out: dict[str, int] = {}
        for (file, begin, end), found in written.items():
            for e in found:
                text = self.read(file)[begin:end].decode("utf-8", "surrogateescape")
                if not isinstance(e, ast.IntLit) or not re.search(r"[A-Za-z_]", text) or re.fullmatch(r"\d\w*", text):
                    continue
                alone = len(found) == 1 and (e.span.editable or re.fullmatch(r"[A-Za-z_]\w*", text) is not None)
                out[f"({text})" if e.span.editable else text if alone else ""] = e.value
        return out

    def inside(self, e: ast.Expr, known: Mapping[int, Poly], names: dict[int, str]) -> None:
        """Notes the variables and members in an expression."""
        for inner in within(e):
            worth = value_of(inner, known) if id(inner) in known else None
            text = self.source(inner)
            if worth is not None and worth.single is not None and text is not None:
                names.setdefault(worth.single, _factor(inner, text))

    def source(self, e: ast.Expr) -> str | None:
        """An expression as it is written, what is of several parts in parentheses; None where a macro writes it."""
        while isinstance(e, ast.Cast) and not e.explicit:
            e = e.operand
        if e.span.editable:
            text = self.read(e.span.file)[e.span.begin : e.span.end].decode("utf-8", "surrogateescape")
        elif isinstance(e, ast.IntLit) and e.name:
            text = e.name
        else:
            return None
        return f"({text})" if isinstance(e, ast.IntLit) and may_fall_apart(self.program, text) else text


def declares_none(body: ast.Function, read: Callable[[str], bytes]) -> bool:
    """A function has no constants and types of its own, which could have any name."""
    text = read(body.span.file)[body.span.begin : body.span.end]
    return re.search(rb"\b(enum|typedef)\b", text) is None


def visible(program: Program, key: str, function: str, stmt: ast.Stmt) -> bool:
    """At a statement of a function, the variable's name means the variable."""
    variable, body = program.variables[key], program.functions.get(function)
    lowered = program.graph.lowered.get(function)
    if body is None or lowered is None:
        return False
    indices = {id(info.stmt): i for i, info in enumerate(lowered.stmts)}
    around: set[int] = set()
    at = here = indices.get(id(stmt), -1)
    while at >= 0:
        at = lowered.stmts[at].parent
        around.add(at)
    for other in (k for k, v in body.variables.items() if v.name == variable.name and k != key):
        info = declared(lowered, other)
        inside = info is not None and stmt.span.begin <= info.stmt.span.begin < stmt.span.end
        if info is None or info.parent in around or info.parent == here or inside or here < 0:
            return False
    if variable.kind in ("extern", "static"):
        same = [k for k, v in program.variables.items() if v.name == variable.name and v.kind in ("extern", "static")]
        return same == [key]
    if variable.function != function:
        return False
    if variable.kind == "param":
        return True
    info = declared(lowered, key)
    return info is not None and info.parent in around and info.stmt.span.begin < stmt.span.begin


def declared(lowered: ins.Lowered, key: str) -> ins.StmtInfo | None:
    """The statement that declares a variable of a function; None for a parameter."""
    found = (info for info in lowered.stmts if isinstance(info.stmt, ast.DeclStmt) and key in info.stmt.variables)
    return next(found, None)


def within(e: ast.Expr) -> Iterator[ast.Expr]:
    """An expression and all in it."""
    stack = [e]
    while stack:
        e = stack.pop()
        yield e
        stack.extend(children(e))


def _variables(e: ast.Expr) -> set[str]:
    return {inner.var for inner in within(e) if isinstance(inner, ast.VarRef)}


def _number(c: int, called: Mapping[str, int]) -> list[str] | None:
    """The factors of a number, one of which has a name when there are any with names; None when none fits."""
    if not called:
        return [str(c)] if c != 1 else []
    for name, value in called.items():
        if name and value > 1 and c % value == 0:
            name = name if name.startswith("(") else f"({name})"  # a macro's text may be a sum
            return [name] if c == value else [str(c // value), name]
    return [] if c == 1 and 1 not in called.values() else None


def _spelled(e: ast.Expr, read: Callable[[str], bytes]) -> set[str]:
    """All words of an expression's text."""
    text = read(e.span.file)[e.span.begin : e.span.end].decode("utf-8", "surrogateescape")
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _factor(e: ast.Expr, text: str) -> str:
    while isinstance(e, ast.Cast) and not e.explicit:
        e = e.operand
    plain = isinstance(e, (ast.VarRef, ast.Member, ast.Index, ast.SizeOf)) or (isinstance(e, ast.IntLit) and not e.name)
    return text if plain or text.isdigit() else f"({text})"
