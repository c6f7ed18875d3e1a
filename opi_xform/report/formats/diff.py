"""A unified diff of the transformation, as ``patch -p1`` and ``git apply`` take it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

_AROUND = 3  # lines of context
_MOST = 1_000_000  # pairs of lines that are compared once more
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
        out += (b"--- " + _quoted(b"a/" + name) + b"\n", b"+++ " + _quoted(b"b/" + name) + b"\n")
        lines = _hunks(_lines(before), _lines(after))
        out.extend(line if line.endswith(b"\n") else line + _NO_NEWLINE for line in lines)
    return b"".join(out)


class _Matcher(SequenceMatcher[bytes]):
    """In a long file difflib takes frequent lines for noise: what it says is replaced is compared again."""

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        super().__init__(None, old, new)
        self.old, self.new = old, new

    def get_opcodes(self) -> list[tuple[str, int, int, int, int]]:  # type: ignore[override]
        out: list[tuple[str, int, int, int, int]] = []
        for code in super().get_opcodes():
            kind, i, j, k, m = code
            if kind != "replace" or (j - i) * (m - k) > _MOST:
                out.append(code)
                continue
            inner = SequenceMatcher(None, self.old[i:j], self.new[k:m], autojunk=False)
            out += ((what, i + a, i + b, k + c, k + d) for what, a, b, c, d in inner.get_opcodes())
        return out


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[bytes]:
    for group in _Matcher(old, new).get_grouped_opcodes(_AROUND):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n".encode()
        for kind, i, j, k, m in group:
            if kind == "equal":
                yield from (b" " + line for line in old[i:j])
                continue
            yield from (b"-" + line for line in old[i:j])
            yield from (b"+" + line for line in new[k:m])


def _range(start: int, stop: int) -> str:
    """As ``diff -u`` has it: one line without a length, none after the line before."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _quoted(name: bytes) -> bytes:
    """A name with white space ends in a tab, which tells patch where it ends."""
    return name + b"\t" if b" " in name else name


def _lines(data: bytes) -> list[bytes]:
    """Lines with their LF: ``bytes.splitlines`` would also split at CR and form feed."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])
