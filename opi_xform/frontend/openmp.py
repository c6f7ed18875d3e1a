"""OpenMP regions as the serial code that they stand for, where they stand for any.

The parser reads the program without OpenMP; what the directives say is read here.  In a program without data races no
iteration of a loop that threads share depends on another: in order it does the same.  What differs is what is left in
variables: a private one has its old value again behind the region.  So such a variable may have either value there
(``Regions.body``), and the program is understood with OpenMP and without it.

Source: OpenMP Application Programming Interface, version 5.2, sections 4 (directives), 5.4 (data sharing), 10 and 11.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from opi_xform.frontend.source import File, skip_space, tokens
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import statements, with_blocks, within, within_statement

PRAGMA = re.compile(rb'^[ \t]*#[ \t]*pragma[ \t]+omp\b|_Pragma[ \t]*\([ \t]*"[ \t]*omp\b', re.MULTILINE)
_LINE = re.compile(rb"(?:\\\r?\n|/\*.*?\*/|//[^\n]*|[^\n])*", re.DOTALL)

_THREAD_PRIVATE = re.compile(rb"\bomp[ \t]+threadprivate\b((?:\\\r?\n|[^\n])*)")

_LOOPS = ("parallel for simd", "parallel for", "for simd", "for", "simd")
_BLOCKS = ("parallel", "single", "master", "masked")
_SHARING = frozenset({"for simd", "for", "single", "master", "masked"})  # what may stand in a parallel region
_NAMES = (*_LOOPS, *_BLOCKS, "barrier", "atomic update", "atomic")  # the longer one first
_LISTS = frozenset({"private", "shared", "firstprivate", "lastprivate", "reduction"})
_VALUES = frozenset(
    {
        "schedule", "collapse", "num_threads", "if", "safelen", "simdlen", "aligned", "order", "proc_bind", "default",
        "nowait", "nontemporal", "seq_cst", "relaxed", "update",
    }
)  # fmt: skip
_CHANGING = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"})
_OPERATORS = frozenset({"+", "-", "*", "&", "|", "^"})

Constant = Callable[[str], bool | None]
"""Whether a macro of this name is one number; None when there is no such macro."""


class _Refused(Exception):
    """The construct that is not followed."""


@dataclass(frozen=True, slots=True)
class Regions:
    """A function's body and variables with what private variables may hold behind regions.

    threads: the statements, parts of which several threads may run.  refused: what is not followed ('': nothing).
    """

    body: ast.Block
    variables: dict[str, ast.Variable]
    threads: tuple[Span, ...]
    refused: str


@dataclass(frozen=True, slots=True)
class _Directive:
    name: str
    clauses: tuple[tuple[str, tuple[str, ...]], ...]
    end: int
    line: int

    def words(self, clause: str) -> Iterator[str]:
        for name, found in self.clauses:
            if name == clause:
                yield from found


def find_regions(
    file: File, span: Span, body: ast.Block, variables: Mapping[str, ast.Variable], constant: Constant
) -> Regions:
    """The OpenMP directives in a function's text, and what they make of it."""
    finder = _Finder(file, span, body, variables, constant)
    try:
        return finder.run()
    except _Refused as refused:
        return Regions(body, dict(variables), (), str(refused))


class _Finder:
    """One use: ``run``."""

    def __init__(
        self,
        file: File,
        span: Span,
        body: ast.Block,
        variables: Mapping[str, ast.Variable],
        constant: Constant,
    ) -> None:
        self.file = file
        self.span = span
        self.body = body
        self.variables = variables
        self.constant = constant
        self.parents: dict[int, ast.Stmt] = {}
        self.at: dict[int, ast.Stmt] = {}  # by offset: the outermost statement that begins there
        for stmt, parent in statements(body):
            if parent is not None:
                self.parents[id(stmt)] = parent
                if stmt.span.file == file.path:
                    self.at.setdefault(stmt.span.begin, stmt)
        self.regions: list[tuple[_Directive, ast.Stmt]] = []
        self.restored: dict[
            int, dict[str, Type]
        ] = {}  # by statement: variables that may have their old value behind it

    def run(self) -> Regions:
        """Raises _Refused."""
        for directive in self.directives():
            if directive.name == "barrier":
                continue
            stmt = self.at.get(self.behind(directive.end))
            if stmt is None:
                raise self.refusal(directive, "stands before no statement of this configuration")
            self.regions.append((directive, stmt))
        for directive, stmt in self.regions:
            if directive.name.startswith("atomic"):
                self.atomic(directive, stmt)
                continue
            self.nested(directive, stmt)
            private = self.loops(directive, stmt) if directive.name in _LOOPS else {}
            if directive.name == "parallel":
                self.shared_out(directive, stmt)
            private.update(self.listed(directive, stmt))
            outside = {k: t for k, t in private.items() if self.used_outside(k, private)}
            if outside and not isinstance(self.parents[id(stmt)], ast.Block):
                raise self.refusal(directive, "is the body of a statement without braces")
            self.restored.setdefault(id(stmt), {}).update(outside)
        threads = tuple(stmt.span for d, stmt in self.regions if not d.name.startswith("atomic"))
        body, variables = self.with_restored()
        return Regions(body, variables, threads, "")

    def refusal(self, directive: _Directive, why: str) -> _Refused:
        return _Refused(f"OpenMP `{directive.name}` in line {directive.line} {why}")

    # --- text --------------------------------------------------------------------------------------------------------

    def directives(self) -> Iterator[_Directive]:
        data = self.file.data
        behind = self.span.begin  # of the last directive
        first = False  # a line begins here
        found = tokens(data, self.span.begin, self.span.end)
        for (begin, end, kind), then in zip(found, [*found[1:], (0, 0, "")], strict=True):
            if begin < behind:
                continue
            if kind == "space":
                first = first or b"\n" in data[begin:end]
                continue
            if first and data[begin:end] == b"#":
                line = _LINE.match(data, begin)
                behind = line.end() if line else end
                words = [
                    data[b:e].decode("utf-8", "replace") for b, e, k in tokens(data, begin, behind) if k != "space"
                ]
                if words[1:3] == ["pragma", "omp"]:
                    yield self.directive(words[3:], begin, behind)
            elif data[begin:end] == b"_Pragma" and b"omp" in data[begin : data.find(b"\n", then[1])]:
                raise _Refused(f"OpenMP in line {self.file.line_column(begin)[0]} is not followed")
            first = False

    def directive(self, words: list[str], begin: int, end: int) -> _Directive:
        line = self.file.line_column(begin)[0]
        name = next((n for n in _NAMES if words[: n.count(" ") + 1] == n.split()), "")
        if not name:
            raise _Refused(f"OpenMP `{' '.join(words[:1])}` in line {line} is not followed")
        out = _Directive(name, (), end, line)
        rest = words[name.count(" ") + 1 :]
        clauses: list[tuple[str, tuple[str, ...]]] = []
        while rest:
            clause = rest.pop(0)
            if clause == ",":
                continue
            inside: list[str] = []
            if rest[:1] == ["("]:
                depth = 0
                while rest:
                    word = rest.pop(0)
                    depth += (word == "(") - (word == ")")
                    inside.append(word)
                    if depth == 0:
                        break
                inside = inside[1:-1]
            if clause not in _LISTS | _VALUES or self.constant(clause) is not None:
                raise self.refusal(out, f"has the clause `{clause}`, which is not followed")
            self.plain(out, clause, inside)
            clauses.append((clause, tuple(inside)))
        return replace(out, clauses=tuple(clauses))

    def plain(self, directive: _Directive, clause: str, inside: list[str]) -> None:
        """The words mean what they say: no macro but numbers, no call, nothing that changes a value."""
        for word, then in zip(inside, (*inside[1:], ""), strict=False):
            known = self.constant(word)
            if known is False or (known and clause in _LISTS) or word in _CHANGING:
                raise self.refusal(directive, f"has `{word}` in `{clause}`, which is not followed")
            if then == "(" and re.match(r"\w", word):
                raise self.refusal(directive, f"calls `{word}`")
        if clause == "collapse" and not (len(inside) == 1 and inside[0].isdigit()):
            raise self.refusal(directive, "collapses a number of loops that is not followed")

    def behind(self, at: int) -> int:
        """The first place behind a directive that is neither space nor another directive."""
        data = self.file.data
        while True:
            at = skip_space(data, at)
            if data[at : at + 1] != b"#":
                return at
            line = _LINE.match(data, at)
            at = line.end() if line else at + 1

    # --- what is understood ------------------------------------------------------------------------------------------

    def nested(self, directive: _Directive, stmt: ast.Stmt) -> None:
        """A region stands alone, or is one of the parts of a parallel region.  Raises _Refused."""
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
        if outer[0].name != "parallel" or directive.name not in _SHARING or not inside:
            raise self.refusal(directive, "stands in another region")

    def atomic(self, directive: _Directive, stmt: ast.Stmt) -> None:
        e = stmt.expr if isinstance(stmt, ast.ExprStmt) else None
        if not (isinstance(e, ast.IncDec) or (isinstance(e, ast.Assign) and e.op)):
            raise self.refusal(directive, "is no plain update")

    def loops(self, directive: _Directive, stmt: ast.Stmt) -> dict[str, Type]:
        """The variables of the loops that the directive is about, those declared in them apart."""
        out: dict[str, Type] = {}
        count = int(next(directive.words("collapse"), "1"))
        at: ast.Stmt | None = stmt
        for _ in range(count):
            while isinstance(at, ast.Block) and len(at.body) == 1:
                at = at.body[0]
            if not isinstance(at, ast.For):
                raise self.refusal(directive, "stands before another form of loop")
            match at.init:
                case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=key, type=type_))):
                    out[key] = type_
                case ast.DeclStmt(variables=(_,)):
                    pass
                case _:
                    raise self.refusal(directive, "stands before another form of loop")
            at = at.body
        return out

    def shared_out(self, directive: _Directive, stmt: ast.Stmt) -> None:
        """A parallel region is shared out among its threads: all in it is loops, and blocks that one thread runs."""
        parts = {id(s) for d, s in self.regions if d is not directive and d.name in _SHARING}
        if id(stmt) in parts:
            return
        for item in stmt.body if isinstance(stmt, ast.Block) else (stmt,):
            if id(item) in parts or isinstance(item, ast.Null):
                continue
            if not isinstance(item, ast.DeclStmt) or item.sizes:
                raise self.refusal(directive, "has statements that each of its threads runs")
            for key in item.variables:
                variable = self.variables.get(key)
                if variable is None or variable.kind != "local":
                    raise self.refusal(directive, "declares what its threads share")
                init = variable.init
                if init is not None and any(isinstance(e, (ast.Call, ast.Opaque)) for e in within(init)):
                    raise self.refusal(directive, f"calls a function for `{variable.name}` in each of its threads")
                if init is not None and _matters(variable.type) and self.modified(key, stmt):
                    raise self.refusal(directive, f"changes `{variable.name}`, of which each thread has one")

    def listed(self, directive: _Directive, stmt: ast.Stmt) -> dict[str, Type]:
        """Private variables of the region that may have their old value behind it.  Raises _Refused."""
        out: dict[str, Type] = {}
        for clause, words in directive.clauses:
            if clause not in _LISTS or clause == "shared":
                continue
            names = list(words)
            if clause == "reduction":
                if len(names) < 3 or names[1] != ":" or not (names[0] in _OPERATORS or names[0] in ("min", "max")):
                    raise self.refusal(directive, "has a reduction that is not followed")
                names = names[2:]
            if any(not re.fullmatch(r"\w+", name) for name in names[::2]) or set(names[1::2]) - {","}:
                raise self.refusal(directive, f"has a `{clause}` that is not followed")
            for name in names[::2]:
                for key, type_ in self.named(directive, stmt, name).items():
                    self.check(directive, stmt, clause, key, type_, name)
                    if clause == "private" and _matters(type_):
                        out[key] = type_
        return out

    def check(self, directive: _Directive, stmt: ast.Stmt, clause: str, key: str, type_: Type, name: str) -> None:
        """Raises _Refused where the serial code shows another value in the region."""
        inner = type_
        while inner.is_array and inner.elem is not None:
            inner = inner.elem
        if inner.kind == "float":
            return
        if not type_.is_scalar:
            raise self.refusal(directive, f"gives each thread a `{name}`, which is an array or a struct")
        if clause == "firstprivate" and self.modified(key, stmt):
            raise self.refusal(directive, f"changes `{name}`, of which each thread has one")
        if clause == "reduction" and not self.only_updated(key, stmt):
            raise self.refusal(directive, f"reads `{name}`, of which each thread has a part")

    # --- variables ---------------------------------------------------------------------------------------------------

    def expressions(self, stmt: ast.Stmt) -> Iterator[ast.Expr]:
        """All expressions in a statement, and in the initialisers of what it declares."""
        return within_statement(stmt, self.variables)

    def named(self, directive: _Directive, stmt: ast.Stmt, name: str) -> dict[str, Type]:
        """The variables from outside that a name stands for in a statement.  Raises _Refused."""
        own = {key for s, _ in statements(stmt) if isinstance(s, ast.DeclStmt) for key in s.variables}
        out = {
            e.var: e.type
            for e in self.expressions(stmt)
            if isinstance(e, ast.VarRef) and e.var not in own and _name(e.var) == name
        }
        if len(out) > 1:
            raise self.refusal(directive, f"names `{name}`, which is more than one variable")
        return out

    def modified(self, key: str, stmt: ast.Stmt) -> bool:
        return any(
            (isinstance(e, ast.Assign) and _is(e.target, key))
            or (isinstance(e, (ast.IncDec, ast.AddrOf)) and _is(e.operand, key))
            for e in self.expressions(stmt)
        )

    def only_updated(self, key: str, stmt: ast.Stmt) -> bool:
        """Each mention is the target of an update that is a statement."""
        mentions = sum(_is(e, key) for e in self.expressions(stmt))
        updates = 0
        for s, _ in statements(stmt):
            e = s.expr if isinstance(s, ast.ExprStmt) else None
            if (isinstance(e, ast.IncDec) and _is(e.operand, key)) or (
                isinstance(e, ast.Assign) and e.op and _is(e.target, key)
            ):
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

    def own(self, directive: _Directive, stmt: ast.Stmt) -> set[str]:
        out = set(self.loops(directive, stmt)) if directive.name in _LOOPS else set()
        for name in directive.words("private"):
            if re.fullmatch(r"\w+", name):
                out.update(self.named(directive, stmt, name))
        return out

    def with_restored(self) -> tuple[ast.Block, dict[str, ast.Variable]]:
        """The body with the old value of each private variable kept before its region and perhaps restored behind."""
        variables = dict(self.variables)
        blocks: dict[int, list[ast.Stmt]] = {}
        for ident, wanted in self.restored.items():
            if not wanted:
                continue
            stmt = next(s for _, s in self.regions if id(s) == ident)
            parent = self.parents[ident]
            assert isinstance(parent, ast.Block)
            items = blocks.setdefault(id(parent), list(parent.body))
            place = next(i for i, s in enumerate(items) if s is stmt)
            before, after = _kept(stmt, wanted, self.body, variables)
            items[place : place + 1] = [before, stmt, *after]
        return with_blocks(self.body, blocks), variables


def _kept(
    stmt: ast.Stmt, wanted: Mapping[str, Type], body: ast.Block, variables: dict[str, ast.Variable]
) -> tuple[ast.Stmt, list[ast.Stmt]]:
    """The declarations of old values, and what perhaps restores each; the new variables are added to ``variables``."""
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
    return ast.DeclStmt(here, tuple(declared)), list(after)


def thread_private(texts: Iterable[bytes]) -> frozenset[str]:
    """The names that `threadprivate` directives mention."""
    lists = (found for data in texts for found in _THREAD_PRIVATE.findall(data))
    return frozenset(word.decode("utf-8", "replace") for found in lists for word in re.findall(rb"\w+", found))


def _outermost(found: list[ast.Stmt]) -> list[ast.Stmt]:
    """Those that lie in none of the others, each once."""
    out: list[ast.Stmt] = []
    for s in sorted(found, key=lambda s: (s.span.begin, -s.span.end)):
        if not out or s.span.begin >= out[-1].span.end:
            out.append(s)
    return out


def _matters(type_: Type) -> bool:
    """What a variable of the type holds is followed."""
    return type_.kind != "float"


def _is(e: ast.Expr, key: str) -> bool:
    return isinstance(e, ast.VarRef) and e.var == key


def _name(key: str) -> str:
    """The written name of a variable's key."""
    return key.rpartition("/")[2].rpartition(":")[2].partition("@")[0]
