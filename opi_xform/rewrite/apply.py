"""A plan's edits, applied: the new bytes of every file that changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import (
    Edit,
    InsertStatement,
    LinkName,
    Plan,
    PointerDeclaration,
    ReplaceCall,
    ReplaceText,
    StopOthers,
)
from opi_xform.record import dataclass
from opi_xform.rewrite.declare import declaration_edits, guard_edits, link_edit
from opi_xform.rewrite.header import header_edit
from opi_xform.rewrite.insert import Group, around, inside
from opi_xform.rewrite.left_out import stops
from opi_xform.text.edit import ByteEdit, EditConflict, apply_edits
from opi_xform.text.errors import PlanError
from opi_xform.text.layout import layout_of
from opi_xform.text.lex import SourceText
from opi_xform.text.sources import Sources

_DEFINING = re.compile(rb"^[ \t]*(?:\#|%:|\?\?=)[ \t]*(?:define|undef|include|import|pragma)\b[^\n]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """New contents of the files that change, by their name in ``Sources``; all others stay."""

    changed: Mapping[str, bytes]


def rewrite(plan: Plan, sources: Sources) -> Rewritten:
    """Carries out every edit of ``plan``.

    Equal edits (a header seen by several units) count once.  Raises PlanError when an edit cannot be carried out or two
    edits contradict each other, and OSError when a file cannot be read.
    """
    by_file: dict[str, dict[Edit, None]] = {}
    for edit in plan.edits:
        by_file.setdefault(sources.name(place_of(edit).file), {})[edit] = None
    needs_header = {sources.name(path) for path in plan.needs_header}
    changed = {}
    for name in sorted(by_file.keys() | needs_header):
        before = sources.data(name)
        after = _rewrite_file(
            sources.text(name), list(by_file.get(name, ())), plan.header if name in needs_header else ""
        )
        if after != before:
            changed[name] = after
    return Rewritten(changed)


def obstacle(edit: Edit, sources: Sources) -> str:
    """Why this edit by itself cannot be carried out; '' when it can."""
    try:
        for _ in _byte_edits(sources.text(place_of(edit).file), [edit]):
            pass
    except PlanError as error:
        return error.reason
    except OSError as error:
        return f"the file cannot be read ({error.strerror})"
    return ""


def place_of(edit: Edit) -> Span:
    """The span that names an edit's place."""
    if isinstance(edit, ReplaceCall):
        return edit.callee
    if isinstance(edit, (PointerDeclaration, LinkName)):
        return edit.declarator_name
    if isinstance(edit, InsertStatement):
        return edit.anchor
    return edit.span


def _rewrite_file(text: SourceText, edits: list[Edit], header: str) -> bytes:
    produced = list(_byte_edits(text, edits))
    include = header_edit(text, header) if header else None
    try:
        return apply_edits(text.data, [*([include] if include else []), *(one for _, ones in produced for one in ones)])
    except EditConflict as conflict:
        offset = conflict.offset
        near = min((span for span, _ in produced), key=lambda span: abs(span.begin - offset))
        raise PlanError(near, "two edits contradict each other here") from conflict


def _byte_edits(text: SourceText, edits: list[Edit]) -> Iterator[tuple[Span, list[ByteEdit]]]:
    for place, ones in _edits_of(text, edits):
        for one in ones:
            if any(found[0] not in one.text for found in _DEFINING.finditer(text.data, one.begin, one.end)):
                raise PlanError(place, "a directive in the text that it replaces would be lost")
        yield place, ones


def _edits_of(text: SourceText, edits: list[Edit]) -> Iterator[tuple[Span, list[ByteEdit]]]:
    layout = layout_of(text.data)
    groups = _groups(edits)
    taken = {(group.anchor.begin, group.anchor.end) for group in groups if group.deleted}
    for edit in _neighbours(text, edits, {group.anchor.begin for group in groups}):
        place = place_of(edit)
        if place.end > len(text.data):
            raise PlanError(place, "the file is shorter than when it was read")
        if isinstance(edit, ReplaceCall):
            yield place, list(_call_edits(text, edit))
        elif isinstance(edit, PointerDeclaration):
            yield place, list(declaration_edits(text, edit))
        elif isinstance(edit, LinkName):
            yield place, [link_edit(text, edit), *guard_edits(text, edit)]
        elif isinstance(edit, StopOthers):
            yield place, list(stops(text, edit))
        elif isinstance(edit, ReplaceText) and (edit.span.begin, edit.span.end) not in taken:
            yield place, list(_text_edits(text, edit))
    for group in groups:
        yield group.anchor, list(around(text, layout, group))
    for anchor, begin, end in _blocks(edits):
        yield anchor, list(inside(text, layout, anchor, begin, end))


def _neighbours(text: SourceText, edits: list[Edit], anchors: set[int]) -> Iterator[Edit]:
    """The edits; deleted statements that follow one another on a line as one."""
    run: ReplaceText | None = None
    deleted = [e for e in edits if isinstance(e, ReplaceText) and not e.text and e.span.begin not in anchors]
    yield from (e for e in edits if e not in deleted)
    for edit in sorted(deleted, key=lambda e: e.span.begin):
        if run is not None and text.data[run.span.end - 1 : run.span.end] == b";":
            between = text.data[run.span.end : edit.span.begin]
            if between and not between.strip(b" \t"):
                run = replace(run, span=replace(run.span, end=edit.span.end))
                continue
        if run is not None:
            yield run
        run = edit
    if run is not None:
        yield run


def _call_edits(text: SourceText, edit: ReplaceCall) -> Iterator[ByteEdit]:
    opened = text.after(edit.callee.end)
    if edit.arguments and (text.data[opened : opened + 1] != b"(" or text.close_paren(opened) < 0):
        raise PlanError(edit.callee, "a parenthesis of the call is written by a macro")
    for span, new in ((edit.callee, edit.name), *edit.arguments):
        if not span.editable or text.in_directive(span.begin):
            raise PlanError(span, "the call is written by a macro")
        yield ByteEdit(span.begin, span.end, (), _encode(new))


def _text_edits(text: SourceText, edit: ReplaceText) -> Iterator[ByteEdit]:
    span = edit.span
    if not span.editable or text.in_directive(span.begin):
        raise PlanError(span, "the text is written by a macro")
    if edit.text:
        yield ByteEdit(span.begin, span.end, (), _encode(edit.text))
    else:
        yield _deletion(text, span)


def _deletion(text: SourceText, span: Span) -> ByteEdit:
    """Deletes the span; a statement alone on its lines takes them along, a body or labelled one leaves a ``;``."""
    if text.data[span.end - 1 : span.end] in (b";", b"}"):
        previous = text.before(span.begin).end
        labelled = previous > 0 and text.data[previous - 1 : previous] in (b":", b")")
        if labelled or text.word_before(previous) in (b"else", b"do"):
            return ByteEdit(span.begin, span.end, (), b";")
        line_end = text.line_end(span.end)
        if text.first_on_line(span.begin) and not text.data[span.end : line_end].strip(b" \t"):
            begin, end = text.line_start(span.begin), text.next_line(span.end)
            if not text.data[text.line_start(max(begin - 1, 0)) : begin].strip():  # of two blank lines one is enough
                following = text.next_line(end)
                end = end if text.data[end:following].strip() else following
            return ByteEdit(begin, end)
    end = span.end
    if text.first_on_line(span.begin) or text.data[span.begin - 1 : span.begin] in (b" ", b"\t"):
        while text.data[end : end + 1] in (b" ", b"\t"):
            end += 1
    return ByteEdit(span.begin, end)


def _groups(edits: list[Edit]) -> list[Group]:
    """The insertions before and after statements, by anchor, in plan order."""
    deleted = {(edit.span.begin, edit.span.end) for edit in edits if isinstance(edit, ReplaceText) and not edit.text}
    anchors: dict[tuple[int, int], list[InsertStatement]] = {}
    for edit in edits:
        if isinstance(edit, InsertStatement) and edit.where in ("before", "after"):
            anchors.setdefault((edit.anchor.begin, edit.anchor.end), []).append(edit)
        elif isinstance(edit, InsertStatement) and edit.where not in ("begin", "end"):
            raise PlanError(edit.anchor, f"unknown place of insertion {edit.where!r}")
    return [
        Group(
            inserts[0].anchor,
            tuple(insert.text for insert in inserts if insert.where == "before"),
            tuple(insert.text for insert in inserts if insert.where == "after"),
            any(insert.wrap for insert in inserts),
            key in deleted,
        )
        for key, inserts in anchors.items()
    ]


def _blocks(edits: list[Edit]) -> Iterator[tuple[Span, list[str], list[str]]]:
    """The insertions at the beginning and end of blocks, by block, in plan order."""
    blocks: dict[tuple[int, int], list[InsertStatement]] = {}
    for edit in edits:
        if isinstance(edit, InsertStatement) and edit.where in ("begin", "end"):
            blocks.setdefault((edit.anchor.begin, edit.anchor.end), []).append(edit)
    for inserts in blocks.values():
        begin = [insert.text for insert in inserts if insert.where == "begin"]
        yield inserts[0].anchor, begin, [insert.text for insert in inserts if insert.where == "end"]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
