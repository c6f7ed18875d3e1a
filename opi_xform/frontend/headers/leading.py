"""What a file includes before anything else: the system's headers, found also in headers of the program's own.

Read with care rather than completely: whatever is not a comment, an include directive, ``#pragma once`` or the guard
that a header begins with ends it.  What the parser says it included is compared with it (``headers_first``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from opi_xform.file_names import standing
from opi_xform.frontend.clang.source import skip_space
from opi_xform.record import dataclass

_LINE_END = rb"[ \t]*(?=\r?\n|//|/\*|\Z)"
_INCLUDE = re.compile(rb"#[ \t]*include[ \t]*(<[^>\n]+>|\"[^\"\n]+\")" + _LINE_END)
_ONCE = re.compile(rb"#[ \t]*pragma[ \t]+once\b" + _LINE_END)
_GUARD = re.compile(
    rb"#[ \t]*ifndef[ \t]+([A-Za-z_]\w*)[ \t]*\r?\n\s*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)(?:[ \t]+1)?" + _LINE_END
)
_END = re.compile(rb"#[ \t]*endif\b[^\n\\]*\Z|#[ \t]*endif\b[^\n\\]*\n\s*\Z")
_JOINED = (b"\\\n", b"\\\r\n", b"??/")
_MOST = 64
"""Include directives looked at; a file's beginning is shorter."""


@dataclass(frozen=True, slots=True)
class Leading:
    """The beginning of one file.

    system: headers of the system as they are written, in order.  included: what each directive reads: the name of
    a header of the program's own, or '' for the next of ``system``.  guards: macros that these headers define.
    """

    system: tuple[bytes, ...] = ()
    included: tuple[str, ...] = ()
    guards: frozenset[bytes] = frozenset()


@dataclass(slots=True)
class _Open:
    """A file being read."""

    data: bytes
    folder: str
    at: int = 0
    guarded: bool = False


class Reader:
    """Reads beginnings of files compiled with the same flags; ``system``: real folders of the system's headers."""

    def __init__(self, flags: Sequence[str], system: Sequence[str]) -> None:
        self._folders = list(user_folders(flags))
        self._system = tuple(folder.rstrip("/") + "/" for folder in system)
        self._data: dict[str, bytes] = {}

    def read(self, path: str) -> Leading:
        """The beginning of the file; an empty one when it cannot be read."""
        system: list[bytes] = []
        included: list[str] = []
        guards: set[bytes] = set()
        stack = [_Open(self._contents(path), os.path.dirname(path))]
        while stack and len(included) < _MOST:
            current = stack[-1]
            data = current.data
            first = current.at
            current.at = skip_space(data, first)
            if any(joined in data[first : current.at] for joined in _JOINED):
                break  # where a comment ends then takes care to tell
            found = _INCLUDE.match(data, current.at)
            if found is not None:
                current.at = found.end()
                written = found[1]
                own = self._own(written, current.folder)
                if own:
                    if own in included:  # what its guard makes of a second time is not looked at
                        break
                    included.append(own)
                    stack.append(_Open(self._contents(own), os.path.dirname(own)))
                else:
                    included.append("")
                    system.append(written)
                continue
            once = _ONCE.match(data, current.at)
            guard = _GUARD.match(data, current.at) if first == 0 and len(stack) > 1 else None
            if once is not None:
                current.at = once.end()
            elif guard is not None and guard[1] == guard["name"] and guard[1] not in guards:
                guards.add(guard[1])
                current.guarded = True
                current.at = guard.end()
            elif _END.match(data, current.at) if current.guarded else current.at == len(data):
                stack.pop()
            else:
                break
        while included and included[-1]:
            included.pop()
        return Leading(tuple(system), tuple(included), frozenset(guards))

    def _own(self, written: bytes, folder: str) -> str:
        """The name of a header of the program's own, '' for one of the system's."""
        name = os.fsdecode(written[1:-1])
        folders = ([folder] if written.startswith(b'"') else []) + self._folders
        for one in folders:
            path = os.path.join(one, name)
            if os.path.isfile(path):
                name = standing(path)
                return "" if name.startswith(self._system) else name
        return ""

    def _contents(self, path: str) -> bytes:
        found = self._data.get(path)
        if found is None:
            try:
                with open(path, "rb") as file:
                    found = file.read()
            except OSError:
                found = b""
            self._data[path] = found
        return found


def user_folders(flags: Sequence[str]) -> list[str]:
    """The folders in which headers of the program's own are looked for."""
    found: list[str] = []
    rest = iter(flags)
    for flag in rest:
        if flag in ("-I", "-iquote"):
            found.append(next(rest, ""))
        elif flag.startswith("-I"):
            found.append(flag[2:])
        elif flag.startswith("-iquote"):
            found.append(flag[7:])
    return found
