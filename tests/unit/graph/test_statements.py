"""Statements in the control flow: which nodes are inside one, and by which edges it is entered and left."""

from __future__ import annotations

import pytest
from core_support import Found, program

from opi_xform.graph.graph import Unbind
from opi_xform.graph.statements import Flow, is_loop, mirrored
from opi_xform.ir import ast


def flow(body: str, head: str = "") -> tuple[Found, Flow]:
    found = program(f"int a, b, c; void mark(int);\n{head}\nint main(int n, char **v)\n{{\n{body}\nreturn 0;\n}}\n")
    return found, Flow(found.program.graph)


def level(found: Found, at: Flow, text: str, kind: type[ast.Stmt], function: str = "main") -> tuple[int, int]:
    """The first statement of a kind on the line that has ``text``, in the first copy of its function."""
    line = next(i for i, row in enumerate(found.text.split("\n"), 2) if text in row)
    (frame, *_) = at.frames_of[function]
    stmts = at.lowered(frame).stmts
    return frame, next(i for i, s in enumerate(stmts) if isinstance(s.stmt, kind) and s.stmt.span.line == line)


def lines(found: Found, at: Flow, nodes: set[int]) -> set[str]:
    """The texts of the lines on which nodes stand."""
    rows = ["", *('#include "mpi.h"\n' + found.text).split("\n")]
    return {
        rows[n.action.span.line].strip()
        for n in found.program.graph.nodes
        if n.number in nodes and hasattr(n.action, "span")
    }


def test_what_is_executed_inside_a_statement() -> None:
    found, at = flow("if (n)\n{\na = 1;\nb = 2;\n}\nc = 3;")
    whole = level(found, at, "if (n)", ast.If)
    assert lines(found, at, at.members(whole)) == {"if (n)", "a = 1;", "b = 2;"}
    (third,) = [n.number for n in found.on_line("c = 3;")]
    assert not at.inside(whole, third)
    assert all(at.inside(whole, n) for n in at.members(whole))


def test_a_call_brings_its_functions_nodes_inside() -> None:
    head = "static void g(void)\n{\nb = 5;\n}"
    found, at = flow("g();\na = 1;", head)
    call = level(found, at, "g();", ast.ExprStmt)
    assert "b = 5;" in lines(found, at, at.members(call))
    (inner,) = [n.number for n in found.on_line("b = 5;")]
    assert at.inside(call, inner)
    chain = [type(at.info(one).stmt).__name__ for one in at.chain(inner)]
    assert chain == ["ExprStmt", "Block", "ExprStmt", "Block"]
    assert [frame for frame, _ in at.levels(inner)] == [found.program.graph.nodes[inner].frame, 0]
    assert at.depth(next(at.chain(inner))) > at.depth(call)
    (back,) = found.nodes(Unbind)
    assert at.stmt[back.number] == call[1], "the way back belongs to the call"


def test_edges_into_a_statement_and_out_of_it() -> None:
    found, at = flow("a = 1;\nif (n)\n{\nb = 2;\n}\nc = 3;")
    entering, leaving = at.boundary(level(found, at, "if (n)", ast.If), at.succs, at.preds)
    (before,), (after,) = ([n.number for n in found.on_line(t)] for t in ("a = 1;", "c = 3;"))
    assert {u for u, _ in entering} == {before}
    assert {v for _, v in leaving} == {after}
    assert len(leaving) == 2, "from the test, and from its body"


def test_a_statements_own_return_is_no_way_out_of_it() -> None:
    found, at = flow("if (n)\n{\nif (a)\nreturn 1;\nb = 2;\n}\nc = 3;")
    _, leaving = at.boundary(level(found, at, "if (n)", ast.If), at.succs, at.preds)
    (after,) = [n.number for n in found.on_line("c = 3;")]
    assert {v for _, v in leaving} == {after}


def test_a_loop_is_entered_once_and_left_from_its_test() -> None:
    found, at = flow("a = 1;\nwhile (n)\n{\nb = 2;\n}\nc = 3;")
    entering, leaving = at.boundary(level(found, at, "while (n)", ast.While), at.succs, at.preds)
    assert len(entering) == len(leaving) == 1


def test_the_way_from_the_entry_to_the_exit() -> None:
    found, at = flow("a = 1;\nb = 2;")
    (first,), (second,) = ([n.number for n in found.on_line(t)] for t in ("a = 1;", "b = 2;"))
    assert at.succs[first] == (second,)
    assert at.preds[second] == (first,)
    assert at.succs[at.entry] != ()
    assert at.preds == mirrored(at.succs)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("while (n)\n{\nif (a) break;\n}", []),
        ("for (;;)\n{\nwhile (n)\n{\nif (a) goto out;\n}\n}\nout: b = 1;", ["Goto"]),
        ("while (a)\n{\nif (n)\n{\nbreak;\n}\n}", []),
        ("switch (a) { case 1:\nwhile (n)\n{\ncontinue;\n}\n}", []),
    ],
)
def test_jumps_out_of_a_loop(body: str, expected: list[str]) -> None:
    found, at = flow(body)
    frame, stmt = level(found, at, "while (", ast.While)
    stmts = at.lowered(frame).stmts
    assert [type(stmts[i].stmt).__name__ for i in at.escaping("main", stmt)] == expected


def test_jumps_out_of_the_body_of_a_loop() -> None:
    found, at = flow("while (n)\n{\nif (a)\nbreak;\nif (b)\ncontinue;\nswitch (c) { case 1: break; }\n}")
    frame, stmt = level(found, at, "if (a)", ast.If)
    stmts = at.lowered(frame).stmts
    assert [type(stmts[i].stmt).__name__ for i in at.escaping("main", stmt)] == ["Break"]
    body = stmts[stmt].parent
    assert [type(stmts[i].stmt).__name__ for i in at.escaping("main", body)] == ["Break", "Continue"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if (n)\n{\nin: a = 1;\n}\nif (b) goto in;", True),
        ("if (n)\n{\nin: a = 1;\nif (b) goto in;\n}", False),
        ("switch (a)\n{\ncase 1:\nif (n)\n{\ncase 2: b = 1;\n}\n}", True),
        ("if (n)\n{\nswitch (a) { case 2: b = 1; }\n}", False),
    ],
)
def test_statements_that_are_entered_in_the_middle(body: str, expected: bool) -> None:
    found, at = flow(body)
    _, stmt = level(found, at, "if (n)", ast.If)
    assert at.entered_inside("main", stmt) is expected


def test_which_statements_are_loops() -> None:
    found, at = flow("if (n) do { a = 1; n--; } while (n);\nif (b) c = 1;")
    stmts = at.lowered(0).stmts
    turned, plain = (
        next(s.stmt for s in stmts if isinstance(s.stmt, ast.If) and s.stmt.span.line == line) for line in (6, 7)
    )
    assert is_loop(turned)
    assert not is_loop(plain)
    assert found.program.nest.loops


STEP = """
static void step(int mode) {
    if (mode == 1)
        mark(1);
    if (mode == 2) {
        mark(2);
    }
    a = b;
    switch (mode) {
    case 5 ... 6:
        b = c;
    }
}
"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("if (mode == 1)", ast.If),  # the copy for 2 goes past it
        ("if (mode == 2) {", ast.If),
        ("a = b;", ast.ExprStmt),
        ("switch (mode) {", ast.Switch),  # of many cases: no test for each
    ],
)
def test_each_copy_has_a_node_of_what_it_executes(text: str, kind: type[ast.Stmt]) -> None:
    found, at = flow("step(1); step(2);", STEP)
    (function,) = (name for name in at.frames_of if name.endswith("step"))
    for frame in at.frames_of[function]:
        _, stmt = level(found, at, text, kind, function)
        entering, leaving = at.boundary((frame, stmt), at.succs, at.preds)
        assert (len(entering), len(leaving)) == (1, 1)


@pytest.mark.parametrize(
    "body",
    [
        "for (;;) { if (a) b = 1; }",
        "while (1) { if (a) b = 1; }",
        "do { if (a) b = 1; } while (2 > 1);",
        "again: if (a) b = 1;\ngoto again;",
        "again: b = 0;\nif (a) goto again;",
        "again: if (a) goto again;",
    ],
)
def test_a_way_back_to_a_statement_leaves_it_and_enters_it(body: str) -> None:
    """Of what is inside of an ``if`` no node leads back to an earlier one without a node outside between them."""
    _, at = flow(body)
    stmts = at.lowered(0).stmts
    stmt = next(i for i, s in enumerate(stmts) if isinstance(s.stmt, ast.If))
    inside = at.members((0, stmt))
    work, behind = [v for u in inside for v in at.succs[u] if u == min(inside) and v in inside], set[int]()
    while work:
        if (n := work.pop()) not in behind:
            behind.add(n)
            work += [v for v in at.succs[n] if v in inside]
    assert min(inside) not in behind
