"""Parameters that a function uses as variables of its own: ``void swap(double *b) { b = malloc(n); MPI_Send(b, …); }``.

A parameter is a copy, and a function that sets it works with other memory from there on.  The same is said by a
variable that begins with the argument: ``void swap(double *b_given) { double *b = b_given; …``.  The two are one
program: the variable is known wherever the parameter is, lives as long, and has its type and its value.  So nothing
has to be known of what callers pass, nor of what the function does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import ReplaceText
from opi_xform.ownership.spelling.mentioned import Mention, is_of, mentions_of
from opi_xform.ownership.spelling.parameters import bare, list_item
from opi_xform.ownership.spelling.scopes import fresh
from opi_xform.ownership.spelling.short_names import ShortName
from opi_xform.record import dataclass

_DECLARED = re.compile(
    r"((?:[A-Za-z_]\w*\s+)*?[A-Za-z_]\w*)\s*(\*[\s*]*)?"  # words of a type, and its stars
    r"\b(?:(?:restrict|__restrict(?:__)?)\s+)?(\w+)\s*(\[\s*\w*\s*\])?"  # the name, and the length of an array
)
_RESTRICT = frozenset({"restrict", "__restrict", "__restrict__"})
_LINE = re.compile(rb"(?:[ \t]*\r?\n)+([ \t]*)")


def own_parameters(program: Program, units: Sequence[ast.Unit], names: Collection[str]) -> Iterator[ShortName]:
    """By function: its parameters with one of these names that it sets."""
    for unit in units:
        for function in unit.functions.values():
            if is_of(unit, function, units) and program.functions.get(function.key) is function:
                found = _Function(program, units, function).run(names)
                if found is not None:
                    yield found


@dataclass(frozen=True, slots=True)
class _Own:
    """One parameter: where its name stands, what it is called there then, and what declares the variable."""

    key: str
    name: Span
    given: str
    declaration: str


class _Function:
    """One function: ``run``."""

    def __init__(self, program: Program, units: Sequence[ast.Unit], function: ast.Function) -> None:
        self.program = program
        self.function = function
        self.index = mentions_of(units)
        self.data = self.index.texts.read(function.span.file)

    def run(self, names: Collection[str]) -> ShortName | None:
        function, variables = self.function, self.function.variables
        wanted = [i for i, key in enumerate(function.params) if variables[key].name in names and self.is_set(key)]
        body = function.body.span
        if function.refused or self.data[body.begin : body.begin + 1] != b"{":
            return None
        found = [own for i in wanted if (own := self.own(i)) is not None]
        if not found:
            return None
        line = _LINE.match(self.data, body.begin + 1)
        apart = " " if line is None else "\n" + line[1].decode()
        text = "".join(["{", *(apart + own.declaration for own in found)])
        begin = Span(body.file, body.begin, body.begin + 1, body.line, body.column, editable=True)
        edits = (*(ReplaceText(own.name, own.given) for own in found), ReplaceText(begin, text))
        names_of = " and ".join(f"`{variables[own.key].name}`" for own in found)
        said = f"parameter {names_of} is a variable of the function's own"
        if len(found) > 1:
            said = f"parameters {names_of} are variables of the function's own"
        return ShortName(found[0].key, variables[found[0].key].name, found[0].given, edits, said)

    def is_set(self, key: str) -> bool:
        return any(map(_sets, self.index.by_key.get(key, ())))

    def own(self, i: int) -> _Own | None:
        """What parameter ``i`` becomes; None where its declaration, or another one beside it, is not understood."""
        file, variable = self.function.span.file, self.function.variables[self.function.params[i]]
        name, item = variable.name, self.item(i)
        here = self.named_ahead(name)
        if item is None or len(here) != 1:  # the length of an array may name it, too
            return None
        declared = self.declared(self.data[item[0] : item[1]], name)
        if declared is None:
            return None
        given = fresh(f"{name}_given", self.program)
        line, column = self.data.count(b"\n", 0, here[0]) + 1, here[0] - self.data.rfind(b"\n", 0, here[0])
        span = Span(file, here[0], here[0] + len(name.encode()), line, column, editable=True)
        return _Own(variable.key, span, given, f"{declared}{name} = {given};")

    def item(self, i: int) -> tuple[int, int] | None:
        """The bytes of parameter ``i`` in the definition's list."""
        at = self.named_ahead(self.function.name)
        return list_item(self.data, at[0] + len(self.function.name.encode()), i) if len(at) == 1 else None

    def named_ahead(self, name: str) -> list[int]:
        """Where a name stands in the function's text before its body."""
        begin, end = self.function.span.begin, self.function.body.span.begin
        places = self.index.texts.occurrences(self.function.span.file, name)
        return [at for at, *_ in places if begin <= at < end]

    def declared(self, item: bytes, name: str) -> str | None:
        """``double *`` of ``double *b`` or ``double b[]``: what declares such a pointer in the body."""
        _, text, _ = bare(item)
        found = _DECLARED.fullmatch(text.decode("utf-8", "surrogateescape"))
        if found is None or found[3] != name:
            return None
        words = [word for word in found[1].split() if word not in _RESTRICT]
        stars = (found[2] or "").count("*") + (found[4] is not None)
        own = {variable.name for variable in self.function.variables.values()}
        if not stars or not words or not own.isdisjoint(words):
            return None
        return f"{' '.join(words)} {'*' * stars}"


def _sets(mention: Mention) -> bool:
    parent = mention.parent
    return isinstance(parent, ast.Assign) and parent.target is mention.ref and not parent.op
