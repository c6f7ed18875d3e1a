"""Blocks whose parts are named by elements of arrays: ``out[g] = malloc(2 * n[g] * …); in[g] = out[g] + n[g];``.

Here they are found, by the text: what allocates a block, and after it, in the same turn of any loop, what names its
parts.  The parts are one, two, … times as long as the first one, whatever its length is.  Each becomes a block of its
own; that the program does not tell the difference is proved of the program with these blocks (``by_arrays_proof.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

from opi_xform.divide.decompose import pure
from opi_xform.divide.flat.telling import ENDING, TELLING
from opi_xform.divide.flow import Trouble
from opi_xform.divide.mentions import Place, blocks
from opi_xform.divide.named.handed import origin, other_later
from opi_xform.divide.named.spell import freed_too
from opi_xform.divide.passages.tables import unspanned
from opi_xform.divide.size_text import visible
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.span import Span
from opi_xform.ir.walk import expressions, statements, uncast, within
from opi_xform.memory.poly import ZERO, Poly, number, symbol
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import divided
from opi_xform.ownership.model.object_index import index_of
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit

_IN_BETWEEN = (ast.Block, ast.If, ast.ExprStmt, ast.Null)


@dataclass(frozen=True, slots=True)
class Part:
    """A part after the first one.  table: the array that names it.  stmt: where; value: what it is set to there.
    at: where it begins, in elements; added: how that is written after the source (None: after another part).
    """

    table: str
    stmt: ast.Stmt
    value: ast.Expr
    at: Poly
    added: ast.Expr | None


@dataclass(frozen=True, slots=True)
class Rows:
    """A block for each element of ``base``: the statement that allocates it, the call, the value with its casts."""

    base: str
    function: str
    stmt: ast.Stmt
    target: ast.Index
    value: ast.Expr
    call: ast.Call
    object: int
    size: Poly
    parts: tuple[Part, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.base, *(part.table for part in self.parts))


class Numbers:
    """Whole numbers as the text has them: what is neither a constant nor made of others is a symbol."""

    def __init__(self) -> None:
        self.atoms: list[ast.Expr] = []

    def of(self, e: ast.Expr) -> Poly | None:
        done: list[Poly] = []
        work: list[tuple[ast.Expr, bool]] = [(e, False)]
        while work:
            at, ready = work.pop()
            if at.type.kind != "int" or at.type.boolean:
                return None
            match at:
                case ast.IntLit(value=value):
                    done.append(number(value))
                case ast.SizeOf(value=value) if value is not None:
                    done.append(number(value))
                case ast.Cast(operand=inner):
                    if (inner.type.size or 0) > (at.type.size or 0) or (at.type.size or 0) < 4:
                        return None
                    work.append((inner, False))
                case ast.Binary(op=("+" | "-" | "*") as op, left=left, right=right):
                    if ready:
                        b, a = done.pop(), done.pop()
                        done.append(a + b if op == "+" else a - b if op == "-" else a * b)
                    else:
                        work += [(at, True), (right, False), (left, False)]
                case ast.VarRef() | ast.Index() | ast.Member():
                    done.append(symbol(self.atom(at)))
                case _:
                    return None
        return done[0]

    def atom(self, e: ast.Expr) -> int:
        found = next((i for i, known in enumerate(self.atoms) if unspanned(known, e)), None)
        if found is None:
            found = len(self.atoms)
            self.atoms.append(e)
        return found


def rows_of(program: Program) -> list[list[Rows]]:
    """Those that share no table with others, by their first one: one list each."""
    made: dict[Place, list[int]] = {}
    for info in program.values.objects.table:
        if info.kind == "heap" and len(info.nodes) == 1:
            action = program.graph.nodes[origin(program, info.number).call].action
            span = getattr(getattr(action, "call", None), "span", None)
            if span is not None:
                made.setdefault((span.file, span.begin), []).append(info.number)
    out: list[list[Rows]] = []
    for key, function in program.functions.items():
        for block in blocks(function.body):
            for i, s in enumerate(block):
                found = _rows(program, key, s, block[i + 1 :], made)
                if found is None:
                    continue
                mine = [group for group in out if any(not set(found.tables).isdisjoint(r.tables) for r in group)]
                out = [group for group in out if group not in mine]
                out.append([*(r for group in mine for r in group), found])
    return out


def _rows(
    program: Program, function: str, s: ast.Stmt, after: Sequence[ast.Stmt], made: Mapping[Place, Sequence[int]]
) -> Rows | None:
    target, value = _set(s)
    base = None if target is None else _table(program, target)
    call = None if value is None else uncast(value)
    if target is None or value is None or base is None or not isinstance(call, ast.Call):
        return None
    objects = made.get((call.span.file, call.span.begin), [])
    numbers = Numbers()
    size = number(1)
    for argument in call.args:
        factor = numbers.of(argument)
        if factor is None or not pure(argument):
            return None
        size = size * factor
    elem = target.type.elem
    unit = 0 if elem is None else elem.size or 0
    elements = divided(size, number(unit)) if unit else None
    if elements is None or len(objects) != 1 or not call.args:
        return None
    begins: dict[str, Poly] = {base: ZERO}
    parts: list[Part] = []
    waiting: list[ast.Stmt] = []
    for one in after:
        part = _part(program, one, target, begins, numbers)
        if part is None:
            waiting.append(one)
            continue
        parts.append(part)
        said = [target.index, *call.args, *(p.added for p in parts if p.added is not None)]
        keys = {x.var for e in said for x in within(e) if isinstance(x, ast.VarRef)}
        if not all(_still(program, w, keys, (*begins, part.table)) for w in waiting):
            parts.pop()
            break
        begins[part.table] = part.at
    return Rows(base, function, s, target, value, call, objects[0], elements, tuple(parts)) if parts else None


def _set(s: ast.Stmt) -> tuple[ast.Index | None, ast.Expr | None]:
    """``t[g] = value;``"""
    e = s.expr if isinstance(s, ast.ExprStmt) else None
    if isinstance(e, ast.Assign) and not e.op and isinstance(e.target, ast.Index):
        return e.target, e.value
    return None, None


def _table(program: Program, e: ast.Index) -> str | None:
    """The array of pointers of which this is an element, with a subscript that is a variable or a number."""
    base, index = uncast(e.base), uncast(e.index)
    if not isinstance(base, ast.VarRef) or not isinstance(index, (ast.VarRef, ast.IntLit)) or not pure(e):
        return None
    v = program.variables[base.var]
    t, elem = v.type, v.type.elem
    if v.kind not in ("local", "static", "extern", "local-static") or not t.is_array or v.thread_local or v.attributes:
        return None
    if elem is None or not elem.is_pointer or elem.elem is None or v.init is not None:
        return None
    plain = not any(x.const or x.volatile or x.atomic for x in (elem, elem.elem))
    return base.var if plain and bool(elem.elem.size) else None


def _part(program: Program, s: ast.Stmt, first: ast.Index, begins: dict[str, Poly], numbers: Numbers) -> Part | None:
    """``in[g] = out[g] + n;`` or ``in[g] = &out[g][n];``"""
    target, value = _set(s)
    table = None if target is None else _table(program, target)
    if target is None or value is None or table is None or table in begins or target.type.elem != first.type.elem:
        return None
    inner = uncast(value)
    match inner:
        case ast.Binary(op="+", left=left, right=right):
            source, added = (uncast(left), right) if left.type.is_pointer else (uncast(right), left)
        case ast.AddrOf(operand=ast.Index(base=left, index=right)):
            source, added = uncast(left), right
        case _:
            return None
    if not isinstance(source, ast.Index) or source.type.elem != first.type.elem:
        return None
    of = _table(program, source)
    if of not in begins or not all(unspanned(e.index, first.index) for e in (target, source)):
        return None
    more = numbers.of(added) if pure(added) else None
    return None if more is None else Part(table, s, value, begins[of] + more, added if begins[of] == ZERO else None)


def _still(program: Program, s: ast.Stmt, keys: Collection[str], tables: Collection[str]) -> bool:
    """A statement leaves these variables, and what else the sizes are made of, as they are, and does not lead away: it
    sets variables of its own, or elements of other tables of pointers; it tells of something, or ends the program.
    """
    if not all(isinstance(inner, _IN_BETWEEN) for inner, _ in statements(s)):
        return False
    for e in (x for whole in expressions(s) for x in within(whole)):
        match e:
            case ast.Assign(target=ast.VarRef(var=key)) | ast.IncDec(operand=ast.VarRef(var=key)):
                if key in keys or program.variables[key].type.is_array:
                    return False
            case ast.Assign(target=ast.Index() as target):
                other = _table(program, target)
                if other is None or other in tables or other in keys:
                    return False
            case ast.Assign() | ast.IncDec() | ast.Opaque():
                return False
            case ast.Call():
                if called_name(e) in program.functions or called_name(e) not in TELLING | ENDING | {"malloc", "calloc"}:
                    return False
                if any(isinstance(x, ast.AddrOf) for a in e.args for x in within(a)):
                    return False
            case _:
                pass
    return True


class RowsSpelling:
    """The edits of some rows that share tables; one use: ``run``."""

    def __init__(self, program: Program, rows: Sequence[Rows], read: Callable[[str], bytes]) -> None:
        self.program = program
        self.rows = rows
        self.read = read
        self.edits: dict[str, dict[ByteEdit, None]] = {}

    def run(self) -> dict[str, tuple[ByteEdit, ...]]:
        """By file.  Raises Trouble."""
        tables = self.rows[0].tables
        if any(set(one.tables) != set(tables) or one.base != self.rows[0].base for one in self.rows):
            raise Trouble(self.rows[0].stmt.span, "names other parts than another statement does")
        last = [self.program.variables[key].is_global for key in tables]
        if last[0] and not all(last):
            raise Trouble(self.rows[0].stmt.span, "names parts in an array that does not begin with NULL")
        for one in self.rows:
            self.block(one)
        self.freed(self.rows[0])
        return {file: tuple(edits) for file, edits in sorted(self.edits.items())}

    def block(self, one: Rows) -> None:
        """Each part is allocated where it is named."""
        call, span = one.call, one.stmt.span
        order = sorted(one.parts, key=lambda p: _times(p.at, one, span))
        written = self.length(order[0])
        times = [0, *(_times(p.at, one, span) for p in order), _times(one.size, one, span)]
        if times[1] != 1 or any(a >= b for a, b in pairwise(times)):
            raise Trouble(span, "has parts that do not lie one after the other")
        if self.program.unsteady & set(re.findall(r"\w+", written)):
            raise Trouble(span, "has a length that is written with a macro that changes")
        name = called_name(call)
        handed = bool(origin(self.program, one.object).frames)
        if not (name in ("malloc", "calloc") and name not in self.program.functions) and not handed:
            raise Trouble(span, "allocates it in a way that cannot be written for a part")
        prefix = self.text(Span(span.file, one.value.span.begin, call.span.begin, span.line, span.column))
        if not re.fullmatch(r"(\([A-Za-z_][\w \t]*\*[ \t]*\)[ \t]*)?", prefix):
            raise Trouble(span, "allocates it in a way that cannot be written for a part")
        called = self.text(call.callee_span)
        begin = self.read(call.span.file).index(b"(", call.callee_span.end) + 1
        first = self.asked(one.target, name, times[1], written)
        self.edit(call.span, begin, call.span.end - 1, first)
        for part, (a, b) in zip(order, pairwise(times[1:]), strict=True):
            assert isinstance(part.stmt, ast.ExprStmt)
            assert isinstance(part.stmt.expr, ast.Assign)
            target = part.stmt.expr.target
            value = part.stmt.expr.value.span
            text = f"{prefix}{called}({self.asked(target, name, b - a, written)})"
            self.edit(value, value.begin, value.end, text)
            for node in self.program.graph.nodes if handed else ():
                info = self.program.graph.statement(node)
                if info is not None and info.stmt is part.stmt:
                    changed = other_later(self.program, one.object, node.number)
                    if changed is not None:
                        text = "may change what the function that hands it out does, before its parts are named"
                        raise Trouble(node_span(self.program, changed), text)

    def length(self, part: Part) -> str:
        """How long the first part is, as it is written where the next one is named.  Raises Trouble."""
        added, value = part.added, uncast(part.value)
        if added is None:
            raise Trouble(part.stmt.span, "has a first part whose length is not written alone")
        if added.span.editable:
            return self.text(added.span)
        if not isinstance(value, ast.Binary) or value.right is not added:
            raise Trouble(part.stmt.span, "has a first part whose length is not written alone")
        # it begins with a macro, such as one of the command line
        begin, end = value.left.span.end, value.span.end
        text = self.text(Span(value.span.file, begin, end, value.span.line, value.span.column))
        found = re.fullmatch(r"[ \t]*\+\s*(\S.*)", text, re.DOTALL)
        if found is None or not value.left.span.editable or not value.span.editable or "#" in text:
            raise Trouble(part.stmt.span, "has a first part whose length is not written alone")
        return found[1]

    def asked(self, target: ast.Expr, name: str, times: int, written: str) -> str:
        """The arguments that ask for so many times the first part's length."""
        element = f"sizeof *{self.text(target.span)}"
        names = {v.name for v in self.program.variables.values()}
        simple = re.fullmatch(r"\w+(\[\w+\])?", written) is not None
        alone = simple and set(re.findall(r"[A-Za-z_]\w*", written)) <= names  # else a macro in it may be a sum
        count = written if alone else f"({written})"
        if times > 1:
            count = f"{times} * {count}"
        if name == "calloc":
            return f"{count}, {element}"
        return f"{element} * {count}"

    def freed(self, one: Rows) -> None:
        """What frees a block frees all of its parts."""
        program = self.program
        objects = {row.object for row in self.rows}
        seen: set[int] = set()
        for n, argument in index_of(program).frees:
            node = program.graph.nodes[n]
            given = program.points_to.operand(node.frame, node.action.args[argument])  # type: ignore[union-attr]
            info = program.graph.statement(node)
            if given.isdisjoint(objects) or (info is not None and id(info.stmt) in seen):
                continue
            call = info.stmt.expr if info is not None and isinstance(info.stmt, ast.ExprStmt) else None
            freed = uncast(call.args[0]) if isinstance(call, ast.Call) and len(call.args) == 1 else None
            function = program.graph.frames[node.frame].function
            if info is None or not isinstance(call, ast.Call) or called_name(call) != "free":
                raise Trouble(node_span(program, n), "frees it in a way that is not followed")
            if not isinstance(freed, ast.Index) or not isinstance(freed.base, ast.VarRef) or not pure(freed):
                raise Trouble(node_span(program, n), "frees it in a way that is not followed")
            if freed.base.var != one.base or not all(visible(program, t, function, info.stmt) for t in one.tables):
                raise Trouble(node_span(program, n), "frees it where a part's name does not stand for the part")
            seen.add(id(info.stmt))
            index = self.text(freed.index.span)
            names = [f"{program.variables[part.table].name}[{index}]" for part in one.parts]
            for begin, text in freed_too(program, self.read, function, info.stmt, [f"free({x});" for x in names]):
                self.edit(info.stmt.span, begin, begin, text)

    def text(self, span: Span) -> str:
        if not span.editable:
            raise Trouble(span, "is written by a macro")
        return self.read(span.file)[span.begin : span.end].decode("utf-8", "surrogateescape")

    def edit(self, span: Span, begin: int, end: int, text: str) -> None:
        if not span.editable or re.search(rb"^[ \t]*#", self.read(span.file)[begin:end], re.MULTILINE):
            raise Trouble(span, "is written by a macro, or across a directive")
        one = ByteEdit(begin, end, (), text.encode("utf-8", "surrogateescape"))
        self.edits.setdefault(span.file, {})[one] = None


def _times(at: Poly, one: Rows, span: Span) -> int:
    """How many times as far as the first part's end a place lies.  Raises Trouble."""
    unit = next(p.at for p in one.parts if p.at != ZERO)
    for part in one.parts:
        whole = divided(unit, part.at)
        if whole is not None and whole.constant is not None and whole.constant > 0:
            unit = part.at
    found = divided(at, unit)
    if found is None or found.constant is None:
        raise Trouble(span, "has parts of which it is not known how they lie after each other")
    return found.constant
