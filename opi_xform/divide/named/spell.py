"""An allocation with named parts, as text: each part is allocated where it is named, and freed with the first one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from opi_xform.divide.decompose import pure
from opi_xform.divide.flow import Trouble
from opi_xform.divide.mentions import Mention
from opi_xform.divide.named.handed import origin
from opi_xform.divide.named.proof import NamedDivision
from opi_xform.divide.size_text import visible
from opi_xform.divide.spell import accounted
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.span import Span
from opi_xform.ownership.model.buffers import Program
from opi_xform.text.edit import ByteEdit


class NamedSpelling:
    """The edits of one division; one use: ``run``."""

    def __init__(
        self, program: Program, division: NamedDivision, read: Callable[[str], bytes], unread: Collection[Span] = ()
    ) -> None:
        """unread: text that is not compiled, and may name the parts."""
        self.program = program
        self.division = division
        self.unread = unread
        self.naming = division.naming
        self.read = read
        self.edits: dict[str, dict[ByteEdit, None]] = {}
        self.handed = bool(origin(program, division.naming.objects[0]).frames)
        self.calloc = called_name(division.call) == "calloc"

    def run(self) -> dict[str, tuple[ByteEdit, ...]]:
        """By file.  Raises Trouble."""
        variables = self.program.variables
        for key in self.naming.names:
            mentions = (m for k, m in self.division.mentions if k == key)
            accounted(self.program, variables[key], mentions, self.read, self.unread)
        self.first()
        for one in self.division.untested:
            self.edit(one.test.span, one.test.span.begin, one.end, "")
        places = {link.place: link for link in self.naming.links.values() if link.added}
        for _, m in self.division.mentions:
            if m.place in places:
                self.part(places[m.place].target, m)
            elif m.kind == "freed":
                self.free(m)
        return {file: tuple(edits) for file, edits in sorted(self.edits.items())}

    def edit(self, span: Span, begin: int, end: int, text: str) -> None:
        if not span.editable or re.search(rb"^[ \t]*#", self.read(span.file)[begin:end], re.MULTILINE):
            raise Trouble(span, "is written by a macro, or across a directive")
        one = ByteEdit(begin, end, (), text.encode("utf-8", "surrogateescape"))
        self.edits.setdefault(span.file, {})[one] = None

    def allocation(self, key: str, elements: str) -> str:
        """The arguments of the call that allocates a part."""
        element = f"sizeof *{self.program.variables[key].name}"
        if self.calloc:
            return f"{elements}, {element}"
        names = {v.name for v in self.program.variables.values()}
        alone = elements.isdigit() or elements in names  # else a macro in it may be a sum
        return f"{element} * {elements}" if alone else f"{element} * ({elements})"

    def first(self) -> None:
        """The allocation becomes one of the first part."""
        call = self.division.call
        known = self.handed or called_name(call) in ("malloc", "calloc")
        if not known or not call.span.editable or not all(pure(a) and a.span.editable for a in call.args):
            raise Trouble(call.span, "allocates it in a way that cannot be written for a part")
        text = self.allocation(self.naming.base, self.division.first)
        begin = self.read(call.span.file).index(b"(", call.callee_span.end) + 1
        self.edit(call.span, begin, call.span.end - 1, text)

    def part(self, key: str, m: Mention) -> None:
        """What names a part allocates it.  Raises Trouble."""
        value = self.value(key, m)
        call = self.division.call
        if value.file != call.span.file:
            raise Trouble(value, "names a part in another file than the one that allocates it")
        inside = [o for _, o in self.division.mentions if value.begin <= o.place[1] < value.end]
        if len([o for o in inside if o.place[0] == value.file]) != 1 or not all(pure(t.expr) for t in m.terms):
            raise Trouble(value, "names a part in a way that cannot be written anew")
        variables = self.program.variables
        before = self.read(call.span.file)[: call.span.begin]
        cast = re.search(rb"\([A-Za-z_][\w \t]*\*[ \t]*\)[ \t]*$", before)
        written = cast[0].decode() if cast and variables[key].type == variables[self.naming.base].type else ""
        name = call.callee.name if isinstance(call.callee, ast.FuncRef) else "malloc"
        name = self.program.functions[name].name if self.handed else name
        self.edit(
            value, value.begin, value.end, f"{written}{name}({self.allocation(key, self.division.sizes[m.place])})"
        )

    def value(self, key: str, m: Mention) -> Span:
        """The text of the place that a part's variable is set to.  Raises Trouble."""
        over = m.address if m.address is not None else m.whole
        at = next((i for i, p in enumerate(m.parents) if p is over), -1)
        above = list(m.parents[at + 1 :])
        while above and isinstance(above[0], ast.Cast):
            over = above.pop(0)
        if not above:
            for d in self.program.variables[key].declarators:
                if d.init_span is not None and d.init_span.file == over.span.file:
                    span = d.init_span
                    if span.begin <= m.place[1] < span.end:
                        return span
        elif isinstance(m.stmt, ast.ExprStmt) and all(isinstance(p, ast.Comma) for p in above[1:]):
            assign = above[0]
            if (
                isinstance(assign, ast.Assign)
                and not assign.op
                and isinstance(assign.target, ast.VarRef)
                and assign.target.var == key
            ):
                return assign.value.span
        raise Trouble(m.ref.span, "names a part in a way that cannot be written anew")

    def free(self, m: Mention) -> None:
        """What frees the first part frees all.  Raises Trouble."""
        assert m.stmt is not None
        span, variables = m.stmt.span, self.program.variables
        if not all(visible(self.program, key, m.function, m.stmt) for key in self.naming.owners):
            raise Trouble(span, "frees it where a part's name does not stand for the part")
        call = m.parents[-1]
        name = call.callee.name if isinstance(call, ast.Call) and isinstance(call.callee, ast.FuncRef) else "free"
        name = self.program.functions[name].name if name in self.program.functions else name
        texts = [f"{name}({variables[key].name});" for key in self.naming.owners]
        for begin, text in freed_too(self.program, self.read, m.function, m.stmt, texts):
            self.edit(span, begin, begin, text)


def freed_too(
    program: Program, read: Callable[[str], bytes], function: str, stmt: ast.Stmt, texts: Sequence[str]
) -> list[tuple[int, str]]:
    """What is put where, so that these statements come after one that frees."""
    span, lowered = stmt.span, program.graph.lowered.get(function)
    infos = () if lowered is None else lowered.stmts
    if not any(info.stmt is stmt and info.in_block for info in infos):
        return [(span.begin, "{ "), (span.end, "".join(f" {text}" for text in texts) + " }")]
    data = read(span.file)
    begin = data.rfind(b"\n", 0, span.begin) + 1
    indent = data[begin : span.begin].decode("utf-8", "surrogateescape")
    line = f"\n{indent}" if not indent.strip() else " "
    return [(span.end, "".join(f"{line}{text}" for text in texts))]
