"""Columns for programs that count characters: spans count bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable


class Columns:
    """Places in files, read once each.  ``data``: a file's bytes; raises OSError where there are none."""

    def __init__(self, data: Callable[[str], bytes]) -> None:
        self._data = data
        self._files: dict[str, tuple[bytes, list[int]]] = {}

    def column(self, file: str, line: int, column: int) -> int:
        """The character (from 1) of byte ``column`` of a line; as it is where the file cannot be read."""
        try:
            data, starts = self._file(file)
        except OSError:
            return column
        if not 1 <= line <= len(starts):
            return column
        begin = starts[line - 1]
        return len(data[begin : begin + column - 1].decode("utf-8", "replace")) + 1

    def at(self, file: str, offset: int) -> tuple[int, int]:
        """Line and column, in characters, of the byte ``offset``.  Raises OSError."""
        _, starts = self._file(file)
        line = bisect_right(starts, offset)
        return line, self.column(file, line, offset - starts[line - 1] + 1)

    def _file(self, file: str) -> tuple[bytes, list[int]]:
        if file not in self._files:
            data = self._data(file)
            starts = [0]
            while (found := data.find(b"\n", starts[-1])) >= 0:
                starts.append(found + 1)
            self._files[file] = (data, starts)
        return self._files[file]
