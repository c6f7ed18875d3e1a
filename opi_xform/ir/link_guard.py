"""The byte that a converted external variable leaves under its old name, so that no file that was left out links.

``__thread char b_opi_guard __asm__("b") = 0;``.  An undefined name alone would not do: with ``-fcommon`` another file's
``double b[N];`` defines one.  No linker takes a thread's own variable for another one's, be that declared or defined.
In a header it has no initialiser: a file may include one twice that defines its variables without one, too.
"""

from __future__ import annotations

import re

GUARD = "_opi_guard"
"""What the name of a guard ends with, after that of its variable."""

_GUARD = re.compile(
    rb"\b__thread char (\w+)"
    + GUARD.encode()
    + rb" (?P<label>__asm__\(\"\1\"\))(?: __attribute__\(\(weak\)\))?(?: = 0)?;"  # both: in older files
)


def guard_text(name: str, header: bool) -> str:
    """The declaration.  header: it stands in a header, and so in several files."""
    rest = " __attribute__((weak))" if header else " = 0"
    return f'__thread char {name}{GUARD} __asm__("{name}"){rest}; /* no file that still has `{name}` links */'


def in_guard(code: bytes, at: int) -> bool:
    """Whether an asm label or attribute that begins at an offset is a guard's: no second name of anything."""
    near = _GUARD.finditer(code, max(at - 300, 0), at + 300)
    return any(found.start("label") <= at < found.end() for found in near)
