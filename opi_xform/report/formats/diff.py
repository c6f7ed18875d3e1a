"""A unified diff of the transformation, as ``patch -p1`` and ``git apply`` take it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_NO_NEWLINE = b"\n\\ No newline at end of file\n"


def unified_diff(files: Iterable[tuple[str, bytes, bytes]]) -> bytes:
    """The diff of (path, before, after) triples; equal files leave no trace.

    Paths are shown as ``a/path`` and ``b/path``; bytes of any encoding and any line end come through unchanged.
    """
    out: list[bytes] = []
    for path, before, after in files:
        if before == after:
            continue
        name = path.lstrip("/").encode("utf-8", "surrogateescape")
        lines = difflib.diff_bytes(
            difflib.unified_diff, _lines(before), _lines(after), _quoted(b"a/" + name), _quoted(b"b/" + name)
        )
        out.extend(line if line.endswith(b"\n") else line + _NO_NEWLINE for line in lines)
    return b"".join(out)


def _quoted(name: bytes) -> bytes:
    """A name with white space ends in a tab, which tells patch where it ends."""
    return name + b"\t" if b" " in name else name


def _lines(data: bytes) -> list[bytes]:
    """Lines with their LF: ``bytes.splitlines`` would also split at CR and form feed."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])
