"""Where a buffer's memory comes from and goes to: allocations, wrappers, sizes as text, tests against NULL, frees."""

from __future__ import annotations

import pytest
from allocating_programs import SEND, called, program
from ownership_support import Source, shared, source

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ownership.allocation import lazy_tests, sizes
from opi_xform.ownership.allocation.allocating import (
    asked,
    frames_between,
    may_be_null,
    null_without_memory,
    only_allocates,
    passed_on,
)
from opi_xform.ownership.allocation.allocations import Allocation, find_allocations, moves, set_through
from opi_xform.ownership.allocation.busy import frames_inside, read_in, still_called
from opi_xform.ownership.allocation.deallocations import deallocation, only_frees
from opi_xform.ownership.allocation.filled import filling
from opi_xform.ownership.allocation.null_tests import GOES_ON, gives_up, uncertain_test
from opi_xform.ownership.model.buffers import Carrier


def found_in(body: str, top: str = "") -> tuple[Source, list[Allocation] | None]:
    found = program(body, top)
    at = shared(found)
    return found, find_allocations(found.program, at.flow, at.defs, found.buffers["b"])


# --- allocations as they are written ----------------------------------------------------------------------------------

GET = "static double *get(int k) { return malloc(k * sizeof(double)); }"
INIT = "static void init(int k, double **p) { *p = malloc(k * sizeof(double)); }"


@pytest.mark.parametrize(
    ("body", "top", "expected"),
    [
        (f"double *b = malloc(80);\n{SEND}\nfree(b);", "", [("malloc", True)]),
        (f"double *b;\nb = (double *)malloc(80);\n{SEND}\nfree(b);", "", [("malloc", False)]),
        (f"double *b = calloc(10, 8);\n{SEND}\nfree(b);", "", [("calloc", True)]),
        (f"double *b = get(10);\n{SEND}\nfree(b);", GET, [("malloc", True)]),
        (f"double *b;\ninit(10, &b);\n{SEND}\nfree(b);", INIT, [("malloc", False)]),
        (f"double *b;\nif (!(b = malloc(80))) exit(1);\n{SEND}\nfree(b);", "", [("malloc", False)]),
        (f"double *b = malloc(80), *c = malloc(80);\nother(c);\n{SEND}\nfree(b);", "", [("malloc", True)]),
        (f"double *b = (calls++, malloc(80));\n{SEND}\nfree(b);", "", None),
    ],
)
def test_allocations_as_they_are_written(body: str, top: str, expected: list[tuple[str, bool]] | None) -> None:
    _, allocations = found_in(body, top)
    if expected is None:
        assert not allocations
        return
    assert allocations is not None
    callees = [a.call.callee.name for a in allocations if isinstance(a.call.callee, ast.FuncRef)]
    assert [(name, a.declared) for name, a in zip(callees, allocations, strict=True)] == expected


def test_a_function_that_only_allocates_is_told_with_its_arguments() -> None:
    found, allocations = found_in(f"double *b = get(argc);\n{SEND}\nfree(b);", GET)
    assert allocations is not None
    (one,) = allocations
    assert one.wrapper >= 0
    assert [(found.program.variables[key].name) for key, _ in one.arguments] == ["k"]
    assert not one.out
    _, allocations = found_in(f"double *b;\ninit(10, &b);\n{SEND}\nfree(b);", INIT)
    assert allocations is not None
    assert allocations[0].out


def test_realloc_moves_memory() -> None:
    found = program(f"double *b = malloc(80);\nb = realloc(b, 160);\n{SEND}\nfree(b);")
    allocating = [n.number for n in called(found, "malloc") + called(found, "realloc")]
    assert [moves(found.program, n) for n in allocating] == [False, True]


def test_the_carrier_in_a_call_that_gets_its_address() -> None:
    found = program(f"double *b;\ninit(10, &b);\n{SEND}\nfree(b);", INIT)
    (node,) = called(found, "init")
    assert isinstance(node.action, ins.CallInstr)
    written = set_through(found.program, node.action.call, Carrier("pointer", found.key("b")))
    assert isinstance(written, ast.VarRef)
    assert written.var == found.key("b")
    rows = program(f"double *b[2];\ninit(10, &b[1]);\ninit(20, &b[0]);\n{SEND}\nfree(b[0]);", INIT)
    node = called(rows, "init")[0]
    assert isinstance(node.action, ins.CallInstr)
    row = set_through(rows.program, node.action.call, Carrier("pointer", rows.key("b"), 1))
    assert isinstance(row, ast.Index)
    assert set_through(rows.program, node.action.call, Carrier("pointer", rows.key("b"))) is None
    other = program(f"double *b = get(10);\n{SEND}\nfree(b);", GET)
    (node,) = called(other, "get")
    assert isinstance(node.action, ins.CallInstr)
    assert set_through(other.program, node.action.call, Carrier("pointer", other.key("b"))) is None


# --- what is written of a size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "top", "text"),
    [
        (f"double *b = malloc(80);\n{SEND}\nfree(b);", "", "80"),
        (f"double *b = malloc(n * sizeof *b);\n{SEND}\nfree(b);", "", "n * sizeof *b"),
        (f"double *b = calloc(n, sizeof(double));\n{SEND}\nfree(b);", "", "n * sizeof(double)"),
        (f"double *b = calloc(n + 1, 8);\n{SEND}\nfree(b);", "", "(n + 1) * 8"),
        (f"double *b = get(n);\n{SEND}\nfree(b);", GET, "n * sizeof(double)"),
    ],
)
def test_the_size_that_was_asked_for_as_text(body: str, top: str, text: str) -> None:
    found, allocations = found_in(body, top)
    at = shared(found)
    assert allocations is not None
    requested = sizes.requested(found.program, at.flow, allocations[0], at.texts)
    assert requested is not None
    assert requested.replace("(size_t)", "").replace(" ", "") in (text.replace(" ", ""), f"({text.replace(' ', '')})")
    assert sizes.constant_size(allocations[0]) is (text == "80")
    product = sizes.factors(found.program, at.flow, allocations[0], at.texts)
    assert product is not None
    assert len(product) == (2 if "calloc" in body else 1)


def test_the_size_of_a_declared_array() -> None:
    found = program(f"static double b[2][N + 1];\n{SEND}")
    at = shared(found)
    variable = found.program.variables[found.key("b")]
    file = variable.span.file
    assert sizes.dimensions(found.program, variable, at.texts, file) == ["2", "N + 1"]
    assert sizes.array_size(found.program, found.buffers["b"], at.texts, file) == "sizeof(double[2][N + 1])"
    assert sizes.array_size(found.program, found.buffers["b"], at.texts, file, {"N"}) == "sizeof(double[2][101])"
    assert sizes.plain_name(found.program, variable) == "b"
    assert "b" in sizes.size_name(found.program, variable, False)


@pytest.mark.parametrize(
    ("between", "expected"), [("calls = 1;", True), ("k = 20;", False), ("int k = 3; calls = k;", False)]
)
def test_the_same_size_at_another_statement(between: str, expected: bool) -> None:
    found, allocations = found_in(f"int k = argc;\ndouble *b = malloc(k * 8);\n{{\n{between}\n{SEND}\n}}\nfree(b);")
    at = shared(found)
    assert allocations is not None
    (use,) = found.uses
    level = next(iter(at.flow.levels(use.node)))
    assert sizes.same_everywhere(found.program, at.flow, allocations[0], at.defs, level, at.texts) is expected
    assert sizes.written(allocations[0]) == allocations[0].call.args
    assert sizes.sized_by(found.program, allocations[0]) == allocations[0].call.args


# --- functions that allocate for others -------------------------------------------------------------------------------


def wrapper(text: str) -> tuple[Source, int, int]:
    """A program, the frame of ``get`` and the node that allocates in it."""
    found = program(f"double *b = get(argc);\n{SEND}\nfree(b);", text)
    graph = found.program.graph
    (frame,) = [f.number for f in graph.frames if f.function.endswith("get")]
    (node,) = [
        n.number
        for n in graph.nodes
        if isinstance(n.action, ins.CallInstr) and n.action.callee == ins.AddrFunc("malloc")
    ]
    return found, frame, node


@pytest.mark.parametrize(
    ("body", "only", "null_only"),
    [
        ("return malloc(k * 8);", True, True),
        ("double *p = malloc(k * 8); if (!p) exit(1); return p;", True, True),
        ("double *p = malloc(k * 8); if (!p) calls++; return p;", False, True),
        ("double *p = malloc(k * 8); calls++; return p;", False, True),
        ("double *p = malloc(k * 8); p[0] = 1; return p;", True, True),  # first contents: see ``filled``
        ("if (k < 3) return 0; return malloc(k * 8);", True, False),
    ],
)
def test_functions_that_do_nothing_but_allocate(body: str, only: bool, null_only: bool) -> None:
    found, frame, node = wrapper(f"static double *get(int k) {{ {body} }}")
    flow = shared(found).flow
    assert only_allocates(found.program, flow, frame, node) is only
    assert null_without_memory(found.program, flow, frame, node) is null_only
    outer = found.program.graph.frames[frame].parent
    assert frames_between(found.program, frame, outer) == [frame]
    assert frames_between(found.program, outer, frame) == []


def test_what_a_size_is_made_of_on_its_way() -> None:
    found, frame, node = wrapper("static double *get(int k) { int bytes = k * 8; return malloc(bytes); }")
    action = found.program.graph.nodes[node].action
    assert isinstance(action, ins.CallInstr)
    flow = shared(found).flow
    entering = found.program.graph.nodes[found.program.graph.frames[frame].call].action
    assert isinstance(entering, ins.CallInstr)
    told = passed_on(found.program, flow, [frame], entering.call, asked(found.program, action.call))
    assert told is not None
    given, between = told
    names = found.program.variables
    assert [names[key].name for key, _ in given] == ["k"]
    assert [names[key].name for key, _ in between] == ["bytes"]


@pytest.mark.parametrize(
    ("value", "expected"), [("0", True), ("malloc(8)", False), ("v", False), ("argc > 1 ? v : 0", True)]
)
def test_nodes_that_may_set_null(value: str, expected: bool) -> None:
    found = source(f"static double v[N], *p;\nint main(int argc, char **argv)\n{{\np = {value};\nreturn p == 0;\n}}\n")
    key = found.key("p")
    sets = [
        n.number
        for n in found.program.graph.nodes
        if isinstance(n.action, ins.Define) and n.action.target == ins.Var(key)
    ]
    assert any(may_be_null(found.program, n) for n in sets) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("calls++; return malloc(k * 8);", True),
        ("double *p = malloc(k * 8); calls++; return p;", True),
        ("double *p = malloc(k * 8); kept = p; return p;", False),
        ("double *p = malloc(k * 8); p[0] = 1; return p;", True),
        ("if (calls) return 0; return malloc(k * 8);", False),  # not each time
        ("other(0); return malloc(k * 8);", False),
    ],
)
def test_calls_that_do_more_and_stay(body: str, expected: bool) -> None:
    found, frame, node = wrapper(f"static double *kept; static double *get(int k) {{ {body} }}")
    flow = shared(found).flow
    frames = still_called(found.program, flow, found.buffers["b"], frame, node)
    assert bool(frames) is expected
    assert frames_inside(flow, frame) == [frame]
    define = next(n for n in found.program.graph.nodes if isinstance(n.action, ins.Define))
    assert {f for f, _ in read_in(define.action, define.frame)} == {define.frame}


# --- first contents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("double *p = malloc(k * 8); memset(p, 0, k * 8); return p;", 1),
        ("double *p = malloc(k * 8); for (int i = 0; i < k; i++) p[i] = 0; return p;", 1),
        ("return malloc(k * 8);", 0),
        ("double *p = malloc(k * 8); p[0] = 1; calls = p[0]; return p;", 0),  # it reads, too
        ("double *p = malloc(k * 8); p[0] = 1; kept = p; return p;", 0),
    ],
)
def test_functions_that_fill_what_they_hand_out(body: str, expected: int) -> None:
    found, _, _ = wrapper(f"static double *kept; static double *get(int k) {{ {body} }}")
    (o,) = found.buffers["b"].objects
    assert len(filling(found.program, o)) == expected


# --- tests against NULL -----------------------------------------------------------------------------------------------


def with_test(body: str) -> tuple[Source, list[int]]:
    found = program(f"double *b = malloc(80);\n{body}\n{SEND}\nfree(b);", "void abort(void);")
    return found, [n.number for n in found.program.graph.nodes if isinstance(n.action, ins.Branch)]


@pytest.mark.parametrize(
    ("body", "gives", "uncertain"),
    [
        ("if (!b) exit(1);", True, ""),
        ("if (b == NULL) abort();", True, ""),
        ("if (!b) exit(0);", False, GOES_ON),
        ("if (!b) return 0;", False, GOES_ON),
        ("if (b) calls = 1;", False, GOES_ON),
        ("b[0] = 1; if (!b) calls = 1;", False, ""),  # it was written to
        ("if (calls) b = 0; if (!b) exit(1);", False, "where it need not have been allocated"),
    ],
)
def test_what_a_test_finds(body: str, gives: bool, uncertain: str) -> None:
    found, branches = with_test(body)
    n = branches[-1]
    assert gives_up(found.program, found.buffers["b"], n, ()) is gives
    told = uncertain_test(found.program, found.buffers["b"], [n], (), ())
    assert (told[1] if told is not None else "") == uncertain
    assert uncertain_test(found.program, found.buffers["b"], [n], [n], ()) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if (!b) b = malloc(80);", True),
        ("if (b == NULL) { b = malloc(80); }", True),
        ("if (!b) { b = malloc(80); calls++; }", False),
        ("if (!b) b = malloc(80); else calls++;", False),
        ("if (calls) b = malloc(80);", False),
        ("if (!b) { int bytes = 80; b = malloc(bytes); }", True),
    ],
)
def test_tests_that_only_ask_whether_it_is_there_yet(body: str, expected: bool) -> None:
    found = program(f"{body}\n{SEND}", "static double *b;")
    at = shared(found)
    buffer = found.buffers["b"]
    allocations = find_allocations(found.program, at.flow, at.defs, buffer)
    assert allocations is not None
    told = lazy_tests.tests_of_allocations(found.program, at.flow, buffer, allocations, at.defs.addressed)
    assert bool(told) is expected
    assert all(isinstance(at.flow.info(level).stmt, ast.If) for level in told.values())


# --- frees ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("free(p);", True),
        ("if (p) free(p);", True),
        ("if (p != NULL) { free(p); p = NULL; }", True),
        ("free(p); calls++;", False),
        ("if (calls) free(p);", False),
        ("free(p); free(p);", False),
        ("other(p);", False),
    ],
)
def test_functions_that_only_free(body: str, expected: bool) -> None:
    found = program(f"double *b = malloc(80);\n{SEND}\ndone(b);", f"static void done(double *p) {{ {body} }}")
    (function,) = [f for f in found.program.functions.values() if f.name == "done"]
    assert only_frees(function) is expected
    frees = [
        n.number
        for n in found.program.graph.nodes
        if isinstance(n.action, ins.CallInstr) and n.action.callee == ins.AddrFunc("free")
    ]
    for n in frees[:1]:
        told = deallocation(found.program, n, 0)
        assert told.freeing == n
        assert (told.node != n) is expected, "the call of the function stands for it"
        assert len(told.wrappers) == int(expected)


@pytest.mark.parametrize(
    ("returned", "expected"), [("NULL", True), ("0", True), ("p", False), ("calls ? NULL : p", False)]
)
def test_functions_that_free_and_return(returned: str, expected: bool) -> None:
    """The call stands for the free; where parts of a buffer have such a function called for each, it is void."""
    found = program(
        f"double *b = malloc(80);\n{SEND}\ndone(b);",
        f"static void *done(double *p) {{ free(p); return (void *)({returned}); }}",
    )
    (function,) = [f for f in found.program.functions.values() if f.name == "done"]
    assert not only_frees(function)
    nodes = found.program.graph.nodes
    (n,) = [n.number for n in nodes if isinstance(n.action, ins.CallInstr) and n.action.callee == ins.AddrFunc("free")]
    told = deallocation(found.program, n, 0)
    assert (told.node != n) is expected
    assert len(told.wrappers) == int(expected)
