"""Parameters that a function uses as variables of its own: ``void swap(double *b) { b = malloc(n); MPI_Send(b, …); }``.

A parameter is a copy, and a function that sets it works with memory of its own, or of another pointer of the caller's.
The same is said by a variable that begins with the argument: ``void swap(double *b_given) { double *b = b_given; …``.
The two are one program: the variable lives as long, has the same type, and whoever reads it or takes its address finds
what was there.  So nothing has to be known of what the caller passes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import ReplaceText
from opi_xform.ownership.spelling.mentioned import Mention, mentions_of
from opi_xform.ownership.spelling.mentions import Texts
from opi_xform.ownership.spelling.parameters import bare, list_item
from opi_xform.ownership.spelling.scopes import fresh, means_variable
from opi_xform.ownership.spelling.short_names import LOOKS_AT_TYPES, ShortName
from opi_xform.record import dataclass

_DECLARED = re.compile(
    r"((?:[A-Za-z_]\w*\s+)*?[A-Za-z_]\w*)\s*(\*[\s*]*)?\b(?:(?:restrict|__restrict(?:__)?)\s+)?(\w+)\s*(\[\s*\w*\s*\])?"
)
_RESTRICT = frozenset({"restrict", "__restrict", "__restrict__"})
_OTHER = frozenset({"register", "volatile", "_Atomic", "static", "auto", "extern"})


def own_parameters(program: Program, units: Sequence[ast.Unit], names: Collection[str]) -> Iterator[ShortName]:
    """By function: its parameters with one of these names that it sets."""
    for unit in units:
        for function in unit.functions.values():
            if function.span.file == unit.path and program.functions.get(function.key) is function:
                found = _Function(program, units, unit, function).run(names)
                if found is not None:
                    yield found


@dataclass(frozen=True, slots=True)
class _Own:
    """One parameter: where its name stands, what it becomes there, and the declaration that has its name then."""

    key: str
    name: Span
    given: str
    declaration: str


class _Function:
    """One function: ``run``."""

    def __init__(self, program: Program, units: Sequence[ast.Unit], unit: ast.Unit, function: ast.Function) -> None:
        self.program = program
        self.unit = unit
        self.function = function
        self.index = mentions_of(units)
        self.texts = Texts()
        self.data = self.index.texts.read(function.span.file)

    def run(self, names: Collection[str]) -> ShortName | None:
        function, variables = self.function, self.function.variables
        wanted = [i for i, key in enumerate(function.params) if variables[key].name in names and self.is_set(key)]
        if not wanted or function.refused or function.threads or function.type.variadic:
            return None
        begin = function.body.span.begin
        if self.data[begin : begin + 1] != b"{" or LOOKS_AT_TYPES.search(self.texts.of(function.span)):
            return None
        found = [own for i in wanted if (own := self.own(i)) is not None]
        if not found:
            return None
        edits = [ReplaceText(own.name, own.given) for own in found]
        edits.append(self.inside([own.declaration for own in found]))
        said = "; ".join(f"parameter `{variables[own.key].name}` is a variable of the function's own" for own in found)
        return ShortName(found[0].key, variables[found[0].key].name, found[0].given, tuple(edits), said)

    def is_set(self, key: str) -> bool:
        return any(map(_sets, self.index.by_key.get(key, ())))

    def own(self, i: int) -> _Own | None:
        """What parameter ``i`` becomes; None where its declaration, or what stands elsewhere, is not understood."""
        function, variable = self.function, self.function.variables[self.function.params[i]]
        file, name, t = function.span.file, variable.name, variable.type
        if not t.is_pointer or t.volatile or t.atomic or t.const or variable.attributes or variable.span.file != file:
            return None
        if any(name in s.identifiers and s.span.file == file for s in self.unit.skipped):
            return None
        if self.index.texts.in_directive(file, name, True) is not None:
            return None
        if not means_variable(self.program, function, variable, self.texts):
            return None
        item = self.item(i)
        here = [] if item is None else [at for at in self.named_before_body(name) if item[0] <= at < item[1]]
        if item is None or len(here) != 1 or len(self.named_before_body(name)) != 1:
            return None
        declared = self.declared(self.data[item[0] : item[1]], name)
        if declared is None:
            return None
        given = fresh(f"{name}_given", self.program.files, self.texts)
        line = self.data.count(b"\n", 0, here[0]) + 1
        column = here[0] - self.data.rfind(b"\n", 0, here[0])
        span = Span(file, here[0], here[0] + len(name.encode()), line, column, editable=True)
        return _Own(variable.key, span, given, f"{declared}{name} = {given};")

    def item(self, i: int) -> tuple[int, int] | None:
        """The bytes of parameter ``i`` in the definition's list."""
        function = self.function
        at = self.named_before_body(function.name)
        return list_item(self.data, at[0] + len(function.name.encode()), i) if len(at) == 1 else None

    def named_before_body(self, name: str) -> list[int]:
        """Where a name stands in the function's text, before its body."""
        begin, end = self.function.span.begin, self.function.body.span.begin
        places = self.index.texts.occurrences(self.function.span.file, name)
        return [at for at, *_ in places if begin <= at < end]

    def declared(self, item: bytes, name: str) -> str | None:
        """``double *`` of ``double *b`` or ``double b[]``: what declares such a pointer in the body."""
        lead, text, tail = bare(item)
        found = _DECLARED.fullmatch(text.decode("utf-8", "surrogateescape"))
        if found is None or lead.strip() or tail.strip() or found[3] != name:
            return None
        words = [word for word in found[1].split() if word not in _RESTRICT]
        stars = (found[2] or "").count("*") + (found[4] is not None)
        own = {variable.name for variable in self.function.variables.values()}
        if not stars or not words or not own.isdisjoint(words) or not _OTHER.isdisjoint(words):
            return None
        return f"{' '.join(words)} {'*' * stars}"

    def inside(self, declarations: Sequence[str]) -> ReplaceText:
        """The declarations, at the beginning of the body."""
        body = self.function.body.span
        after = self.data[body.begin + 1 :]
        lines = re.match(rb"[ \t]*\r?\n(?:[ \t]*\r?\n)*([ \t]*)", after)
        indent = "\n" + lines[1].decode() if lines is not None else " "
        text = "{" + "".join(indent + declaration for declaration in declarations)
        return ReplaceText(Span(body.file, body.begin, body.begin + 1, body.line, body.column, editable=True), text)


def _sets(mention: Mention) -> bool:
    parent = mention.parent
    return isinstance(parent, ast.Assign) and parent.target is mention.ref and not parent.op
