"""--advise: what stays is ranked by the bytes it could save, measured where a run tells, with what to change."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from case_tools import run_tool

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Advice, Decision
from opi_xform.report.advice import change
from opi_xform.report.profile import WAYS, Count, Run
from opi_xform.report.sidebyside import lines_of_run

PROGRAM = """#include <mpi.h>
static double small[100], large[100000], often[100], wild[100];
static int one;
double use(int n)
{
    double sum = 0;
    for (int i = 0; i < 100000; i++)
        large[i] = small[i % 100] = wild[i % 100] = n;
    MPI_Send(small, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(large, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(wild, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    for (int t = 0; t < 9; t++) {
        often[t] = t;
        MPI_Send(often, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    }
    return sum + small[0] + large[0] + wild[0];
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double sum = use(argc);
    MPI_Finalize();
    return sum > 3;
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def ranked(out: str) -> list[str]:
    return re.findall(r"^\d+\. a\.c:\d+: MPI_Send of (\w+) in use$", out, re.M)


def profile(**sent: tuple[str, int]) -> None:
    """One message of so many bytes from the line that sends each buffer."""
    nothing = {"messages": 0, "bytes": 0}
    lines = PROGRAM.split("\n")
    sites = [
        {
            "at": f"/somewhere/a.c:{next(i for i, t in enumerate(lines, 1) if f'MPI_Send({name},' in t)}",
            way: {"messages": 1, "bytes": count},
        }
        for name, (way, count) in sent.items()
    ]
    value = {
        "version": 1,
        "ranks": 2,
        "on_node": dict.fromkeys(("all", *WAYS), nothing),
        "left_to_mpi": {},
        "off_node": nothing,
        "outside": nothing,
        "copies": {"made": 0, "saved_bytes": 0, "buffers_passed": 0},
        "time": {"library_s": 0, "waiting_s": 0},
        "matrix": [],
        "sites": sites,
    }
    Path("p.json").write_text(json.dumps(value), encoding="utf-8")


def test_loops_and_bytes_rank(folder: Path) -> None:
    code, out, err = run_tool(["a.c", "--advise"])
    assert code == 0
    assert ranked(out) == ["often", "large", "small", "wild"]
    assert "gain: 781 KiB a message\n" in out
    assert "gain: 800 B a message, in a loop\n" in out
    assert "gain: up to 800 B a message\n" in out
    assert "OPI101: `large` is read at line 17 after the send" in out
    assert "    a.c:17: note: `large` is read here\n" in out
    assert "    change: moving the read at line 17 before the send would let it convert\n" in out
    assert out.endswith("1 more stays and would gain nothing, or on request\n")
    assert "5 sites: 0 converted" in err
    assert Path("a.c").read_text(encoding="utf-8") == PROGRAM


def test_what_a_run_measured_counts_first(folder: Path) -> None:
    profile(wild=("inline", 5000), small=("heap", 4000), large=("give", 10_000))
    out = run_tool(["a.c", "--advise", "--profile", "p.json"])[1]
    assert ranked(out) == ["small", "wild", "large", "often"]  # by the bytes that were copied
    profile(wild=("inline", 5000), small=("heap", 4000), large=("kernel", 10_000))
    out = run_tool(["a.c", "--advise", "--profile", "p.json", "--profile", "p.json"])[1]
    assert ranked(out) == ["large", "small", "wild", "often"]
    assert "gain: measured: 2 messages, 7.81 KiB; 15.6 KiB would not be copied\n" in out


def test_a_run_without_lines_is_told(folder: Path) -> None:
    profile()
    out = run_tool(["a.c", "--advise", "--profile", "p.json"])[1]
    assert ranked(out) == ["often", "large", "small", "wild"]
    assert "no run tells the lines that sent: build with `opicc -g`" in out


def test_a_run_of_other_lines_is_told(folder: Path) -> None:
    profile(large=("heap", 10_000))
    text = Path("p.json").read_text(encoding="utf-8")
    Path("p.json").write_text(re.sub(r"a\.c:\d+", "a.c:2", text), encoding="utf-8")
    out = run_tool(["a.c", "--advise", "--profile", "p.json"])[1]
    assert ranked(out) == ["often", "large", "small", "wild"]
    assert "no run sent from these lines: it may be of sources that have changed since" in out


def test_of_files_with_the_same_name_the_one_that_is_meant_is_found() -> None:
    run = Run("r", 1, {"give": Count(0, 0)}, {}, 0, 0, 0, {}, 0.0, 0.0)
    find = lines_of_run({"p/a/x.c": ["1"], "p/b/x.c": ["1"], "x.c": ["1"]}, {}, run)
    assert [find(name, 1) for name in ("/build/b/x.c", "b/x.c", "/build/a/x.c", "x.c", "y.c")] == [
        ("p/b/x.c", 1),
        ("p/b/x.c", 1),
        ("p/a/x.c", 1),
        ("x.c", 1),
        None,
    ]


def test_nothing_to_change(folder: Path) -> None:
    (folder / "a.c").write_text("int main(void)\n{\n    return 0;\n}\n")
    assert run_tool(["a.c", "--advise"])[1] == "nothing to change: every site that could gain converts\n"


def test_what_does_not_go_together(folder: Path) -> None:
    assert run_tool(["a.c", "--advise", "--output-format", "json"])[0] == 2
    assert run_tool(["a.c", "--profile", "p.json"])[0] == 2


def test_only_what_was_tried_is_advised() -> None:
    site = Decision(Span("a.c", 0, 1, 1, 1), "f", "MPI_Send", "send", "b", "b", "keep", "OPI101", "stays; by `x`")
    assert change(site) == ""
    assert change(replace(site, advice=Advice("move", "moving it"))) == "moving it would let it convert"


def test_a_fix_is_told_where_it_works_and_else_that_none_was_found(folder: Path) -> None:
    out = run_tool(["a.c", "--advise"])[1]
    assert "    fix: a copy of the message in a buffer of its own would let it convert:\n      --fix a.c:15\n" in out
    text = PROGRAM.replace("MPI_Send(large, 100000", "if (MPI_Send(large, 100000").replace(
        "MPI_COMM_WORLD);", "MPI_COMM_WORLD));", 2
    )
    text = text.replace("MPI_COMM_WORLD));", "MPI_COMM_WORLD);", 1)
    (folder / "a.c").write_text(text.replace("sum + small[0] + large[0]", "sum + small[0] + large[0] * large[1]"))
    out = run_tool(["a.c", "--advise"])[1]
    entry = out[out.index("MPI_Send of large") :].split("\n2. ")[0].split("\n3. ")[0]
    assert "fix:" not in entry
    assert "change: " in entry


def test_a_call_that_is_not_followed_is_not_told_as_one_that_nothing_reaches(folder: Path) -> None:
    before = "#include <setjmp.h>\nstatic jmp_buf again;\n"
    for text, why in (("if (setjmp(again)) return;", "the call is not followed"), ("", "nothing reaches the call")):
        put = f"static void put(void) {{ {text} MPI_Send(large, 100000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }}\n"
        main = PROGRAM.partition("double use")[0] + before + put + "int main(void) { %s return 0; }\n"
        (folder / "a.c").write_text(main % ("put();" if text else ""), encoding="utf-8")
        code, out, err = run_tool(["a.c", "--advise"])
        assert code == 0, err
        assert f"gain: not known: {why}\n" in out
