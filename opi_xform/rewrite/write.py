"""Writes the result: all files or none, never outside the directory asked for."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from opi_xform.rewrite.sources import Sources


class OutputError(Exception):
    """The output cannot be written; ``path`` is the place, ``reason`` what and what to do."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file of the output: where it goes, the file it comes from ('' for a report), and its bytes."""

    target: str
    origin: str
    data: bytes


def mirror(
    directory: str, root: str, files: Iterable[str], changed: Mapping[str, bytes], sources: Sources
) -> tuple[OutputFile, ...]:
    """The files of ``-o directory``: all of ``files`` that lie under ``root``, changed ones with their new bytes.

    Raises OutputError when the directory would overwrite the sources, or holds a link that leads out of it.
    """
    if os.path.realpath(directory) == os.path.realpath(root):
        raise OutputError(directory, "is where the sources are; use -i to edit them in place")
    top = os.path.realpath(directory)
    found: dict[str, OutputFile] = {}
    for file in sorted({sources.name(file) for file in files}):
        relative = os.path.relpath(file, root)
        if relative.startswith(os.pardir + os.sep):
            if file in changed:
                raise OutputError(file, f"needs an edit but lies outside {root}; --root DIR widens what -o covers")
            continue
        target = os.path.join(directory, relative)
        parent = os.path.realpath(os.path.dirname(target))
        if os.path.commonpath([parent, top]) != top or os.path.islink(target):
            raise OutputError(target, "is a link that leads out of the output directory; remove it")
        found[target] = OutputFile(target, file, changed[file] if file in changed else sources.data(file))
    return tuple(found.values())


def in_place(changed: Mapping[str, bytes], sources: Sources) -> tuple[OutputFile, ...]:
    """The files of ``-i``: those that change; a symbolic link is followed to the file itself.

    Raises OutputError for a file that is read-only, or that is another than what was analysed.
    """
    for name in changed:
        if not os.access(name, os.W_OK):
            raise OutputError(name, "is read-only; nothing was written")
        if _content(name) != sources.data(name):
            raise OutputError(name, "changed while it was analysed; nothing was written, run again")
    return tuple(OutputFile(os.path.realpath(name), name, data) for name, data in sorted(changed.items()))


def write_all(files: Iterable[OutputFile]) -> tuple[str, ...]:
    """Writes every file whose content differs and returns their targets.

    The new contents are first written beside their targets, then moved there; whatever fails before the last move is
    undone.  Raises OutputError.
    """
    pending: list[tuple[OutputFile, str]] = []
    created: list[str] = []
    moved: list[tuple[str, bytes | None]] = []
    current = ""
    try:
        for file in files:
            current = file.target
            if _content(file.target) == file.data:
                continue
            _make_directories(os.path.dirname(file.target) or os.curdir, created)
            pending.append((file, _staged(file)))
        for file, staged in pending:
            current = file.target
            moved.append((file.target, _content(file.target)))
            os.replace(staged, file.target)
    except BaseException as error:
        _undo(pending, created, moved)
        if isinstance(error, OSError):
            reason = f"cannot be written ({error.strerror or error}); nothing was written"
            raise OutputError(current, reason) from error
        raise
    return tuple(file.target for file, _ in pending)


def _content(path: str) -> bytes | None:
    """The bytes of an existing file, None when there is none."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def _make_directories(path: str, created: list[str]) -> None:
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        os.mkdir(folder)
        created.append(folder)


def _staged(file: OutputFile) -> str:
    """The new content in a file beside its target, with the mode of the target or of the file it comes from."""
    handle, staged = tempfile.mkstemp(prefix=".opi-", dir=os.path.dirname(file.target) or os.curdir)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(file.data)
        like = file.target if os.path.exists(file.target) else file.origin
        if like:
            shutil.copymode(like, staged)
        else:
            os.chmod(staged, 0o666 & ~_umask())
    except BaseException:
        os.unlink(staged)
        raise
    return staged


def _umask() -> int:
    """The process's mask of permissions, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _undo(pending: list[tuple[OutputFile, str]], created: list[str], moved: list[tuple[str, bytes | None]]) -> None:
    """Best effort: the first error is the one to report."""
    for _, staged in pending:
        _quietly(os.unlink, staged)
    for target, data in moved:
        if data is None:
            _quietly(os.unlink, target)
        else:
            _restore(target, data)
    for folder in reversed(created):
        _quietly(os.rmdir, folder)


def _restore(target: str, data: bytes) -> None:
    with contextlib.suppress(OSError):
        if _content(target) != data:
            with open(target, "wb") as stream:
                stream.write(data)


def _quietly(action: Callable[[str], None], path: str) -> None:
    with contextlib.suppress(OSError):
        action(path)
