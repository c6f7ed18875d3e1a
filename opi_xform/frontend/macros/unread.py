"""Files that are included only in text that is left out: they are in no text that is compiled here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property

from opi_xform.file_names import standing
from opi_xform.frontend.clang.libclang import TranslationUnit
from opi_xform.frontend.clang.source import Sources
from opi_xform.frontend.lower.directives import all_lines

Line = tuple[Sequence[str], int, int]
"""The words of a directive, where it begins and where it ends."""


class Unread:
    """Of one unit.  read: each such file that was looked at, as its sha256; what is found depends on these, too."""

    def __init__(self, flags: Sequence[str], unit: TranslationUnit, sources: Sources) -> None:
        """flags: clean ones, with the folders where headers are."""
        self.read: dict[str, str] = {}
        self._near, self._all = _folders(flags)
        self._unit, self._sources = unit, sources

    @cached_property
    def _compiled(self) -> frozenset[str]:
        """Files that are compiled, and whose text counts once however often they are included."""
        guarded = (h for h in self._unit.inclusions()[1:] if self._unit.is_guarded(h))
        return frozenset(self._sources.file(h).path for h in guarded)

    def included(self, path: str, directives: Sequence[Line]) -> list[tuple[str, bytes]]:
        """The files that these directives of a file include, and those that they include, each once."""
        out: dict[str, bytes] = {}
        work = [(path, words) for words, _, _ in directives]
        while work:
            at, words = work.pop()
            for file in self._meant(at, words):
                if file in out or file in self._compiled or not os.path.isfile(file):
                    continue
                try:
                    with open(file, "rb") as stream:
                        data = stream.read()
                except OSError:
                    continue
                out[file], self.read[file] = data, hashlib.sha256(data).hexdigest()
                work += [(file, more) for more, _, _ in all_lines(data)]
        return [*out.items()]

    def _meant(self, path: str, words: Sequence[str]) -> Iterator[str]:
        """Where a file may be that a directive includes; all of these, as flags may be others where it does."""
        name = "".join(words[2:]) if words[1:2] in (["include"], ("include",)) else ""
        quoted = name[:1] == '"'
        if not quoted and name[:1] != "<":
            return
        folders = [os.path.dirname(path), *self._near, *self._all] if quoted else self._all
        for folder in folders:
            yield standing(os.path.join(folder, name[1:-1]))


def _folders(flags: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those for names in quotes alone, and those for all names; those of a system are left out."""
    near: list[str] = []
    everywhere: list[str] = []
    rest = iter(flags)
    for flag in rest:
        for option, found in (("-iquote", near), ("-I", everywhere)):
            if flag.startswith(option):
                found.append(flag.removeprefix(option) or next(rest, ""))
                break
    return near, everywhere
