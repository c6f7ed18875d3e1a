"""A program beyond the budget of the analysis stays as it is, and says which function makes it so large."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import analyse, load_cases

from opi_xform import budget
from opi_xform.cli.main import main

CASE = next(case for case in load_cases("convert") if case.name == "pack_callee_1")


TOKENS = """#include <mpi.h>
static double a[1000];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Send((void *)0, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(a, argc, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Request rq;
    MPI_Send_init(a, argc, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &rq);
    MPI_Request_free(&rq);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(("limit", "value"), [("NODES", 20), ("ACCESSES", 10)])
def test_all_sites_stay(limit: str, value: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    CASE.write(tmp_path, CASE.texts)
    assert {site.decision for site in analyse(CASE, tmp_path)} == {"convert"}
    monkeypatch.setattr(budget, limit, value)
    for site in analyse(CASE, tmp_path):
        assert (site.decision, site.code) == ("keep", "OPI401")
        assert "the program is beyond the analysis' budget" in site.why
        assert ("this function" if limit == "NODES" else budget.TOUCHED) in site.why


def test_a_message_without_a_buffer_and_a_form_of_call_stay_for_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(budget, "NODES", 4)
    (tmp_path / "a.c").write_text(TOKENS)
    assert main([str(tmp_path / "a.c"), "--output-format", "json"]) == 0
    empty, other, persistent = json.loads(capfd.readouterr().out)["sites"]
    assert (empty["code"], empty["message"]) == ("OPI402", "`NULL` names no buffer")
    assert other["code"] == "OPI401"
    assert (persistent["code"], persistent["message"][:20]) == ("OPI107", "a persistent request")


WRAPPER = """#include <mpi.h>
#include <stdlib.h>
static void pass(double *b, int n, int to) { OTHER MPI_Send(b, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); }
static void hand_on(double *v, int n) { pass(v, n, 1); }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double *x = malloc(argc * sizeof *x), *y = malloc(argc * sizeof *y);
    hand_on(x, argc);
    hand_on(SECOND, argc);
    free(x);
    free(y);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("other", "second", "code"),
    [
        ("", "y", "OPI402"),
        ("", "x + 1", "OPI401"),  # of the same block, as far as the text says
        ("b = malloc(8 * n);", "y", "OPI401"),  # what callers give is not what is sent
    ],
)
def test_a_buffer_that_two_callers_name_is_told(
    other: str,
    second: str,
    code: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Whoever reads a program that is too large sees that, too (``opi_xform.ownership.explain.choosing.given_on``)."""
    monkeypatch.setattr(budget, "NODES", 4)
    (tmp_path / "a.c").write_text(WRAPPER.replace("OTHER", other).replace("SECOND", second))
    assert main([str(tmp_path / "a.c"), "--output-format", "json"]) == 0
    (site,) = json.loads(capfd.readouterr().out)["sites"]
    assert site["code"] == code
    if code == "OPI402":
        apart = "with `x` at line 9 and with `y` at line 10"
        assert site["message"] == f"`v` may be one of several buffers: `hand_on` is called {apart}"
        assert [note["line"] for note in site["notes"]] == [9, 10]


def test_the_function_that_is_copied_most_often_is_named() -> None:
    found = budget.TooLargeError(["main", "a.c:f", "g", "a.c:f"])
    assert (found.most, found.copies) == ("a.c:f", 2)
