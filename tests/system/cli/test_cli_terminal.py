"""What a person sees on a terminal: colour, a bar for long runs, and neither where it is not wanted."""

from __future__ import annotations

import os
import pty
import re
import sys

import pytest

SCRIPT = """
import sys, threading
import opi_xform.cli.progress as progress
from opi_xform.analysis import plans
from opi_xform.cli.main import main
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Plan

shown = threading.Event()
show = progress.Progress._show

def observed(self):
    show(self)
    if self._bar is not None:
        shown.set()

def analyse(units, options, _part):
    if {wait}:
        assert shown.wait(30)
    at = Span(units[0].path, 0, 1, 1, 1)
    return Plan((Decision(at, "f", "MPI_Send", "send", "b", "b", "keep", "OPI101", "read"),)), None

progress.SHOW_AFTER_S = {after}
progress.Progress._show = observed
plans.analyse = analyse
sys.exit(main(["a.c", "--check"]))
"""


def on_terminal(folder: os.PathLike[str], wait: bool, **environment: str) -> tuple[int, str]:
    """Exit code and output of a run on a terminal of its own; the run is long when ``wait``."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        variables = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment}
        variables = {name: value for name, value in variables.items() if value or name != "NO_COLOR"}
        script = SCRIPT.format(wait=wait, after=0.5 if wait else 1e9)
        os.execve(sys.executable, [sys.executable, "-c", script], variables)
    output = b""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the other side is gone
            break
        if not data:
            break
        output += data
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output.decode()


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


@pytest.fixture
def folder(tmp_path: os.PathLike[str]) -> os.PathLike[str]:
    with open(os.path.join(tmp_path, "a.c"), "w", encoding="utf-8") as stream:
        stream.write("int x;\n")
    return tmp_path


def test_a_short_run_has_colour_and_no_bar(folder: os.PathLike[str]) -> None:
    code, output = on_terminal(folder, False, NO_COLOR="")
    assert code == 0
    assert "\x1b[33ma.c:1  MPI_Send" in output
    assert "analyse" not in output
    assert plain(output).splitlines()[0].split() == ["site", "call", "side", "buffer", "decision", "reason"]


def test_a_long_run_has_a_bar_that_goes_away(folder: os.PathLike[str]) -> None:
    code, output = on_terminal(folder, True, NO_COLOR="")
    assert code == 0
    assert output.rindex("━") < output.index("a.c:1")


def test_no_color_means_no_colour(folder: os.PathLike[str]) -> None:
    code, output = on_terminal(folder, False, NO_COLOR="1")
    assert code == 0
    assert "\x1b[3" not in output


def test_a_dumb_terminal_gets_plain_text(folder: os.PathLike[str]) -> None:
    code, output = on_terminal(folder, False, NO_COLOR="", TERM="dumb")
    assert code == 0
    assert "\x1b" not in output
