"""Writes the result: all files or none, never outside the directory asked for."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from opi_xform.record import dataclass
from opi_xform.text.sources import Sources

_ENDS = frozenset(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))


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


def in_place(changed: Mapping[str, bytes], sources: Sources, files: Iterable[str] = ()) -> tuple[OutputFile, ...]:
    """The files of ``-i``: those that change; a symbolic link is followed to the file itself.

    files: all that were read.  Raises OutputError for a file that is read-only, that is another than what was analysed,
    or that has several names whose text would not be one.
    """
    names: dict[str, list[str]] = {}
    for name in sorted({*changed, *files}):
        names.setdefault(os.path.realpath(name), []).append(name)
    found = []
    for target, called in names.items():
        first, *others = called
        data = changed.get(first)
        for other in others:
            if changed.get(other) != data:
                reason = f"is the same file as {other}, and would not be edited alike; use -o, or name it in one way"
                raise OutputError(first, reason)
        if data is None:
            continue
        if not os.access(first, os.W_OK):
            raise OutputError(first, "is read-only; nothing was written")
        if _content(first) != sources.data(first):
            raise OutputError(first, "changed while it was analysed; nothing was written, run again")
        found.append(OutputFile(target, first, data))
    return tuple(found)


def write_all(files: Iterable[OutputFile], removed: Sequence[str] = ()) -> tuple[str, ...]:
    """Writes every file whose content differs, removes the others, and returns the targets of what it wrote.

    The new contents are first written beside their targets, then moved there; whatever fails before the last move is
    undone.  A signal that asks for an end counts as such a failure: it arrives when all is undone, or when all is done.
    Folders that a removal leaves empty go, too.  Raises OutputError.
    """
    done: tuple[str, ...] | None = None
    try:
        with _signals_held() as asked_to_stop:
            done = _written(files, removed, asked_to_stop)
    except KeyboardInterrupt as interrupt:
        if done is None:
            raise
        raise KeyboardInterrupt(written_before(len(done))) from interrupt
    return done


def written_before(number: int) -> str:
    """What is said of an interrupt that came too late."""
    return f"{number} {'file was' if number == 1 else 'files were'} written before"


def _written(files: Iterable[OutputFile], removed: Sequence[str], asked_to_stop: Callable[[], bool]) -> tuple[str, ...]:
    pending: list[tuple[OutputFile, str]] = []
    created: list[str] = []
    moved: list[tuple[str, str]] = []
    current = ""
    try:
        for file in files:
            current = file.target
            if asked_to_stop():
                raise KeyboardInterrupt
            if _content(file.target) == file.data:
                continue
            _make_directories(os.path.dirname(file.target) or os.curdir, created)
            pending.append((file, _staged(file)))
        for file, staged in pending:
            current = file.target
            moved.append((file.target, _set_aside(file.target)))
            os.replace(staged, file.target)
        for current in removed:
            moved.append((current, _set_aside(current)))
            os.unlink(current)
    except BaseException as error:
        _undo(pending, created, moved)
        if isinstance(error, OSError):
            reason = f"cannot be written ({error.strerror or error}); nothing was written"
            raise OutputError(current, reason) from error
        raise
    for _, aside in moved:
        _quietly(os.unlink, aside)
    for path in removed:
        _quietly(os.removedirs, os.path.dirname(path))
    return tuple(file.target for file, _ in pending)


@contextlib.contextmanager
def _signals_held() -> Iterator[Callable[[], bool]]:
    """Signals that ask for an end wait; what is yielded says whether one does."""
    if not hasattr(signal, "pthread_sigmask"):
        yield lambda: False
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        yield lambda: bool(signal.sigpending() & _ENDS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


def _set_aside(path: str) -> str:
    """A second name for a file that is about to be replaced or removed; '' where there is none.  The file stays."""
    if not os.path.lexists(path):
        return ""
    handle, aside = tempfile.mkstemp(prefix=".opi-", dir=os.path.dirname(path) or os.curdir)
    os.close(handle)
    os.unlink(aside)
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(path, aside)
    return aside


def _undo(pending: list[tuple[OutputFile, str]], created: list[str], moved: list[tuple[str, str]]) -> None:
    """Best effort: the first error is the one to report.  It takes no space on the disk."""
    for _, staged in pending:
        _quietly(os.unlink, staged)
    for target, aside in moved:
        if aside:
            with contextlib.suppress(OSError):
                os.replace(aside, target)
                _quietly(os.unlink, aside)  # of two names of one file the move leaves both
        else:
            _quietly(os.unlink, target)
    for folder in reversed(created):
        _quietly(os.rmdir, folder)


def _quietly(action: Callable[[str], None], path: str) -> None:
    with contextlib.suppress(OSError):
        action(path)
