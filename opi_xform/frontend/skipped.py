"""Text under a false ``#if``, and the names in it (ANALYSIS.md section 1, trap 5)."""

from __future__ import annotations

import re

from opi_xform.frontend.clang import TranslationUnit
from opi_xform.frontend.source import PRECOMPILED, Sources, tokens
from opi_xform.ir.ast import Skipped

_NEVER = re.compile(rb"#[ \t]*if[ \t]+0[ \t]*(?:\r?\n|//|/\*)")
_OTHER = re.compile(rb"^[ \t]*#[ \t]*(?:elif|else)\b", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_DIRECTIVE = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b")
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_OWN = re.compile(r"(?!_|MPI|PMPI|OMPI|OPEN_MPI|MPICH|MVAPICH|OPI_|linux|unix|i386|WIN|APPLE)[A-Za-z]\w*")
"""Names that neither compilers nor systems nor MPIs define."""


def skipped_ranges(unit: TranslationUnit, sources: Sources, never: bool = False) -> tuple[Skipped, ...]:
    """Skipped ranges of non-system files, in file order.

    Plain ``#if 0 … #endif``, which nobody compiles, is among them with ``never`` only.
    """
    found: dict[tuple[str, int], Skipped] = {}
    for begin, end in unit.skipped():
        if begin.raw >= PRECOMPILED:
            continue
        file, first = sources.locate(begin.raw)
        _, last = sources.locate(end.raw)
        if file is None or file.system or last <= first:
            continue
        line_begin = file.data.rfind(b"\n", 0, first) + 1
        written = file.data[line_begin:last]
        if not never and _NEVER.match(written.lstrip()) and not _OTHER.search(written):
            continue
        words: set[str] = set()
        for a, b, kind in tokens(file.data, first, last):
            if kind == "word":
                words.update(_WORD.findall(file.data[a:b].decode("utf-8", "replace")))
        own = all(map(_OWN.fullmatch, _deciding(file.data, line_begin)))
        found[(file.path, first)] = Skipped(file.span(first, last, False), frozenset(words), own)
    return tuple(found[k] for k in sorted(found))


def _deciding(data: bytes, at: int) -> list[str]:
    """The words in the conditions of an ``#if`` from the line at ``at``, which is one of its directives, upwards."""
    out: list[str] = []
    depth = 0
    while True:
        end = data.find(b"\n", at)
        while end > 0 and data[end - 1 : end] == b"\\":
            end = data.find(b"\n", end + 1)
        line = data[at : end if end >= 0 else len(data)]
        word = _DIRECTIVE.match(line)
        kind = word.group(1) if word else b""
        if kind == b"endif":
            depth += 1
        elif kind and depth == 0:
            assert word is not None
            text = _COMMENT.sub(b" ", line[word.end() :]).decode("utf-8", "replace")
            out += [name for name in _WORD.findall(text) if name != "defined"]
        if kind.startswith(b"if"):
            if depth == 0:
                return out
            depth -= 1
        if at == 0:
            return ["__no_beginning__"]
        at = data.rfind(b"\n", 0, at - 1) + 1
