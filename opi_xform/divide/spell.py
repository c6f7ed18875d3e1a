"""A buffer in parts, as text: its declaration, its allocations and every mention of its name written anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from opi_xform.divide.decompose import factor_text, joined, pure, value_of
from opi_xform.divide.find import Division
from opi_xform.divide.flow import Trouble
from opi_xform.divide.mentions import Mention, Place, only_for_free
from opi_xform.divide.unused_macros import in_unused_macro
from opi_xform.frontend.clang.source import tokens
from opi_xform.ir import ast
from opi_xform.ir.instr import StmtInfo
from opi_xform.ir.span import Span
from opi_xform.ir.walk import children, expressions, uncast
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.scopes import may_fall_apart
from opi_xform.text.edit import ByteEdit

_ALLOCATORS = ("malloc", "calloc")


class Spelling:
    """The edits of one division; one use: ``run``."""

    def __init__(
        self, program: Program, division: Division, read: Callable[[str], bytes], unread: Collection[Span] = ()
    ) -> None:
        """unread: text that is not compiled, and may name the buffer."""
        self.program = program
        self.division = division
        self.read = read
        self.unread = unread
        self.variable = program.variables[division.candidate.key]
        self.array = self.variable.type.is_array
        self.count = division.layout.count
        self.edits: dict[str, dict[ByteEdit, None]] = {}
        self.turn = ""
        self.written: set[Place] = set()  # mentions in the size of an allocation, which is written anew

    def run(self) -> dict[str, tuple[ByteEdit, ...]]:
        """By file.  Raises Trouble."""
        self.account()
        for declarator in self.variable.declarators:
            self.declaration(declarator)
        for m in sorted(self.division.mentions, key=lambda m: m.kind not in ("set", "made")):
            if m.place not in self.written:
                self.mention(m)
        return {file: tuple(edits) for file, edits in sorted(self.edits.items())}

    def edit(self, span: Span, begin: int, end: int, text: str, rank: int = 0) -> None:
        if not span.editable or re.search(rb"^[ \t]*#", self.read(span.file)[begin:end], re.MULTILINE):
            raise Trouble(span, "is written by a macro, or across a directive")
        one = ByteEdit(begin, end, (rank,), text.encode("utf-8", "surrogateescape"))
        self.edits.setdefault(span.file, {})[one] = None

    def text(self, begin: Span, end: Span | None = None) -> str:
        """From the beginning of one span to the end of another, of the same file."""
        last = begin if end is None else end
        return self.read(begin.file)[begin.begin : last.end].decode("utf-8", "surrogateescape")

    def source(self, e: ast.Expr) -> str:
        if e.span.editable:
            text = self.named(e.span.file, e.span.begin, e.span.end)
        elif isinstance(e, ast.IntLit):
            text = e.name or str(e.value)
        else:
            raise Trouble(e.span, "is written by a macro")
        return f"({text})" if isinstance(e, ast.IntLit) and may_fall_apart(self.program, text) else text

    def named(self, file: str, begin: int, end: int) -> str:
        """The text of an allocation, where the buffer's name stands for its first part (``sizeof *buf``)."""
        data, at, out = self.read(file), begin, b""
        for m in self.division.mentions:
            span = m.ref.span
            if span.file == file and begin <= span.begin < end:
                out += data[at : span.end] + b"[0]"
                at = span.end
                self.written.add(m.place)
        return (out + data[at:end]).decode("utf-8", "surrogateescape")

    def account(self) -> None:
        """Every mention is known, and a name is left for a counter.  Raises Trouble."""
        used = accounted(self.program, self.variable, self.division.mentions, self.read, self.unread)
        turns = ("part", "part_of_" + self.variable.name, "opi_part")
        self.turn = next((t for t in turns if t.encode() not in used), "")
        if not self.turn:
            raise Trouble(self.variable.span, "leaves no name for a counter")

    # --- declarations and memory -----------------------------------------------------------------------------------

    def declaration(self, d: ast.Declarator) -> None:
        if self.array:
            if d.suffix is None or d.init_span is not None:
                raise Trouble(d.span, "is declared with contents or without a size")
            inside = self.text(d.suffix).strip()
            if not inside.startswith("[") or inside.find("]") != len(inside) - 1:
                raise Trouble(d.span, "is declared in a way that is not followed")
            self.edit(d.suffix, d.suffix.begin, d.suffix.end, f"[{self.count}][{part_of(inside[1:-1], self.count)}]")
            return
        if d.suffix is not None and self.text(d.suffix).strip():
            raise Trouble(d.span, "is declared in a way that is not followed")
        self.edit(d.name_span, d.name_span.end, d.name_span.end, f"[{self.count}]")
        if d.init_span is None:
            return
        init = self.variable.init
        assert init is not None
        if _null(init):
            self.edit(d.init_span, d.init_span.begin, d.init_span.end, "{NULL}")
            return
        statement = d.statement
        if self.variable.kind != "local" or not statement.editable or self.declared_with(d):
            raise Trouble(d.span, "is declared together with what is made of it")
        if self.division.sizes:
            loops = self.each(init)
        else:
            loops = [f"{self.loop()}{self.variable.name}[{self.turn}] = {self.allocation(init)};"]
        self.edit(d.init_span, d.name_span.end, d.init_span.end, "", 1)
        data = self.read(d.statement.file)
        begin = data.rfind(b"\n", 0, d.statement.begin) + 1
        indent = data[begin : d.statement.begin].decode("utf-8", "surrogateescape")
        line = f"\n{indent}" if not indent.strip() else " "
        text = "".join(f"{line}{loop}" for loop in loops)
        self.edit(d.statement, d.statement.end, d.statement.end, text)

    def declared_with(self, d: ast.Declarator) -> bool:
        """What is declared beside the buffer names it."""
        return any(
            m.place[0] == d.statement.file
            and d.statement.begin <= m.place[1] < d.statement.end
            and not d.span.begin <= m.place[1] < d.span.end
            for m in self.division.mentions
        )

    def each(self, value: ast.Expr) -> list[str]:
        """The allocations of parts of several sizes.  Raises Trouble."""
        self.smaller(value)
        call = uncast(value)
        assert isinstance(call, ast.Call)
        sizes = self.division.sizes[(call.span.file, call.span.begin)]
        before = self.text(value.span)[: call.span.begin - value.span.begin]
        for m in self.division.mentions:
            if m.ref.span.file == value.span.file and value.span.begin <= m.ref.span.begin < value.span.end:
                self.written.add(m.place)
        out = []
        for i, size in enumerate(sizes):
            one = f"{self.variable.name}[{i}]"
            name = call.callee.name if isinstance(call.callee, ast.FuncRef) else "malloc"
            size = f"({size})" if " + " in size or " - " in size else size
            arguments = f"{size} * sizeof *{one}" if name == "malloc" else f"{size}, sizeof *{one}"
            out.append(f"{one} = {before}{name}({arguments});")
        return out

    def loop(self) -> str:
        return f"for (int {self.turn} = 0; {self.turn} < {self.count}; {self.turn}++) "

    def allocation(self, value: ast.Expr) -> str:
        """The text of an allocation of one part.  Raises Trouble."""
        edits = self.smaller(value)
        file, out, at = value.span.file, "", value.span.begin
        for begin, end, text in edits:
            out += self.named(file, at, begin) + text
            at = end
        return out + self.named(file, at, value.span.end)

    def smaller(self, value: ast.Expr) -> list[tuple[int, int, str]]:
        """What makes an allocation one of a part."""
        e = uncast(value)
        asks = (*_ALLOCATORS, *self.division.wrappers)
        if not isinstance(e, ast.Call) or not isinstance(e.callee, ast.FuncRef) or e.callee.name not in asks:
            raise Trouble(value.span, "allocates it other than by malloc or calloc")
        if not e.span.editable or not value.span.editable or not all(pure(a) and a.span.editable for a in e.args):
            raise Trouble(e.span, "allocates it in a way that cannot be written for a part")
        for a in e.args:
            found = self.without_count(a)
            if found is not None:
                return [(a.span.begin, a.span.end, found)]
        last = e.args[-1]
        if len(e.args) == 1:
            whole = self.source(last)
            loose = isinstance(last, ast.Binary) and last.op not in ("*", "/")
            text = f"({whole}) / {self.count}" if loose else f"{whole} / {self.count}"
            return [(last.span.begin, last.span.end, text)]
        size = e.args[1]
        if not isinstance(size, ast.SizeOf):
            raise Trouble(e.span, "allocates it in a way that cannot be written for a part")
        first = factor_text(e.args[0], self.source)
        text = f"1, {first} * {self.source(size)} / {self.count}"
        return [(e.args[0].span.begin, size.span.end, text)]

    def without_count(self, e: ast.Expr) -> str | None:
        """A product's text without a factor that is the number of parts."""
        factors = written_factors(e)
        for i, factor in enumerate(factors):
            if not isinstance(factor, ast.IntLit) or factor.value % self.count:
                continue
            numbers = [f for f in factors if f is not factor and not isinstance(f, (ast.SizeOf, ast.Cast))]
            if len(numbers) > 1 and not re.fullmatch(r"[1-9][0-9]*", self.source(factor)):
                continue  # perhaps it is long, and makes the product of the others long, too
            left = factor.value // self.count
            words = [factor_text(f, self.source) for f in factors]
            words[i : i + 1] = [] if left == 1 else [str(left)]
            return " * ".join(words) or "1"
        return None

    # --- mentions --------------------------------------------------------------------------------------------------

    def mention(self, m: Mention) -> None:
        name = self.variable.name
        at = m.ref.span
        if m.kind == "set" and not self.array:
            self.set(m)
            return
        if m.kind == "made" and not self.array:
            self.made(m)
            return
        if any(isinstance(p, ast.Assign) and p.target is m.ref for p in m.parents[:1]):
            raise Trouble(at, "sets its pointer inside an expression")
        if m.kind == "freed" and not self.array:
            assert m.stmt is not None
            self.edit(m.stmt.span, m.stmt.span.begin, m.stmt.span.begin, self.loop())
            self.edit(at, at.end, at.end, f"[{self.turn}]")
            return
        function = self.program.functions.get(m.function)
        body = None if function is None else function.body
        found = None if self.array else only_for_free(m, self.division.mentions, body)
        if found is not None:
            self.edit(found.test.span, found.test.span.begin, found.end, "")  # free(NULL) does nothing
            return
        if m.kind == "size" and self.array and m.whole is m.ref:
            if isinstance(m.parents[0], ast.SizeOf):
                return  # that of the whole is the same
            if not isinstance(m.parents[0], ast.Deref):
                raise Trouble(at, "asks for the size of what is made of it")
        taken, number = self.division.taken[m.place], self.division.texts[m.place]
        if taken is None:
            self.edit(at, at.end, at.end, "[0]")
            return
        written = f"{name}[{number}]"
        before, after = self.text(m.around.span, at)[: at.begin - m.around.span.begin], self.text(at, m.around.span)
        pointer = f"{before}{written}{after[at.end - at.begin :]}"
        rest = joined(taken.rest)
        whole = m.whole.span
        if m.indexed and not m.by_macro and not taken.rest and m.address is not None and m.address.span.editable:
            whole = m.address.span
            self.edit(whole, whole.begin, whole.end, pointer)
        elif m.indexed or m.by_macro:
            index = m.terms[0].expr.span
            if not index.editable:
                raise Trouble(index, "is written by a macro")
            self.edit(at, at.end, at.end, f"[{number}]")
            self.edit(index, index.begin, self.end(m.terms[0].expr) if m.by_macro else index.end, rest)
        else:
            sign = "" if rest.startswith("-") else "+ "
            text = f"{pointer} {sign}{rest}" if taken.rest else pointer
            if rest.startswith("-"):
                text = f"{pointer} + ({rest})"
            self.edit(whole, whole.begin, whole.end, text)
        if self.nested(m):
            raise Trouble(whole, "names it inside one of its own places")

    def end(self, e: ast.Expr) -> int:
        """Where an argument of a macro ends.  A number at its end that a macro writes is not in its span.  Raises
        Trouble.
        """
        data, end = self.read(e.span.file), e.span.end
        last = e
        while isinstance(last, (ast.Binary, ast.Cast)):
            last = last.right if isinstance(last, ast.Binary) else last.operand
        named = re.compile(rb"[A-Za-z_]\w*").match(data, end)
        if isinstance(last, ast.IntLit) and named and data[e.span.begin : end].rstrip()[-1:] in b"+-*/":
            end = named.end()
        text = data[e.span.begin : end]
        behind = data[end:].lstrip()[:1]
        if text != text.strip() or text.count(b"(") != text.count(b")") or behind not in (b",", b")"):
            raise Trouble(e.span, "is written by a macro")
        return end

    def nested(self, m: Mention) -> bool:
        """Another mention stands in what is written anew."""
        span = m.address.span if m.address is not None else m.whole.span
        return any(
            o is not m and o.place[0] == span.file and span.begin <= o.place[1] < span.end
            for o in self.division.mentions
        )

    def set(self, m: Mention) -> None:
        assign = next(p for p in m.parents if isinstance(p, ast.Assign))
        assert m.stmt is not None
        if any(info.stmt is m.stmt and info.role == "init" for info in self.statements(m.function)):
            raise Trouble(m.stmt.span, "allocates it in the head of a loop")
        if self.division.sizes and not _null(assign.value):
            text = " ".join(self.each(assign.value))
            inside = any(info.stmt is m.stmt and info.in_block for info in self.statements(m.function))
            self.edit(m.stmt.span, m.stmt.span.begin, m.stmt.span.end, text if inside else f"{{ {text} }}")
            return
        self.edit(m.stmt.span, m.stmt.span.begin, m.stmt.span.begin, self.loop())
        self.edit(m.ref.span, m.ref.span.end, m.ref.span.end, f"[{self.turn}]")
        if not _null(assign.value):
            for begin, end, text in self.smaller(assign.value):
                self.edit(assign.value.span, begin, end, text)

    def made(self, m: Mention) -> None:
        """``if (!(b = malloc(n)))``: the parts are allocated before the statement.  Raises Trouble."""
        assign, name = m.parents[0], self.variable.name
        assert isinstance(assign, ast.Assign)
        assert m.stmt is not None
        if not any(info.stmt is m.stmt and info.in_block for info in self.statements(m.function)):
            raise Trouble(m.stmt.span, "allocates it where no statement can be put before")
        if self.division.sizes:
            texts = self.each(assign.value)
        else:
            texts = [f"{self.loop()}{name}[{self.turn}] = {self.allocation(assign.value)};"]
        data, span = self.read(m.stmt.span.file), m.stmt.span
        begin = data.rfind(b"\n", 0, span.begin) + 1
        indent = data[begin : span.begin].decode("utf-8", "surrogateescape")
        line = f"\n{indent}" if not indent.strip() else " "
        self.edit(span, span.begin, span.begin, "".join(f"{text}{line}" for text in texts))
        begin, end = assign.span.begin, assign.span.end
        if len(m.parents) > 1 and data[begin - 1 : begin] == b"(" and data[end : end + 1] == b")":
            begin, end = begin - 1, end + 1
        self.edit(assign.span, begin, end, f"{name}[0]")

    def statements(self, function: str) -> Sequence[StmtInfo]:
        lowered = self.program.graph.lowered.get(function)
        return () if lowered is None else lowered.stmts


def accounted(
    program: Program,
    variable: ast.Variable,
    mentions: Iterable[Mention],
    read: Callable[[str], bytes],
    unread: Collection[Span],
) -> set[bytes]:
    """All words of the text.  Raises Trouble where one that is the buffer's name is neither one of its mentions nor the
    name of another, nor stands in text that may name it.
    """
    name = variable.name.encode("utf-8", "surrogateescape")
    known: set[Place] = {m.place for m in mentions}
    known |= {(d.name_span.file, d.name_span.begin) for d in variable.declarators}
    if not variable.declarators:
        raise Trouble(variable.span, "is declared in a way that is not followed")
    theirs = others(program, variable)
    if known & theirs:
        raise Trouble(variable.span, "is named in text that means another buffer, too")
    known |= theirs
    used: set[bytes] = set()
    for file, begin, end in stretches(program, variable, read):
        data = read(file)
        before = b""
        for a, b, kind in tokens(data, begin, end):
            if kind == "space":
                continue
            word = data[a:b]
            if kind == "word":
                used.add(word)
                named = word == name and before not in (b".", b"->") and (file, a) not in known
                named = named and not any(s.file == file and s.begin <= a < s.end for s in unread)
                if named and not in_unused_macro(file, a, program.files, read):
                    here = Span(file, a, b, data.count(b"\n", 0, a) + 1, 1, False)
                    raise Trouble(here, "names it in text that is not compiled as it is")
            before = word
    return used


def stretches(program: Program, variable: ast.Variable, read: Callable[[str], bytes]) -> list[tuple[str, int, int]]:
    """The text in which the name means the variable."""
    function = program.functions.get(variable.function)
    if variable.kind in ("local", "local-static") and function is not None:
        return [(function.span.file, function.span.begin, function.span.end)]
    return [(file, 0, len(read(file))) for file in program.files]


def written_factors(e: ast.Expr) -> list[ast.Expr]:
    """The factors of a product as it is written; conversions that nobody wrote are made again by the compiler."""
    out: list[ast.Expr] = []
    stack = [e]
    while stack:
        e = stack.pop()
        while isinstance(e, ast.Cast) and not e.explicit:
            e = e.operand
        if isinstance(e, ast.Binary) and e.op == "*":
            stack += [e.right, e.left]
        else:
            out.append(e)
    return out


def part_of(size: str, count: int) -> str:
    """An array's size as written, divided by the number of parts."""
    found = re.fullmatch(rf"\s*{count}\s*\*\s*(\w+)\s*", size) or re.fullmatch(rf"\s*(\w+)\s*\*\s*{count}\s*", size)
    if found is not None:
        return found[1]
    if re.fullmatch(r"\s*[1-9]\d*\s*", size) and int(size) % count == 0:
        return str(int(size) // count)
    return f"({size.strip()}) / {count}"


def others(program: Program, variable: ast.Variable) -> set[Place]:
    """Places of the same name that mean another variable."""
    out: set[Place] = set()
    keys = {k for k, v in program.variables.items() if v.name == variable.name and k != variable.key}
    for key in keys:
        var = program.variables[key]
        out.add((var.span.file, var.span.begin))
        out |= {(d.name_span.file, d.name_span.begin) for d in var.declarators}
    if keys:
        for function in program.functions.values():
            out |= _references(_all(function), keys)
    return out


def _all(function: ast.Function) -> Iterable[ast.Expr]:
    yield from expressions(function.body)
    yield from (v.init for v in function.variables.values() if v.init is not None)


def _references(roots: Iterable[ast.Expr], keys: set[str]) -> set[Place]:
    out: set[Place] = set()
    stack = list(roots)
    while stack:
        e = stack.pop()
        if isinstance(e, ast.VarRef) and e.var in keys:
            out.add((e.span.file, e.span.begin))
        stack.extend(children(e))
    return out


def _null(e: ast.Expr) -> bool:
    return value_of(e, {}) is not None and value_of(e, {}).constant == 0  # type: ignore[union-attr]
