"""Reasons have a budget of steps of their own; what it is does not change a decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool
from core_support import judge, program

from opi_xform import budget
from opi_xform.ownership.explain.deepest import NOT_ASKED, Deepest
from opi_xform.ownership.explain.live_data import LiveData
from opi_xform.ownership.liveness.asked import Judges, Steps

PART = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    double *a = malloc(n * 8), *b = malloc(2 * n * 8), *c = malloc(n * 8);
    for (int i = 0; i < n; i++)
        a[i] = b[i] = b[n + i] = c[i] = i;
    MPI_Send(b + n, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(c, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    free(c);
    LOOP
    for (int i = 0; i < n; i++)
        printf("%g %g\\n", a[i], b[n + i]);
    MPI_Finalize();
    return 0;
}
"""
INTO = "if (n > 9) goto inside; for (int i = 0; i < n; i++) { a[i] = 1; inside: b[0] = 2; }"
BODY = "for (int i = 0; i < n; i++) b[i] = i; MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
MAIN = "static double b[99];\nint main(int argc, char **argv)\n{\n    int n = argc;\n"


def sites(folder: Path, loop: str = "") -> list[dict[str, Any]]:
    (folder / "a.c").write_text(PART.replace("LOOP", loop))
    code, out, err = run_tool([str(folder / "a.c"), "--output-format", "json"])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    return found


def test_what_the_budget_does_not_hold_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = sites(tmp_path)
    assert [site["decision"] for site in deep] == ["keep", "convert"]
    assert "is read at line 16" in deep[0]["message"], deep[0]
    monkeypatch.setattr(budget, "REASONS", 0)
    shallow = sites(tmp_path)
    assert [site["decision"] for site in shallow] == ["keep", "convert"]
    assert "line 16 may read there after the send" in shallow[0]["message"]
    monkeypatch.setattr(LiveData, "refusal", lambda *_: None)
    assert sites(tmp_path)[0]["message"].startswith("the call begins inside `b`")
    assert sites(tmp_path)[0]["message"].endswith(NOT_ASKED)


def test_a_judge_is_made_as_long_as_steps_are_left() -> None:
    found = judge(program(MAIN + BODY + " return 0; }\n"), "b")
    assert found.steps > 0
    steps = Steps(found.steps + 1)
    judges = Judges(steps)
    assert judges.of(1, lambda: found) is found
    assert judges.settle()
    assert (steps.taken, steps.spent) == (found.steps, False)
    assert judges.of(1, lambda: found) is found  # what is known costs nothing
    assert judges.settle()
    assert steps.taken == found.steps
    found.steps += 5
    assert judges.of(2, lambda: found) is found
    judges.settle()
    assert steps.spent
    assert judges.of(3, lambda: found) is None
    assert not judges.settle()


def test_nothing_is_asked_where_the_whole_program_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop with two entries has no summary, and a sweep of it would not end."""

    def strays(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Deepest, "strays", strays)
    assert {site["code"] for site in sites(tmp_path, INTO)} == {"OPI104", "OPI111"}  # of the call's own words


def test_no_sweep_begins_where_a_loop_has_two_entries() -> None:
    into = f"if (n > 9) goto inside; for (int k = 0; k < n; k++) {{ b[k] = 1; inside: n--; }} {BODY}"
    found = judge(program(MAIN + into + " return 0; }\n"), "b")
    assert found.program.nest.irreducible
    assert found.exceeded
