"""Whether a use of a macro may make something that is wanted, told by the text of files alone.

A unit without such text need not be parsed again (``macro_uses``).  What cannot be told is taken for such a use: words
in comments, macros with parameters, and bodies with any name in them that is none of the language's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from opi_xform.record import dataclass

_PART = rb"[\w$\x80-\xff]"  # of a name
_NAME = rb"(?!\d)" + _PART + rb"+"
_DEFINE = re.compile(rb"\bdefine(?:[ \t]|\\\r?\n|/\*.*?\*/)+(" + _NAME + rb")(\(?)((?:\\\r?\n|[^\n])*)", re.DOTALL)
_WORD = re.compile(rb"(?<!" + _PART + rb")" + _NAME)
_SPLICED = re.compile(_PART + rb"\\\r?\n" + _PART)  # a word in two lines
_NOT_USED = rb"\b(?:define|undef|ifdef|ifndef|defined)\b[\s(]*"
_LANGUAGE = frozenset(
    b"auto char const double enum extern float inline int long register restrict return short signed sizeof static "
    b"struct union unsigned void volatile".split()
)


@dataclass(frozen=True, slots=True)
class _Macros:
    """makes: macros that a file defines which may make something.  used: such macros of the program that it uses."""

    makes: frozenset[bytes]
    used: frozenset[bytes]
    spliced: bool


class WantedText:
    """Of a program's files, by path.  words: of what is wanted (``Wanted``)."""

    def __init__(self, files: Mapping[str, bytes], words: Collection[str]) -> None:
        found = {path: _DEFINE.findall(data) for path, data in files.items()}
        wanted = {word.encode() for word in words}
        plain = _LANGUAGE - wanted - {name for macros in found.values() for name, _, _ in macros}
        makes = {path: frozenset(_makes(macros, wanted, plain)) for path, macros in found.items()}
        use = _use(frozenset().union(*makes.values()))
        self.files = {
            path: _Macros(makes[path], frozenset(_used(use, data)), _SPLICED.search(data) is not None)
            for path, data in files.items()
        }

    def may_be_in(self, paths: Iterable[str]) -> bool:
        """A unit that reads these files may have a use that is wanted: one of them defines it, one uses it."""
        found = [self.files[path] for path in paths]
        makes = frozenset[bytes]().union(*(one.makes for one in found))
        return any(one.spliced or not makes.isdisjoint(one.used) for one in found)


def _makes(
    macros: Iterable[tuple[bytes, bytes, bytes]], wanted: Collection[bytes], plain: Collection[bytes]
) -> Iterator[bytes]:
    for name, parameters, body in macros:
        if parameters or name in wanted or any(word not in plain for word in _WORD.findall(body)):
            yield name


def _use(names: Iterable[bytes]) -> re.Pattern[bytes] | None:
    """One of these names, after what only asks for it or sets it, or not."""
    some = b"|".join(map(re.escape, sorted(names)))
    if not some:
        return None
    return re.compile(rb"(" + _NOT_USED + rb")?(?<!" + _PART + rb")(" + some + rb")(?!" + _PART + rb")")


def _used(use: re.Pattern[bytes] | None, data: bytes) -> Iterator[bytes]:
    if use is not None:
        yield from (name for before, name in use.findall(data) if not before)
