"""Buffers in parts: the arithmetic after them, and that everything is told as it stands in the user's text."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from case_tools import case_path, run_tool

from opi_xform.divide.layout import layouts
from opi_xform.divide.places import Offsets
from opi_xform.memory.poly import ZERO, Poly, number, symbol
from opi_xform.ownership.model import inequalities
from opi_xform.ownership.model.inequalities import Prover, divided
from opi_xform.text.edit import ByteEdit, apply_edits

COLUMN, ROW, N, M = (symbol(s) for s in range(4))
ONE = number(1)


def test_places_of_a_rewritten_text_are_found_again() -> None:
    rng = random.Random(7)
    for _ in range(200):
        before = bytes(rng.randrange(97, 123) if rng.random() < 0.9 else 10 for _ in range(60))
        at = sorted(rng.sample(range(60), 6))
        edits = [ByteEdit(a, rng.choice((a, b)), (), b"X" * rng.randrange(4)) for a, b in pairwise(at)]
        after = apply_edits(before, edits)
        offsets = Offsets(before, edits)
        kept = [k for k in range(60) if not any(e.begin <= k < e.end for e in edits)]
        for k in kept:
            there = offsets.after(k, False) if not any(e.begin == k for e in edits) else None
            if there is not None:
                assert after[there] == before[k]
                assert offsets.before(there) == k


def test_products_are_divided_without_rest_only() -> None:
    assert divided((N * M).scaled(16) + N.scaled(8), N.scaled(8)) == M.scaled(2) + ONE
    assert divided(N * M + ONE, N) is None
    assert divided(N.scaled(3), number(2)) is None
    assert divided(ZERO, N) == ZERO


@pytest.mark.parametrize(
    ("goal", "follows"),
    [
        (N * M - (ROW * N + COLUMN) - ONE, True),  # the last element of the last row
        (N * M - (ROW * N + COLUMN) - ONE - ONE, False),
        (ROW * N + COLUMN, True),
        (COLUMN - ONE, False),
        (N - COLUMN - ONE, True),
        (M - COLUMN, False),
    ],
)
def test_what_follows_from_the_bounds_of_two_loops(goal: Poly, follows: bool) -> None:
    facts = [N - COLUMN - ONE, M - ROW - ONE]  # i < n, j < m
    assert Prover(facts, frozenset({0, 1})).proves(goal) is follows


def test_products_of_a_proof_stay_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant of a fact takes a term away and leaves a longer one, which the same fact takes away, and so on."""
    seen: list[int] = []
    without = inequalities._Part.without
    monkeypatch.setattr(
        inequalities._Part,
        "without",
        lambda part, p, monomial, c: seen.append(len(monomial)) or without(part, p, monomial, c),
    )
    facts = [M, N - M + number(10), COLUMN - N - number(7), ROW - N - number(11)]
    assert not Prover(facts, frozenset({0, 1})).proves(N)
    assert max(seen) == 1 + inequalities.MORE_FACTORS


def test_parts_begin_where_messages_do() -> None:
    size = (N + M).scaled(16)
    starts = {ZERO, N.scaled(8), N.scaled(16), N.scaled(16) + M.scaled(8)}
    (found,) = layouts({1: size}, {1: starts}, 8)
    assert not found.equal
    assert found.bounds[1] == (ZERO, N.scaled(8), N.scaled(16), N.scaled(16) + M.scaled(8), size)
    assert next(layouts({1: N.scaled(32)}, {1: {ZERO, N.scaled(24)}}, 8)).count == 4
    assert not list(layouts({1: N.scaled(16)}, {1: {ZERO, M.scaled(8)}}, 8))  # which is longer?


def report(case: str, *options: str) -> dict[str, Any]:
    code, out, err = run_tool([str(case_path(*case.split("/"))), "--output-format", "json", "-j", "1", *options])
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_sites_are_told_as_they_stand_in_the_source() -> None:
    text = case_path("convert", "parts_2.c").read_text(encoding="utf-8").splitlines()
    sites = report("convert/parts_2.c")["sites"]
    assert [site["decision"] for site in sites] == ["convert", "convert"]
    for site in sites:
        line = text[site["line"] - 1]
        assert line[site["column"] - 1 :].startswith(site["call"])
        assert site["buffer"] in line
        assert "becomes 4 buffers, one for each of its parts" in site["message"]
        assert site["file"].endswith("parts_2.c")


HALVES = """
#include <mpi.h>
#include <stdlib.h>
static double *s, r[24];
static struct { double *p[2]; } b; // a table of pointers: the divided buffer becomes one as well
static void work(int zero)
{
    for (int d = 0; d < 2; d++) {
        b.p[d] = malloc(6 * sizeof(double));
        for (int i = 0; i < 6; i++)
            b.p[d][i] = i;
        MPI_Sendrecv(b.p[d], 6, MPI_DOUBLE, 0, 7, r, 6, MPI_DOUBLE, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        free(b.p[d]);
    }
    size_t m = 24 + zero;
    s = malloc(sizeof(double) * m * 4);
    for (int t = 0; t < 3 + zero; t++) {
        for (int d = 0; d < 4; d++)
            for (int i = 0; i < (int)m; i++)
                s[i + d * m] = i + d + t;
        for (int d = 0; d < 4; d++) {
            MPI_Send(s + d * m, (int)m, MPI_DOUBLE, 0, 7, MPI_COMM_SELF);
            MPI_Recv(r, 24, MPI_DOUBLE, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        }
    }
    if (s) free(s);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    work(argc - 1);
    MPI_Finalize();
    return 0;
}
"""


def test_sites_say_so_whatever_the_buffers_are_called(tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(HALVES, encoding="utf-8")
    code, out, err = run_tool([str(tmp_path / "t.c"), "--output-format", "json", "-j", "1"])
    assert code == 0, err
    messages = [site["message"] for site in json.loads(out)["sites"] if site["buffer"].startswith("s +")]
    assert ["`s` becomes 4 buffers" in message for message in messages] == [True]


def test_sizes_that_may_be_negative_are_an_assumption() -> None:
    sites = report("convert/parts_10.c")["sites"]
    assert all(site["decision"] == "convert" and "A3" in site["assumptions"] for site in sites)
    strict = report("convert/parts_10.c", "--strict")["sites"]  # each message may have a block, but nothing is divided
    assert not any("becomes" in site["message"] or "A3" in site["assumptions"] for site in strict)


def test_the_access_that_spans_two_parts_is_named() -> None:
    sites = report("keep/parts_span_memcpy.c")["sites"]
    notes = [note for site in sites for note in site["notes"] if "its parts stay one buffer" in note["message"]]
    lines = case_path("keep", "parts_span_memcpy.c").read_text(encoding="utf-8").splitlines()
    assert notes
    assert all("memcpy" in lines[note["line"] - 1] for note in notes)
