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


def test_the_function_that_is_copied_most_often_is_named() -> None:
    found = budget.TooLargeError(["main", "a.c:f", "g", "a.c:f"])
    assert (found.most, found.copies) == ("a.c:f", 2)
