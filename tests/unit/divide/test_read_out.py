"""Messages that are received in an array of a struct: whether the program reads them to their ends by its name.

``opi_xform.divide.structs.read_out`` tells it to ``FromStructs``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import source_in

from opi_xform.divide.structs.from_structs import FromStructs

TOP = """#include <stdlib.h>
static struct { int k; double in[64], out[64]; } h;
static double u[640];
static void leave(int n) { if (n > 64) exit(1); }
static double sum(const double *b, int n) { double s = 0.0; for (int i = 0; i < n; i++) s += b[i]; return s; }
"""
READ = "for (int i = 0; i < n; i++) u[i] = h.in[i];"
TWO = "int p = 0; for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) u[p] = h.in[p], p++;"


def assumed(folder: Path, text: str, length: str, strict: bool = False) -> frozenset[str] | None:
    """What it rests on that the array leaves its struct; None: it stays."""
    main = f"""int main(int argc, char **argv)
{{
    int n = argc + 2, m = argc + 3;
    MPI_Recv(h.in, {length}, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    {text}
    u[0] += h.out[n];
    return h.k;
}}
"""
    found = source_in(folder, TOP + main)
    (use,) = found.uses
    structs = FromStructs(found.program, found.units, lambda name: Path(name).read_bytes(), strict)
    ways = list(structs.run(frozenset({use.place[:3]})))
    return ways[0].assumes if ways else None


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        (READ, "n", frozenset()),
        ("for (int i = n - 1; i >= 0; i--) h.in[i] += 1.0;", "n", frozenset()),
        ("for (int i = 0; i < n; i++) h.out[i] = u[i]; " + READ, "n", frozenset()),
        (TWO, "m * n", frozenset({"A3"})),
        ("", "64", frozenset()),  # it ends in the array anyway
        ("", "n", None),
        (READ, "n + 1", None),
        (READ, "m", None),
        ("n++; " + READ + " n--;", "m", frozenset()),
        ("n--; " + READ, "n", None),
        ("if (n < 9) " + READ, "n", None),
        ("u[0] = sum(h.in, n);", "n", None),
        ("for (int i = 0; i < n; i++) u[i] = h.out[i];", "n", None),
        ("if (n > 64) return 1; " + READ, "n", None),
        ("leave(n); " + READ, "n", None),
        ("while (u[0] > h.out[1]) u[0] -= 1.0; " + READ, "n", None),
        ("while (u[0] > 1.0) u[0] -= 1.0; " + READ, "n", frozenset()),
    ],
)
def test_what_is_received_is_read_to_its_end(
    tmp_path: Path, text: str, length: str, expected: frozenset[str] | None
) -> None:
    assert assumed(tmp_path, text, length) == expected


def test_nothing_is_assumed_where_a_person_says_so(tmp_path: Path) -> None:
    assert assumed(tmp_path, TWO, "m * n", True) is None
