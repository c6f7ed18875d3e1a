"""What only rewritten text used: it is marked, so that a program that compiles without warnings does so afterwards.

The call of a message, or an allocation, may have been the only place where a variable was read (``size_t bytes = ...;
b = malloc(bytes);``).  Its declaration may do something else, and stays: what it says of itself is an attribute, which
changes nothing.  What nothing used before is not touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from opi_xform.frontend import FrontendError
from opi_xform.frontend.parse import UNUSED
from opi_xform.ir.ast import Diagnostic, Unit
from opi_xform.ir.span import Span
from opi_xform.rewrite.selfcheck import Checked, Parse, self_check
from opi_xform.text.edit import ByteEdit, apply_edits
from opi_xform.text.lex import LITERAL, SourceText
from opi_xform.text.sources import Sources

ATTRIBUTE = b"__attribute__((__unused__))"  # a program may have a macro `unused`


def without_warnings(
    flags: Callable[[str], tuple[str, ...]],
    changed: Mapping[str, bytes],
    checked: Checked,
    sources: Sources,
    parse: Parse,
) -> dict[str, bytes]:
    """The new contents by name in ``Sources``, with a mark where something has lost its last use.

    checked: what the self-check found of ``changed``.  Raises OSError when a mirror cannot be written.
    """
    after = Counter((sources.name(d.file), d.message) for d in checked.unused)
    if not after:
        return dict(changed)
    before = Counter((sources.name(d.file), d.message) for d in _unused(flags, checked, parse))
    by_macros = frozenset(name for unit in checked.affected for name in _by_macros(unit))
    places: dict[str, list[Diagnostic]] = {}
    for d in checked.unused:
        known = sources.name(d.file), d.message
        if after[known] > before[known] and known[0] in changed and _thing(d)[1] not in by_macros:
            places.setdefault(known[0], []).append(d)
    marked = {name: _marked(data, places[name]) if name in places else data for name, data in changed.items()}
    if marked == changed or self_check(checked.affected, flags, marked, sources, parse).rejected:
        return dict(changed)
    return marked


def _unused(flags: Callable[[str], tuple[str, ...]], checked: Checked, parse: Parse) -> Iterator[Diagnostic]:
    """What nothing uses in the program as it is."""
    for unit in parse([(unit.path, flags(unit.path)) for unit in checked.affected]):
        if not isinstance(unit, FrontendError):
            yield from (d for d in unit.diagnostics if d.severity == "warning")


def _by_macros(unit: Unit) -> Iterator[str]:
    """Names of what macros declare: their arguments may stand for more than the name."""
    for function in unit.functions.values():
        if _of_macro(function.span):
            yield function.name
        for variable in function.variables.values():
            if any(_of_macro(place) for place in (variable.span, *(d.name_span for d in variable.declarators))):
                yield variable.name


def _of_macro(span: Span) -> bool:
    return not span.editable or span.macro is not None


def _thing(diagnostic: Diagnostic) -> tuple[str, str]:
    """What is unused, and its name."""
    found = UNUSED.fullmatch(diagnostic.message)
    assert found is not None
    what, name = (part for part in found.groups() if part is not None)
    return what, name


def _marked(data: bytes, places: Sequence[Diagnostic]) -> bytes:
    text = SourceText(data)
    starts = [0, *(i + 1 for i, byte in enumerate(data) if byte == 0x0A)]
    edits: list[ByteEdit] = []
    for d in places:
        what, name = _thing(d)
        at = starts[d.line - 1] + d.column - 1
        if text.word_at(at) != name.encode() or text.in_directive(at):
            continue  # a macro has written it
        place = _of_function(text, at) if what == "function" else _of_declarator(text, at + len(name.encode()))
        if place is not None:
            edits.append(ByteEdit(place, place, (), b" " + ATTRIBUTE))
    return apply_edits(data, edits)


def _of_function(text: SourceText, at: int) -> int | None:
    """Where a mark of a function with this name goes: after the word ``static`` of its declaration."""
    while (at := text.before(at).end) > 0:
        word = text.word_before(at)
        if word == b"static":
            return at
        if not word and text.data[at - 1 : at] not in (b"*", b")", b"("):
            return None
        at -= max(len(word), 1)
    return None


def _of_declarator(text: SourceText, at: int) -> int | None:
    """Where a mark of a variable or parameter goes whose name ends here: after its declarator."""
    depth = 0
    while (at := text.after(at)) < len(text.data):
        region = text.region_at(at)
        if region is not None and region.kind == LITERAL:
            at = region.end
            continue
        byte = text.data[at : at + 1]
        if byte in (b"(", b"["):
            depth += 1
        elif byte in (b")", b"]") and depth > 0:
            depth -= 1
        elif depth == 0 and byte in (b"=", b",", b";"):
            return text.before(at).end
        elif byte == b")":  # a parameter's list ends, or a declarator in parentheses, which has more to come
            following = text.data[text.after(at + 1) : text.after(at + 1) + 1]
            return None if following in (b"(", b"[") else text.before(at).end
        elif byte in (b"{", b"}", b"#"):
            return None
        at += 1
    return None
