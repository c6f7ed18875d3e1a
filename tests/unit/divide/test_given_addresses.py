"""Addresses of elements that calls are given: which calls may get them, and where the addresses go."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import Source, source_in

from opi_xform.divide.mentions import mentions_of
from opi_xform.divide.passages.given import Given, given, leading

TOP = """static double v[900], u[900];
static double *last;
static void pack(double *b, int n) { while (n-- > 0) *b++ = u[n]; }
static void send(double *b, int n) { MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); }
static void keep(double *b) { last = b; }
static void both(double *b, int n) { pack(b + n, n); }
static void either(double *b, int n) { if (n > 5) b = u; b[0] = 1; }
void other(double *);
"""


def program(folder: Path, body: str) -> Source:
    return source_in(
        folder, f"{TOP}\nint main(int argc, char **argv)\n{{\n{body}\nsend(v, 9);\nkeep(u);\nreturn 0;\n}}\n"
    )


@pytest.mark.parametrize(
    ("call", "may"),
    [
        ("pack(&v[argc], 3);", True),
        ("pack(v + argc, 3);", True),
        ("memcpy(&v[argc], u, 8);", True),
        ("pack(v, 3);", False),  # the whole of it
        ("pack(v - argc, 3);", False),
        ("send(&v[argc], 3);", False),  # which sends
        ("free(&v[argc]);", True),  # what is freed the proof tells
        ("last = &v[argc];", False),
        ("other(&v[argc]);", False),
    ],
)
def test_which_calls_may_get_the_address_of_an_element(call: str, may: bool, tmp_path: Path) -> None:
    found = program(tmp_path, call)
    (key,) = (key for key, v in found.program.variables.items() if v.name == "v")
    mentions = [m for m in mentions_of(found.program).of(key) if m.ref.span.begin < found.text.index("send(v, 9)")]
    assert [given(found.program, m) for m in mentions] == [may]


def test_functions_that_lead_to_messages(tmp_path: Path) -> None:
    names = {name.rpartition(":")[2] for name in leading(program(tmp_path, "pack(v, 3);").program)}
    assert names == {"send", "main"}


@pytest.mark.parametrize(
    ("call", "fine"),
    [
        ("pack(&v[argc], 3);", True),
        ("both(&v[argc], 3);", True),
        ("memcpy(&v[argc], u, 8);", True),
        ("memcpy(&v[argc], last, 8);", True),  # which is `u`
        ("keep(&v[argc]);", False),
        ("either(&v[argc], argc);", False),
        ("free(&v[argc]);", False),
        ("last = memcpy(&v[argc], u, 8);", False),
        ("double *p = memcpy(&v[argc], u, 8); p[0] = 1;", False),
        ("argc = &v[argc] > u;", False),
    ],
)
def test_where_addresses_go(call: str, fine: bool, tmp_path: Path) -> None:
    found = program(tmp_path, call)
    p = found.program
    (key,) = (key for key, v in p.variables.items() if v.name == "v")
    places = {m.place for m in mentions_of(p).of(key) if m.ref.span.begin < found.text.index("send(v, 9)")}
    (frame,) = (number for number, f in enumerate(p.graph.frames) if f.function == "main")
    o = p.values.objects.by_variable[-1, key]
    nodes = {node.number for node in p.graph.nodes}
    reached = Given(p, key, frame, places).touching(o, nodes)
    assert (reached is not None) == fine
    if reached is not None:
        assert set().union(*reached.values()) == places
        assert Given(p, key, frame, places).touching(o, ()) is None  # beyond what is allowed
