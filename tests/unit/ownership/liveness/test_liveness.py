"""Events of a buffer, marks and zeros before a receive, receives that may fail: what liveness is told of a program."""

from __future__ import annotations

import pytest
from ownership_support import Source, source

from opi_xform.memory.poly import number
from opi_xform.ownership.liveness.buffer_events import BufferEvents
from opi_xform.ownership.liveness.failures import failures_of
from opi_xform.ownership.liveness.marks import marks_before
from opi_xform.ownership.liveness.read_ends import ReadEnds
from opi_xform.ownership.liveness.zero_ends import filled_by, read_to_an_end, zeros_put

RECV = "MPI_Recv(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
TOP = "static double b[N], v[N]; static char text[N]; void *calloc(size_t, size_t); size_t strlen(const char *);\n"


def program(body: str, top: str = "") -> Source:
    return source(f"{TOP}{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


def line_of(found: Source, node: int | None) -> int | None:
    if node is None:
        return None
    action = found.program.graph.nodes[node].action
    return action.span.line if hasattr(action, "span") else None


# --- marks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "marked"),
    [
        (f"for (int t = 0; t < 9; t++) {{\nb[9] = -1;\n{RECV}\nv[t] = b[0]; }}", True),
        (f"b[9] = -1;\nfor (int t = 0; t < 9; t++) {{\n{RECV}\nv[t] = b[0]; }}", False),  # once, and perhaps care
        (f"b[9] = -1;\n{RECV}\nfor (int i = 0; b[i] != -1; i++) v[i] = b[i];", True),
        (f"b[9] = -1;\n{RECV}\nfor (int i = 0; i < 9; i++) v[i] = b[i];", False),
        (f"for (int t = 0; t < 9; t++) {{\nmemset(b, 0, sizeof b);\n{RECV}\nv[t] = b[0]; }}", True),  # zeros, too
        (f"for (int t = 0; t < 9; t++) {{\nb[9] = t;\n{RECV}\nv[t] = b[0]; }}", False),  # no constant
        (f"for (int t = 0; t < 9; t++) {{\nb[9] = -1;\nv[1] = b[9];\n{RECV}\nv[t] = b[0]; }}", False),  # looked at
        (f"for (int t = 0; t < 9; t++) {{\n{RECV}\nv[t] = b[0];\nb[9] = -1; }}", True),  # for the next turn
        (f"for (int t = 0; t < 9; t++) {{\n{RECV}\nv[t] = b[0];\nb[9] = 0.0; }}", False),
        (f"for (int t = 0; t < 9; t++) {{\nmemset(b, 255, sizeof b);\n{RECV}\nv[t] = b[0]; }}", True),
    ],
)
def test_marks_that_a_shorter_message_leaves(body: str, marked: bool) -> None:
    found = program(body)
    (use,) = found.uses
    node = marks_before(found.program, found.buffers["b"], use)
    assert (node is not None) is marked
    if node is not None:
        assert line_of(found, node) == found.line("memset" if "memset(b" in body else "b[9] = -1")


# --- zeros ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"memset(b, 0, sizeof b);\n{RECV}\nv[0] = b[0];", "memset"),
        (f"memset(b, 1, sizeof b);\n{RECV}\nv[0] = b[0];", None),
        (f"double *b = calloc(10, 8);\n{RECV}\nv[0] = b[0];\nfree(b);", "calloc"),
        (f"double *b = malloc(80);\n{RECV}\nv[0] = b[0];\nfree(b);", None),
        (f"b[0] = 0;\n{RECV}\nv[0] = b[0];", None),
    ],
)
def test_calls_that_fill_a_buffer_with_zeros(body: str, expected: str | None) -> None:
    found = program(body)
    node = zeros_put(found.program, found.buffers["b"])
    assert line_of(found, node) == (
        None if expected is None else found.line(f"{expected}(b" if expected == "memset" else "calloc(10")
    )
    if node is not None:
        assert filled_by(found.program, node) == (0 if expected == "memset" else None)


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("v[0] = text[0];", False),
        ("v[0] = strlen(text);", True),
        ("puts(text);", True),
        ("for (int i = 0; text[i]; i++) v[i] = text[i];", True),
        ("for (int i = 0; i < 10; i++) v[i] = text[i];", False),
        ("int k = text[3], c = 0; while (c < k) c++;", True),
        ("if (text[0]) v[0] = 1;", False),
        ("for (int i = 0; !end(text[i]); i++) v[i] = text[i];", True),
        ("for (int i = 0; i < 10; i++) if (text[i] == 0) { i = 10; }", True),
        ("for (int i = 0; i < 10; i++) if (text[i] == 0) v[0]++;", False),
        ("for (int i = 0; i < 10; i++) if (text[i]) for (int k = 0; k < 3; k++) v[k] += text[i];", False),
        ("for (int i = 0; i < 10; i++) copy[i] = text[i]; v[0] = strlen(copy);", True),
    ],
)
def test_how_far_a_buffer_is_read_is_told_by_what_it_contains(read: str, expected: bool) -> None:
    top = "static char copy[N]; static int end(char c) { return c == 0; }"
    found = program(f"MPI_Recv(text, 10, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n{read}", top)
    assert read_to_an_end(found.program, found.buffers["text"]) is expected


@pytest.mark.parametrize(
    ("test", "zero", "mark"),
    [("n[i] != 0", True, False), ("n[i]", True, False), ("n[i] != -1", False, True), ("i < n[0]", False, False)],
)
def test_what_a_test_of_numbers_asks_for(test: str, zero: bool, mark: bool) -> None:
    receive = "MPI_Recv(n, 10, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    found = program(f"{receive}\nfor (int i = 0; {test}; i++) v[i] = n[i];", "static int n[N];")
    ends = ReadEnds(found.program, found.buffers["n"].objects)
    assert (ends.ends_at_zero(), ends.tell((-1,))) == (zero, mark)


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("for (int i = 0, k; (k = next(i)) >= 0; i = k) v[i] = n[i];", True),
        ("for (int i = 0; i < 10; i++) if (next(i) > 0) v[i] = 1;", False),  # it ends no loop
        ("int i = next(0); while (i < 10) i++;", False),  # it is asked once
    ],
)
def test_a_function_may_be_asked_how_far_a_list_goes(read: str, expected: bool) -> None:
    receive = "MPI_Recv(n, 10, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    top = "static int n[N]; static int next(int i) { return n[i] ? i + 1 : -1; }"
    found = program(f"{receive}\n{read}", top)
    ends = ReadEnds(found.program, found.buffers["n"].objects)
    assert (ends.walked_to_zero(), ends.answered_at_zero()) == (False, expected)


# --- receives that fail -----------------------------------------------------------------------------------------------

HANDLER = "typedef int MPI_Errhandler;\n#define MPI_ERRORS_RETURN 7\n#define MPI_ERRORS_ARE_FATAL 8\n"
HANDLER += "int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler); void other(void);\n"
SET = "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"int rc = {RECV} v[0] = rc;", ""),  # nobody sets a handler
        (f"{SET} {RECV} v[0] = b[0];", ""),
        (f"{SET} int rc = {RECV} v[0] = rc;", "the program looks at what the call returns"),
        (
            f"{SET} MPI_Status s; {RECV.replace('MPI_STATUS_IGNORE', '&s')} v[0] = s.MPI_TAG;",
            "the program may look at the status",
        ),
        (
            f"{SET} MPI_Status s; {RECV.replace('MPI_STATUS_IGNORE', '&s')} v[0] = b[0];",
            "the call has a status, `s`, which nothing reads: MPI_STATUS_IGNORE would show that",
        ),
        (f"MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); int rc = {RECV} v[0] = rc;", ""),
    ],
)
def test_receives_that_may_return_without_a_message(body: str, why: str) -> None:
    found = program(body, HANDLER)
    (use,) = found.uses
    failures = failures_of(found.program)
    assert failures.how_looked_at(use) == why
    assert failures.looked_at(use) is bool(why)
    assert failures.set is (SET in body)
    assert failures_of(found.program) is failures


def test_a_function_that_nobody_knows_may_set_a_handler() -> None:
    for body, expected in ((RECV, False), (f"other(); {RECV}", True)):
        failures = failures_of(program(body, HANDLER).program)
        assert failures.handled is expected
        assert failures.set is False


# --- events -----------------------------------------------------------------------------------------------------------


def test_what_happens_to_a_buffer() -> None:
    found = program(
        "for (int i = 0; i < N; i++) b[i] = i;\nMPI_Send(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);\nv[0] = b[3];"
    )
    (o,) = found.buffers["b"].objects
    events = BufferEvents(found.program, found.buffers["b"], o, False)
    assert events.unit() == 8
    assert events.size() == number(800)
    converted = events.events({found.uses[0].place}, None, frozenset())
    kept = events.events(None, None, frozenset())
    send = found.uses[0].node
    assert send in converted
    lines = {line_of(found, n) for n in converted}
    assert {found.line("b[i] = i"), found.line("MPI_Send"), found.line("b[3]")} == lines
    assert converted.keys() == kept.keys()
    assert events.find_births() is not None


@pytest.mark.parametrize(
    ("declared", "size"),
    [
        ("static double x[7];", 56),
        ("double *x = malloc(48);", 48),
        ("double *x = malloc(argc);", None),
        ("char x[5];", 5),
    ],
)
def test_bytes_of_a_buffer(declared: str, size: int | None) -> None:
    found = program(f"{declared} MPI_Send(x, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);")
    buffer = found.buffers["x"]
    events = BufferEvents(found.program, buffer, buffer.objects[0], False)
    found_size = events.size()
    assert (None if found_size is None else found_size.constant) == size
