"""What the words of a command line mean beside options: flags of the compiler, numbers of bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ALONE = ("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")
_FLAG = re.compile(
    r"-(?:[IDU].|isystem.|iquote.|idirafter.|include.|imacros.|std=|[fOWml].|O$|g|w$|L|ansi$|pthread$|pedantic|pipe$|nostdinc)"
)
_BYTES = re.compile(r"(\d+) ?(?:([KMG])(?:iB)?|B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def apart(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words for opi-xform, and those that are plainly flags of a C compiler: ``-Iinclude``, ``-D N=100``."""
    own: list[str] = []
    flags: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _ALONE:
            value = next(rest, None)
            if value is None:
                raise ValueError(f"{word} needs a value")
            flags += [word, value]
        elif _FLAG.match(word):
            flags.append(word)
        else:
            own.append(word)
    return own, flags


def bytes_of(text: str) -> int:
    """``4096``, ``4K``, ``4KiB``, ``1M``: a number of bytes.  Raises ValueError."""
    found = _BYTES.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no number of bytes; write 4096, 4K, 4KiB or 1M")
    return int(found[1]) * _UNITS[(found[2] or "").upper()]
