"""Baselines: what was known of a program's sites, so that ``--check`` tells what got worse.

A site is known again by what it is, not by its line: the function, the call, the buffer, the text of the call.  Moving
code about, reformatting it or writing comments changes none of these.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any

from opi_xform.file_names import standing
from opi_xform.ownership.model.plan import Decision
from opi_xform.record import dataclass
from opi_xform.text.lex import COMMENT, SourceText

VERSION = 1
_KEYS = ("fingerprint", "file", "function", "call", "side", "buffer", "text", "decision", "code")
_DIGITS = 16


class BaselineError(Exception):
    """A file is no baseline; the message says what is wrong with it and what to do."""


@dataclass(frozen=True, slots=True)
class KnownSite:
    """A site without its lines.  ``text``: a digest of the call as written, without comments and white space.

    ``fingerprint``: a digest of all but ``decision`` and ``code``, and of which one it is among equals.
    """

    fingerprint: str
    file: str
    function: str
    call: str
    side: str
    buffer: str
    text: str
    decision: str
    code: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The sites in source order; ``accepted``: fingerprints of findings about comments; how they were analysed."""

    sites: tuple[KnownSite, ...] = ()
    accepted: tuple[str, ...] = ()
    strict: bool = False


def know(
    decisions: Iterable[Decision], named: Callable[[str], str], data: Callable[[str], bytes]
) -> tuple[KnownSite, ...]:
    """The sites of a plan.  ``named``: a file's name as a baseline writes it; ``data``: a file's contents."""
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for decision in decisions:
        file = named(decision.span.file)
        span = decision.span
        written = digest(_tokens(data(span.file)[span.begin : span.end]))
        own = (file, decision.function, decision.call, decision.side, _squeezed(decision.buffer), written)
        mark = digest("\0".join((*own, str(seen[own]))).encode("utf-8", "surrogateescape"))
        seen[own] += 1
        found.append(KnownSite(mark, *own, decision.decision, decision.code))
    return tuple(found)


def digest(data: bytes) -> str:
    """A short name for bytes."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def recognise(now: Sequence[KnownSite], before: Sequence[KnownSite]) -> dict[int, KnownSite]:
    """Which site of ``before`` each of ``now`` (by index) is; a site that was not there has no entry.

    The surest likeness first: nothing changed; other arguments; in another file; in another function.  Of several
    equal ones the first is the first.
    """
    alike: tuple[Callable[[KnownSite], tuple[str, ...]], ...] = (
        lambda s: (s.fingerprint,),
        lambda s: (s.file, s.function, s.call, s.side, s.buffer),
        lambda s: (s.function, s.call, s.side, s.buffer),
        lambda s: (s.call, s.side, s.buffer, s.text),
    )
    found: dict[int, KnownSite] = {}
    left = list(range(len(before)))
    for likeness in alike:
        waiting: dict[tuple[str, ...], deque[int]] = {}
        for old in left:
            waiting.setdefault(likeness(before[old]), deque()).append(old)
        for index, site in enumerate(now):
            same = waiting.get(likeness(site))
            if index not in found and same:
                found[index] = before[same.popleft()]
        left = sorted(old for olds in waiting.values() for old in olds)
    return found


@dataclass(frozen=True, slots=True)
class Worse:
    """A kept site, by index, that is new or used to convert (``before``)."""

    index: int
    before: str = ""


def worse(now: Sequence[KnownSite], before: Sequence[KnownSite]) -> list[Worse]:
    """What got worse, in source order: sites that used to convert and stay now, and kept sites that are new."""
    known = recognise(now, before)
    found = []
    for index, site in enumerate(now):
        old = known.get(index)
        if site.decision == "keep" and (old is None or old.decision == "convert"):
            found.append(Worse(index, old.decision if old else ""))
    return found


def better(now: Sequence[KnownSite], before: Sequence[KnownSite]) -> int:
    """How many sites convert that did not: until the baseline is written again, nobody hears if they stay once more."""
    known = recognise(now, before)
    return sum(
        site.decision == "convert" and (old is None or old.decision == "keep")
        for site, old in ((site, known.get(index)) for index, site in enumerate(now))
    )


def baseline_name(file: str) -> Callable[[str], str]:
    """How a baseline in ``file`` writes names: relative to its own directory, with ``/``."""
    folder = os.path.dirname(os.path.realpath(file))
    return lambda path: os.path.relpath(standing(path), folder).replace(os.sep, "/")


def write(baseline: Baseline) -> bytes:
    """A baseline as JSON, one site a line so that version control shows what changed."""
    lines = [json.dumps({key: getattr(site, key) for key in _KEYS}) for site in baseline.sites]
    sites = "".join(f"\n    {line}{',' if i + 1 < len(lines) else ''}" for i, line in enumerate(lines))
    return (
        f'{{\n  "version": {VERSION},\n  "strict": {json.dumps(baseline.strict)},\n'
        f'  "sites": [{sites}{chr(10) + "  " if lines else ""}],\n'
        f'  "accepted": {json.dumps(list(baseline.accepted))}\n}}\n'
    ).encode("ascii")


def read(data: bytes) -> Baseline:
    """What :func:`write` wrote.  Raises BaselineError."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"is no baseline ({error}); --write-baseline makes one") from error
    if not isinstance(value, dict) or "version" not in value:
        raise BaselineError("is no baseline; --write-baseline makes one")
    if value["version"] != VERSION:
        raise BaselineError(f"is a baseline of version {value['version']!r}, not {VERSION}; write it again")
    return _Reader(value).baseline()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes a baseline's object apart, and trusts none of it."""

    value: dict[str, Any]
    wrong: BaselineError = field(default_factory=lambda: BaselineError("is a damaged baseline; write it again"))

    def baseline(self) -> Baseline:
        sites, accepted, strict = (self.value.get(key) for key in ("sites", "accepted", "strict"))
        known = set(self.value) == {"version", "strict", "sites", "accepted"}
        if not known or not isinstance(sites, list) or not isinstance(strict, bool) or not self._words(accepted):
            raise self.wrong
        return Baseline(tuple(self._site(site) for site in sites), tuple(accepted or ()), strict)

    def _site(self, value: object) -> KnownSite:
        if not isinstance(value, dict) or set(value) != set(_KEYS) or not self._words(list(value.values())):
            raise self.wrong
        if value["decision"] not in ("convert", "keep"):
            raise self.wrong
        return KnownSite(**value)

    @staticmethod
    def _words(value: object) -> bool:
        return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _tokens(data: bytes) -> bytes:
    """Code without comments; of white space nothing is left but what parts two words."""
    pieces, at = [], 0
    for region in SourceText(data).regions:
        if region.kind == COMMENT:
            pieces.append(data[at : region.begin])
            at = region.end
    pieces.append(data[at:])
    out = bytearray()
    for word in b" ".join(pieces).split():
        if out[-1:].isalnum() and word[:1].isalnum():
            out += b" "
        out += word
    return bytes(out)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
