"""Questions people ask: how many, only these, not those, only what is large, and what they meant to type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool
from conftest import CHECKOUT
from jsonschema import Draft202012Validator
from test_cli_input import one_line

PROGRAM = """#include <mpi.h>
#include <stdlib.h>
static double big[N], few[16], part[16];
static double sum;
int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = atoi(argv[1]);
    double *heap = malloc(n * sizeof(double));
    if (rank == 0) {
        for (int i = 0; i < N; i++) big[i] = i;
        for (int i = 0; i < 16; i++) few[i] = part[i] = i;
        for (int i = 0; i < n; i++) heap[i] = i;
        MPI_Send(big, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Send(few, 16, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Send(part, n, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
        MPI_Send(heap, n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) big[i] = i;
        MPI_Send(big, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
        sum = big[3];
    } else {
        MPI_Recv(big, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += big[3];
        MPI_Recv(few, 16, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += few[3];
    }
    free(heap);
    MPI_Finalize();
    return sum > 7;
}
"""
SENDS = {"big": 16, "few": 17, "part": 18, "heap": 19, "read": 21}
RECVS = {"big": 24, "few": 26}
WITH_N = "-DN=1000"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(PROGRAM)
    return tmp_path


def report(*words: str) -> dict[str, Any]:
    code, out, _ = run_tool(["a.c", WITH_N, "--output-format", "json", *words])
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    Draft202012Validator(json.loads((CHECKOUT / "docs" / "schema" / "report-1.json").read_text("utf-8"))).validate(
        found
    )
    return found


def kept(found: dict[str, Any]) -> dict[int, str]:
    return {site["line"]: site["code"] for site in found["sites"] if site["decision"] == "keep"}


# --- small messages ---------------------------------------------------------------------------------------------------


def test_calls_with_small_messages_stay(program: Path) -> None:
    """By the count, or by the whole variable where the count is not known; memory of unknown size may be large."""
    assert kept(report()) == {SENDS["read"]: "OPI101"}
    small = {SENDS["few"]: "OPI118", SENDS["part"]: "OPI118", RECVS["few"]: "OPI218"}
    assert kept(report("--min-bytes", "4K")) == {SENDS["read"]: "OPI101", **small}
    assert kept(report("--min-bytes", "129")) == {SENDS["read"]: "OPI101", **small}
    assert kept(report("--min-bytes", "128")) == {SENDS["read"]: "OPI101"}
    everything = kept(report("--min-bytes", "1MiB"))
    assert set(everything) == {*SENDS.values(), *RECVS.values()} - {SENDS["heap"]}
    assert set(everything.values()) == {"OPI118", "OPI218"}


def test_one_side_of_a_message_may_stay_alone(program: Path) -> None:
    """The receive makes room for more than the send brings."""
    receive = "MPI_Recv(few, 16, MPI_DOUBLE, 0, 1"
    Path("a.c").write_text(PROGRAM.replace("few[16]", "few[N]").replace(receive, receive.replace("16", "N")))
    assert kept(report("--min-bytes", "4K")) == {
        SENDS["few"]: "OPI118",
        SENDS["part"]: "OPI118",
        SENDS["read"]: "OPI101",
    }


def test_the_text_tells_of_the_size(program: Path) -> None:
    code, out, _ = run_tool(["a.c", WITH_N, "--min-bytes", "4K", "-o", "out"])
    assert code == 0
    assert "OPI118 a message has at most 128 bytes, fewer than the 4096 of --min-bytes" in " ".join(out.split())
    text = Path("out/a.c").read_text()
    assert "OPI_Give(&big" in text
    assert "MPI_Send(few, 16" in text
    assert "static double *big, few[16], part[16];" in text


@pytest.mark.parametrize("text", ["", "4q", "K", "-1", "1.5K", "4KB"])
def test_what_is_no_number_of_bytes(text: str, program: Path) -> None:
    code, out, err = run_tool(["a.c", f"--min-bytes={text}"])
    assert (code, out) == (2, "")
    one_line(err, "is no number of bytes; write 4096, 4K, 4KiB or 1M")


# --- which are shown --------------------------------------------------------------------------------------------------


def test_selected_codes_are_all_that_is_shown(program: Path) -> None:
    found = report("--select", "OPI101")
    assert [site["line"] for site in found["sites"]] == [SENDS["read"]]
    assert (found["hidden"], found["summary"]) == (6, report()["summary"])
    assert "hidden" not in report()
    small = report("--min-bytes", "4K", "--select", "opi2,OPI101")
    assert kept(small) == {SENDS["read"]: "OPI101", RECVS["few"]: "OPI218"}
    assert report("--min-bytes", "4K", "--select", "OPI2", "--select", "OPI101") == small
    assert kept(report("--min-bytes", "4K", "--select", "OPI1", "--ignore", "OPI101")).keys() == {17, 18}
    assert len(report("--select", "all")["sites"]) == 1


def test_ignored_codes_are_not_shown(program: Path) -> None:
    found = report("--ignore", "OPI101")
    assert kept(found) == {}
    assert (len(found["sites"]), found["hidden"], found["summary"]) == (6, 1, report()["summary"])


def test_the_table_says_what_it_leaves_out(program: Path) -> None:
    words = ["a.c", WITH_N, "--min-bytes", "4K", "--check"]
    _, out, _ = run_tool([*words, "--ignore", "OPI118,OPI218"])
    assert "OPI118" not in out
    assert "\n3 sites are not shown, by --select or --ignore\n7 sites: 3 converted, 4 kept (" in out
    _, out, _ = run_tool([*words, "--ignore", "OPI101"])
    assert "\n1 site is not shown, by --select or --ignore\n" in out


def test_what_is_shown_changes_no_file(program: Path) -> None:
    for folder, words in (("one", []), ("two", ["--select", "OPI2"]), ("three", ["--ignore", "OPI"])):
        assert run_tool(["a.c", WITH_N, "-o", folder, *words])[0] == 0
    texts = {Path(folder, "a.c").read_text() for folder in ("one", "two", "three")}
    assert len(texts) == 1


def test_findings_of_codes_that_do_not_count(program: Path) -> None:
    """Whether a site got worse is found of the codes that count; output that is out of date always is."""
    assert run_tool(["a.c", WITH_N, "--write-baseline", "b.json", "-o", "out"])[0] == 0
    Path("a.c").write_text(PROGRAM.replace("return sum > 7", "return sum + few[0] > 7"))
    checked = ["a.c", WITH_N, "--check", "--baseline", "b.json"]
    code, out, _ = run_tool(checked)
    assert code == 1
    worse = [line for line in out.splitlines() if ": finding: " in line]
    assert [line[-8:] for line in worse] == ["[OPI101]"]
    assert run_tool([*checked, "--ignore", "OPI101"])[0] == 0
    assert run_tool([*checked, "--select", "OPI2"])[0] == 0
    assert run_tool([*checked, "--select", "OPI1"])[0] == 1
    for words in (["--ignore", "OPI1,OPI9"], ["--select", "OPI2"]):
        code, out, _ = run_tool([*checked, "-o", "out", *words])
        assert (code, out.count(": finding: "), out.count("[OPI906]")) == (1, 1, 1)


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_other_forms_leave_out_the_same(form: str, program: Path) -> None:
    whole = run_tool(["a.c", WITH_N, "--output-format", form])[1]
    less = run_tool(["a.c", WITH_N, "--output-format", form, "--ignore", "OPI101"])[1]
    if form == "github":
        assert (whole.count("::notice"), less) == (1, "")
        return
    assert [r["ruleId"] for r in json.loads(whole)["runs"][0]["results"]] == ["OPI101"]
    assert json.loads(less)["runs"][0]["results"] == []
    assert json.loads(less)["runs"][0]["properties"] == json.loads(whole)["runs"][0]["properties"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("OPI999", "there is no code OPI999; did you mean OPI909"),
        ("OPI101,,", "there is no code ''; `opi-xform --explain all` lists them"),
        ("E501", "there is no code E501; `opi-xform --explain all` lists them"),
    ],
)
def test_an_unknown_code_is_told(code: str, said: str, program: Path) -> None:
    for option in ("--select", "--ignore"):
        status, out, err = run_tool(["a.c", option, code])
        assert (status, out) == (2, "")
        one_line(err, f"opi-xform: error: argument {option}: {said}")


# --- how many ---------------------------------------------------------------------------------------------------------


def test_numbers_instead_of_sites(program: Path) -> None:
    code, out, err = run_tool(["a.c", WITH_N, "--statistics", "--min-bytes", "4K"])
    assert (code, err) == (0, "")
    assert (
        out
        == """stays   send  recv  all  reason
OPI118     2     0    2  smaller than --min-bytes
OPI101     1     0    1  read after send
OPI218     0     1    1  smaller than --min-bytes
all        3     1    4

call      side  converted  kept  all
MPI_Recv  recv          1     1    2
MPI_Send  send          2     3    5
all                     3     4    7
7 sites: 3 converted, 4 kept (send 2/5, recv 1/2)
"""
    )
    _, less, _ = run_tool(["a.c", WITH_N, "--statistics", "--min-bytes", "4K", "--select", "OPI101", "-q"])
    first, second = less.split("\n\n")
    assert first == "stays   send  recv  all  reason\nOPI101     1     0    1  read after send\nall        1     0    1"
    assert second == out.split("\n\n")[1].rpartition("7 sites")[0]


def test_numbers_in_json(program: Path) -> None:
    found = report("--statistics", "--min-bytes", "4K", "--ignore", "OPI2")["statistics"]
    assert found == {
        "codes": [
            {"code": "OPI118", "title": "smaller than --min-bytes", "send": 2, "recv": 0},
            {"code": "OPI101", "title": "read after send", "send": 1, "recv": 0},
        ],
        "calls": [
            {"call": "MPI_Recv", "side": "recv", "convert": 1, "keep": 1},
            {"call": "MPI_Send", "side": "send", "convert": 2, "keep": 3},
        ],
    }
    assert "statistics" not in report()


def test_numbers_of_nothing(program: Path) -> None:
    Path("a.c").write_text("int x;\n")
    code, out, _ = run_tool(["a.c", "--statistics"])
    assert (code, out) == (0, "0 sites: no send or receive in the files given; nothing to do\n")
    code, _, err = run_tool(["a.c", "--statistics", "--output-format", "sarif"])
    assert code == 2
    one_line(err, "--output-format sarif has no place for --statistics; use text or json")


# --- quiet ------------------------------------------------------------------------------------------------------------


def test_quiet_prints_what_matters(program: Path) -> None:
    loud, quiet = run_tool(["a.c", WITH_N]), run_tool(["a.c", WITH_N, "-q"])
    assert quiet == (0, loud[1], "")
    assert quiet[1].startswith("--- a/a.c")
    assert run_tool(["a.c", WITH_N, "-q", "-o", "out", "--report", "r.html"]) == (0, "", "")
    assert Path("out/a.c").exists()
    assert Path("r.html").exists()
    assert run_tool(["a.c", WITH_N, "-q", "--check", "-o", "out"]) == (0, "", "")
    Path("out/a.c").write_text("")
    code, out, err = run_tool(["a.c", WITH_N, "-q", "--check", "-o", "out"])
    assert (code, err) == (1, "")
    one_line(out, "out/a.c:", ": finding: ", "[OPI906]")
    code, out, err = run_tool(["none.c", "-q"])
    assert (code, out) == (2, "")
    one_line(err, "none.c: error: no such file")
    one_line(run_tool(["a.c", "-q", "-v"])[2], "-q and -v exclude each other; choose one")


def test_quiet_tells_no_warnings(program: Path) -> None:
    Path("a.c").write_text("int x;\n")
    for words in (["-fno-such-flag"], ["-fno-such-flag", "--output-format", "json"]):
        assert "[OPI905]" in run_tool(["a.c", *words])[2]
        assert run_tool(["a.c", "-q", *words])[2] == ""
        assert "[OPI905]" not in run_tool(["a.c", "--ignore", "OPI905", *words])[2]


# --- flags of the compiler --------------------------------------------------------------------------------------------

FLAGS = """#include <own.h>
#include <theirs.h>
#if defined GONE || !defined ONE || N != 100 || __STDC_VERSION__ != 199901L || !defined _OPENMP || !defined LAST
#error flags are missing
#endif
int x;
"""


@pytest.mark.parametrize(
    "words",
    [
        "a.c -Iinc -isystem sys -DN=100 -DGONE -UGONE -D ONE -std=c99 -fopenmp -O2 -Wall -DLAST",
        "-I inc -isystem sys -D N=100 -DONE a.c -std=c99 --check -fopenmp -g -pthread -lm -- -DLAST",
    ],
)
def test_flags_of_the_compiler_before_the_dashes(words: str, program: Path) -> None:
    for name, text in (("inc/own.h", ""), ("sys/theirs.h", "")):
        Path(name).parent.mkdir()
        Path(name).write_text(text)
    Path("a.c").write_text(FLAGS)
    assert run_tool(words.split())[0] == 0
    assert run_tool(words.replace("-DN", "-DM").replace("-D N", "-D M").split())[0] == 2


@pytest.mark.parametrize("flag", ["-I", "-D", "-U", "-isystem", "-include"])
def test_a_flag_without_its_value(flag: str, program: Path) -> None:
    code, _, err = run_tool(["a.c", flag])
    assert code == 2
    one_line(err, f"opi-xform: error: {flag} needs a value; see opi-xform --help")


# --- what was meant ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--explian", "OPI101"], "unrecognized arguments: --explian; did you mean --explain?"),
        (["a.c", "--min-byte=4K"], "unrecognized arguments: --min-byte=4K; did you mean --min-bytes?"),
        (["a.c", "--stats"], "unrecognized arguments: --stats; did you mean --statistics?"),
        (["a.c", "--nothing-like-it"], "unrecognized arguments: --nothing-like-it; see opi-xform --help"),
        (["--explain", "OPI11"], "there is no code OPI11; OPI110, OPI111, "),
        (["--explain", "OPI190"], "there is no code OPI190; did you mean OPI"),
        (["--explain", "nonsense"], "there is no code nonsense; `opi-xform --explain all` lists them"),
    ],
)
def test_the_nearest_is_told(words: list[str], said: str, program: Path) -> None:
    code, out, err = run_tool(words)
    assert (code, out) == (2, "")
    one_line(err, f"opi-xform: error: {said}")


def test_the_nearest_value_is_told(program: Path) -> None:
    code, _, err = run_tool(["a.c", "--output-format", "jsn"])
    assert code == 2
    one_line(err, "argument --output-format: invalid choice: 'jsn'", "; did you mean json?")


def test_all_codes_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run_tool(["--explain", "all"])
    assert (code, err) == (0, "")
    assert out.startswith("OPI101  read after send: A byte written before the send may be read after it.\nOPI102  ")
    assert max(map(len, out.splitlines())) <= 80


# --- opi.toml ---------------------------------------------------------------------------------------------------------


def test_opi_toml_says_the_same(program: Path) -> None:
    toml = Path("opi.toml")
    toml.write_text('min-bytes = "4K"\nignore = ["OPI118", "OPI2"]\n')
    assert kept(report()) == {SENDS["read"]: "OPI101"}
    assert report()["hidden"] == 3
    assert kept(report("--ignore", "OPI101")) == {17: "OPI118", 18: "OPI118", 26: "OPI218"}, "the command line wins"
    assert report("--min-bytes", "0")["summary"] == {
        "send": {"convert": 4, "keep": 1},
        "recv": {"convert": 2, "keep": 0},
    }
    toml.write_text('min-bytes = 4096\nselect = ["OPI2"]\n')
    assert kept(report()) == {26: "OPI218"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('\nselect = "OPI101"\n', 'opi.toml:2: error: `select` has to be a list of codes: ["OPI101"]'),
        ("ignore = [101]\n", 'opi.toml:1: error: `ignore` has to be a list of codes: ["OPI101"]'),
        ('ignore = ["OPI999"]\n', "opi.toml:1: error: there is no code OPI999; did you mean "),
        ('\nmin-bytes = "4X"\n', 'opi.toml:2: error: `min-bytes` has to be a number of bytes: 4096 or "4K"'),
        ("min-bytes = true\n", 'opi.toml:1: error: `min-bytes` has to be a number of bytes: 4096 or "4K"'),
        ("min-bytes = -1\n", 'opi.toml:1: error: `min-bytes` has to be a number of bytes: 4096 or "4K"'),
    ],
)
def test_a_wrong_value_in_opi_toml(text: str, said: str, program: Path) -> None:
    Path("opi.toml").write_text(text)
    code, out, err = run_tool(["a.c", WITH_N])
    assert (code, out) == (2, "")
    one_line(err, said)
