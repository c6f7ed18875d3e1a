"""Parsed units on disk, by content: the file, all it includes, and its flags.

One file per (path, flags): a line of JSON naming every file read and its sha256, then the pickled unit.  An entry
counts only when all of them still have these contents.  Writers write beside and rename, so readers see whole entries;
an entry that cannot be read is as good as none.  Each of the 256 folders keeps the entries last used.  What is not
noticed: a header that newly appears earlier on the search path.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from opi_xform.frontend import pickling
from opi_xform.ir.ast import Unit

_PER_FOLDER = 16


class Entry:
    """The place of one unit in the cache."""

    def __init__(self, path: str, arguments: Sequence[str]) -> None:
        key = hashlib.sha256("\0".join((_version(), path, *arguments)).encode("utf-8", "surrogateescape")).hexdigest()
        folder = _folder()
        self._file = folder / key[:2] / key[2:] if folder is not None else None

    def read(self) -> Unit | None:
        """The unit, when nothing that it was made of has changed."""
        if self._file is None:
            return None
        try:
            with open(self._file, "rb") as stream:
                wanted = json.loads(stream.readline())
                if not all(_digest(file) == digest for file, digest in wanted.items()):
                    return None
                unit = pickling.loads(stream.read())
            os.utime(self._file)  # used just now: not the next to be thrown away
            return unit
        except (OSError, ValueError, AttributeError, TypeError):
            return None

    def write(self, unit: Unit, dependencies: Mapping[str, str]) -> None:
        """Stores the unit.  Failure to do so is no error: the next run parses again."""
        with suppress(RecursionError, UnicodeError):
            self.store(pickling.dumps(unit), dependencies)

    def store(self, packed: bytes, dependencies: Mapping[str, str]) -> None:
        """Stores the bytes of a unit (``pickling.dumps``)."""
        if self._file is None:
            return
        try:
            data = json.dumps(dict(dependencies)).encode() + b"\n" + packed
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._file.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                os.replace(temporary, self._file)
            except OSError:
                os.unlink(temporary)
            _prune(self._file.parent)
        except (OSError, UnicodeError):
            return


def _prune(folder: Path) -> None:
    """Throws away what was longest not used: results are checked in directories that never come again."""
    files = sorted(folder.iterdir(), key=lambda f: f.stat().st_mtime_ns)
    for file in files[:-_PER_FOLDER]:
        file.unlink(missing_ok=True)


def _folder() -> Path | None:
    named = os.environ.get("OPI_CACHE")
    if named:
        return Path(named).absolute() / "units"
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "opi-xform" / "units"
    except RuntimeError:  # no home directory
        return None


def _digest(path: str) -> str:
    status = os.stat(path)
    return _hash(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _hash(path: str, _mtime: int, _size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@lru_cache(maxsize=1)
def _version() -> str:
    """Changes whenever the code does that makes units, or the parser below it."""
    from opi_xform.frontend.clang import library_path

    here = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    for file in sorted([*here.glob("*.py"), *(here.parent / "ir" / n for n in ("ast.py", "span.py", "types.py"))]):
        digest.update(file.read_bytes())
    status = os.stat(library_path())
    return f"{digest.hexdigest()} {status.st_size} {status.st_mtime_ns}"
