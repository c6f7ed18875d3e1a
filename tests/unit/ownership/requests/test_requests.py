"""Pending requests: what may be pending where, and that a carrier stays put while a request knows its address."""

from __future__ import annotations

import pytest
from ownership_support import Source, source

from opi_xform.codes import Reason
from opi_xform.ir import instr as ins
from opi_xform.ownership.conditions.addresses.aliases import alias_refusal
from opi_xform.ownership.conditions.calls.pending_requests import pending_refusal
from opi_xform.ownership.model.addresses import flow_of
from opi_xform.ownership.model.buffers import Refusal, Use
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.requests.pending import _Query, pending_at
from opi_xform.ownership.requests.slots import slots_of

ISEND = "MPI_Isend(buf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, {});"
IRECV = "MPI_Irecv(buf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, {});"
WAIT = "MPI_Wait({}, MPI_STATUS_IGNORE);"
SEND = "MPI_Send(buf, N, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD);"


def program(body: str, head: str = "") -> Source:
    top = f"static double buf[N], v[N];\nstatic int mark;\n{head}\n"
    return source(f"{top}int main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


def marks(found: Source) -> list[int]:
    """The nodes of ``mark = ...``, in program order."""
    variables = found.program.variables
    return [
        n.number
        for n in found.program.graph.nodes
        if isinstance(n.action, ins.Define)
        and isinstance(n.action.target, ins.Var)
        and variables[n.action.target.key].name == "mark"
    ]


def pending(found: Source, which: int = 0) -> list[bool]:
    """For each mark: may the request of the nonblocking use number ``which`` be pending there?"""
    posted = [use for use in found.uses if not use.op.blocking]
    places = marks(found)
    late = pending_at(names_of(found.program), posted[which], places)
    return [n in late for n in places]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"MPI_Request q;\n{ISEND.format('&q')}\nmark = 1;\n{WAIT.format('&q')}\nmark = 2;", [True, False]),
        (f"MPI_Request q;\nmark = 0;\n{ISEND.format('&q')}\n{WAIT.format('&q')}\nmark = 2;", [False, False]),
        (f"MPI_Request q, r;\n{ISEND.format('&q')}\n{WAIT.format('&r')}\nmark = 2;", [True]),
        (f"MPI_Request q[3];\n{ISEND.format('&q[1]')}\n{WAIT.format('&q[2]')}\nmark = 2;", [True]),
        (f"MPI_Request q[3];\n{ISEND.format('&q[1]')}\n{WAIT.format('q + 1')}\nmark = 2;", [False]),
        (f"MPI_Request q[3];\n{ISEND.format('&q[1]')}\nMPI_Waitall(2, q, MPI_STATUSES_IGNORE);\nmark = 2;", [False]),
        (f"MPI_Request q[3];\n{ISEND.format('&q[2]')}\nMPI_Waitall(2, q, MPI_STATUSES_IGNORE);\nmark = 2;", [True]),
        (f"MPI_Request q[3];\n{ISEND.format('&q[0]')}\nMPI_Waitall(2, q + 1, MPI_STATUSES_IGNORE);\nmark = 2;", [True]),
        (f"MPI_Request q;\n{ISEND.format('&q')}\nif (argc > 1) {WAIT.format('&q')}\nmark = 2;", [True]),
        (
            f"MPI_Request q;\n{ISEND.format('&q')}\nif (argc > 1) {{ {WAIT.format('&q')} mark = 1; }} else mark = 2;",
            [False, True],
        ),
        (f"MPI_Request q; int f;\n{ISEND.format('&q')}\nMPI_Test(&q, &f, MPI_STATUS_IGNORE);\nmark = 2;", [True]),
        (
            f"MPI_Request q[2]; int i;\n{ISEND.format('q')}\nMPI_Waitany(2, q, &i, MPI_STATUS_IGNORE);\nmark = 2;",
            [True],
        ),
        (f"struct {{ int a; MPI_Request q; }} s;\n{ISEND.format('&s.q')}\n{WAIT.format('&s.q')}\nmark = 2;", [False]),
        (f"MPI_Request q[2];\n{ISEND.format('&q[argc]')}\n{WAIT.format('&q[argc]')}\nmark = 2;", [False]),
        (f"MPI_Request q[2];\n{ISEND.format('&q[argc]')}\n{WAIT.format('&q[argc - 1]')}\nmark = 2;", [True]),
    ],
)
def test_one_request(body: str, expected: list[bool]) -> None:
    assert pending(program(body)) == expected


def test_only_calls_that_may_be_about_the_same_request_are_looked_at() -> None:
    waits = ["&q[1]", "q + 2", "&q[argc]", "q"]
    body = "\n".join(["MPI_Request q[3];", ISEND.format("&q[1]"), *(WAIT.format(w) for w in waits)])
    found = program(f"{body}\nMPI_Waitall(3, q, MPI_STATUSES_IGNORE);\nMPI_Waitall(2, q + 1, MPI_STATUSES_IGNORE);")
    names = names_of(found.program)
    (post,) = [use for use in found.uses if not use.op.blocking]
    slot = slots_of(names, post.node, post.op.request)
    assert slot is not None
    query = _Query(names, post.node, slot, [])
    calls = sorted(query.kills)
    assert len(calls) == 6
    assert [n in query.near(query.kills) for n in calls] == [True, False, True, False, True, True]


def test_completions_of_the_requests_beside_it_tell_nothing() -> None:
    """Each request is waited for where it was begun, and the middle one on one way only."""
    lines = ["MPI_Request q[3];"]
    for i in range(3):
        lines += [f"if (argc > {i})", ISEND.format(f"&q[{i}]")]
    for i in range(3):
        lines += [f"if (argc > {i if i != 1 else 2})", WAIT.format(f"&q[{i}]")]
    found = program("\n".join([*lines, "mark = 2;"]))
    assert [pending(found, which) for which in range(3)] == [[False], [True], [False]]


def test_a_request_that_is_overwritten_stays_pending_for_good() -> None:
    body = f"MPI_Request q;\n{ISEND.format('&q')}\n{ISEND.format('&q')}\n{WAIT.format('&q')}\nmark = 1;"
    assert pending(program(body), 0) == [True]
    assert pending(program(body), 1) == [False]
    body = f"MPI_Request q;\n{ISEND.format('&q')}\nq = MPI_REQUEST_NULL;\n{WAIT.format('&q')}\nmark = 1;"
    assert pending(program(body)) == [True]


LOOP = """MPI_Request q[20];
for (int i = 0; i < {n}; i++) MPI_Isend(buf, N, MPI_DOUBLE, i, 7, MPI_COMM_WORLD, &q[i]);
mark = 1;
{wait}
mark = 2;"""


@pytest.mark.parametrize(
    ("n", "wait", "late"),
    [
        ("10", "MPI_Waitall(10, q, MPI_STATUSES_IGNORE);", False),
        ("10", "MPI_Waitall(9, q, MPI_STATUSES_IGNORE);", True),
        ("10", "for (int i = 0; i < 10; i++) MPI_Wait(&q[i], MPI_STATUS_IGNORE);", False),
        ("10", "for (int i = 1; i < 10; i++) MPI_Wait(&q[i], MPI_STATUS_IGNORE);", True),
        ("10", "for (int i = 9; i >= 0; i--) MPI_Wait(&q[i], MPI_STATUS_IGNORE);", False),
        ("argc", "MPI_Waitall(argc, q, MPI_STATUSES_IGNORE);", False),
        ("argc", "MPI_Waitall(argc - 1, q, MPI_STATUSES_IGNORE);", True),
        ("argc", "for (int i = 0; i < argc; i++) MPI_Wait(&q[i], MPI_STATUS_IGNORE);", False),
    ],
)
def test_a_loop_that_posts(n: str, wait: str, late: bool) -> None:
    assert pending(program(LOOP.format(n=n, wait=wait))) == [True, late]


def test_requests_that_are_counted() -> None:
    body = """MPI_Request q[20]; int n = 0;
for (int i = 0; i < argc; i++) MPI_Isend(buf, N, MPI_DOUBLE, i, 7, MPI_COMM_WORLD, &q[n++]);
mark = 1;
MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
mark = 2;"""
    assert pending(program(body)) == [True, False]
    assert pending(program(body.replace("Waitall(n,", "Waitall(n - 1,"))) == [True, True]


def test_posted_and_completed_in_each_turn() -> None:
    body = "MPI_Request q;\nfor (int i = 0; i < 9; i++) {{ mark = 1; {} {} }}\nmark = 2;"
    post = ISEND.format("&q")
    assert pending(program(body.format(post, WAIT.format("&q")))) == [False, False]
    late = body.format(post, "")
    assert pending(program(late)) == [True, True]


def test_completion_in_another_function() -> None:
    head = "static MPI_Request q;\nstatic void finish(MPI_Request *r) { MPI_Wait(r, MPI_STATUS_IGNORE); }"
    assert pending(program(f"{ISEND.format('&q')}\nmark = 1;\nfinish(&q);\nmark = 2;", head)) == [True, False]
    head = "static MPI_Request q, r;\nstatic void finish(void) { MPI_Wait(&r, MPI_STATUS_IGNORE); }"
    assert pending(program(f"{ISEND.format('&q')}\nmark = 1;\nfinish();\nmark = 2;", head)) == [True, True]


# --- what has to stay for it ------------------------------------------------------------------------------------------


def refusals(found: Source, name: str = "buf", staying: int = 0) -> dict[int, Refusal]:
    """By line, when the first ``staying`` uses of the buffer stay and all others would convert."""
    uses = list(found.buffers[name].uses)
    out = pending_refusal(found.program, found.buffers[name], uses[:staying], uses[staying:])
    lines = {use.place: use.call.span.line for use in uses}
    return {lines[place]: refusal for place, refusal in out.items()}


def test_a_send_behind_one_that_stays() -> None:
    body = f"MPI_Request q;\n{ISEND.format('&q')}\n{SEND}\n{WAIT.format('&q')}"
    found = program(body)
    (late,) = refusals(found, staying=1).items()
    assert late[0] == found.line("MPI_Send(")
    assert late[1].reason == Reason.PENDING
    assert [span.line for span, _ in late[1].notes] == [found.line("MPI_Isend("), found.line("MPI_Send(")]
    done = program(f"MPI_Request q;\n{ISEND.format('&q')}\n{WAIT.format('&q')}\n{SEND}")
    assert refusals(done, staying=1) == {}
    assert refusals(found) == {}


@pytest.mark.parametrize(
    "kept",
    [
        "MPI_Request q; MPI_Ibcast(buf, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &q);",
        "MPI_Put(buf, N, MPI_DOUBLE, 0, 0, N, MPI_DOUBLE, 0);",
        "MPI_Request q; MPI_Send_init(buf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &q); MPI_Start(&q);",
    ],
)
def test_operations_that_are_no_sends(kept: str) -> None:
    found = program(f"{kept}\n{SEND}")
    sites = [use for use in found.buffers["buf"].uses if use.op.blocking]
    out = pending_refusal(found.program, found.buffers["buf"], [], sites)
    assert [r.reason for r in out.values()] == [Reason.PENDING]
    other = program(f"{kept.replace('buf', 'v')}\n{SEND}")
    sites = [use for use in other.buffers["buf"].uses if use.op.blocking]
    assert pending_refusal(other.program, other.buffers["buf"], [], sites) == {}


def test_a_persistent_request_refuses_what_comes_before_it_too() -> None:
    found = program(f"{SEND}\nMPI_Request q; MPI_Send_init(buf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &q);")
    sites = [use for use in found.buffers["buf"].uses if use.op.blocking]
    assert len(pending_refusal(found.program, found.buffers["buf"], [], sites)) == 1


@pytest.mark.parametrize(
    ("end", "kept"),
    [
        ("MPI_Request_free(&q);", True),
        ("MPI_Cancel(&q); MPI_Wait(&q, MPI_STATUS_IGNORE);", True),
        ("MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Request_free(&r);", False),
        ("MPI_Request *p = argc > 1 ? &q : &r; MPI_Request_free(p);", True),
        ("r = q; MPI_Request_free(&r);", True),
        ("lost(&q);", True),
        ("MPI_Wait(&q, MPI_STATUS_IGNORE);", False),
    ],
)
def test_requests_that_may_be_given_up(end: str, kept: bool) -> None:
    found = program(f"MPI_Request q, r;\n{ISEND.format('&q')}\n{end}", head="void lost(MPI_Request *);")
    assert bool(refusals(found)) is kept


# --- the carrier stays where it is ------------------------------------------------------------------------------------


POINTER = "double *in = malloc(N * sizeof(double));\nMPI_Irecv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, {});\n"


@pytest.mark.parametrize(
    ("body", "head", "kept"),
    [
        (f"MPI_Request q;\n{POINTER.format('&q')}MPI_Wait(&q, MPI_STATUS_IGNORE);\nin = NULL;", "", False),
        (f"MPI_Request q;\n{POINTER.format('&q')}in = NULL;\nMPI_Wait(&q, MPI_STATUS_IGNORE);", "", True),
        (
            "MPI_Request q;\nstart(&q);\nMPI_Wait(&q, MPI_STATUS_IGNORE);",
            f"static void start(MPI_Request *r) {{ {POINTER.format('r')} }}",
            True,
        ),
        (
            "MPI_Request q;\nstart(&q);\nmark = 1;",
            f"static void start(MPI_Request *r) {{ {POINTER.format('r')} MPI_Wait(r, MPI_STATUS_IGNORE); }}",
            False,
        ),
        (f"MPI_Request q;\n{{ {POINTER.format('&q')} }}\nmark = 1;\nMPI_Wait(&q, MPI_STATUS_IGNORE);", "", True),
        (f"MPI_Request q;\n{{ {POINTER.format('&q')} MPI_Wait(&q, MPI_STATUS_IGNORE); }}\nmark = 1;", "", False),
    ],
    ids=["assigned after", "assigned before", "function left", "waits inside", "block left", "waits in block"],
)
def test_a_pointer_that_a_request_knows(body: str, head: str, kept: bool) -> None:
    found = program(body, head)
    out = refusals(found, "in")
    assert bool(out) is kept
    assert {r.reason for r in out.values()} <= {Reason.PENDING}


def test_a_local_array_of_a_function_that_returns_first() -> None:
    head = "static void start(MPI_Request *r) {{ double in[N]; {} {} }}"
    post = IRECV.replace("buf", "in").format("r")
    late = program("MPI_Request q; start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE);", head.format(post, ""))
    assert bool(refusals(late, "in")) is True
    done = program("MPI_Request q; start(&q);", head.format(post, "MPI_Wait(r, MPI_STATUS_IGNORE);"))
    assert refusals(done, "in") == {}


def points(found: Source, *uses: Use) -> list[tuple[int, str]]:
    return [(use.node, "after") for use in uses]


def test_inserted_calls_wait_for_what_is_pending() -> None:
    body = f"MPI_Request q;\n{IRECV.format('&q')}\nmark = 1;\n{WAIT.format('&q')}\nmark = 2;\nv[0] = buf[0];"
    found = program(body)
    buffer = found.buffers["buf"]
    early, late = marks(found)
    taken = points(found, *buffer.uses)
    refusal = alias_refusal(flow_of(found.program, buffer), buffer, [*taken, (early, "before")])
    assert refusal is not None
    assert refusal.reason == Reason.PENDING
    assert alias_refusal(flow_of(found.program, buffer), buffer, [*taken, (late, "before")]) is None
