"""What was found out before, on disk, by content: parsed units, constants of headers, tables.

One file each: a line of JSON that names every file it was made of and its sha256, then the bytes.  An entry counts only
when all of them still have these contents.  Writers write beside and rename, so readers see whole entries; an entry
that cannot be read is as good as none.  Each of the 256 folders of a kind keeps the entries last used.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

_PER_FOLDER = 16


class Kept:
    """The place of some bytes in the cache.

    kind: a folder of the cache.  key: all that they depend on beside the contents of files.
    """

    def __init__(self, kind: str, *key: str) -> None:
        name = hashlib.sha256("\0".join(key).encode("utf-8", "surrogateescape")).hexdigest()
        folder = cache_folder()
        self.file = folder / kind / name[:2] / name[2:] if folder is not None else None

    def load(self) -> bytes | None:
        """The bytes, when none of the files that they were made of has changed."""
        if self.file is None:
            return None
        try:
            with open(self.file, "rb") as stream:
                wanted = json.loads(stream.readline())
                if not all(digest(file) == known for file, known in wanted.items()):
                    return None
                data = stream.read()
            os.utime(self.file)  # used just now: not the next to be thrown away
            return data
        except (OSError, ValueError, AttributeError, TypeError):
            return None

    def store(self, packed: bytes, dependencies: Mapping[str, str]) -> bool:
        """Stores the bytes; whether it could.  Failure to do so is no error: the next run makes them again."""
        if self.file is None:
            return False
        try:
            data = json.dumps(dict(dependencies)).encode() + b"\n" + packed
            self.file.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.file.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                os.replace(temporary, self.file)
            except OSError:
                os.unlink(temporary)
                return False
            _prune(self.file.parent)
        except (OSError, UnicodeError):
            return False
        return True


def _prune(folder: Path) -> None:
    """Throws away what was longest not used: results are checked in directories that never come again."""
    files = sorted(folder.iterdir(), key=lambda f: f.stat().st_mtime_ns)
    for file in files[:-_PER_FOLDER]:
        file.unlink(missing_ok=True)


def cache_folder() -> Path | None:
    """``$OPI_CACHE``, else a folder of the user's; None when there is none."""
    named = os.environ.get("OPI_CACHE")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "opi-xform"
    except RuntimeError:  # no home directory
        return None


def digest(path: str) -> str:
    """The sha256 of a file's contents.  Raises OSError."""
    status = os.stat(path)
    return _hash(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _hash(path: str, _mtime: int, _size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
