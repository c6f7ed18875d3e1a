"""Comments that tell what a person expects of a call, for ``--check``.

``/* opi: expect give */`` and ``/* opi: expect take */`` at a call: its send, its receive must convert.
``/* opi: allow OPI101 */`` at a call: it is known to stay for that reason; unused as soon as it does not.
``/* opi: match NAME */`` at a send and at the receive that its messages meet: a channel (``channels``).
A comment belongs to the statement on its line, or, on a line of its own, to the statement that follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from opi_xform.ownership.model.plan import Decision
from opi_xform.record import dataclass
from opi_xform.text.lex import COMMENT, Region, SourceText
from opi_xform.text.sources import Sources

_OPI = re.compile(rb"(?:/\*+|//)\s*opi:\s*(.*?)\s*(?:\*/)?\s*\Z", re.DOTALL)
_SIDES = {"give": "send", "take": "recv"}
_OTHER = {"send": "receive", "recv": "send"}
_CHANNEL = re.compile(r"[A-Za-z_][\w.-]*")
DISJOINT = re.compile(r"disjoint\(([A-Za-z_]\w*,[A-Za-z_]\w*)\)")
PACKED = re.compile(r"packed\(([A-Za-z_][\w.>-]*)\)")


@dataclass(frozen=True, slots=True)
class Annotation:
    """``verb`` and ``word`` of one comment, and the bytes ``[begin, end)`` of the statement it belongs to."""

    file: str
    line: int
    verb: str
    word: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """An annotation that does not hold, and why."""

    annotation: Annotation
    message: str


def find_annotations(file: str, data: bytes) -> Iterator[Annotation]:
    """All ``opi:`` comments of a file."""
    if b"opi:" not in data:
        return
    text = SourceText(data)
    for region in text.regions:
        match = _OPI.match(data[region.begin : region.end]) if region.kind == COMMENT else None
        if match is None:
            continue
        words = match.group(1).decode("utf-8", "replace").split()
        line = data.count(b"\n", 0, region.begin) + 1
        verb, word = [*words, ""][0], "".join(words[1:]) if words[:1] == ["assume"] else [*words, "", ""][1]
        begin, end = _statement(text, region)
        yield Annotation(file, line, verb, word, begin, end)


def judge(
    annotations: Sequence[Annotation],
    decisions: Sequence[Decision],
    sources: Sources,
    diagnostics: Sequence[Decision] = (),
) -> Iterator[Verdict]:
    """The annotations that are unmet, unused or not understood, in order.  diagnostics: what the analysis says."""
    said = {(sources.name(d.span.file), d.span.line): d.message for d in diagnostics if d.code == "OPI908"}
    by_file: dict[str, list[Decision]] = {}
    for decision in decisions:
        by_file.setdefault(sources.name(decision.span.file), []).append(decision)
    found = [(a, [d for d in by_file.get(a.file, ()) if a.begin <= d.span.begin < a.end]) for a in annotations]
    sides: dict[str, set[str]] = {}
    for annotation, here in found:
        if annotation.verb == "match":
            sides.setdefault(annotation.word, set()).update(d.side for d in here)
    for annotation, here in found:
        message = _judge(annotation, here)
        if annotation.verb == "match":
            message = _unmatched(annotation.word, here, sides[annotation.word])
        if not message and annotation.verb in ("keep", "assume"):
            message = said.get((annotation.file, annotation.line), "")
        if message:
            yield Verdict(annotation, message)


def allowed(annotations: Sequence[Annotation], decisions: Sequence[Decision], sources: Sources) -> frozenset[int]:
    """Which sites, by index, stay for a reason that a comment at them allows."""
    by_file: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        if annotation.verb == "allow":
            by_file.setdefault(annotation.file, []).append(annotation)
    return frozenset(
        index
        for index, decision in enumerate(decisions)
        if decision.decision == "keep"
        and any(
            a.word == decision.code and a.begin <= decision.span.begin < a.end
            for a in by_file.get(sources.name(decision.span.file), ())
        )
    )


def _judge(annotation: Annotation, here: Iterable[Decision]) -> str:
    verb, word = annotation.verb, annotation.word
    if verb == "expect" and word in _SIDES:
        sites = [decision for decision in here if decision.side == _SIDES[word]]
        kept = next((decision for decision in sites if decision.decision != "convert"), None)
        if not sites:
            what = "send" if word == "give" else "receive"
            return f"`expect {word}`: no {what} stands here; move the comment to one or remove it"
        if kept is not None:
            return f"`expect {word}` is unmet: {kept.call} of {kept.buffer} stays, {kept.code} {kept.message}"
        return ""
    if verb == "allow" and re.fullmatch(r"OPI\d{3}", word):
        if any(decision.decision == "keep" and decision.code == word for decision in here):
            return ""
        return f"`allow {word}` is unused: no site here stays for that reason; remove the comment"
    assumed = verb == "assume" and (PACKED.fullmatch(word) or DISJOINT.fullmatch(word))
    if (verb == "keep" and not word) or assumed or verb == "match":
        return ""  # whether it applies is for the analysis to say
    said = f"{verb} {word}".strip()
    return (
        f"`opi: {said}` is not understood; "
        "use `expect give`, `expect take`, `allow CODE`, `keep`, `match NAME`, `assume packed(buffer)` "
        "or `assume disjoint(pointer, pointer)`"
    )


def _unmatched(name: str, here: Sequence[Decision], sides: set[str]) -> str:
    """Why a ``match`` comment says nothing; '' when it does.  sides: of all sites with that name."""
    if not _CHANNEL.fullmatch(name):
        return "`match` needs the name of a channel, as in `match halo`"
    if not here:
        return f"`match {name}`: no send or receive stands here; move the comment to one or remove it"
    if len(sides) < 2:
        return f"`match {name}`: no {_OTHER[here[0].side]} has this name; write the comment there too"
    return ""


def _statement(text: SourceText, comment: Region) -> tuple[int, int]:
    """The bytes of the statement that a comment belongs to, at least; behind code, all statements of its line."""
    last = text.before(comment.begin).end
    leads = text.tail_end(comment.end) is not None or text.data[last - 1 : last] in (b";", b"{", b"}", b"")
    if text.first_on_line(comment.begin) and leads:
        begin = text.after(comment.end)
        return begin, _statement_end(text, begin)
    ended = text.data[last - 1 : last] == b";"
    begin = _statement_begin(text, last - 1 if ended else last)
    return min(begin, text.line_start(comment.begin)), last if ended else _statement_end(text, last)


def _statement_begin(text: SourceText, position: int) -> int:
    """Just after the ``;`` or brace before ``position``, outside comments and literals."""
    while position > 0:
        region = text.region_at(position - 1)
        if region is not None:
            position = region.begin
        elif text.data[position - 1] in b";{}":
            break
        else:
            position -= 1
    return position


def _statement_end(text: SourceText, position: int) -> int:
    """Just after the next ``;`` outside comments and literals."""
    while True:
        found = text.data.find(b";", position)
        if found < 0:
            return len(text.data)
        region = text.region_at(found)
        if region is None:
            return found + 1
        position = region.end
