"""A pointer that is set for one buffer after the other: what is told of one call is the line that sets it for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.ownership.explain.choosing.places import other_start, set_inside
from opi_xform.ownership.explain.pointers.in_turn import several, still_named
from tests.unit.ownership.explain.pointers.told_programs import kept, line_of

WORDS = (several, other_start, set_inside, still_named)  # what is tested here, by way of the whole tool

PADS = """struct pads { double *north, *south, *west, *east; };
static void read_in(struct pads *p, int n, int rank)
{
    double *in;
"""
READ = "    for (int i = 0; i < n; i++) s += p->east[i] + p->west[i] + p->north[i] + p->south[i];\n}\n"
KINDS = ("north", "south", "west", "east")
MADE = "struct pads *p = malloc(sizeof *p);\n"
MADE += "".join(f"if (rank) p->{k} = malloc(n * 8); else p->{k} = calloc(n, 8);\n" for k in KINDS)


def receive(name: str, last: bool = False) -> str:
    line = f"    if (p->{name} != NULL) {{\n        in = p->{name}; // {name}\n"
    if last:
        line += "        MPI_Recv(in, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
    return line + "        in[0] += rank;\n    }\n"


def test_the_line_that_sets_it_for_the_call_is_told_first(tmp_path: Path) -> None:
    before = PADS + "".join(receive(k, k == "east") for k in KINDS) + READ
    text, site = kept(before, MADE + "read_in(p, n, rank);\n", tmp_path)
    north, south, east = (line_of(text, f"// {k}") for k in ("north", "south", "east"))
    message = f"`in` is a second name of what `p->east` points to: line {east} sets it from that; "
    assert (site["code"], site["message"]) == ("OPI402", f"{message}line {north} and {south} set it anew")
    assert [note["line"] for note in site["notes"]] == [east, north, south]


@pytest.mark.parametrize("anew", ["p->east = malloc(n * 8);", "p->east = NULL;"])
def test_a_pointer_that_has_moved_on_is_no_second_name(anew: str, tmp_path: Path) -> None:
    before = (PADS + "".join(receive(k, k == "east") for k in KINDS) + READ).replace("// east", f"{anew} // east")
    text, site = kept(before, MADE + "read_in(p, n, rank);\n", tmp_path)
    assert "second name" not in site["message"], site
    assert f"line {line_of(text, '// east')}" in site["message"], site


def test_a_line_that_sets_it_to_a_place_in_a_block_says_more_than_the_lines_for_other_calls(tmp_path: Path) -> None:
    before = """static void reduce(double *first, double *second, int n, int m)
{
    double *in = first;
    for (int i = 0; i < n; i++) s += in[i];
    in = second;
    for (int i = 0; i < n; i++) s -= in[i];
    in = second + m * n; // a part
    for (int i = 0; i < m; i++) {
        MPI_Recv(in, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        in -= n;
        if (in < second) in += m * n;
    }
}
"""
    inside = "double *a = malloc(n * 80), *b = malloc(n * 88);\nreduce(a, b, n, rank + 10);\n"
    text, site = kept(before, inside + "for (int i = 0; i < n * 10; i++) s += b[i];", tmp_path)
    at = line_of(text, "// a part")
    assert (
        site["message"]
        == f"line {at} sets `in` to a place in the block of `second`; a message needs a buffer of its own"
    )


def test_memory_that_is_lost_at_once_is_not_told(tmp_path: Path) -> None:
    inside = """
    double *all, *part = malloc(n / 2 * 8);
    if (rank) all = calloc(n, 8); else all = malloc(n * 8);
    for (int i = 0; i < n; i++) all[i] = i + rank;
    part = &all[n / 2]; // SET
    MPI_Send(part, n / 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(part, n / 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all = joined(all, part, n);
    s += all[0];
    free(all);
"""
    joined = "static double *joined(double *a, double *b, int n) { double *c = malloc(8 * n);"
    joined += " for (int i = 0; i < n; i++) c[i] = i < n / 2 ? a[i] : b[i - n / 2]; free(a); return c; }"
    text, site = kept(joined, inside, tmp_path)
    message = f"line {line_of(text, '// SET')} sets `part` to a place in the block of `all`"
    assert site["message"] == f"{message}; a message needs a buffer of its own"
