"""Bad input: one line that names the file, the right exit code, no traceback, nothing written."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from opi_xform.cli import run as run_module
from opi_xform.cli.main import main

Run = Callable[..., tuple[int, str, str]]

GOOD = "static inline int add(int a, int b) { return a + b; }\n"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in an empty directory: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        out, err = capfd.readouterr()
        return code, out, err

    return call


def write(name: str, text: str | bytes = GOOD) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def one_line(err: str, *parts: str) -> None:
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert "Traceback" not in err
    for part in parts:
        assert part in lines[0]


def files_below(directory: str = ".") -> list[str]:
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((), ("error: no input;", "--help")),
        (("--frobnicate", "a.c"), ("error: unrecognized arguments: --frobnicate;", "--help")),
        (("--expl", "OPI101"), ("error: ",)),
        (("a.c", "-o"), ("error: argument -o",)),
        (("a.c", "-o", ""), ("error: -o",)),
        (("a.c", "-o", "out", "-i"), ("error: -o and -i exclude each other",)),
        (("a.c", "-j", "0"), ("error: argument -j",)),
        (("a.c", "--output-format", "xml"), ("error: argument --output-format",)),
        (("a.c", "--diff", "--output-format", "json"), ("error: --diff and --output-format json",)),
        (("missing.c",), ("missing.c: error: no such file; check the path",)),
        (("",), ("error: no such file",)),
        (("empty",), ("empty: error: no .c file in this directory",)),
        (("a.h",), ("a.h: error: not a C source file",)),
        (("a.cpp",), ("a.cpp: error: not a C file", "C++")),
        (("a.c", "-p", "."), ("compile_commands.json", "error: cannot be read", "-p")),
        (("a.c", "--root", "empty"), ("a.c: error: lies outside --root empty",)),
        (("a.c", "--root", "nowhere"), ("nowhere: error: no such directory",)),
    ],
)
def test_usage_and_paths(cli: Run, arguments: Sequence[str], parts: Sequence[str]) -> None:
    for name in ("a.c", "a.h", "a.cpp", "empty/readme.txt"):
        write(name)
    before = files_below()
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    one_line(err, *parts)
    assert files_below() == before


def test_every_bad_path_is_named(cli: Run) -> None:
    write("good.c")
    code, _, err = cli("no1.c", "good.c", "no2.c")
    assert code == 2
    assert [line.split(":")[0] for line in err.splitlines()] == ["no1.c", "no2.c"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(cli: Run) -> None:
    os.chmod(write("a.c"), 0)
    code, _, err = cli("a.c")
    assert code == 2
    one_line(err, "a.c: error: cannot be read", "permissions")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("int f(void) {\n  return 1 +;\n}\n", ("a.c:2: error: ", "OPI901")),
        ('#include <mpi.h>\n#include "no.h"\nint x;\n', ("a.c:2: error: 'no.h' file not found", "-I", "OPI901")),
        ("int f(void) { return undeclared; }\n", ("a.c:1: error: ", "undeclared", "OPI901")),
        (b"int \xff\xfe;\n", ("a.c:1: error: ", "OPI901")),
        ("int f(void) {\n", ("a.c:", "error: ", "OPI901")),
    ],
)
def test_what_does_not_compile_is_refused(cli: Run, text: str | bytes, parts: Sequence[str]) -> None:
    write("a.c", text)
    code, out, err = cli("a.c", "-o", "out")
    assert (code, out) == (2, "")
    one_line(err, *parts)
    assert files_below() == ["./a.c"]


def test_a_parse_error_in_one_of_several_files(cli: Run) -> None:
    write("a.c")
    write("b.c", "int x\n")
    write("c.c", "int y\n")
    code, _, err = cli("a.c", "b.c", "c.c", "-i", "-j", "2")
    assert code == 2
    assert [line.split(":")[0] for line in err.splitlines()] == ["b.c", "c.c", "opi-xform"]
    assert Path("a.c").read_text() == GOOD


def test_two_programs_at_once_are_refused(cli: Run) -> None:
    write("one/a.c", "static int f(void) { return 0; }\nint main(void) { return f(); }\n")
    write("two/b.c", "static int f(void) { return 1; }\n\nint main(void) { return f(); }\n")
    assert cli("one")[0] == 0
    code, _, err = cli(".", "-o", "out")
    assert code == 2
    one_line(err, "two/b.c:3: error: main is also defined at one/a.c:2; give the files of one program at a time")


HEADER = """inline double f(const double *x, int n)
{
    static int k;
    struct { int a, b; } pair = { n, k++ };
    double y = pair.a < 0 ? -1 : 0;
    for (int i = 0; i < n && x[i] != EDGE; i++)
        y += (double)x[i] + sizeof pair;
    return y + SUM;
}
""".replace("SUM", " + ".join(["y"] * 2000))  # a deep tree


def test_a_function_of_a_header_is_one_function(cli: Run) -> None:
    write("f.h", HEADER)
    write("a.c", '#define EDGE 0\n#include "f.h"\nint main(void) { double x = 1; return (int)f(&x, 1); }\n')
    write("b.c", '/* elsewhere */\n#define EDGE 0\n#include "f.h"\nextern double f(const double *x, int n);\n')
    assert cli("a.c", "b.c")[0] == 0


def test_a_file_may_say_that_it_has_the_definition_of_an_inline_function(cli: Run) -> None:
    write("f.h", "#ifndef INLINE\n#define INLINE inline\n#endif\n" + HEADER.replace("inline", "INLINE", 1))
    write("a.c", '#define EDGE 0\n#include "f.h"\nint main(void) { double x = 1; return (int)f(&x, 1); }\n')
    write("b.c", '#define EDGE 0\n#define INLINE\n#include "f.h"\n')
    assert cli("a.c", "b.c")[0] == 0


def test_a_function_of_a_header_that_files_see_differently_is_refused(cli: Run) -> None:
    write("f.h", HEADER)
    write("a.c", '#define EDGE 0\n#include "f.h"\nint main(void) { double x = 1; return (int)f(&x, 1); }\n')
    write("b.c", '#define EDGE 1\n#include "f.h"\nextern double f(const double *x, int n);\n')
    code, _, err = cli("a.c", "b.c", "-o", "out")
    assert code == 2
    one_line(err, "f.h:1: error: f is not the same in every file that includes it; make it static")


@pytest.mark.parametrize("text", ["", "\n", "/* nothing */", GOOD, "int main(void) { return 0; }\n"])
def test_nothing_to_do_is_clean(cli: Run, text: str) -> None:
    write("a.c", text)
    code, out, err = cli("a.c")
    assert (code, out) == (0, "")
    one_line(err, "0 sites", "nothing to do")


def test_bytes_that_are_no_utf8_in_comments_and_strings_survive(cli: Run) -> None:
    text = b'/* Gr\xfc\xdfe */\nconst char *s = "\xe4";\r\nint f(void) { return 0; }'
    write("a.c", text)
    code, _, _ = cli("a.c", "-o", "out")
    assert code == 0
    assert Path("out/a.c").read_bytes() == text


def test_a_long_file(cli: Run) -> None:
    write("a.c", "".join(f"int f{i}(int a) {{\n  if (a > {i})\n    a -= 1;\n  return a;\n}}\n" for i in range(10_000)))
    code, out, err = cli("a.c")
    assert (code, out) == (0, "")
    one_line(err, "0 sites")


def test_a_directory_is_searched_in_order_and_its_own_output_is_left_out(cli: Run) -> None:
    for name in ("src/b.c", "src/a.c", "src/sub/c.c", "src/notes.txt", "src/.git/x.c"):
        write(name)
    assert cli("src", "-o", "src/out")[0] == 0
    assert files_below("src/out") == ["src/out/.opi-xform.json", "src/out/a.c", "src/out/b.c", "src/out/sub/c.c"]
    assert cli("src", "-o", "src/out")[0] == 0
    assert files_below("src/out") == ["src/out/.opi-xform.json", "src/out/a.c", "src/out/b.c", "src/out/sub/c.c"]


def test_one_file_named_twice_is_one_file(cli: Run) -> None:
    write("src/a.c")
    code, out, _ = cli("src", "src/../src/a.c", "--output-format", "json", "-o", "out")
    assert code == 0
    assert json.loads(out)["sites"] == []
    assert files_below("out") == ["out/.opi-xform.json", "out/a.c"]


@pytest.mark.parametrize("named", [[], ["-p", "."]])
def test_a_file_that_is_compiled_twice(cli: Run, named: list[str]) -> None:
    """What holds of the program with one set of flags need not hold of that with another."""
    write("a.c")
    commands = [
        {"directory": os.getcwd(), "file": "a.c", "command": f"mpicc -DSTEP={i} -c a.c -o a{i}.o"} for i in (1, 2)
    ]
    write("compile_commands.json", json.dumps(commands, indent=0))
    code, out, err = cli("a.c", *named, "-o", "out")
    assert (code, out) == (2, "")
    one_line(err, "a.c", "compile_commands.json:2: `-DSTEP=1`", "compile_commands.json:7: `-DSTEP=2`", "OPI909")
    assert not Path("out").exists()


@pytest.mark.parametrize("blocked", ["out", "out/a.c"])
def test_an_output_that_cannot_be_written(cli: Run, blocked: str) -> None:
    write("a.c")
    if blocked == "out":
        write("out", "a file where the directory should be")
    else:
        Path("out/a.c").mkdir(parents=True)
    before = files_below()
    code, out, err = cli("a.c", "-o", "out")
    assert (code, out) == (2, "")
    one_line(err, "out", "error: ", "nothing was written", "OPI904")
    assert files_below() == before


def test_output_over_the_sources_is_refused(cli: Run) -> None:
    write("src/a.c")
    code, _, err = cli("src/a.c", "-o", "src")
    assert code == 2
    one_line(err, "src: error: is where the sources are; use -i")


def test_output_does_not_follow_links_out_of_its_directory(cli: Run) -> None:
    write("src/sub/a.c")
    write("src/b.c")
    Path("elsewhere").mkdir()
    Path("out").mkdir()
    Path("out/sub").symlink_to("../elsewhere")
    code, _, err = cli("src", "-o", "out")
    assert code == 2
    one_line(err, "out/sub/a.c: error: is a link that leads out")
    assert files_below("elsewhere") == []


@pytest.mark.parametrize(
    ("content", "part"),
    [("{", "is not JSON"), ("{}", "is not a list"), ("[{}]", "without a file"), ("[]", "is not listed")],
)
def test_a_bad_compilation_database(cli: Run, content: str, part: str) -> None:
    write("a.c")
    write("build/compile_commands.json", content)
    code, _, err = cli("a.c", "-p", "build")
    assert code == 2
    one_line(err, part)


def test_flags_from_the_database_and_from_the_command_line(cli: Run) -> None:
    write("src/a.c", '#include "conf.h"\nint x = CONF;\n')
    write("conf/conf.h", "#define CONF 1\n")
    entry = {"directory": str(Path("src").absolute()), "file": "a.c", "command": "cc -I ../conf -c -o a.o a.c"}
    write("made/compile_commands.json", json.dumps([entry]))
    assert cli("src/a.c")[0] == 2
    assert cli("src/a.c", "-p", "made")[0] == 0
    assert cli("src/a.c", "--", "-Iconf")[0] == 0
    os.rename("made", "build-debug")
    assert cli("src/a.c")[0] == 0  # found by itself, in build* above the sources
    os.rename("build-debug/compile_commands.json", "compile_commands.json")
    assert cli("src/a.c")[0] == 0  # or beside them
    assert cli("src/a.c", "--")[0] == 2  # `--` says that the command line has all flags


def test_version_help_and_explain(cli: Run) -> None:
    code, out, _ = cli("--version")
    assert code == 0
    assert re.fullmatch(r"opi-xform 0\.1\.0\nPython 3\.\d+\.\d+, .+\nlibclang 18\..+\nislpy .+\nMPI: .+\n", out)
    code, out, _ = cli("--help")
    assert code == 0
    assert "Exit status" in out
    code, out, _ = cli("--explain", "opi101")
    assert code == 0
    assert out.startswith("# OPI101")
    code, out, err = cli("--explain", "OPI999")
    assert (code, out) == (2, "")
    one_line(err, "there is no code OPI999")


def test_a_function_that_c23_wants_declared(cli: Run) -> None:
    """What the compiler's older C takes with a warning; the error says what to do."""
    name = write("late.c", "int main(void) { helper(); return 0; }\n")
    assert cli(name)[0] == 0
    code, _, err = cli(name, "--", "-std=c2x")
    assert code == 2
    advice = "declare it before its use, which C23 (-std=c2x) asks of functions, too"
    assert err == f"late.c:1: error: use of undeclared identifier 'helper'; {advice} [OPI901]\n"


def test_what_nobody_foresaw_is_one_line(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object) -> None:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr(run_module, "collect_sources", explode)
    code, out, err = cli("a.c")
    assert (code, out) == (123, "")
    one_line(err, "opi-xform: internal error: ZeroDivisionError: two lines at ", "run again with -v")
    code, _, err = cli("a.c", "-v")
    assert code == 123
    assert "Traceback" in err


def test_an_interrupt_is_one_line(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "collect_sources", interrupt)
    code, _, err = cli("a.c")
    assert code == 130
    one_line(err, "interrupted")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_behind_stdout() -> None:
    command = [sys.executable, "-c", "from opi_xform.cli.main import script; script()"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*command, "--version"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60, text=True
        )
    assert done.returncode == 2
    one_line(done.stderr, "stdout: error: cannot be written (No space left on device)")


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`opi-xform --explain … | true`: no traceback, and the exit code of the result."""
    command = [sys.executable, "-c", "from opi_xform.cli.main import script; script()"]
    read, wrote = os.pipe()
    os.close(read)
    done = subprocess.run([*command, "--version"], stdout=wrote, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(wrote)
    assert (done.returncode, done.stderr) == (0, b"")


SLOW = """
import os, sys, time
import opi_xform.cli.inputs.parsing as parsing
from opi_xform.cli.main import main

def slow(parse, job):
    open(job[0] + ".started", "w").close()
    time.sleep(300)

parsing._parse = slow
sys.exit(main([".", "-j", "2"]))
"""


def test_ctrl_c_on_a_terminal_is_one_line(tmp_path: Path) -> None:
    """The whole process group gets the signal, as from a terminal, while workers parse."""
    for number in range(4):
        (tmp_path / f"{number}.c").write_text(GOOD)
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # what runs in the background ignores it
    )
    try:
        while process.poll() is None and len(list(tmp_path.glob("*.started"))) < 2:
            time.sleep(0.01)
        assert process.poll() is None, process.communicate()
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out) == (130, "")
    one_line(err, "opi-xform: interrupted; nothing was written")
