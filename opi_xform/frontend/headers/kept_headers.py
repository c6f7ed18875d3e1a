"""Precompiled headers of the system that stay in the cache from run to run.

One folder each, made where it stays (what is precompiled knows its own path), and a file beside it that tells what the
folder is good for; that file is written last, as a whole.  It counts only when every header still has the contents and
the time of writing that it had, and no folder of the program's own has a file that might be found in place of one of
them.  Whoever cannot read what it names parses the file as it stands.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from opi_xform.frontend.cache import version
from opi_xform.frontend.headers.beginning import Precompiled
from opi_xform.frontend.headers.leading import user_folders
from opi_xform.kept import cache_folder
from opi_xform.record import dataclass

_MOST = 6
"""Folders that are kept, of some megabytes each."""
_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "SDKROOT")


@dataclass(frozen=True, slots=True)
class Made:
    """Precompiled headers, and the text of all of them."""

    precompiled: Precompiled
    texts: tuple[bytes, ...]


def read(flags: Sequence[str], command: Sequence[str], system: Sequence[bytes]) -> Made | None:
    """What was precompiled of these headers with this command, when it is still good."""
    place = _place(command, system)
    if place is None:
        return None
    try:
        with open(place, "rb") as stream:
            stamps = json.loads(stream.readline())
            texts = [_unchanged(path, *stamp) for path, stamp in stamps.items()]
            found = pickle.loads(stream.read())
    except Exception:  # pickle raises nearly anything on corrupt bytes
        return None
    if not isinstance(found, Precompiled) or None in texts or not os.path.isfile(found.file):
        return None
    if _shadowed(flags, stamps):
        return None
    with suppress(OSError):
        os.utime(os.path.dirname(found.file))  # used just now: not the next to be thrown away
    return Made(found, tuple(text for text in texts if text is not None))


def folder(command: Sequence[str], system: Sequence[bytes]) -> str | None:
    """A new folder to precompile these headers in, which ``write`` makes known; None when there is no cache."""
    place = _place(command, system)
    if place is None:
        return None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _prune(place.parent)
        return tempfile.mkdtemp(dir=place.parent, prefix="made-")
    except OSError:
        return None


def write(command: Sequence[str], system: Sequence[bytes], made: Precompiled) -> None:
    """Makes known what was precompiled in a ``folder``.  Failure to do so is no error: the next run makes it anew."""
    place = _place(command, system)
    if place is None:
        return
    try:
        stamps = {}
        for path, known in made.digests.items():
            status = os.stat(path)
            stamps[path] = (known, status.st_mtime_ns, status.st_size)
        data = json.dumps(stamps).encode() + b"\n" + pickle.dumps(made, pickle.HIGHEST_PROTOCOL)
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.replace(temporary, place)
        except OSError:
            os.unlink(temporary)
    except (OSError, UnicodeError):
        return


def _place(command: Sequence[str], system: Sequence[bytes]) -> Path | None:
    top = cache_folder()
    if top is None:
        return None
    around = [f"{name}={os.environ.get(name, '')}" for name in _VARIABLES]
    key = "\0".join((version(), *around, *command, *(os.fsdecode(name) for name in system)))
    return top / "headers" / hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _unchanged(path: str, known: str, mtime: int, size: int) -> bytes | None:
    """The text of a header, None when it is not what it was."""
    status = os.stat(path)
    if (status.st_mtime_ns, status.st_size) != (mtime, size):
        return None
    data = Path(path).read_bytes()
    return data if hashlib.sha256(data).hexdigest() == known else None


def _shadowed(flags: Sequence[str], headers: Sequence[str]) -> bool:
    """Whether a folder of the program's own may have another file of the name that one of the headers is asked by."""
    for own in user_folders(flags):
        for path in headers:
            parts = path.split("/")
            if any(os.path.exists(os.path.join(own, *parts[i:])) for i in range(1, len(parts))):
                return True
    return False


def _prune(top: Path) -> None:
    """Throws away the folders that were longest not used, and then what names no folder any more."""
    made = sorted((one for one in top.glob("made-*")), key=lambda one: one.stat().st_mtime_ns)
    for one in made[: -(_MOST - 1)]:
        shutil.rmtree(one, ignore_errors=True)
    for one in sorted(top.iterdir(), key=lambda one: one.stat().st_mtime_ns)[: -16 * _MOST]:
        if one.is_file():
            one.unlink(missing_ok=True)
