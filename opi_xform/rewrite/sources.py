"""The files of a run: one name and one content per real file, however it is spelled in spans."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping


class Sources:
    """Reads each file once, as bytes.  Names are absolute; two names of one real file share the first."""

    def __init__(self, read: Callable[[str], bytes] | None = None) -> None:
        self._read = read or _read_file
        self._names: dict[str, str] = {}
        self._by_real: dict[str, str] = {}
        self._data: dict[str, bytes] = {}

    def name(self, path: str) -> str:
        """The name under which ``path`` is known here."""
        known = self._names.get(path)
        if known is None:
            absolute = os.path.abspath(path)
            known = self._by_real.setdefault(os.path.realpath(absolute), absolute)
            self._names[path] = known
        return known

    def data(self, path: str) -> bytes:
        """The bytes of the file.  Raises OSError."""
        name = self.name(path)
        if name not in self._data:
            self._data[name] = self._read(name)
        return self._data[name]

    def loaded(self) -> Mapping[str, bytes]:
        return self._data


def _read_file(name: str) -> bytes:
    with open(name, "rb") as stream:
        return stream.read()
