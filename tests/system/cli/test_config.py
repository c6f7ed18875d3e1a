"""opi.toml and [tool.opi-xform]: every key is known or an error, what has no effect is told; channels by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool
from sarif_schema import parsed

PROGRAM = """#include <mpi.h>
#define N 1000
static double buf[N], in[N];
static int idx[N];
static void packed(double t)
{
    for (int i = 0; i < N; i++)
        buf[idx[i]] = t;
    MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);  SENT
}
static double taken(void)
{
    double sum = 0;
    MPI_Recv(in, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  RECEIVED
    for (int i = 0; i < N; i++)
        sum += in[i];
    return sum;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int t = 0; t < 3; t++) {
        packed(t);
        idx[t] = (int)taken();
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write()
    return tmp_path


def write(sent: str = "", received: str = "") -> None:
    Path("a.c").write_text(PROGRAM.replace("SENT", sent).replace("RECEIVED", received), encoding="utf-8")


def report(*options: str, toml: str = "", file: str = "opi.toml") -> tuple[int, dict[str, Any], str]:
    Path(file).write_text(toml, encoding="utf-8")
    code, out, err = run_tool(["a.c", "--output-format", "json", "-j", "1", *options])
    return code, json.loads(out) if out else {}, err


def decided(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(site["decision"], site["code"]) for site in found["sites"]]


def remarks(found: dict[str, Any]) -> list[tuple[int, str]]:
    return [(d["line"], d["message"]) for d in found["diagnostics"] if d["code"] == "OPI908"]


def test_without_a_file_nothing_is_said(folder: Path) -> None:
    code, found, err = report()
    assert (code, err) == (0, "")
    assert decided(found) == [("keep", "OPI102"), ("convert", "")]


@pytest.mark.parametrize(
    ("toml", "line", "what"),
    [
        ("strickt = true\n", 1, "unknown key `strickt`; did you mean strict?"),
        ("colour = true\n", 1, "unknown key `colour`; known are strict, baseline, privatize, keep, allow, assume"),
        ("source = []\n", 1, "unknown key `source`; did you mean sources?"),
        ('sources = "src"\n', 1, "`sources` has to be a list of files, directories and patterns"),
        ("sources = []\n", 1, "`sources` has to be a list of files, directories and patterns"),
        ("strict = true\nflags = 1\n", 2, "`flags` has to be a list of compiler flags"),
        ('flags = "-D\'"\n', 1, "`flags` has to be a list of compiler flags"),
        ('output = ""\n', 1, "`output` has to be the name of a directory"),
        ("build-dir = true\n", 1, "`build-dir` has to be the name of a directory"),
        ("\nstrict = 1\n", 2, "`strict` has to be true or false"),
        ('baseline = ["a"]\n', 1, "`baseline` has to be a string"),
        ('keep = "a.c"\n', 1, "`keep` has to be [[keep]]"),
        ('\n\n[[keep]]\nbuffer = "b"\n', 3, "unknown key `buffer` in [[keep]]; known are file, function"),
        ("[[keep]]\n", 1, "[[keep]] needs `file` or `function`"),
        ('[[keep]]\nfile = "a.c"\n[[keep]]\nfile = 1\n', 3, "`file` in [[keep]] has to be a string"),
        ('[[allow]]\nfile = "a.c"\n', 1, "[[allow]] needs `code`"),
        ('[[allow]]\ncode = "OPI999"\nfile = "a.c"\n', 1, "there is no code OPI999"),
        ('[[assume]]\npacked = "a b"\nfile = "a.c"\n', 1, "`a b` is not the name of a buffer"),
        ('\n[effects.f]\nreadz = ["0"]\n', 2, "error: effects.f: unknown key 'readz'"),
        ("strict = \n", 0, "it has to be TOML"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, toml: str, line: int, what: str) -> None:
    code, _, err = report(toml=toml)
    assert code == 2
    assert err.count("\n") == 1
    assert err.startswith(f"opi.toml:{line}: error: " if line else "opi.toml: error: ")
    assert what in err


def test_a_file_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("opi.toml").write_text("strict = true\n")

    def denied(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", denied)
    code, _, err = run_tool(["a.c"])
    assert (code, err) == (2, "opi.toml: error: cannot be read (Permission denied); check its permissions\n")


def test_the_same_stands_in_pyproject(folder: Path) -> None:
    toml = '[project]\nname = "mine"\n[tool.other]\nx = 1\n[tool.opi-xform]\nstrict = true\n'
    assert decided(report(toml=toml, file="pyproject.toml")[1]) == [("keep", "OPI102"), ("keep", "OPI202")]
    code, _, err = report(toml=toml.replace("strict", "strickt"), file="pyproject.toml")
    assert (code, err.startswith("pyproject.toml:6: error: unknown key `strickt`")) == (2, True)
    code, _, err = report(toml="strict = true\n")
    assert (code, err) == (2, "opi.toml: error: there is also [tool.opi-xform] in pyproject.toml; keep one of them\n")
    Path("opi.toml").unlink()
    toml = '[tool.opi-xform.effects.f]\nreads = ["0"]\n'
    assert remarks(report(toml=toml, file="pyproject.toml")[1]) == [
        (1, "the entry of `f` does not count: nothing calls it")
    ]


def test_strict_is_as_on_the_command_line(folder: Path) -> None:
    code, found, _ = report(toml="strict = true\n")
    assert decided(found) == decided(report("--strict", toml="")[1]) == [("keep", "OPI102"), ("keep", "OPI202")]
    assert code == 0


def test_the_baseline_is_that_of_the_file(folder: Path) -> None:
    assert report("--write-baseline", "b.json", toml='baseline = "b.json"\n')[0] == 0
    Path("a.c").write_text(Path("a.c").read_text().replace("MPI_Recv(in, N,", "MPI_Recv(in, N / 2,"))
    code, found, _ = report("--check", toml='baseline = "b.json"\n')
    assert (code, [d["severity"] for d in found["diagnostics"]]) == (1, ["finding"])
    assert report("--check", toml="")[0] == 0


@pytest.mark.parametrize("where", ['function = "taken"', 'file = "a.c"\nfunction = "ta*"'])
def test_sites_are_kept(folder: Path, where: str) -> None:
    code, found, _ = report("--check", toml=f"[[keep]]\n{where}\n")
    assert (code, decided(found), remarks(found)) == (0, [("keep", "OPI102"), ("keep", "OPI217")], [])


def test_packing_is_assumed_in_a_function(folder: Path) -> None:
    code, found, _ = report("--check", toml='[[assume]]\npacked = "buf"\nfunction = "packed"\n')
    assert (code, decided(found), remarks(found)) == (0, [("convert", ""), ("convert", "")], [])
    assert found["sites"][0]["assumptions"] == ["U1"]


def test_a_site_is_known_to_stay(folder: Path) -> None:
    toml = '[[allow]]\ncode = "OPI102"\nfunction = "packed"\nbuffer = "buf"\n'
    code, found, _ = report("--check", toml=toml)
    assert (code, remarks(found)) == (0, [])
    log = parsed(run_tool(["a.c", "--output-format", "sarif"])[1])
    assert log["runs"][0]["results"][0]["suppressions"] == [{"kind": "inSource", "status": "accepted"}]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('[[allow]]\ncode = "OPI101"\nfunction = "packed"\n', "no site there stays for that reason"),
        ('[[allow]]\ncode = "OPI102"\nfunction = "packed"\nbuffer = "in"\n', "no site there stays for that reason"),
        ('[[keep]]\nfunction = "nowhere"\n', "no function of the program is meant"),
        ('[[keep]]\nfile = "b.c"\n', "no function of the program is meant"),
        ('[[keep]]\nfunction = "packed"\n', "the call stays anyway"),
        ('[[keep]]\nfunction = "main"\n', "no send or receive stands here"),
        ('[[assume]]\npacked = "in"\nfile = "a.c"\n', "no send of it stands here"),
        ('[effects.f]\nreads = ["0"]\n', "nothing calls it"),
    ],
)
def test_what_has_no_effect_is_found(folder: Path, entry: str, why: str) -> None:
    code, found, err = report("--check", toml=f"# mine\n{entry}")
    ((line, message),) = {(line, text) for line, text in remarks(found)}
    assert (code, line) == (1, 2)
    assert why in message
    assert f"opi.toml:2: finding: {message} [OPI908]\n" == err


def test_a_baseline_knows_what_had_no_effect(folder: Path) -> None:
    entry = '[[keep]]\nfunction = "nowhere"\n'
    assert report("--write-baseline", "b.json", toml=entry)[0] == 0
    assert report("--check", "--baseline", "b.json", toml=entry)[0] == 0
    assert report("--check", "--baseline", "b.json", toml=entry.replace("nowhere", "elsewhere"))[0] == 1


# --- channels ---------------------------------------------------------------------------------------------------------


def channel(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [d for d in found["diagnostics"] if d["code"] == "OPI301"]


def test_a_channel_of_which_one_side_stays_is_told(folder: Path) -> None:
    write("/* opi: match halo */", "/* opi: match halo */")
    code, found, _ = report("--check")
    assert code == 0
    (remark,) = channel(found)
    assert remark["message"] == "of channel `halo` only the receive converts: one copy of its messages remains"
    assert remark["line"] == found["sites"][1]["line"]
    assert [note["line"] for note in remark["notes"]] == [found["sites"][0]["line"]]
    assert "MPI_Send of buf stays: OPI102" in remark["notes"][0]["message"]


@pytest.mark.parametrize("toml", ["strict = true\n", '[[assume]]\npacked = "buf"\nfunction = "packed"\n'])
def test_of_a_channel_that_is_equal_nothing_is_told(folder: Path, toml: str) -> None:
    write("/* opi: match halo */", "/* opi: match halo */")
    code, found, _ = report("--check", toml=toml)
    assert (code, channel(found)) == (0, [])


@pytest.mark.parametrize(
    ("sent", "received", "why"),
    [
        ("/* opi: match halo */", "", "no receive has this name"),
        ("/* opi: match halo */", "/* opi: match hallo */", "no receive has this name"),
        ("", "/* opi: match halo */", "no send has this name"),
        ("/* opi: match */", "", "needs the name of a channel"),
        ("\n/* opi: match halo */\n(void)t;", "/* opi: match halo */", "no send or receive stands here"),
        ("/* opi: mtach halo */", "", "is not understood"),
    ],
)
def test_a_name_that_says_nothing_is_found(folder: Path, sent: str, received: str, why: str) -> None:
    write(sent, received)
    code, found, _ = report("--check")
    assert code == 1
    assert why in next(d["message"] for d in found["diagnostics"] if d["code"] == "OPI907")
