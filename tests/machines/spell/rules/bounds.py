"""Bounds and counts in enumerators, globals, members, functions and macros."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opi_xform.ir import ast
from tests.machines.spell.source import MESSAGES, Change, Edit, Place, Source
from tests.machines.spell.table import rewriting

DEFINED = re.compile(r"^#define (\w+) (\d+)$", re.MULTILINE)
"""A directive is a line of its own: its text is all there is to it."""


@rewriting("bounds")
def define_as_enum(s: Source) -> Iterator[Change]:
    """``#define N 8`` becomes ``enum { N = 8 };``."""
    for file, text in s.texts.items():
        for found in DEFINED.finditer(text):
            if not re.search(r"^#\s*(?:if|elif|undef)", text, re.MULTILINE):
                yield (Edit(file, found.start(), found.end(), f"enum {{ {found[1]} = {found[2]} }};"),)


@rewriting("bounds")
def define_in_two(s: Source) -> Iterator[Change]:
    """``#define N 8`` becomes a macro of another macro in parentheses."""
    for file, text in s.texts.items():
        for found in DEFINED.finditer(text):
            name = s.unused("SIZE")
            new = f"#define {name} {found[2]}\n#define {found[1]} ({name})"
            yield (Edit(file, found.start(), found.end(), new),)


def _counts(s: Source) -> Iterator[Place]:
    """Whole numbers of at least 2 that are bounds of loops or counts of messages."""
    for place in s.places:
        e = place.expr
        if not isinstance(e, ast.IntLit) or e.value < 2 or e.type.spelling != "int" or e.name.startswith("MPI_"):
            continue
        match place.parent:
            case ast.Binary(op="<" | "<=" | "!=", right=right) if right is e and isinstance(place.spot.stmt, ast.For):
                yield place
            case ast.Call(callee=ast.FuncRef(name=name), args=args) if name in MESSAGES:
                if e is args[1] or (name == "MPI_Sendrecv" and e is args[6]):
                    yield place
            case _:
                pass


def _put(s: Source, form: str, use: str, stem: str) -> Iterator[Change]:
    for place in _counts(s):
        name = s.unused(stem)
        first = s.above(place.spot.function, form.format(name=name, value=s.text(place.expr)))
        yield (first, s.edit(place.expr, use.format(name=name)))


@rewriting("bounds")
def count_in_global(s: Source) -> Iterator[Change]:
    """A bound or count becomes a static variable that nothing changes."""
    yield from _put(s, "static int {name} = {value};", "{name}", "count")


@rewriting("bounds")
def count_in_constant(s: Source) -> Iterator[Change]:
    """A bound or count becomes a static constant."""
    yield from _put(s, "static const int {name} = {value};", "{name}", "count")


@rewriting("bounds")
def count_in_member(s: Source) -> Iterator[Change]:
    """A bound or count becomes the member of a static struct."""
    form = "static struct {{ int unused, n; }} {name} = {{ 0, {value} }};"
    yield from _put(s, form, "{name}.n", "settings")


@rewriting("bounds")
def count_in_enum(s: Source) -> Iterator[Change]:
    """A bound or count becomes an enumerator."""
    yield from _put(s, "enum {{ {name} = {value} }};", "{name}", "COUNT")


@rewriting("bounds")
def count_in_macro(s: Source) -> Iterator[Change]:
    """A bound or count becomes a macro."""
    yield from _put(s, "#define {name} ({value})", "{name}", "COUNT")


@rewriting("bounds")
def count_in_function(s: Source) -> Iterator[Change]:
    """A bound or count becomes the result of a function."""
    yield from _put(s, "static int {name}(void)\n{{\n    return {value};\n}}", "{name}()", "count")


@rewriting("bounds")
def count_in_local(s: Source) -> Iterator[Change]:
    """A bound or count becomes a local of the function."""
    for place in _counts(s):
        name, body = s.unused("count"), place.spot.function.body
        at = body.span.begin + 1
        first = Edit(s.file(body.span), at, at, f" int {name} = {s.text(place.expr)};")
        yield (first, s.edit(place.expr, name))


@rewriting("bounds")
def count_in_macro_of_place(s: Source) -> Iterator[Change]:
    """The count of a message that is no number becomes a macro for that expression."""
    for spot, call in s.calls(*MESSAGES):
        count = call.args[1]
        if not isinstance(count, ast.IntLit):
            name = s.unused("COUNT")
            first = s.above(spot.function, f"#define {name} ({' '.join(s.text(count).split())})")
            yield (first, s.edit(count, name))


@rewriting("bounds")
def count_in_size(s: Source) -> Iterator[Change]:
    """A bound or count becomes a static ``size_t``."""
    for change in _put(s, "static const size_t {name} = {value};", "{name}", "count"):
        yield (*change, *s.including(change[0].file, "stddef.h"))


@rewriting("bounds")
def length_by_sizeof(s: Source) -> Iterator[Change]:
    """The count of a message that has all of an array becomes ``sizeof a / sizeof a[0]``."""
    for _, call in s.calls(*MESSAGES):
        buffer, count = call.args[0], call.args[1]
        match buffer, count:
            case ast.VarRef(type=type_), ast.IntLit(value=n) if type_.is_array and type_.count == n:
                if type_.elem is not None and type_.elem.is_scalar:
                    a = s.text(buffer)
                    yield (s.edit(count, f"(int)(sizeof {a} / sizeof {a}[0])"),)
            case _:
                pass
