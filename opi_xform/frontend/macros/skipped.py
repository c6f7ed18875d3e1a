"""Text under a false ``#if``, and the names in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from opi_xform.frontend.clang.libclang import TranslationUnit
from opi_xform.frontend.clang.source import PRECOMPILED, Sources, tokens
from opi_xform.frontend.lower.directives import all_lines, lines
from opi_xform.frontend.macros.deciding import Deciding
from opi_xform.frontend.macros.unread import Line, Unread
from opi_xform.ir.ast import Skipped

_NEVER = re.compile(rb"#[ \t]*if[ \t]+0[ \t]*(?:\r?\n|//|/\*)")
_OTHER = re.compile(rb"^[ \t]*#[ \t]*(?:elif|else)\b", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_SPLICE = re.compile(rb"\\[ \t]*\r?\n")
_PARAMS = re.compile(
    rb"\A(?:@)*#(?:@)*define\b(?:@)*([^\s()]+)(\([^()]*\))".replace(b"@", rb"\s|\\\r?\n|/\*(?s:.*?)\*/")
)
"""After the word that is the macro's name, with no space; what a comment behind it says of a name is none."""

_FURTHER = 64  # arguments in the place of `...`


def skipped_ranges(unit: TranslationUnit, sources: Sources, unread: Unread, never: bool = False) -> tuple[Skipped, ...]:
    """Skipped ranges of non-system files, in file order.  unread: what only they include is read.

    Plain ``#if 0 … #endif``, which nobody compiles, is among them with ``never`` only.
    """
    found: dict[tuple[str, int], Skipped] = {}
    known: dict[tuple[str, int, int], Skipped] = {}  # a header that is included again is left out from guard to guard
    dropped: _Dropped | None = None
    deciding: Deciding | None = None
    for begin, end in unit.skipped():
        if begin.raw >= PRECOMPILED:
            continue
        file, first = sources.locate(begin.raw)
        _, last = sources.locate(end.raw)
        if file is None or file.system or last <= first:
            continue
        if (file.path, first, last) in known:
            found[(file.path, first)] = known[file.path, first, last]
            continue
        line_begin = file.data.rfind(b"\n", 0, first) + 1
        written = file.data[line_begin:last]
        nobody = bool(_NEVER.match(written.lstrip())) and not _OTHER.search(written)
        if nobody and not never:
            continue
        words: set[str] = set()
        text = _SPLICE.sub(b"", file.data[first:last])
        for a, b, kind in tokens(text, 0, len(text)):
            if kind == "word":
                words |= _words(text[a:b])
        if deciding is None:
            files = [sources.file(handle) for handle in unit.inclusions()]
            texts = {f.path: f.data for f in files if not f.system}
            deciding = Deciding(texts)
            dropped = _Dropped([*texts.values()], _stretches(unit, sources))
        at = line_begin + len(file.data[line_begin:last]) - len(file.data[line_begin:last].lstrip(b" \t"))
        ways = [at, *_further(file.data, at, last)]
        own = all(deciding.own(file.data, way) for way in ways)
        assert dropped is not None
        inside = [*lines(file.data, first, last)]
        others = [data for _, data in unread.included(file.path, inside)]
        words = words.union(*map(_all_words, others))
        given = dropped.by(line for found_lines in (inside, *map(all_lines, others)) for line in found_lines)
        meant = deciding.meant(words | given)
        certain = nobody or all(deciding.by_flags(file.data, way) for way in ways)
        bodies = _bodies(file.data, inside).union(given, *map(_all_bodies, others))
        span = file.span(first, last, False)
        skipped = Skipped(span, meant, own, nobody, certain, deciding.meant(bodies))
        known[file.path, first, last] = found[(file.path, first)] = skipped
    return tuple(found[k] for k in sorted(found))


def _further(data: bytes, at: int, last: int) -> Iterator[int]:
    """Where other ways of the same ``#if`` begin in the text that is left out from its first way on."""
    depth = 0
    for words, begin, end in lines(data, at, last):
        kind = words[1] if len(words) > 1 else ""
        if kind in ("if", "ifdef", "ifndef"):
            depth += 1
        elif begin == at:
            depth = 1
        elif kind == "endif":
            depth -= 1
        elif kind in ("elif", "elifdef", "elifndef") and depth == 1 and end < last:
            yield begin


class _Dropped:
    """What calls of macros leave out: the words of arguments that a definition does not use (``#define LOG(x)``)."""

    def __init__(self, texts: Sequence[bytes], left_out: Collection[tuple[bytes, int, int]]) -> None:
        """left_out: stretches of these texts that are not compiled."""
        self.texts = texts
        self.left_out: dict[bytes, list[tuple[int, int]]] = {}
        for data, first, last in left_out:
            self.left_out.setdefault(data, []).append((first, last))
        self.unused: dict[str, set[int]] | None = None

    def by(self, directives: Iterable[Line]) -> set[str]:
        """Those of macros that some text defines in another way."""
        named = {words[2] for words, _, _ in directives if len(words) > 3 and words[1] == "define"}
        if not named:
            return set()
        if self.unused is None:
            self.unused = {}
            for text in self.texts:
                for words, begin, end in all_lines(text):
                    if len(words) > 2 and words[1] == "define" and not self.out(text, begin):
                        unused = _unused(words, text[begin:end])
                        if unused:
                            self.unused.setdefault(words[2], set()).update(unused)
        wanted = {name.encode(): self.unused[name] for name in named & self.unused.keys()}
        if not wanted:
            return set()
        return {word for text in self.texts for at, word in _arguments(text, wanted) if not self.out(text, at)}

    def out(self, data: bytes, at: int) -> bool:
        return any(first <= at < last for first, last in self.left_out.get(data, ()))


def _stretches(unit: TranslationUnit, sources: Sources) -> list[tuple[bytes, int, int]]:
    """All text of a unit that is not compiled."""
    out = []
    for begin, end in unit.skipped():
        if begin.raw < PRECOMPILED:
            file, first = sources.locate(begin.raw)
            _, last = sources.locate(end.raw)
            if file is not None:
                out.append((file.data, first, last))
    return out


def _unused(words: Sequence[str], text: bytes) -> set[int]:
    """The parameters that a definition does not use, by their place; that of further ones counts for all after it."""
    params = _params(words[2], text)
    if params is None:
        return set()
    body = set(_WORD.findall(" ".join(words[words.index(")") + 1 :])))
    names = [name.strip() for name in params[1:-1].decode("utf-8", "replace").split(",")]
    out = set()
    for i, name in enumerate(names):
        meant = "__VA_ARGS__" if name == "..." else name.removesuffix("...").strip()
        if meant and meant not in body:
            out |= set(range(i, i + _FURTHER)) if name.endswith("...") else {i}
    return out


def _arguments(data: bytes, wanted: Mapping[bytes, set[int]]) -> Iterator[tuple[int, str]]:
    """The words in these arguments of calls of these macros, each with the place of the call."""
    found = [(a, data[a:b], kind) for a, b, kind in tokens(data, 0, len(data)) if kind != "space"]
    for k, (at, name, kind) in enumerate(found[:-1]):
        if kind != "word" or name not in wanted or found[k + 1][1] != b"(":
            continue
        depth, place = 0, 0
        for _, word, what in found[k + 1 :]:
            depth += (word == b"(") - (word == b")")
            if depth == 0:
                break
            if word == b"," and depth == 1:
                place += 1
            elif what == "word" and place in wanted[name]:
                yield at, word.decode("utf-8", "replace")


def _params(name: str, text: bytes) -> bytes | None:
    """The parameters of a macro with their parentheses.  text: begins with its definition."""
    found = _PARAMS.search(text)
    return found[2] if found is not None and found[1] == name.encode() else None


def _bodies(data: bytes, directives: Iterable[Line]) -> set[str]:
    """The words in what macros are defined as, but for the names of their parameters."""
    out: set[str] = set()
    for words, begin, end in directives:
        if len(words) > 2 and words[1] == "define":
            named = set(_WORD.findall(" ".join(words[3:])))
            params = _params(words[2], data[begin:end])
            out |= named - (_words(params) if params is not None else set())
    return out


@lru_cache(maxsize=64)
def _all_bodies(data: bytes) -> frozenset[str]:
    """Those of a whole file, which many texts that are left out may include."""
    return frozenset(_bodies(data, all_lines(data)))


@lru_cache(maxsize=64)
def _all_words(data: bytes) -> frozenset[str]:
    return frozenset(_words(_SPLICE.sub(b"", data)))


def _words(text: bytes) -> set[str]:
    return set(_WORD.findall(text.decode("utf-8", "replace")))
