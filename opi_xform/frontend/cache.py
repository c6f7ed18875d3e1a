"""Parsed units on disk, by content: the file, all it includes, and its flags.

What is not noticed: a header that newly appears earlier on the search path.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from opi_xform.frontend import pickling
from opi_xform.ir.ast import Unit
from opi_xform.kept import Kept


class Entry(Kept):
    """The place of one unit in the cache."""

    def __init__(self, path: str, arguments: Sequence[str]) -> None:
        super().__init__("units", version(), path, *arguments)

    def read(self) -> Unit | None:
        """The unit, when nothing that it was made of has changed."""
        data = self.load()
        try:
            return pickling.loads(data) if data is not None else None
        except (ValueError, AttributeError, TypeError):
            return None

    def write(self, unit: Unit, dependencies: Mapping[str, str]) -> None:
        """Stores the unit."""
        with suppress(RecursionError, UnicodeError):
            self.store(pickling.dumps(unit), dependencies)


def makers() -> list[Path]:
    """The code that makes units, or that a unit is made of."""
    package = Path(__file__).resolve().parent.parent
    alone = (package / "record.py", package / "file_names.py")
    return sorted([*package.glob("frontend/**/*.py"), *package.glob("ir/**/*.py"), *alone])


@lru_cache(maxsize=1)
def version() -> str:
    """Changes whenever the code does that makes units, or the parser below it."""
    from opi_xform.frontend.clang.libclang import library_path

    found = hashlib.sha256()
    for file in makers():
        found.update(file.read_bytes())
    status = os.stat(library_path())
    return f"{found.hexdigest()} {status.st_size} {status.st_mtime_ns}"
