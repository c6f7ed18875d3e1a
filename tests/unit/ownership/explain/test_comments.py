"""What people say in comments and in opi.toml: what counts, what is listed, and what is reported as of no effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opi_xform.cli.main import main

HEAD = """#include <mpi.h>
#define N 1000
static double u[N], v[N], buf[N];
static int idx[N];
double checksum(const double *p, int n);
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
"""
TAIL = """
    }
    MPI_Finalize();
    return 0;
}
"""
PACK = "for (int i = 0; i < N; i++) buf[i] = u[i] + t;\n"
SCATTERED = "for (int i = 0; i < N; i++) buf[idx[i]] = u[i] + t;\n"
SEND = "MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
RECV = "MPI_Recv(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
SUM = "checksum(buf, N);\n"


class Runner:
    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capfd = capfd

    def report(self, body: str, *options: str, toml: str = "", more: str = "") -> dict[str, Any]:
        (self.folder / "a.c").write_text(more + HEAD + body + TAIL)
        if toml:
            (self.folder / "opi.toml").write_text(toml)
        code = main(["a.c", "--output-format", "json", *options])
        out = self.capfd.readouterr().out
        assert code in (0, 1)
        report: dict[str, Any] = json.loads(out)
        report["exit"] = code
        return report


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Runner:
    monkeypatch.chdir(tmp_path)
    return Runner(tmp_path, capfd)


def sites(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(site["decision"], site["code"]) for site in report["sites"]]


def remarks(report: dict[str, Any]) -> list[str]:
    return [d["message"] for d in report["diagnostics"] if d["code"] == "OPI908"]


def test_a_call_is_kept_on_request(runner: Runner) -> None:
    assert sites(runner.report(PACK + SEND)) == [("convert", "")]
    for text in (f"/* opi: keep */\n{SEND}", f"{SEND} // opi: keep"):
        report = runner.report(PACK + text)
        assert sites(report) == [("keep", "OPI117")]
        assert remarks(report) == []
    assert sites(runner.report(f"/* opi: keep */\n{RECV}")) == [("keep", "OPI217")]


def test_a_comment_ahead_of_a_call_on_its_line_is_about_that_call(runner: Runner) -> None:
    report = runner.report(f"{PACK}/* opi: keep */ {SEND}\n{RECV}")
    assert sites(report) == [("keep", "OPI117"), ("convert", "")]
    report = runner.report(f"{PACK}{SEND}\n/* opi: keep */ {RECV}")
    assert sites(report) == [("convert", ""), ("keep", "OPI217")]
    assert remarks(report) == []


def test_keeping_what_stays_anyway_is_reported(runner: Runner) -> None:
    report = runner.report(f"{SCATTERED}{SEND} // opi: keep", "--check")
    assert "stays anyway" in remarks(report)[0]
    assert report["exit"] == 1
    report = runner.report(f"{PACK}// opi: keep\nv[0] = 1;\n{SEND}", "--check")
    assert "no send or receive stands here" in remarks(report)[0]
    assert sites(report) == [("convert", "")]


def test_what_is_said_to_be_packed_converts_and_is_listed(runner: Runner) -> None:
    assert sites(runner.report(SCATTERED + SEND)) == [("keep", "OPI102")]
    report = runner.report(f"{SCATTERED}/* opi: assume packed(buf) */\n{SEND}", "--check")
    assert sites(report) == [("convert", "")]
    assert report["sites"][0]["assumptions"] == ["U1"]
    assert remarks(report) == []
    assert report["exit"] == 0
    report = runner.report(f"{SCATTERED}/* opi: assume packed(buf) */\n{SEND}", "--strict")
    assert sites(report) == [("keep", "OPI102")]
    assert "--strict" in remarks(report)[0]


def test_what_is_said_of_one_send_is_not_said_of_what_comes_behind_it(runner: Runner) -> None:
    """The message itself needs nothing then; the next send, and what is read after it, do."""
    said = f"{SCATTERED}/* opi: assume packed(buf) */\n{SEND}\n"
    assert sites(runner.report(said + PACK + SEND)) == [("convert", ""), ("convert", "")]
    assert sites(runner.report(said + SEND))[0] == ("keep", "OPI102")
    assert sites(runner.report(said + "v[0] += buf[1];\n" + PACK + SEND))[0] == ("keep", "OPI101")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"{PACK}/* opi: assume packed(buf) */\n{SEND}", "the same without it"),
        (f"{SCATTERED}/* opi: assume packed(u) */\n{SEND}", "no send of it"),
        (f"{SCATTERED}/* opi: assume packed(buf) */\nv[0] = 1;\n{SEND}", "no send of it"),
        (f"/* opi: assume packed(buf) */\n{RECV}", "no send of it"),
        (f"/* opi: assume packed(buf) */\n{SEND}", "nothing is written into `buf`"),
        (f"{PACK}{SEND}\n/* opi: assume packed(buf) */\n{SEND}", "nothing is written into `buf`"),
    ],
)
def test_assumptions_that_do_not_apply(runner: Runner, body: str, why: str) -> None:
    report = runner.report(body, "--check")
    assert why in remarks(report)[0]
    assert report["exit"] == 1
    assert not any("U1" in site["assumptions"] for site in report["sites"])


def test_reading_after_the_send_is_not_covered(runner: Runner) -> None:
    report = runner.report(f"{SCATTERED}/* opi: assume packed(buf) */\n{SEND}\nv[t] = buf[t];")
    assert sites(report) == [("keep", "OPI101")]


def test_entries_of_opi_toml_count_and_are_listed(runner: Runner) -> None:
    assert sites(runner.report(PACK + SUM + SEND)) == [("keep", "OPI403")]
    entry = '[effects.checksum]\nreads = ["0[arg1 * elem]"]\n'
    report = runner.report(PACK + SUM + SEND, toml=entry)
    assert sites(report) == [("convert", "")]
    assert report["sites"][0]["assumptions"] == ["U2"]
    assert sites(runner.report(PACK + SUM + SEND, "--strict", toml=entry)) == [("keep", "OPI403")]
    assert sites(runner.report(PACK + SEND + SUM, toml=entry)) == [("keep", "OPI101")]


def test_entries_that_say_nothing_of_the_program(runner: Runner) -> None:
    report = runner.report(PACK + SEND, toml='[effects.checksum]\nreads = ["0"]\n')
    assert "nothing calls it" in remarks(report)[0]
    assert report["sites"][0]["assumptions"] == []
    body = "double checksum(const double *p, int n)\n{\n    return p[n - 1];\n}\n"
    report = runner.report(PACK + SEND + SUM, more=body)
    assert "its source is among the files" in remarks(report)[0]
    assert sites(report) == [("keep", "OPI101")]


def test_a_bad_entry_is_an_error(runner: Runner) -> None:
    (runner.folder / "a.c").write_text(HEAD + PACK + SEND + TAIL)
    (runner.folder / "opi.toml").write_text('[effects.checksum]\nreadz = ["0"]\n')
    assert main(["a.c"]) == 2
    assert "checksum" in runner.capfd.readouterr().err


CHOICE = "double *work = rank ? u : v;\n"
PERHAPS = "double *work = t > 5 ? buf : v;\n"
APART = "/* opi: assume disjoint(buf, work) */\n"
USE = "for (int i = 0; i < N; i++) u[i] += work[i];\n"


def assumptions(report: dict[str, Any]) -> list[list[str]]:
    return [site["assumptions"] for site in report["sites"]]


def test_pointers_are_apart_when_a_person_says_so(runner: Runner) -> None:
    assert sites(runner.report(PERHAPS + PACK + SEND + USE)) == [("keep", "OPI101")]
    late = PERHAPS + PACK + SEND + APART.replace("buf, work", "work, buf") + USE
    for text in (APART + PERHAPS + PACK + SEND + USE, late):
        report = runner.report(text, "--check")
        assert sites(report) == [("convert", "")]
        assert assumptions(report) == [["U3"]]
        assert remarks(report) == []
        assert report["exit"] == 0
    toml = '[[assume]]\ndisjoint = "buf, work"\nfunction = "main"\n'
    assert assumptions(runner.report(PERHAPS + PACK + SEND + USE, toml=toml)) == [["U3"]]


def test_of_parameters_too(runner: Runner) -> None:
    more = "static void add(double *to, const double *from) { {} for (int i = 0; i < 1000; i++) to[i] += from[i]; }\n"
    body = PERHAPS + PACK + SEND + "add(u, work);\n"
    assert sites(runner.report(body, more=more.replace("{}", ""))) == [("keep", "OPI101")]
    said = more.replace("{}", "/* opi: assume disjoint(to, from) */")
    assert sites(runner.report(body, more=said)) == [("keep", "OPI101")]
    report = runner.report(PACK + SEND + "add(u, t > 5 ? u : v);\n", more=said)
    assert sites(report) == [("convert", "")]
    assert "no site depends on the function that it stands in" in remarks(report)[0]


def test_pointers_that_are_not_apart_are_reported(runner: Runner) -> None:
    same = APART + "double *work = buf;\n" + PACK + SEND + USE
    report = runner.report(same, "--check")
    assert sites(report) == [("keep", "OPI101")]
    assert "`buf` and `work` stand for the same memory" in remarks(report)[0]
    assert report["exit"] == 1
    for text, message in (
        (APART + CHOICE + PACK + SEND + USE, "that is known without it"),
        (APART.replace("work", "worm") + PERHAPS + PACK + SEND + USE, "`worm` is no one pointer or array here"),
        (APART + PERHAPS + PACK + SEND + "u[0] += buf[1];\n" + USE, "no site converts because of it"),
    ):
        assert message in remarks(runner.report(text))[0]
    strict = runner.report(APART + PERHAPS + PACK + SEND + USE, "--strict")
    assert sites(strict) == [("keep", "OPI101")]
    assert "--strict does without it" in remarks(strict)[0]


def test_an_entry_of_two_names_is_checked(runner: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    for entry in ('disjoint = "buf"', 'disjoint = "a, b"\npacked = "buf"'):
        (runner.folder / "a.c").write_text(HEAD + PACK + SEND + TAIL)
        (runner.folder / "opi.toml").write_text(f'[[assume]]\n{entry}\nfunction = "main"\n')
        assert main(["a.c"]) == 2
