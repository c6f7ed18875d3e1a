"""A receive that may be from MPI_PROC_NULL is told as that where nothing else keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest
from read_programs import line_of, sites

SIZED = "int k = 10 * t + argc;"
ALWAYS = "int k = 10 + argc;"
BESIDE = "s += in[k];"


@pytest.mark.parametrize(
    ("size", "source", "more", "code"),
    [
        (SIZED, "-1", "", "OPI203"),  # a later turn, which may bring nothing, reads another number of elements
        (SIZED, "0", BESIDE, "OPI202"),
        (SIZED, "-1", BESIDE, "OPI202"),  # without MPI_PROC_NULL it would stay as well
        (SIZED, "0", "", ""),
        (ALWAYS, "0", "", ""),
    ],
)
def test_a_source_that_may_be_null(tmp_path: Path, size: str, source: str, more: str, code: str) -> None:
    lines = [
        "double *in = malloc(N * 8);",
        f"int from = {source}; // SET",
        'if (argc > 3 && scanf("%d", &from) != 1) from = 1;' if source == "-1" else "",
        "for (int t = 1; t < 4; t++) {",
        size,
        "MPI_Recv(in, k, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        f"for (int i = 0; i < k; i++) s += in[i]; {more}",
        "}",
    ]
    text, found = sites(lines, tmp_path)
    assert found[0]["code"] == code
    if code == "OPI203":
        assert found[0]["message"].startswith(f"the source may be MPI_PROC_NULL (line {line_of(text, 'SET')} sets it")
        assert found[0]["message"].endswith(" then too")  # no advice: a test around the call would not do
