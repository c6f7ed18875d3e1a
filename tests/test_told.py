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
