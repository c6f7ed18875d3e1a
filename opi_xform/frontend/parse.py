"""``parse_unit``: one file and its flags -> one ``Unit``."""

from __future__ import annotations

import gc
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from opi_xform.file_names import standing
from opi_xform.frontend import flags as flags_module
from opi_xform.frontend import pickling
from opi_xform.frontend.cache import Entry
from opi_xform.frontend.clang.libclang import IMPLICIT, KEEP_GOING, TranslationUnit
from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.headers.beginning import Beginning
from opi_xform.frontend.units import UnitBuilder
from opi_xform.ir.ast import Diagnostic, Unit

_UNKNOWN_FLAG = re.compile(r"(?:unknown argument|unsupported option|unsupported argument)[^']*'(-[^']+)'")

WARNING = 2  # clang's number

Diagnosed = tuple[int, str, int, int, str]  # as TranslationUnit.diagnostics gives it
_MISSING = "file not found"
_TOO_MANY, _MORE = "too many errors emitted", "more errors follow; mend those told first"

STACK_BYTES = 512 << 20  # address space only: pages are taken as they are touched


def cached_unit(path: str, flags: Sequence[str] = ()) -> Unit | None:
    """What ``parse_unit`` gives, when it did before and nothing has changed since; else None."""
    _check(path)
    return Entry(standing(path), flags_module.arguments(flags, flags_module.headers(flags))).read()


def parse_packed(path: str, flags: Sequence[str] = (), beginning: Beginning | None = None) -> bytes:
    """What ``parse_unit`` gives, as bytes that ``pickling.loads`` reads; the cache gets them, but is not asked.

    beginning: what of it was parsed before; only the time depends on it.

    Raises RecursionError for a unit nested too deeply for that.
    """
    _check(path)
    real = standing(path)
    found = flags_module.headers(flags)
    unit, dependencies = on_big_stack(lambda: _parse_from(beginning, path, real, list(flags), found))
    packed = pickling.dumps(unit)
    Entry(real, flags_module.arguments(flags, found)).store(packed, dependencies)
    return packed


def parse_unit(path: str, flags: Sequence[str] = (), beginning: Beginning | None = None) -> Unit:
    """Parses one C file.  ``flags`` are the user's compiler flags (``flags.clean`` makes them of a command line).

    beginning: what of it was parsed before; only the time depends on it.

    Raises FrontendError for a file that is missing, unreadable, a directory, or that has an error: a file with an
    error-severity diagnostic is never half analysed.
    """
    _check(path)
    real = standing(path)
    found = flags_module.headers(flags)
    arguments = flags_module.arguments(flags, found)
    entry = Entry(real, arguments)
    unit = entry.read()
    if unit is None:
        unit, dependencies = on_big_stack(lambda: _parse_from(beginning, path, real, list(flags), found))
        entry.write(unit, dependencies)
    return unit


def parse_once(path: str, flags: Sequence[str] = ()) -> Unit:
    """As ``parse_unit`` does, for a file that will not be there again: nothing of it is remembered."""
    _check(path)
    found = flags_module.headers(flags)
    return on_big_stack(lambda: _parse_unit(path, standing(path), list(flags), found))[0]


UNUSED = re.compile(r"unused (variable|parameter|function) '(\w+)'|(variable|parameter) '(\w+)' set but not used")
"""What clang says of a thing that nothing uses: what it is, and its name."""

_WARNINGS = (
    "-Wimplicit-function-declaration",
    "-Wunused-variable",
    "-Wunused-but-set-variable",
    "-Wunused-parameter",
    "-Wunused-but-set-parameter",
    "-Wunused-function",
)


def parse_outline(path: str, flags: Sequence[str] = ()) -> Unit:
    """Whether a C file compiles, what it defines and does not use (``UnitBuilder.outline``), at a third of the time.

    Raises FrontendError as ``parse_unit`` does.
    """
    _check(path)
    found = flags_module.headers(flags)
    real, used = standing(path), [f for f in flags if f != "-w"]  # some warnings matter
    return on_big_stack(lambda: _parse_outline(real, used, found))


def _parse_outline(path: str, flags: list[str], found: flags_module.Headers) -> Unit:
    with clean_unit(path, path, flags, found, [*_WARNINGS], 0) as (unit, used):
        return replace(UnitBuilder(unit, path, used, found).outline(), diagnostics=tuple(_unused(unit)))


def _unused(unit: TranslationUnit) -> Iterator[Diagnostic]:
    """What clang finds that nothing uses, as warnings."""
    for severity, file, line, column, message in unit.diagnostics():
        if severity == WARNING and UNUSED.fullmatch(message):
            yield Diagnostic("warning", file, line, column, message)


def _parse_from(
    beginning: Beginning | None, path: str, real: str, flags: list[str], found: flags_module.Headers
) -> tuple[Unit, dict[str, str]]:
    if beginning is not None:
        try:
            return _parse_unit(path, real, flags, found, beginning)
        except FrontendError:  # an error of the file, or because of what was precompiled: see which
            pass
    return _parse_unit(path, real, flags, found)


def _parse_unit(
    path: str, real: str, flags: list[str], found: flags_module.Headers, beginning: Beginning | None = None
) -> tuple[Unit, dict[str, str]]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        more = ["-include-pch", beginning.precompiled.file] if beginning is not None else []
        with clean_unit(path, real, flags, found, more, 1 | IMPLICIT) as (unit, used):
            builder = UnitBuilder(unit, real, used, found, beginning)
            builder.diagnostics += [
                Diagnostic("warning", path, 0, 0, f"clang does not know the flag {f}; it is left out")
                for f in dict.fromkeys(flags)
                if f not in used
            ]
            return builder.build(), {**builder.unread.read, **builder.dependencies}
    finally:
        if enabled:
            gc.enable()


@contextmanager
def clean_unit(
    path: str, real: str, flags: list[str], found: flags_module.Headers, more: list[str], options: int
) -> Iterator[tuple[TranslationUnit, list[str]]]:
    """The parsed file and those of the flags that clang knows.  Raises FrontendError when it has an error."""
    used = list(flags)
    while True:
        arguments = [*flags_module.arguments(used, found), *more]
        with TranslationUnit(real, arguments, None, options) as unit:
            errors = [d for d in unit.diagnostics() if d[0] >= 3]
            unknown = [f for f in map(_unknown_flag, errors) if f in used]
            if not errors:
                yield unit, used
                return
            if not unknown:
                missing = any(_MISSING in d[4] for d in errors)
                raise _wrong(path, _missing(real, arguments, options) or errors if missing else errors)
            used = [f for f in used if f not in unknown]


def _wrong(path: str, errors: Sequence[Diagnosed]) -> FrontendError:
    """All that is wrong with a file, each thing once."""
    found = [FrontendError(d[1] or path, *d[2:4], _MORE if _TOO_MANY in d[4] else d[4]) for d in dict.fromkeys(errors)]
    first = found[0]
    return FrontendError(first.file, first.line, first.column, first.message, found[1:])


def _missing(real: str, arguments: list[str], options: int) -> list[Diagnosed]:
    """The headers that are not found: clang stops at the first, and what else is wrong may follow from it."""
    with TranslationUnit(real, arguments, None, options | KEEP_GOING) as unit:
        return [d for d in unit.diagnostics() if d[0] >= 3 and _MISSING in d[4]]


def _unknown_flag(diagnostic: Diagnosed) -> str | None:
    """The compiler flag that an error is about: other compilers have some that clang has not."""
    _, file, _, _, message = diagnostic
    found = _UNKNOWN_FLAG.match(message) if not file else None
    return found.group(1) if found else None


_T = TypeVar("_T")


def on_big_stack(work: Callable[[], _T], meanwhile: Callable[[], None] | None = None) -> _T:
    """Runs ``work`` on a thread with a stack that clang's recursion over a deep expression does not exhaust.

    meanwhile: done by the thread that waits for it.
    """
    result: list[_T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:
            failure.append(error)

    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    try:
        if meanwhile is not None:
            meanwhile()
    finally:
        thread.join()
    if failure:
        raise failure[0]
    return result[0]


def _check(path: str) -> None:
    if os.path.isdir(path):
        raise FrontendError(path, 0, 0, "is a directory")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise FrontendError(path, 0, 0, f"cannot be read: {error.strerror or error}") from None
