"""However and wherever the command is started, what goes wrong is one line: no traceback, the right exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from case_tools import run_tool
from test_cli_input import one_line

from opi_xform.cli import mending

START = "from opi_xform.cli.start import script; script()"
INTERRUPTED_AT = f"""
import os, signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == "NAME":
            os.kill(os.getpid(), signal.SIGINT)

for name in [n for n in sys.modules if n.split(".")[0] in ("argparse", "signal", "gc")]:
    del sys.modules[name]
sys.meta_path.insert(0, Finder())
sys.argv[1:] = ["a.c", "-o", "out"]
{START}
"""


def started(*words: str, folder: Path, redirection: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """The console script, below a shell that redirects."""
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-c", START, *words]
    return subprocess.run(
        shell, cwd=folder, env={**os.environ, **environment}, capture_output=True, check=False, timeout=60, text=True,
        encoding="utf-8",
    )  # fmt: skip


@pytest.mark.parametrize("module", ["opi_xform.cli.main", "argparse", "opi_xform.cli.run", "opi_xform.pipeline"])
def test_ctrl_c_while_the_command_is_being_loaded(module: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT.replace("NAME", module)],
        cwd=tmp_path, capture_output=True, check=False, timeout=60, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (130, "")
    one_line(done.stderr, "opi-xform: interrupted; nothing was written")
    assert not (tmp_path / "out").exists()


def test_ctrl_c_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT.replace("NAME", "argparse")],
        cwd=tmp_path, capture_output=True, check=False, timeout=60, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert done.returncode == 2
    one_line(done.stderr, "a.c: error: no such file")


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("a.c",), ("a.c", "--check")])
def test_a_closed_stdout_is_told(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#include <mpi.h>\nvoid f(double *b) { MPI_Send(b, 9, MPI_DOUBLE, 1, 0, 0); }\n")
    done = started(*words, folder=tmp_path, redirection=">&-")
    assert "Traceback" not in done.stderr
    if words == ("a.c",):  # no site converts: the diff is empty, and nothing is lost
        assert done.returncode == 0
    else:
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1] == "stdout: error: is closed; send it to a file or to a command"


def test_a_closed_stderr_loses_its_lines_only(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x;\n")
    assert started("a.c", "--check", folder=tmp_path, redirection="2>&-").returncode == 0
    assert started("none.c", folder=tmp_path, redirection="2>&-").returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_the_help_on_a_full_disk(tmp_path: Path) -> None:
    done = started("--help", folder=tmp_path, redirection=">/dev/full")
    assert done.returncode == 2
    one_line(done.stderr, "stdout: error: cannot be written (No space left on device)")


def test_the_help_in_any_encoding(tmp_path: Path) -> None:
    done = started("--help", folder=tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: opi-xform [paths…]")


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x;\n")
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'cd gone && rmdir ../gone && exec "$@" {tmp_path / "a.c"}'
    done = subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, "-c", START],
        cwd=tmp_path, capture_output=True, check=False, timeout=60, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    one_line(done.stderr, "opi-xform: error: the working directory is not there any more; change to one that is")


@pytest.mark.parametrize("value", ["", "/nonexistent", "/proc/nowhere"])
def test_no_home_and_no_cache(value: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x;\n")
    for name in ("HOME", "OPI_CACHE"):
        environment = {"HOME": value, "OPI_CACHE": "", "XDG_CACHE_HOME": "", name: value}
        done = started("a.c", folder=tmp_path, **environment)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        one_line(done.stderr, "0 sites")


MPI = "#include <mpi.h>\nint x;\n"


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ("/nowhere/mpicc", "OPI_MPICC=/nowhere/mpicc: error: no such command; set OPI_MPICC to the mpicc of your MPI"),
        (".", "OPI_MPICC=.: error: is no program that can be run; set OPI_MPICC to"),
        ("false", "a.c:1: error: 'mpi.h' file not found; OPI_MPICC=false does not tell where it is: set it to"),
        ("echo", "a.c:1: error: 'mpi.h' file not found; OPI_MPICC=echo does not tell where it is: set it to"),
    ],
)
def test_a_wrong_mpicc_is_named(named: str, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPI_MPICC", named)
    Path("a.c").write_text(MPI)
    code, out, err = run_tool(["a.c", "-o", "out"])
    assert (code, out) == (2, "")
    one_line(err, wanted)
    assert not Path("out").exists()


def test_no_mpi_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPI_MPICC", raising=False)
    monkeypatch.setattr("opi_xform.frontend.flags.mpicc_path", lambda: None)
    monkeypatch.setattr("opi_xform.cli.mending.mpicc_path", lambda: None)
    Path("a.c").write_text(MPI)
    code, _, err = run_tool(["a.c"])
    assert code == 2
    one_line(
        err, "a.c:1: error: 'mpi.h' file not found; there is no mpicc: install an MPI (`pip install mpich` is one)"
    )


WRONG = """#include <mpi.h>
int f(void) { return 1 +; }
int g(void) { return here + there; }
int g(void) { return 1; }
"""


def test_all_that_is_wrong_with_a_file_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text('#include "b.h"\n' + WRONG)
    Path("c.c").write_text('#include "b.h"\n')
    Path("b.h").write_text("int h(void) { return 2 +; }\n")
    for jobs in ("1", "2"):
        code, _, err = run_tool(["a.c", "c.c", "-j", jobs])
        assert code == 2
        assert [line.partition(": error")[0] for line in err.splitlines()] == [
            "b.h:1",
            "a.c:3",
            "a.c:4",
            "a.c:4",
            "a.c:5",
        ]


def test_all_headers_that_are_missing_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing that follows from them."""
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(f'#include "b.h"\n{WRONG}#include "c.h"\n')
    code, _, err = run_tool(["a.c"])
    assert code == 2
    first, second = err.splitlines()
    assert first.startswith("a.c:1: error: 'b.h' file not found; name its directory, as in `opi-xform FILES -Iinclude`")
    assert second.startswith("a.c:6: error: 'c.h' file not found; ")


def test_a_header_that_several_files_miss_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.c", ""), ("b.c", ""), ("c.c", '#include "d.h"\n')):
        Path(name).write_text(f'#include "b.h"\n{text}')
    code, _, err = run_tool(["."])
    assert code == 2
    first, second = err.splitlines()
    assert first.startswith("a.c:1: error: 'b.h' file not found, and 2 more files miss it; name its directory")
    assert second.startswith("c.c:2: error: 'd.h' file not found; name its directory")


def test_where_a_missing_header_is_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the run with the flag that is told misses it no more."""
    monkeypatch.chdir(tmp_path)
    for folder in ("src", "include/my", ".git"):
        Path(folder).mkdir(parents=True)
    Path("src/a.c").write_text('#include "my/b.h"\nint a = B;\n')
    for folder in ("include/my", ".git"):
        Path(folder, "b.h").write_text("#define B 1\n")
    code, _, err = run_tool(["src"])
    assert code == 2
    one_line(err, "src/a.c:1: error: 'my/b.h' file not found; name its directory: -Iinclude; or use -p")
    assert run_tool(["src", "-Iinclude"])[0] == 0
    Path("other/my").mkdir(parents=True)
    Path("other/my/b.h").write_text("#define B 2\n")
    mending._folders.cache_clear()
    one_line(run_tool(["src"])[2], "src/a.c:1: error: 'my/b.h' file not found; name its directory: there are 2 of")


def test_a_header_beside_the_file_that_the_build_finds_by_a_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`#include <b.h>` needs no other text: clang says so, but the makefile has -I."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.c", "c.c"):
        Path(name).write_text(f"#include <b.h>\nint {name[0]} = B;\n")
    Path("b.h").write_text("#define B 1\n")
    code, _, err = run_tool(["a.c"])
    assert code == 2
    one_line(err, "a.c:1: error: 'b.h' file not found; name its directory: -I.; or use -p")
    one_line(
        run_tool(["."])[2], "a.c:1: error: 'b.h' file not found, and 1 more file misses it; name its directory: -I.;"
    )
    assert run_tool([".", "-I."])[0] == 0


def test_an_option_among_the_compilers_flags_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text("int a;\n")
    for late in (["--report", "r.html"], ["--report=r.html"]):
        code, _, err = run_tool(["a.c", "--", "-DN=1", *late])
        assert code == 2
        one_line(err, f"error: {late[0]} stands after --, where flags of the compiler stand; put it before --")
    assert run_tool(["a.c", "--report", "r.html", "--", "-DN=1"])[0] == 0
    assert Path("r.html").exists()


def test_a_file_with_too_many_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text("".join(f"int f{i}(void) {{ return 1 +; }}\n" for i in range(30)))
    code, _, err = run_tool(["a.c"])
    assert (code, len(err.splitlines())) == (2, 21)
    assert err.splitlines()[-1] == "a.c: error: more errors follow; mend those told first [OPI901]"
