"""Who decides which text is compiled: the program and who builds it, or a compiler, a system, an MPI.

The latter's macros need not be for libclang what they are for the compiler that builds the program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from opi_xform.frontend.lower.directives import all_lines
from opi_xform.frontend.macros.pasted import Parts, names, pasted

_NAME = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"\w+")
_OPENMP = "_OPENMP"
_VERSION = re.compile(rb"_OPENMP[ \t]*\)?[ \t]*[-+*/%<>=!&|^?]|[-+*/%<>=&|^?][ \t]*\(?[ \t]*_OPENMP")
"""Its number counts."""
_OWN = re.compile(r"(?!_|MPI\w|PMPI|OMPI|OPEN_MPI|MPICH|MVAPICH|OPI_|linux|unix|i386|WIN|APPLE)[A-Za-z]\w*")
"""Names that neither compilers nor systems nor MPIs define."""


@dataclass(slots=True)
class _Text:
    """Of one file.  groups: by the place of a conditional directive: the words in the conditions of its group until
    there.  macros: by name: the words in its definitions, and in the conditions around them.  pasted: by name: the
    names that its definitions paste.  included: other files, by the name that is written, each with the words in the
    conditions around.
    """

    groups: dict[int, frozenset[str]] = field(default_factory=dict)
    macros: dict[str, set[str]] = field(default_factory=dict)
    pasted: dict[str, set[Parts]] = field(default_factory=dict)
    included: list[tuple[str, frozenset[str]]] = field(default_factory=list)


class Deciding:
    """Of the files of one unit that are the program's own."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """files: by path."""
        self.texts: dict[bytes, _Text] = {data: _read(data) for data in files.values()}
        self.include(files)
        self.made: dict[Parts, set[str]] = {}  # what was found to be pasted so
        self.leads: dict[str, set[str]] = {}
        self.foreign: set[str] = set()
        changed = True
        while changed:
            changed = False
            for text in self.texts.values():
                for name, words in text.macros.items():
                    if name not in self.foreign and any(map(self.is_foreign, words)):
                        self.foreign.add(name)
                        changed = True

    def include(self, files: Mapping[str, bytes]) -> None:
        """What decides whether a file is included decides about its macros, too, also where it is not included here."""
        known = dict(files)
        around: dict[str, frozenset[str]] = {}
        work = list(files)
        while work:
            path = work.pop()
            more = around.get(path, frozenset())
            for name, words in self.texts[known[path]].included:
                meant = words | more
                beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if not meant:
                    continue
                if beside not in known and os.path.isfile(beside):
                    with open(beside, "rb") as f:
                        known[beside] = f.read()
                    self.texts.setdefault(known[beside], _read(known[beside]))
                for other in [one for one in known if one == beside or one.endswith("/" + name)]:
                    if not meant <= around.get(other, frozenset()):
                        around[other] = around.get(other, frozenset()) | meant
                        work.append(other)
        for path, words in around.items():
            for name, found in self.texts[known[path]].macros.items():
                found.update(words - {name})

    def is_foreign(self, word: str) -> bool:
        return word in self.foreign or not _OWN.fullmatch(word)

    def meant(self, words: Iterable[str]) -> frozenset[str]:
        """The words, and those of the macros among them, also those that they paste."""
        out = set(words)
        work = list(out)
        while work:
            name = work.pop()
            new = self.next(name) - out
            out |= new
            work += sorted(new)
        return frozenset(out)

    def next(self, name: str) -> set[str]:
        """The words in a macro's definitions, and those that these paste: asked for each text that is left out."""
        if name not in self.leads:
            found = self.leads[name] = set()
            for text in self.texts.values():
                found |= text.macros.get(name, set())
                for parts in text.pasted.get(name, ()):
                    found |= self.pasted(parts)
        return self.leads[name]

    def pasted(self, parts: Parts) -> set[str]:
        """The names in the files that are pasted so.  All of these are gone through, so that is done once."""
        if parts not in self.made:
            self.made[parts] = names(parts, self.names)
        return self.made[parts]

    @cached_property
    def names(self) -> frozenset[str]:
        """All names and numbers in the files."""
        texts = (data.decode("utf-8", "replace") for data in self.texts)
        return frozenset(word for text in texts for word in _WORD.findall(text))

    def own(self, data: bytes, at: int) -> bool:
        """Only macros of the program's own decide about the text after the directive at a place."""
        found = self.texts[data].groups.get(at) if data in self.texts else None
        return found is not None and not any(map(self.is_foreign, found))

    def by_flags(self, data: bytes, at: int) -> bool:
        """Whether there is OpenMP, the same for all compilers, decides alone about the text after a directive.

        Other macros may have other values elsewhere: by headers that only some compilers read, or in another copy of a
        file that is included twice.
        """
        found = self.texts[data].groups.get(at) if data in self.texts else None
        told = any(_OPENMP in text.macros for text in self.texts.values())
        return found == frozenset({_OPENMP}) and not told and not _VERSION.search(data)


def _read(data: bytes) -> _Text:
    out = _Text()
    stack: list[set[str]] = []
    guard = ""  # the macro of an `#ifndef` in the line before
    for words, begin, _ in all_lines(data):
        kind, rest = words[1] if len(words) > 1 else "", words[2:]
        named = {word for word in rest if _NAME.fullmatch(word)} - {"defined"}
        if kind in ("if", "ifdef", "ifndef"):
            stack.append(named)
        elif kind in ("elif", "elifdef", "elifndef") and stack:
            stack[-1] |= named
        elif kind in ("define", "undef") and rest:
            if kind == "define" and rest[0] == guard and stack:
                stack[-1].discard(guard)  # of a header: true the first time
            around = {word for group in stack for word in group} - {rest[0]}
            out.macros.setdefault(rest[0], set()).update(named - {rest[0]}, around)
            out.pasted.setdefault(rest[0], set()).update(pasted(rest))
        elif kind == "include" and rest:
            name = "".join(rest).strip('"<>')
            out.included.append((name, frozenset(word for group in stack for word in group)))
        if kind in ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else") and stack:
            out.groups[begin] = frozenset(stack[-1])
        if kind == "endif" and stack:
            stack.pop()
        guard = rest[0] if kind == "ifndef" and rest else ""
    return out
