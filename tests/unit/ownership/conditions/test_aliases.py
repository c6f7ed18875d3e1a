"""No address that is older than the buffer's last exchange is used, and none is looked at as a number."""

from __future__ import annotations

import pytest
from ownership_support import Source, source

from opi_xform.codes import Reason
from opi_xform.ownership.conditions.addresses.aliases import alias_refusal, value_refusal
from opi_xform.ownership.model.buffers import Refusal

EXCHANGE = "MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
IRECV = "MPI_Irecv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &rq);"


def program(body: str, top: str = "static double rbuf[N], v[N];", head: str = "") -> Source:
    return source(
        f"{top}\n{head}\nint main(int argc, char **argv)\n{{\n    MPI_Request rq;\n{body}\n    return 0;\n}}\n"
    )


def alias(found: Source, name: str = "rbuf") -> Refusal | None:
    return alias_refusal(found.flow(name), found.buffers[name], found.points(name))


def values(found: Source, name: str = "rbuf") -> Refusal | None:
    return value_refusal(found.flow(name)).refusal


# --- names that are older than the exchange ---------------------------------------------------------------------------


def test_a_pointer_from_before_the_receive() -> None:
    found = program(f"    double *p = rbuf + 1;\n    {EXCHANGE}\n    v[0] = p[0];")
    refusal = alias(found)
    assert refusal is not None
    assert refusal.reason == Reason.OLD_ADDRESS
    assert "`p`" in refusal.message
    steps = [(span.line, text) for span, text in refusal.notes]
    assert steps == [
        (found.line("double *p"), "`p` is set from `rbuf` here"),
        (found.line("MPI_Recv"), "the message arrives here"),
        (found.line("v[0]"), "`p` is used here"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        f"    {EXCHANGE}\n    double *p = rbuf;\n    v[0] = p[0];",
        f"    double *p = rbuf;\n    p[1] = 0;\n    {EXCHANGE}\n    p = rbuf;\n    v[0] = p[0];",
        f"    double *p = v;\n    {EXCHANGE}\n    v[1] = p[0];",
        f"    double *p = rbuf;\n    p[1] = 0;\n    p = v;\n    {EXCHANGE}\n    v[1] = p[0];",
        f"    for (int i = 0; i < 3; i++) {{ {EXCHANGE} for (double *p = rbuf; p < rbuf + N; p++) v[i] += *p; }}",
        f"    double *p;\n    if (argc > 1) p = v; else p = rbuf;\n    {EXCHANGE}\n    p = v;\n    v[1] = p[0];",
    ],
    ids=["after", "again", "another buffer", "another since", "cursor of each turn", "overwritten"],
)
def test_names_that_are_no_older(body: str) -> None:
    assert alias(program(body)) is None


@pytest.mark.parametrize(
    "body",
    [
        f"    double *p = v;\n    if (argc > 1) p = rbuf;\n    {EXCHANGE}\n    v[1] = p[0];",
        f"    double *p = rbuf, *q = p + 3;\n    {EXCHANGE}\n    v[1] = q[0];",
        f"    double *p = rbuf;\n    for (int i = 0; i < 3; i++) {{\n    v[i] = *p++;\n    {EXCHANGE}\n    }}",
        f"    double *p = argc > 1 ? rbuf : v;\n    {EXCHANGE}\n    v[1] = p[0];",
        f"    char *p = (char *)(void *)rbuf;\n    {EXCHANGE}\n    v[1] = p[0];",
        f"    double (*p)[10] = (double (*)[10])rbuf;\n    {EXCHANGE}\n    v[1] = p[1][0];",
        f"    double *p = memcpy(rbuf, v, 8);\n    {EXCHANGE}\n    v[1] = p[0];",
        f"    double *end = rbuf + N;\n    {EXCHANGE}\n    for (double *p = rbuf; p != end; p++) v[0] += *p;",
    ],
    ids=["one path", "a copy", "around the loop", "conditional", "cast", "array pointer", "returned", "end"],
)
def test_names_that_are_older(body: str) -> None:
    refusal = alias(program(body))
    assert refusal is not None
    assert refusal.reason == Reason.OLD_ADDRESS


def test_a_parameter_is_a_name_too() -> None:
    head = f"static void get(double *p)\n{{\n    {EXCHANGE}\n    v[0] = p[0];\n}}"
    refusal = alias(program("    get(rbuf);", head=head))
    assert refusal is not None
    assert "`p`" in refusal.message
    ended = f"static void get(double *p)\n{{\n    p[0] = 1;\n    {EXCHANGE}\n}}"
    assert alias(program("    get(rbuf);", head=ended)) is None


def test_a_global_pointer_set_in_one_function_and_used_in_another() -> None:
    top = "static double rbuf[N], v[N], *seen;"
    head = "static void note(double *p) { seen = p; }\nstatic void use(void) { v[0] = seen[0]; }"
    assert alias(program(f"    note(rbuf);\n    {EXCHANGE}\n    use();", top, head)) is not None
    assert alias(program(f"    {EXCHANGE}\n    note(rbuf);\n    use();", top, head)) is None


def test_a_returned_address() -> None:
    head = "static double *row(int i) { return rbuf + 10 * i; }"
    assert alias(program(f"    double *p = row(2);\n    {EXCHANGE}\n    v[0] = p[0];", head=head)) is not None
    assert alias(program(f"    {EXCHANGE}\n    v[0] = row(2)[0];", head=head)) is None


def test_the_carrier_is_no_alias_of_itself() -> None:
    top = "static double v[N];"
    body = (
        "    double *rbuf = malloc(N * sizeof(double));\n    rbuf[0] = 1;\n    {}\n    v[0] = {}[0];\n    free(rbuf);"
    )
    assert alias(program(body.format(EXCHANGE, "rbuf"), top)) is None
    assert alias(program("    double *b;\n" + body.format("b = rbuf;\n" + EXCHANGE, "b"), top)) is not None


def test_before_counts_uses_of_the_node_itself() -> None:
    found = program(f"    double *p = rbuf;\n    {EXCHANGE}\n    v[0] = p[0];\n    {EXCHANGE}")
    last = next(n for n in found.program.graph.nodes if n.action.__class__.__name__ == "Load").number
    buffer, flow = found.buffers["rbuf"], found.flow("rbuf")
    assert alias_refusal(flow, buffer, [(last, "before")]) is not None
    assert alias_refusal(flow, buffer, [(last, "after")]) is None


@pytest.mark.parametrize(
    ("expression", "refused"),
    [
        ("v[0] = rbuf[0] + get();", True),
        ("rbuf[get()] = 1;", True),
        ("take(rbuf, get());", True),
        ("v[get()] = 1;", False),
        ("if (get() == 0 && rbuf[0] > 0) v[0] = 1;", False),
        ("v[0] = (get(), rbuf[0]);", False),
        ("double x = rbuf[1] * get(); v[0] = x;", True),
        ("v[0] = sizeof rbuf + get();", False),
    ],
)
def test_order_inside_an_expression(expression: str, refused: bool) -> None:
    head = f"static int get(void) {{ return {EXCHANGE} }}\nstatic void take(double *p, int i) {{ p[i] = 1; }}"
    assert (alias(program(f"    {expression}", head=head)) is not None) is refused


# --- nonblocking receives ---------------------------------------------------------------------------------------------


def test_a_name_taken_while_the_receive_is_pending() -> None:
    early = f"    {IRECV}\n    double *p = rbuf;\n    MPI_Wait(&rq, MPI_STATUS_IGNORE);\n    v[0] = p[0];"
    refusal = alias(program(early))
    assert refusal is not None
    assert refusal.reason == Reason.OLD_ADDRESS
    late = f"    {IRECV}\n    MPI_Wait(&rq, MPI_STATUS_IGNORE);\n    double *p = rbuf;\n    v[0] = p[0];"
    assert alias(program(late)) is None


def test_a_parameter_bound_while_the_receive_is_pending() -> None:
    head = "static void finish(double *p, MPI_Request *r) { MPI_Wait(r, MPI_STATUS_IGNORE); v[0] = p[0]; }"
    assert alias(program(f"    {IRECV}\n    finish(rbuf, &rq);", head=head)) is not None


def test_the_window_ends_with_waitall_in_a_loop() -> None:
    body = """    MPI_Request r[2];
    for (int i = 0; i < 5; i++) {
        MPI_Isend(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        double *p = rbuf;
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        v[i] += *p;
    }"""
    assert alias(program(body)) is None
    assert alias(program(body.replace("Waitall(2", "Waitall(1"))) is not None


# --- what is done with an address -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("v[0] = (double)(uintptr_t)rbuf;", Reason.ESCAPE),
        ("v[0] = rbuf < v;", Reason.OLD_ADDRESS),
        ("v[0] = rbuf + 3 == v;", Reason.OLD_ADDRESS),
        ("v[0] = rbuf - v;", Reason.OLD_ADDRESS),
        ("double *t[2]; t[1] = rbuf; v[0] = t[1][0];", Reason.OLD_ADDRESS),
        ("struct { double *p; } s = { rbuf }; v[0] = s.p[0];", Reason.OLD_ADDRESS),
        ("double *q = rbuf, **w = &q; v[0] = **w;", Reason.OLD_ADDRESS),
        ("double *volatile q = rbuf; v[0] = q[0];", Reason.OLD_ADDRESS),
        ("MPI_Aint a; MPI_Get_address(rbuf, &a); v[0] = a;", Reason.ESCAPE),
        ('printf("%p", (void *)rbuf);', Reason.ESCAPE),
        ("unknown(rbuf);", Reason.ESCAPE),
    ],
)
def test_uses_that_refuse_all_sites(use: str, code: str) -> None:
    refusal = values(program(f"    {use}\n    {EXCHANGE}", head="void unknown(double *);"))
    assert refusal is not None
    assert refusal.reason == code
    assert len(refusal.notes) == 1


@pytest.mark.parametrize(
    "use",
    [
        "v[0] = rbuf[3] + *(rbuf + 4);",
        "for (double *p = rbuf; p != rbuf + N; p++) v[0] += *p;",
        "double *p = rbuf; while (p - rbuf < N) *p++ = 1;",
        "memcpy(v, rbuf, sizeof v); memset(rbuf, 0, 8);",
        "for (double *p = rbuf, *e = rbuf + N; p < e; p++) *p = 0;",
        "double *q = argc > 1 ? rbuf : rbuf + 1; v[0] = *q;",
        "v[0] = &rbuf[7] - &rbuf[2];",
        "MPI_Send(rbuf + 1, 2, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);",
    ],
)
def test_uses_that_are_harmless(use: str) -> None:
    assert values(program(f"    {use}\n    {EXCHANGE}")) is None


def test_characters_may_be_printed() -> None:
    top = "static char rbuf[N];"
    body = '    MPI_Recv(rbuf, N, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n    printf("%s", rbuf);'
    assert values(program(body, top)) is None


def test_a_name_reused_for_another_buffer_may_be_compared() -> None:
    body = f"    double *p = rbuf;\n    p[0] = 1;\n    for (p = v; p != v + N; p++) *p = 1;\n    {EXCHANGE}"
    assert values(program(body)) is None


def test_tests_against_null_are_reported() -> None:
    body = "    double *rbuf = malloc(N * 8);\n    if (!rbuf) exit(1);\n    {}\n    if (rbuf != NULL) v[0] = rbuf[0];"
    found = program(body.format(EXCHANGE), "static double v[N];")
    check = value_refusal(found.flow("rbuf"))
    assert check.refusal is None
    nodes = found.program.graph.nodes
    lines = [nodes[n].action.span.line for n in check.null_tests]  # type: ignore[union-attr]
    assert lines == [found.line("!rbuf"), found.line("!= NULL")]


def test_a_pointer_carrier_names_the_start() -> None:
    top = "static double v[N];"
    body = "    double *rbuf = malloc(N * sizeof(double));\n    {}\n    {}\n    v[0] = rbuf[0];"
    assert values(program(body.format("", EXCHANGE), top)) is None
    moved = values(program(body.format(EXCHANGE, "rbuf = rbuf + 1;"), top))
    assert moved is not None
    assert moved.reason == Reason.CARRIER
    taken = values(program(body.format(EXCHANGE, "double **w = &rbuf; *w = v;"), top))
    assert taken is not None
    assert taken.reason == Reason.CARRIER


def test_an_address_that_is_returned_to_an_unknown_caller() -> None:
    text = "static double rbuf[N];\n{}double *get(void) {{ {} return rbuf; }}\n"
    found = source(text.format("", EXCHANGE))
    refusal = values(found)
    assert refusal is not None
    assert refusal.reason == Reason.ESCAPE
    body = "int main(void) { return get()[3] > 0; }\n"
    assert values(source(text.format("static ", EXCHANGE) + body)) is None
