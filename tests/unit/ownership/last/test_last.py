"""Sends with which the life of a block ends: blocks of memory, what numbers are equal to, what is used afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import Source, source, source_in

from opi_xform.ir import instr as ins
from opi_xform.ir.span import NOWHERE
from opi_xform.ir.types import INT, Type
from opi_xform.ownership.last.blocks import Blocks, Pool, leaves_of
from opi_xform.ownership.last.edits import of_blocks
from opi_xform.ownership.last.fresh import FreshBlocks
from opi_xform.ownership.last.sends import LastSends
from opi_xform.ownership.liveness.equalities import Equalities, both
from opi_xform.ownership.model.buffers import Options
from opi_xform.ownership.model.names import names_of
from opi_xform.values.facts import Facts

POINTER = Type("pointer", "double *", 8, elem=Type("float", "double", 8))
SEND = "MPI_Send({}, 1000, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"
TOP = "static double v[9], *kept; static int n; void other(double *);"


def program(body: str, top: str = TOP) -> Source:
    return source(f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


# --- leaves -----------------------------------------------------------------------------------------------------------


def test_the_tips_of_a_tree() -> None:
    p, i = ins.Var("p"), ins.Var("i")
    assert list(leaves_of(p)) == [(p, True, True)]
    assert sorted(leaves_of(ins.PtrAdd(p, i, 8)), key=str) == sorted([(p, False, True), (i, False, False)], key=str)
    assert list(leaves_of(ins.Op("cast", (p,), POINTER))) == [(p, True, True)]
    assert list(leaves_of(ins.Op("cast", (p,), INT))) == [(p, False, False)], "a number is not followed"


# --- pools ------------------------------------------------------------------------------------------------------------


def pool(found: Source) -> tuple[Blocks, Pool | None]:
    blocks = Blocks(found.program)
    (use,) = [u for u in found.uses if u.side == "send"][:1]
    call = found.program.graph.nodes[use.node].action
    assert isinstance(call, ins.CallInstr)
    return blocks, blocks.pool(found.program.points_to.operand(found.program.graph.nodes[use.node].frame, call.args[0]))


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("double *b = malloc(8000); b[0] = 1; " + SEND.format("b") + " free(b);", 1),
        ("double *b = argc > 1 ? malloc(8000) : malloc(9000); " + SEND.format("b") + " free(b);", 2),
        ("double *b = argc > 1 ? malloc(8000) : calloc(9, 8); " + SEND.format("b") + " free(b);", 2),
        ("double *b = malloc(8000); other(b); " + SEND.format("b"), None),
        ("double *b = aligned_alloc(64, 8000); " + SEND.format("b"), None),
        ("static double w[1000]; double *b = argc > 1 ? w : malloc(8000); " + SEND.format("b"), None),
    ],
)
def test_blocks_of_memory_with_their_names(body: str, count: int | None) -> None:
    found = program(body)
    _, made = pool(found)
    assert (None if made is None else len(made.allocating)) == count
    if made is not None:
        assert made.objects
        assert len(made.freeing) == 1
        names = {names_of(found.program).text(name) for name in made.holders if name[0] == "v"}
        assert {name.strip("`") for name in names} == {"b"}
        assert made.exact <= made.holders


@pytest.mark.parametrize(
    ("behind", "used"),
    [
        ("free(b);", False),
        ("v[0] = b[1]; free(b);", True),
        ("if (argc) free(b);", False),
        ("b = malloc(8000); b[0] = 2; free(b);", False),
    ],
)
def test_whether_a_block_is_used_behind_its_send(behind: str, used: bool) -> None:
    found = program("double *b = malloc(8000); b[0] = 1; " + SEND.format("b") + f" {behind}")
    blocks, made = pool(found)
    assert made is not None
    sends = LastSends(found.program, blocks, made, Facts(found.program.graph, found.program.nest, found.program.values))
    assert sends.understood
    (use,) = found.uses
    name = next(name for name in made.holders if name[0] == "v")
    assert (sends.used_after(use.node, name) is not None) is used
    assert {kind for kind, _, _ in sends.with_it(use.node, name)} <= {"t"}, "no variable holds it besides"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int t = 0; t < 3; t++) { double *b = malloc(8000); b[0] = t; " + SEND.format("b") + " free(b); }", 1),
        ("double *b = malloc(8000); b[0] = 1; " + SEND.format("b") + " v[0] = b[0]; free(b);", 0),
        ("double *b = malloc(8000); b[0] = 1; kept = b; " + SEND.format("b") + " free(b);", 0),
    ],
)
def test_sends_that_end_a_blocks_life(tmp_path: Path, body: str, expected: int) -> None:
    found = source_in(tmp_path, f"{TOP}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")
    places = {u.place for u in found.uses}
    told = of_blocks(found.units, found.program, Options(), found.uses, places, ())
    assert len(told) == expected
    assert of_blocks(found.units, found.program, Options(), found.uses, (), ()) == [], "no site stays"


# --- equalities -------------------------------------------------------------------------------------------------------


def test_what_numbers_are_equal_to() -> None:
    found = program("int h = n, k = h; h = 7; argc = h; k++;\n" + SEND.format("v"))
    names = names_of(found.program)
    equal = Equalities(found.program, names)
    known: dict[object, object] = {}
    for node in found.program.graph.nodes:
        known = dict(equal.step(node, known))  # type: ignore[arg-type]
    h = ins.Var(found.key("h"), NOWHERE)
    assert equal.value(0, h, known) == 7  # type: ignore[arg-type]
    assert equal.value(0, ins.Var(found.key("argc")), known) == 7  # type: ignore[arg-type]
    assert equal.value(0, ins.Var(found.key("n")), known) is None, "others may set it"  # type: ignore[arg-type]

    def taken(op: str, left: ins.Operand, right: ins.Operand) -> bool | None:
        return equal.taken(0, ins.Op(op, (left, right), INT), known)  # type: ignore[arg-type]

    assert taken("<", h, ins.Const(8)) is True
    assert taken("==", h, ins.Const(8)) is False
    assert taken("<=", h, h) is True
    assert taken("<", ins.Var(found.key("k")), ins.Const(8)) is None
    assert equal.taken(0, ins.Op("not", (h,), INT), known) is False  # type: ignore[arg-type]


def test_what_holds_on_two_ways_holds_on_either() -> None:
    a, b, c = ("v", 1, 0), ("v", 2, 0), ("v", 3, 0)
    assert both({a: 1, b: 2}, {a: 1, b: 3, c: 4}) == {a: 1}
    assert both({}, {a: 1}) == {}


# --- blocks that nobody has touched -----------------------------------------------------------------------------------

RECEIVE = "MPI_Recv({}, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
MADE = "double *b = malloc(n * sizeof(double)), *c = b; "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (MADE + RECEIVE.format("b") + " free(b);", True),
        (MADE + RECEIVE.format("c") + " free(b);", True),
        (MADE + "for (int i = 0; i < 3; i++) v[i] = n; " + RECEIVE.format("b") + " free(b);", True),
        (MADE + "if (argc) n = v[0]; " + RECEIVE.format("b") + " free(b);", False),
        (MADE + "b[0] = 1; " + RECEIVE.format("b") + " free(b);", False),
        (MADE + "c[0] = 1; " + RECEIVE.format("b") + " free(b);", False),
        (MADE + RECEIVE.format("c") + RECEIVE.format("b") + " free(b);", False),
        (MADE + "for (int i = 0; i < 3; i++) { " + RECEIVE.format("b") + " } free(b);", False),
        (MADE + "if (argc) b = malloc(8); " + RECEIVE.format("b") + " free(b);", False),
        ("double *b; do { b = malloc(n * sizeof(double)); n--; } while (n); " + RECEIVE.format("b"), False),
    ],
)
def test_whether_a_receive_is_the_first_that_is_done_with_a_block(body: str, expected: bool) -> None:
    found = program(body)
    use = [u for u in found.uses if u.side == "recv"][-1]
    assert use.length is not None
    node = found.program.graph.nodes[use.node]
    assert isinstance(node.action, ins.CallInstr)
    blocks = Blocks(found.program)
    made = blocks.pool(found.program.points_to.operand(node.frame, node.action.args[0]))
    assert made is not None
    sends = LastSends(found.program, blocks, made, Facts(found.program.graph, found.program.nest, found.program.values))
    assert sends.understood
    name = blocks.names.name(node.frame, node.action.args[0])
    assert name is not None
    assert bool(FreshBlocks(sends).fresh(use.node, name, use.length)) is expected


@pytest.mark.parametrize(
    ("type_", "made", "strict", "assumed"),
    [
        ("double", "malloc(8000)", False, [set()]),
        ("double", "malloc(8000)", True, [set()]),
        ("double", "calloc(1000, 8)", False, [{"A1"}]),
        ("double", "calloc(1000, 8)", True, []),
        ("char", "calloc(1000, 8)", False, []),
        ("double", "calloc(1000, 9)", False, []),
    ],
)
def test_zeros_behind_a_short_message(
    tmp_path: Path, type_: str, made: str, strict: bool, assumed: list[set[str]]
) -> None:
    """That nobody reads them is assumption A1, which is not made for characters."""
    body = f"{type_} *b = {made}; MPI_Recv(b, 1000, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    body += " v[0] = b[3]; free(b);"
    found = source_in(tmp_path, f"{TOP}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")
    places = {u.place for u in found.uses}
    told = of_blocks(found.units, found.program, Options(strict=strict), found.uses, places, ())
    assert [a for _, verdict in told for a in verdict.assumptions.values()] == assumed
