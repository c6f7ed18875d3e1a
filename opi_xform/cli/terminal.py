"""Writing to stdout and stderr: bytes as they are, colour on terminals only; a reader that goes away is no error."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterable
from typing import TextIO

from opi_xform.cli.outcome import fail
from opi_xform.report.formats.text import Line

_STYLES = {"head": "bold", "convert": "green", "keep": "yellow", "note": "dim", "finding": "red"}
_MOST_COLUMNS = 160


def width_of(stream: TextIO) -> int:
    """Columns for text on ``stream``: the terminal's, else $COLUMNS, else 80."""
    columns = shutil.get_terminal_size((80, 24)).columns if stream.isatty() else _columns_variable()
    return max(40, min(columns, _MOST_COLUMNS))


def _columns_variable() -> int:
    value = os.environ.get("COLUMNS", "")
    return int(value) if value.isdigit() and int(value) > 0 else 80


def print_bytes(data: bytes, stream: TextIO) -> None:
    """Writes ``data`` unchanged."""
    _guarded(stream, data)


def print_lines(lines: Iterable[Line], stream: TextIO) -> None:
    """Writes lines; on a terminal that wants colour, in colour."""
    lines = list(lines)
    if stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb":
        from rich.console import Console
        from rich.text import Text

        console = Console(file=stream, highlight=False, soft_wrap=True)
        for line in lines:
            console.print(Text(line.text, style=_STYLES.get(line.kind, "")))
        return
    text = "".join(line.text + "\n" for line in lines)
    _guarded(stream, text.encode("utf-8", "surrogateescape"))


def _guarded(stream: TextIO, data: bytes) -> None:
    try:
        stream.flush()
        raw = getattr(stream, "buffer", None)
        if raw is None:  # a stream without bytes below it, in tests
            stream.write(data.decode("utf-8", "replace"))
        else:
            raw.write(data)
        stream.flush()
    except BrokenPipeError:
        # Whoever read has seen enough (`| head`): the rest goes nowhere, the exit code still tells the result.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is not sys.stderr:
            if error.errno == errno.EBADF:
                raise fail("is closed; send it to a file or to a command", "stdout") from error
            reason = error.strerror or error
            raise fail(f"cannot be written ({reason}); make room or choose another place", "stdout") from error


def print_error(text: str) -> None:
    print_lines([Line(text)], sys.stderr)
