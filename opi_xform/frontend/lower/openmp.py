"""OpenMP regions as the serial code that they stand for, where they stand for any.

The parser reads the program without OpenMP; what the directives say is read here.  In a program without data races no
iteration of a loop that threads share depends on another: in order it does the same.  What differs is what is left in
variables: a private one has its old value again after the region.  So such a variable may have either value there
(``Regions.body``), and the program is understood with OpenMP and without it.  Statements that each thread runs, and in
which no thread waits for another one, are run by one thread after the other: a loop of any number of turns.

Source: OpenMP Application Programming Interface, version 5.2, sections 4 (directives), 5.4 (data sharing), 10 and 11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from opi_xform.frontend.clang.source import File
from opi_xform.frontend.lower.directives import (
    LISTS,
    LOOPS,
    SHARING,
    Constant,
    Directive,
    Expand,
    LeftOut,
    Unfollowed,
    behind,
    directives,
)
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import parts as parts_of
from opi_xform.ir.walk import statements, with_blocks, within, within_statement
from opi_xform.program.threads import LEFT_OUT_HERE, in_one
from opi_xform.record import dataclass

_UPDATES = {
    "+": frozenset({"+", "-"}),
    "-": frozenset({"+", "-"}),
    **{one: frozenset({one}) for one in ("*", "&", "|", "^")},
    "min": frozenset[str](),
    "max": frozenset[str](),
}  # by what a reduction is made: how its variable may be updated


@dataclass(frozen=True, slots=True)
class Regions:
    """A function's body and variables with what private variables may hold behind regions.

    threads: the statements, parts of which several threads may run.  refused: what is not followed ('': nothing).
    pragmas: of each statement the directive that is about it, in words: one that is compiled here, where there is one.
    """

    body: ast.Block
    variables: dict[str, ast.Variable]
    threads: tuple[Span, ...]
    refused: str
    pragmas: tuple[str, ...] = ()


def find_regions(
    file: File,
    span: Span,
    body: ast.Block,
    variables: Mapping[str, ast.Variable],
    constant: Constant,
    expand: Expand,
    left_out: LeftOut,
    doubtful: LeftOut = (),
    chosen: LeftOut = (),
) -> Regions:
    """The OpenMP directives in a function's text, and what they make of it; those in text left out say nothing.

    doubtful: text that is left out here, and that other flags may bring in.  chosen: of it, what only the program's own
    macros decide about: a directive in it is of another configuration, if what it is about is there, too (A6).
    """
    refusals: list[str] = []
    for text in (left_out, sorted((*left_out, *doubtful))):  # what is compiled here tells more than what is left out
        finder = _Finder(file, span, body, variables, constant, expand, text, doubtful, chosen)
        found = finder.run()
        if found is None:
            refusals.append(in_one(finder.calls_mpi(one.directive) or str(one) for one in finder.missed))
            if LEFT_OUT_HERE not in refusals[-1] or len(refusals) > 1:
                break
        elif not refusals:
            return found
    return Regions(body, dict(variables), (), refusals[-1])


class _Finder:
    """One use: ``run``."""

    def __init__(
        self,
        file: File,
        span: Span,
        body: ast.Block,
        variables: Mapping[str, ast.Variable],
        constant: Constant,
        expand: Expand,
        left_out: LeftOut,
        doubtful: LeftOut,
        chosen: LeftOut,
    ) -> None:
        self.file = file
        self.span = span
        self.body = body
        self.variables = variables
        self.constant = constant
        self.expand = expand
        self.left_out = left_out
        self.doubtful = doubtful
        self.chosen = chosen
        self.parents: dict[int, ast.Stmt] = {}
        self.at: dict[int, ast.Stmt] = {}  # by offset: the outermost statement that begins there
        for stmt, parent in statements(body):
            if parent is not None:
                self.parents[id(stmt)] = parent
                if stmt.span.file == file.path:
                    self.at.setdefault(stmt.span.begin, stmt)
        self.regions: list[tuple[Directive, ast.Stmt]] = []
        self.missed: list[Unfollowed] = []
        self.restored: dict[int, dict[str, Type]] = {}  # by statement: variables that may have their old value after it
        self.each: set[int] = set()  # statements that each thread runs
        self.barriers: list[Directive] = []

    def run(self) -> Regions | None:
        """None where something is not followed: ``missed``."""
        for directive in directives(
            self.file, self.span, self.constant, self.expand, self.left_out, self.doubtful, self.chosen, self.missed
        ):
            if directive.name == "barrier":
                self.barriers.append(directive)
                continue
            stmt = self.at.get(behind(self.file.data, directive.end, self.left_out))
            if stmt is None:
                self.missed.append(directive.refusal("stands before no statement of this configuration"))
            else:
                self.regions.append((directive, stmt))
        for barrier in self.barriers:
            if not any(s.span.begin <= barrier.end <= s.span.end for _, s in self.regions):
                self.missed.append(barrier.refusal("stands in no region of this function"))
        for directive, stmt in self.regions if not self.missed else ():  # what is missed may be a part of another one
            try:
                self.understood(directive, stmt)
            except Unfollowed as refused:
                self.missed.append(refused)
        if self.missed:
            return None
        found = [(stmt.span, d) for d, stmt in self.regions if not d.name.startswith("atomic")]
        compiled = {span: d.words_for_it for span, d in reversed(found) if not d.note}
        body, variables = self.with_restored()
        pragmas = tuple(compiled.get(span, d.words_for_it) for span, d in found)
        return Regions(body, variables, tuple(span for span, _ in found), "", pragmas)

    def understood(self, directive: Directive, stmt: ast.Stmt) -> None:
        """Raises Unfollowed."""
        if directive.name.startswith("atomic"):
            self.atomic(directive, stmt)
            return
        self.nested(directive, stmt)
        private = self.loops(directive, stmt) if directive.name in LOOPS else {}
        if directive.name == "parallel":
            self.shared_out(directive, stmt)
        private.update(self.listed(directive, stmt))
        for key in (key for key, type_ in private.items() if _matters(type_)):
            self.reached_by_name(directive, key)
            self.own_values(directive, stmt, key)
        outside = {k: t for k, t in private.items() if self.used_outside(k, private)}
        if outside and not isinstance(self.parents[id(stmt)], ast.Block):
            raise directive.refusal("is the body of a statement without braces")
        self.restored.setdefault(id(stmt), {}).update(outside)

    def calls_mpi(self, directive: Directive | None) -> str:
        """A loop that threads share calls MPI, which keeps that whatever the directive says; '': it does not."""
        stmt = None if directive is None else self.at.get(behind(self.file.data, directive.end, self.left_out))
        if stmt is None or directive is None or directive.name not in LOOPS or directive.name == "simd":
            return ""
        for e in within_statement(stmt, self.variables):
            if isinstance(e, ast.Call) and isinstance(e.callee, ast.FuncRef) and e.callee.name.startswith("MPI_"):
                return f"{directive.words_for_it} calls `{e.callee.name}`"
        return ""

    # --- what is understood ------------------------------------------------------------------------------------------

    def nested(self, directive: Directive, stmt: ast.Stmt) -> None:
        """A region stands alone, or is one of the parts of a parallel region.  Raises Unfollowed."""
        around = [
            (d, s)
            for d, s in self.regions
            if d is not directive and d.end <= directive.end and s.span.begin <= stmt.span.begin
            and stmt.span.end <= s.span.end and not d.name.startswith("atomic")
        ]  # fmt: skip
        if not around or directive.name == "simd":
            return
        outer = around[-1]
        inside = outer[1] is stmt or self.parents.get(id(stmt)) is outer[1]
        if outer[0].name != "parallel" or directive.name not in SHARING or not inside:
            raise directive.refusal("stands in another region")

    def atomic(self, directive: Directive, stmt: ast.Stmt) -> None:
        e = stmt.expr if isinstance(stmt, ast.ExprStmt) else None
        if not (isinstance(e, ast.IncDec) or (isinstance(e, ast.Assign) and e.op)):
            raise directive.refusal("is no plain update")

    def loops(self, directive: Directive, stmt: ast.Stmt) -> dict[str, Type]:
        """The variables of the loops that the directive is about, those declared in them apart."""
        out: dict[str, Type] = {}
        count = int(next(directive.words("collapse"), "1"))
        at: ast.Stmt | None = stmt
        for _ in range(count):
            while isinstance(at, ast.Block) and len(at.body) == 1:
                at = at.body[0]
            if not isinstance(at, ast.For):
                raise directive.refusal("stands before another form of loop")
            match at.init:
                case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key, type=type_))):
                    out[key] = type_
                case ast.DeclStmt(variables=(_,)):
                    pass
                case _:
                    raise directive.refusal("stands before another form of loop")
            at = at.body
        return out

    def shared_out(self, directive: Directive, stmt: ast.Stmt) -> None:
        """A parallel region is shared out among its threads: all in it is loops, and blocks that one thread runs."""
        parts = {id(s) for d, s in self.regions if d is not directive and d.name in SHARING}
        if id(stmt) in parts:
            return
        items = [s for s in (stmt.body if isinstance(stmt, ast.Block) else (stmt,)) if id(s) not in parts]
        if not parts and self.by_each(stmt):
            self.each.add(id(stmt))
            return
        for item in items:  # before what is declared: that matters to them
            if not isinstance(item, (ast.DeclStmt, ast.Null)) or (isinstance(item, ast.DeclStmt) and item.sizes):
                raise directive.refusal("has statements that each of its threads runs")
        for item in items:
            for key in item.variables if isinstance(item, ast.DeclStmt) else ():
                variable = self.variables.get(key)
                if variable is None or variable.kind != "local":
                    raise directive.refusal("declares what its threads share")
                init = variable.init
                if init is not None and any(isinstance(e, (ast.Call, ast.Opaque)) for e in within(init)):
                    raise directive.refusal(f"calls a function for `{variable.name}` in each of its threads")
                if _matters(variable.type) and not variable.type.is_scalar:
                    raise directive.refusal(f"declares `{variable.name}`, of which each thread has one")
                if _matters(variable.type) and self.modified(key, stmt):
                    self.own_values(directive, stmt, key)

    def by_each(self, stmt: ast.Stmt) -> bool:
        """Each thread runs the whole statement, and none finds what another one does: no directive is in it."""
        inside = [s for _, s in self.regions if _holds(stmt, s)]
        waits = any(stmt.span.begin <= b.end <= stmt.span.end for b in self.barriers)
        declared = [s for s, _ in statements(stmt) if isinstance(s, ast.DeclStmt)]
        mine = [self.variables.get(key) for s in declared for key in s.variables]
        own = not any(s.sizes for s in declared) and all(v is not None and v.kind == "local" for v in mine)
        plain = not any(e.type.volatile or isinstance(e, ast.Opaque) for e in self.expressions(stmt))
        return len(inside) == 1 and not waits and own and plain and isinstance(self.parents[id(stmt)], ast.Block)

    def listed(self, directive: Directive, stmt: ast.Stmt) -> dict[str, Type]:
        """Private variables of the region that may have their old value after it.  Raises Unfollowed."""
        out: dict[str, Type] = {}
        for clause, words in directive.clauses:
            if clause == "default" and set(words) - {"none", "shared"}:
                raise directive.refusal("gives each thread what it does not name")
            if clause not in LISTS or clause == "shared":
                continue
            names, operator = list(words), ""
            if clause == "reduction":
                if len(names) < 3 or names[1] != ":" or names[0] not in _UPDATES:
                    raise directive.refusal("has a reduction that is not followed")
                operator, names = names[0], names[2:]
            if any(not re.fullmatch(r"\w+", name) for name in names[::2]) or set(names[1::2]) - {","}:
                raise directive.refusal(f"has a `{clause}` that is not followed")
            for name in names[::2]:
                for key, type_ in self.named(directive, stmt, name).items():
                    self.check(directive, stmt, clause, key, type_, operator)
                    if clause == "private" and _matters(type_):
                        out[key] = type_
        return out

    def check(self, directive: Directive, stmt: ast.Stmt, clause: str, key: str, type_: Type, operator: str) -> None:
        """Raises Unfollowed where the serial code shows another value in the region."""
        if not _matters(type_):
            return
        name = _name(key)
        if not type_.is_scalar:
            raise directive.refusal(f"gives each thread a `{name}`, which is an array or a struct")
        self.reached_by_name(directive, key)
        if clause == "firstprivate" and self.modified(key, stmt):
            raise directive.refusal(f"changes `{name}`, of which each thread has one")
        if clause == "reduction" and not self.only_updated(key, stmt, _UPDATES.get(operator, frozenset())):
            raise directive.refusal(f"reads `{name}`, of which each thread has a part")
        if clause == "lastprivate":
            self.own_values(directive, stmt, key)

    def reached_by_name(self, directive: Directive, key: str) -> None:
        """A pointer, or another function, would reach the variable of which each thread has one here."""
        variable = self.variables.get(key)
        if variable is None or variable.kind not in ("local", "param"):
            raise directive.refusal(f"gives each thread a `{_name(key)}`, which others reach")
        for e in self.expressions(self.body):
            if isinstance(e, ast.AddrOf) and any(_is(x, key) for x in _within_place(e.operand)):
                raise directive.refusal(f"gives each thread a `{_name(key)}`, whose address is taken")

    def own_values(self, directive: Directive, stmt: ast.Stmt, key: str) -> None:
        """Each part of the region writes a variable of which each thread has one before it reads it."""
        parts = [s for d, s in self.regions if d.name in SHARING and s is not stmt and _holds(stmt, s)]
        for part in parts if directive.name == "parallel" and parts else [stmt]:
            if not self.anew(key, part):
                raise directive.refusal(f"may find in `{_name(key)}` what a thread left there")

    def anew(self, key: str, part: ast.Stmt) -> bool:
        """Each mention of a variable lies after one that sets it, in the same turn of the part's loop."""
        stack: list[tuple[ast.Stmt, bool, bool]] = [(part, False, _entered_inside(part))]
        while stack:
            s, known, skipped = stack.pop()  # skipped: a jump may lead past what stands before
            if isinstance(s, ast.Block):
                for item in s.body:
                    stack.append((item, known, skipped))
                    known = known or (_sets(item, key) and not skipped)
                continue
            if isinstance(s, ast.For) and s.init is not None and _sets(s.init, key) and not skipped:
                known = True
            if known or _sets(s, key):
                continue
            if any(_is(e, key) for e in self.direct(s)):
                return False
            inside = skipped or isinstance(s, ast.Switch)
            stack.extend((inner, False, inside) for inner in parts_of(s))
        return True

    def direct(self, s: ast.Stmt) -> Iterator[ast.Expr]:
        """The expressions of a statement that stand in none inside it."""
        inner = {id(e) for p in parts_of(s) for e in self.expressions(p)}
        return (e for e in self.expressions(s) if id(e) not in inner)

    # --- variables ---------------------------------------------------------------------------------------------------

    def expressions(self, stmt: ast.Stmt) -> Iterator[ast.Expr]:
        """All expressions in a statement, and in the initialisers of what it declares."""
        return within_statement(stmt, self.variables)

    def named(self, directive: Directive, stmt: ast.Stmt, name: str) -> dict[str, Type]:
        """The variables from outside that a name stands for in a statement.  Raises Unfollowed."""
        own = {key for s, _ in statements(stmt) if isinstance(s, ast.DeclStmt) for key in s.variables}
        out = {
            e.var: e.type
            for e in self.expressions(stmt)
            if isinstance(e, ast.VarRef) and e.var not in own and _name(e.var) == name
        }
        if len(out) > 1:
            raise directive.refusal(f"names `{name}`, which is more than one variable")
        return out

    def modified(self, key: str, stmt: ast.Stmt) -> bool:
        return any(
            (isinstance(e, ast.Assign) and _is(e.target, key))
            or (isinstance(e, (ast.IncDec, ast.AddrOf)) and _is(e.operand, key))
            for e in self.expressions(stmt)
        )

    def only_updated(self, key: str, stmt: ast.Stmt, operators: frozenset[str]) -> bool:
        """Each mention is the target of an update by one of the operators, which is a statement."""
        mentions = sum(_is(e, key) for e in self.expressions(stmt))
        updates = 0
        for s, _ in statements(stmt):
            e = s.expr if isinstance(s, ast.ExprStmt) else None
            if isinstance(e, ast.IncDec) and _is(e.operand, key):
                updates += "+" in operators
            elif isinstance(e, ast.Assign) and e.op in operators and _is(e.target, key):
                updates += 1
        return mentions == updates

    def used_outside(self, key: str, private: Mapping[str, Type]) -> bool:
        """The function mentions the variable where it is no region's own, or others can."""
        if not _matters(private[key]):
            return False
        variable = self.variables.get(key)
        if variable is None or variable.kind not in ("local", "param"):
            return True
        mine = [s for d, s in self.regions if key in self.own(d, s)]
        inside = sum(_is(e, key) for s in _outermost(mine) for e in self.expressions(s))
        return inside < sum(_is(e, key) for e in self.expressions(self.body))

    def own(self, directive: Directive, stmt: ast.Stmt) -> set[str]:
        out = set(self.loops(directive, stmt)) if directive.name in LOOPS else set()
        for name in directive.words("private"):
            if re.fullmatch(r"\w+", name):
                out.update(self.named(directive, stmt, name))
        return out

    def with_restored(self) -> tuple[ast.Block, dict[str, ast.Variable]]:
        """The body with the old value of each private variable kept before its region and perhaps restored behind."""
        variables = dict(self.variables)
        blocks: dict[int, list[ast.Stmt]] = {}
        for ident, wanted in self.restored.items():
            if not wanted and ident not in self.each:
                continue
            stmt = next(s for _, s in self.regions if id(s) == ident)
            parent = self.parents[ident]
            assert isinstance(parent, ast.Block)
            items = blocks.setdefault(id(parent), list(parent.body))
            place = next(i for i, s in enumerate(items) if s is stmt)
            before, chance, after = _kept(stmt, wanted, variables)
            inner = replace(stmt, span=replace(stmt.span, editable=False))
            items[place : place + 1] = [before, ast.DoWhile(stmt.span, inner, chance) if ident in self.each else stmt]
            items[place + 2 : place + 2] = after
        return with_blocks(self.body, blocks), variables


def _kept(
    stmt: ast.Stmt, wanted: Mapping[str, Type], variables: dict[str, ast.Variable]
) -> tuple[ast.Stmt, ast.Expr, list[ast.Stmt]]:
    """The declarations of old values, a number that may be any, and what perhaps restores each old value; the new
    variables are added to ``variables``."""
    here = replace(stmt.span, end=stmt.span.begin, editable=False)
    function = next((v.function for v in variables.values() if v.function), "")
    integer = Type("int", "int", 4, volatile=True)
    chance = f"{function}/opi_openmp@{here.begin}"
    variables[chance] = ast.Variable(chance, "opi_openmp", integer, "local", here, function=function)
    declared, after = [chance], []
    for key, type_ in sorted(wanted.items()):
        old = f"{key}.before.{here.begin}"
        variables[old] = ast.Variable(
            old, _name(key), type_, "local", here, init=ast.VarRef(type_, here, key), function=function
        )
        declared.append(old)
        back = ast.Assign(type_, here, "", ast.VarRef(type_, here, key), ast.VarRef(type_, here, old))
        after.append(ast.If(here, ast.VarRef(integer, here, chance), ast.ExprStmt(here, back), None))
    return ast.DeclStmt(here, tuple(declared)), ast.VarRef(integer, here, chance), list(after)


def _outermost(found: list[ast.Stmt]) -> list[ast.Stmt]:
    """Those that lie in none of the others, each once."""
    out: list[ast.Stmt] = []
    for s in sorted(found, key=lambda s: (s.span.begin, -s.span.end)):
        if not out or s.span.begin >= out[-1].span.end:
            out.append(s)
    return out


def _matters(type_: Type) -> bool:
    """What a variable of the type holds is followed."""
    while type_.is_array and type_.elem is not None:
        type_ = type_.elem
    return type_.kind != "float"


def _entered_inside(part: ast.Stmt) -> bool:
    """A jump may lead into the midst of a statement: to a label, or to a case of a ``switch`` around it.

    To the cases of a ``switch`` in it a jump leads past what that holds, and past nothing before it.
    """
    stack = [part]
    while stack:
        s = stack.pop()
        if isinstance(s, ast.Label | ast.Case):
            return True
        if isinstance(s, ast.Switch):
            if any(isinstance(inner, ast.Label) for inner, _ in statements(s)):
                return True
        else:
            stack += parts_of(s)
    return False


def _sets(s: ast.Stmt, key: str) -> bool:
    """The statement gives a variable a value that does not come from itself."""
    e = s.expr if isinstance(s, ast.ExprStmt) else None
    return (
        isinstance(e, ast.Assign) and not e.op and _is(e.target, key) and not any(_is(x, key) for x in within(e.value))
    )


def _holds(outer: ast.Stmt, inner: ast.Stmt) -> bool:
    return any(s is inner for s, _ in statements(outer))


def _within_place(e: ast.Expr) -> Iterator[ast.Expr]:
    """What may be the object of which an expression names a part: `a` in `a[n].m`, not `n`; nothing in `p->m`."""
    while isinstance(e, ast.Member) or (isinstance(e, ast.Index) and e.base.type.is_array):
        e = e.base
    through = isinstance(e, ast.Deref) or (isinstance(e, ast.Index) and e.base.type.kind == "pointer")
    return iter(()) if through else within(e)


def _is(e: ast.Expr, key: str) -> bool:
    return isinstance(e, ast.VarRef) and e.var == key


def _name(key: str) -> str:
    """The written name of a variable's key."""
    return key.rpartition("/")[2].rpartition(":")[2].partition("@")[0]
