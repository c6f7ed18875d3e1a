"""Text under a false ``#if`` that names what changes: a private variable, a buffer that converts.

It is no part of the program in this configuration, for which the output is written (soundness.md).  But in
another one it would still compile, and mean the one variable that all ranks share, or a buffer that is gone.  So each
piece of it gets an ``#error``, after the directive that opens it: this configuration does not see it, another one
stops there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from opi_xform.ir.span import Span
from opi_xform.ir.statics import Place, Statics
from opi_xform.ownership.model.plan import StopOthers
from opi_xform.text.edit import ByteEdit
from opi_xform.text.errors import PlanError
from opi_xform.text.lex import COMMENT, DIRECTIVE, LITERAL, Region, SourceText
from opi_xform.text.sources import Sources

_CONDITIONAL = re.compile(rb"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b")


class LeftOut:
    """What the units left out, and where that has to be guarded."""

    def __init__(self, units: Sequence[Statics], sources: Sources) -> None:
        self.sources = sources
        self._naming: dict[str, dict[Place, Span]] = {}
        self._of: list[tuple[frozenset[str], list[Span]]] = []
        for unit in units:
            self._of.append((frozenset(unit.files), [skipped.span for skipped in unit.skipped]))
            for skipped in unit.skipped:
                for word in skipped.identifiers:
                    self._naming.setdefault(word, {})[skipped.span.file, skipped.span.begin] = skipped.span

    def naming(self, name: str) -> tuple[Span, ...]:
        """The text left out that names it."""
        return tuple(self._naming.get(name, {}).values())

    def guards(self, name: str, span: Span, known: Collection[Place]) -> tuple[int, ...] | None:
        """After which directives of the text ``#error`` has to stand; None where that cannot be said.

        known: where the name stands in text that is compiled.  A header that is read twice may have the same text left
        out once and compiled once: what is known there needs no guard, and may have none.
        """
        text = self.sources.text(span.file)
        heads = _heads(text, span)
        mentions: dict[int, list[bool]] = {}
        for at in _mentions(text, name, span):
            head = next((region.end for region in reversed(heads) if region.end <= at), None)
            if head is None:
                return None
            mentions.setdefault(head, []).append((span.file, at) in known)
        guarded = tuple(head for head, compiled in mentions.items() if not all(compiled))
        for head in guarded:
            if any(mentions[head]) or not self._everywhere(span.file, head):
                return None  # another file, or the same one elsewhere, compiles some of it
        return guarded

    def _everywhere(self, file: str, at: int) -> bool:
        """Whether every unit that reads a file leaves out what stands there."""
        return all(
            file not in files or any(span.file == file and span.begin <= at < span.end for span in spans)
            for files, spans in self._of
        )


def stops(text: SourceText, edit: StopOthers) -> Iterator[ByteEdit]:
    """After each directive that opens text with the name, an ``#error``.  Raises PlanError."""
    heads = _heads(text, edit.span)
    places: dict[int, None] = {}
    for at in _mentions(text, edit.name, edit.span):
        head = next((region.end for region in reversed(heads) if region.end <= at), None)
        if head is None:
            raise PlanError(edit.span, "an #error cannot be put there")
        places[head] = None
    if not places and heads:  # a macro names it
        places[heads[0].end] = None
    said = "#error opi-xform did not see this text; run it again with the flags of this configuration"
    line = text.eol + said.encode()
    for at in places:
        if not text.data.startswith(line, at):
            yield ByteEdit(at, at, (3,), line)


def _heads(text: SourceText, span: Span) -> list[Region]:
    """The directives of a range that open and end its pieces, the one that begins it included."""
    begin = text.line_start(span.begin)
    return [
        region
        for region in text.regions
        if region.kind == DIRECTIVE and begin <= region.begin < span.end and _CONDITIONAL.match(text.data, region.begin)
    ]


def _mentions(text: SourceText, name: str, span: Span) -> list[int]:
    """Where the name stands in a range: comments, literals and conditions left out, other directives not."""
    word = re.compile(rb"(?<![\w$])" + re.escape(name.encode("utf-8", "surrogateescape")) + rb"(?![\w$])")
    found = []
    for match in word.finditer(text.data, span.begin, span.end):
        region = text.region_at(match.start())
        if region is None or (region.kind == DIRECTIVE and not _CONDITIONAL.match(text.data, region.begin)):
            found.append(match.start())
        else:
            assert region.kind in (COMMENT, LITERAL, DIRECTIVE)
    return found
