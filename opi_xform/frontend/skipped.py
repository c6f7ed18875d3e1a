"""Text under a false ``#if``, and the names in it (ANALYSIS.md section 1, trap 5)."""

from __future__ import annotations

import re

from opi_xform.frontend.clang import TranslationUnit
from opi_xform.frontend.deciding import Deciding
from opi_xform.frontend.source import PRECOMPILED, Sources, tokens
from opi_xform.ir.ast import Skipped

_NEVER = re.compile(rb"#[ \t]*if[ \t]+0[ \t]*(?:\r?\n|//|/\*)")
_OTHER = re.compile(rb"^[ \t]*#[ \t]*(?:elif|else)\b", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+\w+(\([^()]*\))?((?:[^\\\n]|\\\r?\n|\\.)*)",
    re.MULTILINE,
)


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
        bodies: set[str] = set()
        for params, body in _DEFINE.findall(file.data, first, last):
            bodies |= _words(body) - _words(params)
        span = file.span(first, last, False)
        found[(file.path, first)] = Skipped(span, meant, own, nobody, certain, deciding.meant(bodies))
    return tuple(found[k] for k in sorted(found))


def _words(text: bytes) -> set[str]:
    return set(_WORD.findall(text.decode("utf-8", "replace")))
