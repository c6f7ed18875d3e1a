"""What is written to stdout and stderr, how far a run is, and what Ctrl-C does."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from opi_xform.cli import interrupt, progress, start
from opi_xform.cli.outcome import INTERRUPTED, Failure
from opi_xform.cli.progress import Progress, peaks_mib
from opi_xform.cli.terminal import print_bytes, print_lines, width_of
from opi_xform.report.formats.text import Line


class Stream(io.TextIOWrapper):
    """A stream that may be a terminal."""

    def __init__(self, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    @property
    def written(self) -> bytes:
        self.flush()
        found: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return found


def test_bytes_go_out_as_they_are() -> None:
    out = Stream()
    print_bytes(b"a\r\n\xff", out)
    assert out.written == b"a\r\n\xff"


@pytest.mark.parametrize(
    ("terminal", "variable", "colour"),
    [(True, None, True), (False, None, False), (True, "NO_COLOR", False)],
)
def test_colour_is_for_terminals_that_want_it(
    terminal: bool, variable: str | None, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    if variable is not None:
        monkeypatch.setenv(variable, "1")
    out = Stream(terminal)
    print_lines([Line("a site", "head"), Line("plain")], out)
    assert (b"\x1b[" in out.written) is colour
    assert b"a site" in out.written


@pytest.mark.parametrize(("columns", "width"), [("100", 100), ("10", 40), ("1000", 160), ("wide", 80), ("", 80)])
def test_columns(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width_of(Stream()) == width


def test_a_reader_that_goes_away_is_no_error_and_a_full_disk_is_one() -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "w", encoding="utf-8") as out:
        print_bytes(b"x" * 100_000, out)  # raises nothing
    with open("/dev/full", "w", encoding="utf-8") as full, pytest.raises(Failure, match="cannot be written"):
        print_bytes(b"x", full)


def test_phases_and_their_parts_have_their_times_in_order() -> None:
    run = Progress()
    with run.phase("parse", 2):
        run.step()
        run.step()
    with pytest.raises(KeyError), run.phase("analyse"), run.part("graph"):
        raise KeyError
    run.close()
    assert [name for name, _ in run.times] == ["parse", "analyse", "  graph"]
    assert all(seconds >= 0 for _, seconds in run.times)


def test_a_bar_comes_to_a_terminal_after_a_while_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "SHOW_AFTER_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.05)
    run, threads = Progress(), threading.active_count()
    with run.phase("parse", 3):
        run.step()
        for _ in range(200):
            time.sleep(0.05)
            if b"parse 1/3" in err.written:
                break
        assert threading.active_count() == threads  # else nothing is judged side by side
    run.close()
    assert b"parse 1/3" in err.written
    before = err.written
    run.step()
    time.sleep(0.15)
    assert err.written == before  # nothing more


def test_memory_is_counted_in_mib() -> None:
    found = peaks_mib()
    assert found is not None
    assert 5 < found[0] < 100_000


def test_ctrl_c_before_anything_is_done_is_one_line() -> None:
    code = "import os, signal\nfrom opi_xform.cli import interrupt\nsignal.signal(signal.SIGINT, interrupt.stop)\n"
    code += "os.kill(os.getpid(), signal.SIGINT)\nprint('went on')\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", f"{interrupt.SAID}\n")


def test_a_closed_stdout_is_not_the_next_file_that_is_opened(tmp_path: Path) -> None:
    code = "from opi_xform.cli.interrupt import open_streams\nopen_streams()\n"
    code += (
        f"f = open({str(tmp_path / 'f')!r}, 'w')\nassert f.fileno() > 2\nimport sys\nassert sys.stdout is not None\n"
    )
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" >&-', sys.executable, code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("before", "after"), [(signal.default_int_handler, interrupt.stop), (signal.SIG_IGN, signal.SIG_IGN)]
)
def test_the_console_script_leaves_an_ignored_ctrl_c_ignored(
    before: object, after: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below nohup it is."""
    from opi_xform.cli import main

    ran: list[object] = []
    monkeypatch.setattr(main, "script", lambda: ran.append(signal.getsignal(signal.SIGINT)))
    old = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, before)  # type: ignore[arg-type]
        start.script()
    finally:
        signal.signal(signal.SIGINT, old)
    assert ran == [after]
