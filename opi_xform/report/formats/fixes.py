"""The edits and the sites that stay, in the YAML that clang-tidy exports and clang-apply-replacements applies.

All edits of a program belong to one diagnostic: a part of them alone would be wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from os.path import abspath

from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.record import dataclass


class FixesError(Exception):
    """An edit cannot be told in YAML; ``file`` has it."""

    def __init__(self, file: str) -> None:
        super().__init__("an edit beside bytes that are no UTF-8 cannot be written as YAML; use --diff")
        self.file = file


@dataclass(frozen=True, slots=True)
class Replacement:
    """``length`` bytes from ``offset`` become ``text``."""

    offset: int
    length: int
    text: bytes


def replacements(before: bytes, after: bytes) -> list[Replacement]:
    """The edits that turn ``before`` into ``after``: apart from one another, in order, each within lines."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            found.append(_trimmed(starts[a], b"".join(old[a:b]), b"".join(new[c:d])))
    return found


def _trimmed(offset: int, old: bytes, new: bytes) -> Replacement:
    """Without what both begin and end with; never cut inside a character."""
    head = _common(old, new)
    while head and _inside(old, head):
        head -= 1
    rest = min(len(old), len(new)) - head
    tail = min(_common(old[::-1], new[::-1]), rest)
    while tail and (_inside(old, len(old) - tail) or _inside(new, len(new) - tail)):
        tail -= 1
    return Replacement(offset + head, len(old) - head - tail, new[head : len(new) - tail])


def _common(a: bytes, b: bytes) -> int:
    """How many bytes both begin with."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _inside(data: bytes, at: int) -> bool:
    """A character of several bytes goes on at ``at``."""
    return at < len(data) and data[at] & 0xC0 == 0x80


def export(plan: Plan, changed: Mapping[str, bytes], main: str, data: Callable[[str], bytes], summary: str) -> str:
    """The YAML.  changed: new contents by file; main: the first source; data: a file's bytes; summary: of the edits.

    Raises FixesError.
    """
    lines = ["---", f"MainSourceFile: {_text(abspath(main))}", "Diagnostics:"]
    edits = [(file, edit) for file in sorted(changed) for edit in replacements(data(file), changed[file])]
    if edits:
        lines += _diagnostic("opi-ownership-passing", summary, edits[0][0], edits[0][1].offset, edits, (), "Warning")
    for site in (decision for decision in plan.decisions if decision.decision == "keep"):
        message = f"{site.call} of {site.buffer} stays: {site.code} {site.message}"
        lines += _diagnostic(f"opi-{site.code}", message, site.span.file, site.span.begin, (), _placed(site), "Remark")
    if len(lines) == 3:
        lines[-1] += " []"
    return "\n".join([*lines, "...", ""])


def _placed(site: Decision) -> Sequence[Note]:
    return [note for note in site.notes if note.span.file]


def _diagnostic(
    name: str,
    message: str,
    file: str,
    offset: int,
    edits: Iterable[tuple[str, Replacement]],
    notes: Sequence[Note],
    level: str,
) -> list[str]:
    lines = [f"  - DiagnosticName: {_text(name)}", "    DiagnosticMessage:"]
    lines += _message("      ", message, file, offset)
    told = list(edits)
    lines.append("      Replacements:" + ("" if told else " []"))
    for target, edit in told:
        try:
            text = edit.text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FixesError(target) from error
        lines += [
            f"        - FilePath: {_text(abspath(target))}",
            f"          Offset: {edit.offset}",
            f"          Length: {edit.length}",
            f"          ReplacementText: {_text(text)}",
        ]
    if notes:
        lines.append("    Notes:")
    for note in notes:
        first, *rest = _message("        ", note.message, note.span.file, note.span.begin)
        lines += [f"      - {first.strip()}", *rest, "        Replacements: []"]
    return [*lines, f"    Level: {level}"]


def _message(indent: str, message: str, file: str, offset: int) -> list[str]:
    return [
        f"{indent}Message: {_text(' '.join(message.split()))}",
        f"{indent}FilePath: {_text(abspath(file))}",
        f"{indent}FileOffset: {offset}",
    ]


def _text(text: str) -> str:
    """A double-quoted scalar: what JSON escapes, YAML reads alike."""
    return json.dumps(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), ensure_ascii=False)
