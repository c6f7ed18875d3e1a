"""The files of a run: one name and one content per real file, however it is spelled in spans."""

from __future__ import annotations

from collections.abc import Callable

from opi_xform.file_names import standing
from opi_xform.text.lex import SourceText


class Sources:
    """Reads each file once, as bytes.  Names are where they stand (``standing``)."""

    def __init__(self, read: Callable[[str], bytes] | None = None) -> None:
        self._read = read or _read_file
        self._names: dict[str, str] = {}
        self._data: dict[str, bytes] = {}
        self._texts: dict[str, SourceText] = {}

    def name(self, path: str) -> str:
        """The name under which ``path`` is known here."""
        known = self._names.get(path)
        if known is None:
            known = self._names[path] = standing(path)
        return known

    def data(self, path: str) -> bytes:
        """The bytes of the file.  Raises OSError."""
        name = self.name(path)
        if name not in self._data:
            self._data[name] = self._read(name)
        return self._data[name]

    def text(self, path: str) -> SourceText:
        """The file with its comments, literals and directives.  Raises OSError."""
        name = self.name(path)
        if name not in self._texts:
            self._texts[name] = SourceText(self.data(name))
        return self._texts[name]


def _read_file(name: str) -> bytes:
    with open(name, "rb") as stream:
        return stream.read()
