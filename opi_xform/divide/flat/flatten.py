"""Tables of rows in one block, written as the block: ``t[1][i]`` as ``t[t_row + i]``, with ``double *t``.

Where a variable is only set to what a function like ``calloc_2d_array`` makes (``makers.py``), and only named as one of
its rows, where it is freed, and where it is asked whether it is NULL, row ``i`` begins ``i * t_row`` elements into the
block, whatever the program does.  ``t_row`` is set right before the table is.  The program with these edits does
what it did, but for want of memory: what the making function says then is not said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from opi_xform.divide.decompose import pure
from opi_xform.divide.flat.makers import Maker, freer, maker
from opi_xform.divide.flow import Trouble
from opi_xform.divide.mentions import Mention, mentions_of
from opi_xform.divide.named.names import null
from opi_xform.divide.spell import accounted
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import uncast, within
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit

_WORDS = frozenset(("char", "short", "int", "long", "signed", "unsigned", "float", "double"))
_INCLUDED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<stdlib\.h>", re.MULTILINE)
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(?:malloc|calloc|free|abort|size_t)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Functions:
    """Of a program: the functions that make a table of rows in one block, and those that free one."""

    makers: Mapping[str, Maker]
    freers: Collection[str]


def functions_of(program: Program, units: Sequence[ast.Unit], read: Callable[[str], bytes]) -> Functions:
    """Those of which no text is left out that somebody compiles; none where malloc or free is another function."""
    own = program.functions.keys() & {"malloc", "calloc", "free", "abort"}
    if own or any(_DEFINED.search(read(file)) for file in program.files):
        return Functions({}, ())
    left = [skipped.span for unit in units for skipped in unit.skipped if not skipped.never]

    def whole(f: ast.Function) -> bool:
        return not any(s.file == f.span.file and f.span.begin <= s.begin < f.span.end for s in left)

    found = {key: f for key, f in program.functions.items() if whole(f)}
    makers = {key: made for key, f in found.items() if (made := maker(f, program.functions)) is not None}
    return Functions(makers, {key for key, f in found.items() if freer(f)} if makers else ())


def tables_of(program: Program, functions: Functions) -> list[str]:
    """Variables that are set to what one of the functions makes."""
    out = []
    for key, v in sorted(program.variables.items()):
        if not v.type.is_pointer or v.type.elem is None or not v.type.elem.is_pointer:
            continue
        made = [_call(v.init)] if v.init is not None else []
        made += [_made(m) for m in _mentions(program, key)]
        if any(call is not None and called_name(call) in functions.makers for call in made):
            out.append(key)
    return out


def row_after_first(e: ast.Expr) -> set[str]:
    """The variables of which an expression names a row after the first, or may do so."""
    found = (part for part in within(e) if isinstance(part, ast.Index) and _value(part.index) != 0)
    return {part.base.var for part in found if isinstance(part.base, ast.VarRef)}


class Flattening:
    """The edits that make one variable its block; one use: ``run``."""

    def __init__(
        self,
        program: Program,
        units: Sequence[ast.Unit],
        functions: Functions,
        key: str,
        read: Callable[[str], bytes],
        unread: Collection[Span],
    ) -> None:
        """unread: text that is not compiled, and may name the variable."""
        self.program = program
        self.units = units
        self.functions = functions
        self.variable = program.variables[key]
        self.read = read
        self.unread = unread
        self.mentions = _mentions(program, key)
        self.edits: dict[str, dict[ByteEdit, None]] = {}
        self.row = ""  # the name of the variable that says how long a row is
        self.measured = False  # and whether anything asks for it

    def run(self) -> dict[str, tuple[ByteEdit, ...]]:
        """By file.  Raises Trouble."""
        v = self.variable
        elem = v.type.elem.elem if v.type.elem is not None else None
        plain = elem is not None and elem.kind in ("int", "float", "record") and bool(elem.size)
        for t in (v.type, v.type.elem, elem):
            plain = plain and t is not None and not (t.const or t.volatile or t.atomic)
        where = ("static", "local", "extern") if self.program.complete else ("static", "local")
        if not plain or v.kind not in where or v.thread_local or v.attributes or not v.declarators:
            raise Trouble(v.span, "is no plain table of rows")
        assert elem is not None
        self.size = elem.size or 0
        accounted(self.program, v, self.mentions, self.read, self.unread)
        self.row = next((n for n in (f"{v.name}_row", f"{v.name}_row_length") if self.free_name(n)), "")
        if not self.row:
            raise Trouble(v.span, "leaves no name for the length of a row")
        for m in sorted(self.mentions, key=lambda m: m.kind in ("set", "made")):
            self.mention(m)
        for declarator in v.declarators:
            self.declaration(declarator)
        return {file: tuple(edits) for file, edits in sorted(self.edits.items())}

    def free_name(self, name: str) -> bool:
        word = re.compile(rb"\b%s\b" % name.encode("utf-8", "surrogateescape"))
        return not any(word.search(self.read(file)) for file in self.program.files)

    def edit(self, span: Span, begin: int, end: int, text: str, rank: int = 0) -> None:
        if not span.editable or re.search(rb"^[ \t]*#", self.read(span.file)[begin:end], re.MULTILINE):
            raise Trouble(span, "is written by a macro, or across a directive")
        one = ByteEdit(begin, end, (rank,), text.encode("utf-8", "surrogateescape"))
        self.edits.setdefault(span.file, {})[one] = None

    # --- the variable ----------------------------------------------------------------------------------------------

    def declaration(self, d: ast.Declarator) -> None:
        """``static double **t = NULL;``: one star less, and a number beside it, also in each file that knows it by an
        ``extern``.  Raises Trouble.
        """
        data, at = self.read(d.name_span.file), d.name_span.begin
        stars = re.search(rb"\*([ \t]*)\*[ \t]*\Z", data[:at])
        if not d.name_span.editable or (d.suffix is not None and self.text(d.suffix).strip()):
            raise Trouble(d.span, "is declared in a way that is not followed")
        if stars is not None:
            self.edit(d.name_span, stars.start(), stars.start() + 1, "")
        else:
            self.spelt_out(d)
        init = self.variable.init
        if init is None or null(init):
            if self.measured:
                self.before(d.statement, f"{d.storage} long {self.row};".lstrip())
            return
        call = _call(init)
        made = None if call is None else self.functions.makers.get(called_name(call))
        if call is None or made is None or self.variable.kind != "local" or d.init_span is None or not d.alone:
            raise Trouble(d.span, "is set to something else")
        row, text = self.allocation(call, made)
        if self.measured:
            self.before(d.statement, f"long {self.row} = {row};")
        self.edit(d.init_span, d.init_span.begin, d.init_span.end, text)
        if made.ends:
            self.after(d.statement, f"if (!{self.variable.name}) abort();")

    def spelt_out(self, d: ast.Declarator) -> None:
        """A declaration by the name of a type, ``static table t;``: in words of the language.  Raises Trouble."""
        elem = self.variable.type.elem
        number = None if elem is None else elem.elem
        begin, end = d.statement.begin, d.name_span.begin
        if not d.alone or number is None or not _WORDS.issuperset(number.spelling.split()):
            raise Trouble(d.span, "is declared in a way that is not followed")
        if not d.statement.editable or not re.fullmatch(rb"[\w \t]+", self.read(d.statement.file)[begin:end]):
            raise Trouble(d.span, "is declared in a way that is not followed")
        self.edit(d.statement, begin, end, f"{d.storage} {number.spelling} *".lstrip())

    def text(self, span: Span) -> str:
        return self.read(span.file)[span.begin : span.end].decode("utf-8", "surrogateescape")

    def indent(self, span: Span) -> str:
        """What comes between statements in the line of one."""
        data = self.read(span.file)
        begin = data.rfind(b"\n", 0, span.begin) + 1
        indent = data[begin : span.begin].decode("utf-8", "surrogateescape")
        return f"\n{indent}" if not indent.strip() else " "

    def before(self, span: Span, text: str) -> None:
        self.edit(span, span.begin, span.begin, f"{text}{self.indent(span)}", -1)

    def after(self, span: Span, text: str) -> None:
        self.edit(span, span.end, span.end, f"{self.indent(span)}{text}", 1)

    # --- mentions --------------------------------------------------------------------------------------------------

    def mention(self, m: Mention) -> None:
        """Raises Trouble."""
        assert m.stmt is not None
        if not m.ref.span.editable or isinstance(m.stmt, ast.OpaqueStmt):
            raise Trouble(m.ref.span, "is written by a macro, or in a statement that is not followed")
        parent = m.parents[0] if m.parents else None
        if m.kind == "tested":
            return
        if isinstance(parent, ast.Assign) and parent.target is m.ref and m.kind in ("set", "made"):
            if not null(parent.value):
                self.made(m, parent)
        elif isinstance(parent, ast.Index) and parent.base is m.ref:
            self.named(m, parent.span, parent.index)
        elif isinstance(parent, ast.Deref):
            self.named(m, parent.span, None)
        else:
            self.freed(m)

    def made(self, m: Mention, assign: ast.Assign) -> None:
        """The table is made: its block is allocated, and its row's length noted."""
        call = _call(assign.value)
        made = None if call is None else self.functions.makers.get(called_name(call))
        if call is None or made is None or not self.in_block(m):
            raise Trouble(m.ref.span, "is set in a way that is not followed")
        assert m.stmt is not None
        row, text = self.allocation(call, made)
        if self.measured:
            self.before(m.stmt.span, f"{self.row} = {row};")
        self.edit(assign.value.span, assign.value.span.begin, assign.value.span.end, text)
        if m.kind == "set" and made.ends:
            self.after(m.stmt.span, f"if (!{self.variable.name}) abort();")

    def in_block(self, m: Mention) -> bool:
        """Another statement can be put before the mention's, and after it."""
        lowered = self.program.graph.lowered.get(m.function)
        infos = () if lowered is None else lowered.stmts
        return any(info.stmt is m.stmt and info.in_block and info.role == "item" for info in infos)

    def allocation(self, call: ast.Call, made: Maker) -> tuple[str, str]:
        """How many elements a row has, and the block's allocation, as text.  Raises Trouble."""
        function, name = self.program.functions[called_name(call)], "calloc" if made.zeros else "malloc"
        if not self.declared(call.span.file):
            raise Trouble(call.span, "makes it where the library's functions may not be declared")
        if len(call.args) != len(function.params) or not call.span.editable:
            raise Trouble(call.span, "makes it by a call that is not followed")
        given = dict(zip(function.params, call.args, strict=True))
        for key, a in given.items():
            if not pure(a) or not _fits(a, function.variables[key].type):
                raise Trouble(a.span, "makes it by an argument that is not followed")
        row = [given[f.var] if isinstance(f, ast.VarRef) else f for f in made.row]
        sizes = [f for f in row if isinstance(_written(f), ast.SizeOf)]
        if len(sizes) != 1 or _value(sizes[0]) != self.size:
            raise Trouble(call.span, "makes rows of other elements than its own")
        long = [self.factor(f) for f in row if f is not sizes[0]] or ["1"]
        rows = self.factor(given[made.rows.var] if isinstance(made.rows, ast.VarRef) else made.rows)
        elements, size = " * ".join([f"(size_t){rows}", *long]), f"sizeof *{self.variable.name}"
        text = f"{name}({elements}, {size})" if made.zeros else f"{name}({elements} * {size})"
        return " * ".join([f"(long){long[0]}", *long[1:]] if len(long) > 1 else long), text

    def declared(self, file: str) -> bool:
        """Every unit with this file includes the header that declares malloc."""
        mine = [{unit.path, *unit.files} for unit in self.units if file in (unit.path, *unit.files)]
        return all(any(_INCLUDED.search(self.read(f)) for f in sorted(files)) for files in mine)

    def factor(self, e: ast.Expr) -> str:
        e = _written(e)
        if isinstance(e, ast.IntLit) and e.name:
            return f"({e.name})"
        if not e.span.editable:
            raise Trouble(e.span, "is made by a number that a macro writes")
        return self.operand(e)

    def operand(self, e: ast.Expr) -> str:
        """Its text, as an operand of any operator."""
        text = self.text(e.span)
        return text if isinstance(e, ast.VarRef) or text.isdigit() else f"({text})"

    def named(self, m: Mention, span: Span, index: ast.Expr | None) -> None:
        """``t[e]``, of which only the value is used, and ``*t``.  Raises Trouble."""
        above = m.parents[1] if len(m.parents) > 1 else None
        inner = m.parents[0]
        written = isinstance(above, ast.Assign) and above.target is inner
        if written or isinstance(above, (ast.AddrOf, ast.IncDec, ast.Opaque, ast.SizeOf)) or m.kind == "size":
            raise Trouble(span, "changes a row, or asks where one is noted")
        if not span.editable:
            raise Trouble(span, "is written by a macro")
        name = self.variable.name
        place = None if index is None or _value(index) == 0 else self.place(index)
        if place is None:
            self.edit(span, span.begin, span.end, name)
        elif isinstance(above, ast.Index) and above.base is inner and above.index.span.editable:
            assert index is not None
            self.edit(span, m.ref.span.end, span.end, "")
            x = above.index.span
            if _value(above.index) == 0:
                self.edit(x, x.begin, x.end, place)
            else:
                bare = self.operand(above.index) == self.text(x)
                self.edit(x, x.begin, x.begin, f"{place} + " if bare else f"{place} + (", -1)
                if not bare:
                    self.edit(x, x.end, x.end, ")", 1)
        else:
            self.edit(span, span.begin, span.end, f"({name} + {place})")

    def place(self, index: ast.Expr) -> str:
        """How many elements into the block a row begins."""
        if not index.span.editable or any(self.inside(o, index.span) for o in self.mentions):
            raise Trouble(index.span, "names a row by a number that is not followed")
        self.measured = True
        return self.row if _value(index) == 1 else f"{self.operand(index)} * {self.row}"

    def inside(self, m: Mention, span: Span) -> bool:
        return m.ref.span.file == span.file and span.begin <= m.ref.span.begin < span.end

    def freed(self, m: Mention) -> None:
        """``free(t)``, which frees the table alone, and a function that frees its block, too.  Raises Trouble."""
        above = [p for p in m.parents if not isinstance(p, ast.Cast)]
        call = above[0] if above else None
        if len(above) != 1 or not isinstance(call, ast.Call) or not isinstance(m.stmt, ast.ExprStmt):
            raise Trouble(m.ref.span, "is given away, or used as a whole")
        if called_name(call) == "free":
            self.gone(m)
        elif called_name(call) in self.functions.freers:
            self.edit(call.span, call.span.begin, call.span.end, f"free({self.variable.name})")
        else:
            raise Trouble(m.ref.span, "is given away, or used as a whole")

    def gone(self, m: Mention) -> None:
        """The statement goes, with its line where it stands alone there."""
        assert m.stmt is not None
        span, data = m.stmt.span, self.read(m.stmt.span.file)
        begin, end = data.rfind(b"\n", 0, span.begin) + 1, data.find(b"\n", span.end) + 1
        if not self.in_block(m):
            self.edit(span, span.begin, span.end, ";")
        elif end and not data[begin : span.begin].strip() and not data[span.end : end].strip():
            self.edit(span, begin, end, "")
        else:
            self.edit(span, span.begin, span.end, "")


def _mentions(program: Program, key: str) -> list[Mention]:
    return mentions_of(program).of(key)


def _made(m: Mention) -> ast.Call | None:
    """The call whose result a mention sets its variable to."""
    match m.parents[:1]:
        case (ast.Assign(op="", target=target, value=value),) if target is m.ref:
            return _call(value)
        case _:
            return None


def _call(e: ast.Expr) -> ast.Call | None:
    e = uncast(e)
    return e if isinstance(e, ast.Call) else None


def _written(e: ast.Expr) -> ast.Expr:
    """Without conversions that nobody wrote."""
    while isinstance(e, ast.Cast) and not e.explicit:
        e = e.operand
    return e


def _value(e: ast.Expr) -> int | None:
    e = _written(e)
    return e.value if isinstance(e, (ast.IntLit, ast.SizeOf)) else None


def _fits(e: ast.Expr, t: Type) -> bool:
    """A whole number that a parameter has as it is."""
    e = _written(e)
    if isinstance(e, (ast.IntLit, ast.SizeOf)):
        return e.value is not None and 0 <= e.value < 1 << 31
    whole = e.type.kind == "int" and not e.type.boolean and (e.type.signed or e.type.size == 8)
    return whole and (e.type.size or 9) <= (t.size or 0)
