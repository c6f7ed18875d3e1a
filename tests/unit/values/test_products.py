"""Places that are products: how far they go, and how often loops inside others run."""

from __future__ import annotations

import pytest
from core_support import program

from opi_xform.memory.poly import ONE, Poly, number, symbol
from opi_xform.values.facts import Facts
from opi_xform.values.hull import hulls

HEAD = "static double buf[4000], sum; static int mark, row[9]; int size(void);\n"
MAIN = "int main(void) { int nx = size(), ny = size(), nz = size(), p = 0; "
ROWS = "for (int k = 0; k < nz; k++) for (int j = 0; j < ny; j++) "


def test_quotients() -> None:
    a, b = symbol(1), symbol(2)
    assert ((a - b) * (a + ONE)).quotient(a + ONE) == a - b
    assert (a * b + b).quotient(b) == a + ONE
    assert (a * b + ONE).quotient(b) is None
    assert (a + a).quotient(number(3)) is None
    assert Poly(()).quotient(a) == Poly(())
    assert a.quotient(Poly(())) is None
    assert (a * a * b).coefficient_of(2) == a * a
    assert (a * a * b).coefficient_of(1) is None


def beyond(body: str, guard: str = "") -> set[tuple[int | None, int | None]]:
    """Of the last read of buf: how far it may begin in front of buf, and go beyond nx * ny * nz elements; in bytes."""
    found = program(f"{HEAD}{MAIN}{guard} mark = nx * ny * nz; {body} return 0; }}")
    (room,) = found.marked()
    values = found.program.values
    facts = Facts(found.program.graph, found.program.nest, values)
    reads = [a for some in values.accesses.of(found.object("buf")).values() for a in some if a.kind == "R"]
    last = reads[-1]
    assert last.lo is not None
    assert last.length is not None
    out = set()
    for hull in hulls(facts, found.program.graph.nodes[last.node].block, last.lo, last.length):
        hi = None if hull.hi is None else (hull.hi - values.symbols.resolve(room).scaled(8)).constant
        out.add((None if hull.lo is None else hull.lo.constant, hi))
    return out


DEEP = "for (int i = 0; i < nx; i++) " + ROWS
SIGNS = "if (nx < 0 || ny < 0 || nz < 0) return 1;"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (DEEP + "sum += buf[(i * nz + k) * ny + j];", (0, 0)),
        (DEEP + "sum += buf[i * nz * ny + k * ny + j + 2];", (16, 16)),
        ("for (int i = nx - 1; i >= 0; i--) " + ROWS + "sum += buf[(i * nz + k) * ny + j];", (0, 0)),
        (DEEP.replace("i < nx", "i <= nx - 1") + "sum += buf[(i * nz + k) * ny + j];", (0, 0)),
        (DEEP.replace("i < nx", "i != nx") + "sum += buf[(i * nz + k) * ny + j];", (0, 0)),
        (DEEP + "sum += buf[p++];", (0, 0)),
        ("double *q = buf; " + DEEP + "sum += *q++;", (0, 0)),
        (DEEP + "sum -= buf[nx * ny * nz - 1 - ((i * nz + k) * ny + j)];", (0, 0)),
    ],
)
def test_how_far_places_go(body: str, expected: tuple[int, int]) -> None:
    for guard in (SIGNS, ""):  # where the loops run, the sizes are not negative
        ends = beyond(body, guard)
        assert (expected[0], None) in ends
        assert (None, expected[1]) in ends


@pytest.mark.parametrize(
    "body",
    [
        DEEP.replace("i < nx", "i <= nx") + "sum += buf[(i * nz + k) * ny + j];",
        DEEP + "sum += buf[(i * ny + k) * nz + j];",
        DEEP + "sum += buf[p += 2];",
        DEEP + "sum += buf[i * size() + j];",
        "for (int k = 0; k < nz; k++) for (int j = 0; j < row[k]; j++) sum += buf[p++];",
        "int k = 0; do { for (int j = 0; j < ny; j++) sum += buf[k * ny + j]; } while (++k < nz);",
        "for (int k = 0; ; k++) { for (int j = 0; j < ny; j++) sum += buf[k * ny + j]; if (k >= nz) break; }",
    ],
)
def test_places_that_may_go_further(body: str) -> None:
    assert not any(hi is not None and hi <= 0 for _, hi in beyond(body, SIGNS))


def marked(body: str) -> int | None:
    found = program(f"{HEAD}{MAIN}{body} return 0; }}")
    (value,) = found.marked()
    return found.program.values.symbols.resolve(value).constant


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SIGNS + ROWS + "p++; mark = p - ny * nz;", 0),
        ("if (ny < 1) return 1; if (nz <= 2) return 1;" + ROWS + "p++; mark = p - ny * nz;", 0),
        ("int n = ny - nz + 1; if (n < 2) return 1; for (int j = nz; j <= ny; j++) p++; mark = p - n;", 0),
        ("if (ny >= 0) { for (int j = 0; j < ny; j++) p++; mark = p - ny; }", 0),
        # the sign is not known, or is that of another number
        (ROWS + "p++; mark = p - ny * nz;", None),
        ("if (ny < -1) return 1; for (int j = 0; j < ny; j++) p++; mark = p - ny;", None),
        ("if (ny < 0) nx = 1; for (int j = 0; j < ny; j++) p++; mark = p - ny;", None),
        ("if (ny < 0) return 1; ny = size(); for (int j = 0; j < ny; j++) p++; mark = p - ny;", None),
        # rows of several lengths
        ("for (int k = 0; k < 4; k++) for (int j = 0; j < row[k]; j++) p++; mark = p - 4 * row[0];", None),
    ],
)
def test_how_often_loops_run(body: str, expected: int | None) -> None:
    assert marked(body) == expected


def test_rows_of_several_lengths_are_not_as_long_as_the_last() -> None:
    rows = "int n, k = 0; do { n = 0; for (int j = 0; j < row[k]; j++) { p++; n++; } k++; } while (k < 4);"
    assert marked(rows + "mark = p - 4 * n;") is None
