"""The examples of docs/supported.md: each is a program, and its calls become what the comments after them say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from case_tools import run_tool

PAGE = Path(__file__).resolve().parents[3] / "docs" / "supported.md"
EXAMPLES = re.findall(r"^\*\*(.*?)\*\*.*?\n\n```c\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
BEFORE = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 2048
static double u[N], sum;
static MPI_Comm comm = MPI_COMM_WORLD;
static int rank, to, from, n = N;
FUNCTIONS
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    to = from = rank ^ 1;
    for (int i = 0; i < N; i++)
        u[i] = i * argc;
"""
AFTER = """
    for (int i = 0; i < N; i++)
        sum += u[i];
    printf("%g\\n", sum);
    return MPI_Finalize();
}
"""
CALL = re.compile(r"\bMPI_(\w+)\(.*/\* (.*?) \*/")


def program(text: str) -> str:
    """Functions stand before main, all else in it."""
    functions, _, body = (
        text.rpartition("}\n\n") if re.match(r"(static|void|double)[^;]*\n\{", text) else ("", "", text)
    )
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return BEFORE.replace("FUNCTIONS", f"{functions}}}\n" if functions else "") + lines + AFTER


def test_there_are_examples_of_both() -> None:
    wanted = [word for _, text in EXAMPLES for _, word in CALL.findall(text)]
    assert len(EXAMPLES) >= 16
    assert sum(word.startswith("OPI_") for word in wanted) >= 8
    assert len({word for word in wanted if not word.startswith("OPI_")}) >= 7


@pytest.mark.parametrize("text", [text for _, text in EXAMPLES], ids=[name for name, _ in EXAMPLES])
def test_example(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(program(text))
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json", "-j", "1"])
    assert code == 0, err
    sites = {site["line"]: site for site in json.loads(out)["sites"]}
    lines = enumerate(program(text).splitlines(), 1)
    wanted = {n: found[2] for n, line in lines if (found := CALL.search(line))}
    _, diff, _ = run_tool([str(tmp_path / "a.c"), "-j", "1"])
    made = re.findall(r"^\+.*?(OPI_\w+)\(.*/\* (.*?) \*/", diff, re.M)
    assert {n: site["code"] or "converts" for n, site in sites.items()} == {
        n: "converts" if word.startswith("OPI_") else word for n, word in wanted.items()
    }
    assert all(call == word for call, word in made)
    assert sum(word.startswith("OPI_") for word in wanted.values()) == len(made)
