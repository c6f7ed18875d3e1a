"""Text under a false ``#if``, and the names in it (ANALYSIS.md section 1, trap 5)."""

from __future__ import annotations

import re

from opi_xform.frontend.clang import TranslationUnit
from opi_xform.frontend.deciding import Deciding
from opi_xform.frontend.directives import lines
from opi_xform.frontend.source import PRECOMPILED, Sources, tokens
from opi_xform.ir.ast import Skipped

_NEVER = re.compile(rb"#[ \t]*if[ \t]+0[ \t]*(?:\r?\n|//|/\*)")
_OTHER = re.compile(rb"^[ \t]*#[ \t]*(?:elif|else)\b", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_PARAMS = rb"define\b(?s:.*?)\b%s(\([^()]*\))"
"""Behind the word that is the macro's name, with no space."""


def skipped_ranges(unit: TranslationUnit, sources: Sources, never: bool = False) -> tuple[Skipped, ...]:
    """Skipped ranges of non-system files, in file order.

    Plain ``#if 0 … #endif``, which nobody compiles, is among them with ``never`` only.
    """
    found: dict[tuple[str, int], Skipped] = {}
    deciding: Deciding | None = None
    for begin, end in unit.skipped():
        if begin.raw >= PRECOMPILED:
            continue
        file, first = sources.locate(begin.raw)
        _, last = sources.locate(end.raw)
        if file is None or file.system or last <= first:
            continue
        line_begin = file.data.rfind(b"\n", 0, first) + 1
        written = file.data[line_begin:last]
        nobody = bool(_NEVER.match(written.lstrip())) and not _OTHER.search(written)
        if nobody and not never:
            continue
        words: set[str] = set()
        for a, b, kind in tokens(file.data, first, last):
            if kind == "word":
                words.update(_WORD.findall(file.data[a:b].decode("utf-8", "replace")))
        if deciding is None:
            files = [sources.file(handle) for handle in unit.inclusions()]
            deciding = Deciding(f.data for f in files if not f.system)
        at = line_begin + len(file.data[line_begin:last]) - len(file.data[line_begin:last].lstrip(b" \t"))
        own = deciding.own(file.data, at)
        meant = deciding.meant(words)
        certain = nobody or deciding.by_flags(file.data, at)
        bodies = _bodies(file.data, first, last)
        span = file.span(first, last, False)
        found[(file.path, first)] = Skipped(span, meant, own, nobody, certain, deciding.meant(bodies))
    return tuple(found[k] for k in sorted(found))


def _bodies(data: bytes, first: int, last: int) -> set[str]:
    """The words in what macros are defined as, but for the names of their parameters."""
    out: set[str] = set()
    for words, begin, end in lines(data, first, last):
        if len(words) > 2 and words[1] == "define":
            named = set(_WORD.findall(" ".join(words[3:])))
            params = re.search(_PARAMS % re.escape(words[2].encode()), data[begin:end])
            out |= named - (_words(params[1]) if params is not None else set())
    return out


def _words(text: bytes) -> set[str]:
    return set(_WORD.findall(text.decode("utf-8", "replace")))
