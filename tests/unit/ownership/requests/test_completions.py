"""Completions that control flow tells of: flags, indices, loops of waits; and what looks like one and is none."""

from __future__ import annotations

import pytest
from ownership_support import source
from test_requests import IRECV, ISEND, marks, pending

from opi_xform.ir import instr as ins
from opi_xform.ownership.conditions.addresses.aliases import alias_refusal
from opi_xform.ownership.model.addresses import flow_of
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.placement.place import place
from opi_xform.ownership.requests.pending import pending_at

TEST = "MPI_Test(&q, &f, MPI_STATUS_IGNORE);"
TESTALL = "MPI_Testall(2, q, &f, MPI_STATUSES_IGNORE);"
ANY = "MPI_Waitany(2, q, &i, MPI_STATUS_IGNORE);"
SOME = "MPI_Waitsome(2, q, &n, at, MPI_STATUSES_IGNORE);"
ONE = f"MPI_Request q; {IRECV.format('&q')}"
TWO = f"MPI_Request q[2]; {IRECV.format('&q[0]')} MPI_Irecv(v, N, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, &q[1]);"


def late(body: str, head: str = "") -> list[bool]:
    return pending(source(f"static double buf[N], v[N];\nstatic int mark, more;\n{head}\n"
                          f"int main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n"))  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        f"{ONE} int f = 0; while (!f) {TEST} mark = 1;",
        f"{ONE} int f = 0; while (f == 0) {TEST} mark = 1;",
        f"{ONE} int f = 0; while (f != 1) {TEST} mark = 1;",
        f"{ONE} int f; do {TEST} while (!f); mark = 1;",
        f"{ONE} int f; for (f = 0; !f;) {{ {TEST} v[0] += 1; }} mark = 1;",
        f"{ONE} int f; for (;;) {{ {TEST} if (f) break; v[0] += 1; }} mark = 1;",
        f"{ONE} int f = 0; {TEST} if (!f) MPI_Wait(&q, MPI_STATUS_IGNORE); mark = 1;",
        f"int f = 0; {ONE} {TEST} if (f) mark = 1;",
        f"{TWO} int f = 0; while (!f) {TESTALL} mark = 1;",
        f"for (int t = 0; t < 4; t++) {{ {ONE} int f = 0; while (!f) {TEST} mark = 1; }}",
        f"{TWO} int i; for (int k = 0; k < 2; k++) {ANY} mark = 1;",
        f"{TWO} int i; for (int k = 0; k < 2; k++) {{ {ANY} if (i == MPI_UNDEFINED) break; }} mark = 1;",
        f"{TWO} int i; int left = 2; while (left > 0) {{ {ANY} left--; }} mark = 1;",
        f"{TWO} int i; for (;;) {{ {ANY} if (i == 0) break; }} mark = 1;",
        f"{TWO} int i; {ANY} if (i == 0) mark = 1;",
        f"{TWO} int i; for (;;) {{ {ANY} if (i == MPI_UNDEFINED) break; v[i] += 1; }} mark = 1;",
        f"{TWO} int i; do {{ {ANY} if (i != MPI_UNDEFINED) v[i] += 1; }} while (i != MPI_UNDEFINED); mark = 1;",
        f"{TWO} int n, at[2], c = 0; while (c < 2) {{ {SOME} c += n; }} mark = 1;",
        f"{TWO} int n, at[2], c = 0; do {{ {SOME} c += n; }} while (c != 2); mark = 1;",
        f"{TWO} int n, at[2], left = 2; while (left > 0) {{ {SOME} left -= n; }} mark = 1;",
        f"{TWO} int n, at[2], left = 2; while (left) {{ {SOME.replace('Wait', 'Test')} left = left - n; }} mark = 1;",
        f"{TWO} int n, at[2]; for (;;) {{ {SOME} if (n == MPI_UNDEFINED) break; }} mark = 1;",
    ],
)
def test_told(body: str) -> None:
    assert late(body) == [False]


@pytest.mark.parametrize(
    "body",
    [
        # the flag is not this test's, or older than the request
        f"{ONE} int f = 1; while (!f) {TEST} mark = 1;",
        f"{ONE} int f; while (!f) {TEST} mark = 1;",
        f"{ONE} int f = argc; while (!f) {TEST} mark = 1;",
        f"int f = 0; for (int t = 0; t < 4; t++) {{ {ONE} while (!f) {TEST} mark = 1; }}",
        f"MPI_Request q; int f = 0; MPI_Test(&q, &f, MPI_STATUS_IGNORE); {IRECV.format('&q')} if (f) mark = 1;",
        f"{ONE} int f = 0; while (!f) {{ {TEST} if (more) f = 1; }} mark = 1;",
        f"{ONE} int f = 0; while (!f) {{ {TEST} if (more) f++; }} mark = 1;",
        f"{ONE} int f = 0, *p = &f; while (!f) {{ {TEST} *p = more; }} mark = 1;",
        f"{ONE} int f = 0; while (!f && more) {TEST} mark = 1;",
        f"{ONE} int f = 0; while (!f) {{ {TEST} if (more) break; }} mark = 1;",
        f"{ONE} int f = 0; while (f) {TEST} mark = 1;",
        f"{ONE} int f = 0; while (f != 2) {{ {TEST} if (more) f = 2; }} mark = 1;",
        f"{ONE} int f = 0; {TEST} if (!f) mark = 1;",
        f"{ONE} MPI_Request r; int f = 0; while (!f) MPI_Test(&r, &f, MPI_STATUS_IGNORE); mark = 1;",
        f"{ONE} volatile int f = 0; while (!f) MPI_Test(&q, (int *)&f, MPI_STATUS_IGNORE); mark = 1;",
        f"{ONE} int f = 0; while (!f) MPI_Request_get_status(q, &f, MPI_STATUS_IGNORE); mark = 1;",
        # tests of some requests only
        f"{TWO} int f = 0; while (!f) MPI_Testall(1, q + 1, &f, MPI_STATUSES_IGNORE); mark = 1;",
        f"{TWO} int f = 0, i; while (!f) MPI_Testany(2, q, &i, &f, MPI_STATUS_IGNORE); mark = 1;",
        f"{TWO} int f = 0, i; do MPI_Testany(2, q, &i, &f, MPI_STATUS_IGNORE); while (i != MPI_UNDEFINED); mark = 1;",
        f"MPI_Request q[2]; for (int k = 0; k < 2; k++) {{ {IRECV.format('&q[k]')} }} int f = 0;"
        " for (int k = 0; k < 2; k++) while (!f) MPI_Test(&q[k], &f, MPI_STATUS_IGNORE); mark = 1;",
        # too few waits, or a request begun among them
        f"{TWO} int i; {ANY} mark = 1;",
        f"{TWO} int i; for (int k = 1; k < 2; k++) {ANY} mark = 1;",
        f"{TWO} int i; for (int k = 0; k < argc; k++) {ANY} mark = 1;",
        f"{TWO} int i; for (int k = 0; k < 2; k++) {{ {ANY} if (more) break; }} mark = 1;",
        f"{TWO} int i; for (int k = 0; k < 2; k++) {{ if (more) {ANY} }} mark = 1;",
        f"{TWO} int i; for (int k = 0; k < 2; k++) {{ if (more) continue; {ANY} }} mark = 1;",
        f"{TWO} int i; for (int k = 0; k < 2; k++) {{ {ANY} if (more) {IRECV.format('&q[0]')} }} mark = 1;",
        f"{TWO} int i; for (int k = 0; k < 2; k++) MPI_Waitany(2, q + k, &i, MPI_STATUS_IGNORE); mark = 1;",
        f"{TWO} int i; for (;;) {{ {ANY} if (i == 1) break; }} mark = 1;",
        f"{TWO} int i; {ANY} if (i != 0) mark = 1;",
        f"{TWO} int i; for (;;) {{ {ANY} if (i != MPI_UNDEFINED) break; }} mark = 1;",
        f"{TWO} int i; for (;;) {{ {ANY} if (more) i = MPI_UNDEFINED; if (i == MPI_UNDEFINED) break; }} mark = 1;",
        f"{TWO} int n, at[2], c = 0; while (c < 1) {{ {SOME} c += n; }} mark = 1;",
        f"{TWO} int n, at[2], c = 1; while (c < 2) {{ {SOME} c += n; }} mark = 1;",
        f"{TWO} int n, at[2], c = 0; while (c < 2) {{ {SOME} c += n; c += n; }} mark = 1;",
        f"{TWO} int n, at[2], c = 0; while (c < 2) {{ {SOME} if (more) c++; c += n; }} mark = 1;",
        f"{TWO} int n, at[2], c = 0; while (c != 1) {{ {SOME} c += n; }} mark = 1;",
        f"{TWO} int n, at[2], c = 0; while (c < 2) {{ {SOME} c += n; if (more) break; }} mark = 1;",
        f"{TWO} int n, at[2], left = 1; while (left > 0) {{ {SOME} left -= n; }} mark = 1;",
        f"{TWO} int n, at[2], left = 2; while (left > 1) {{ {SOME} left -= n; }} mark = 1;",
        f"{TWO} int n, at[2], c = 0; while (c < 2) {{ {SOME} c += n; if (more) {IRECV.format('&q[0]')} }} mark = 1;",
    ],
)
def test_not_told(body: str) -> None:
    assert True in late(body)


def test_a_request_begun_after_the_waits_is_pending() -> None:
    waits = f"int i; for (int k = 0; k < 2; k++) {ANY}"
    head = "static double buf[N], v[N];\nstatic int mark;\nint main(void)\n{\n"
    posted = source(f"{head}{TWO} {waits} {IRECV.format('&q[0]')}\nmark = 1;\nreturn 0;\n}}\n")
    assert [pending(posted, which) for which in range(3)] == [[False], [False], [True]]


def test_a_helper_that_polls_until_its_requests_are_complete() -> None:
    head = "static void drain(MPI_Request *q)\n{\n    int f = 0;\n    while (!f)\n        " + TESTALL + "\n}"
    assert late(f"{TWO} drain(q); mark = 1;", head) == [False]
    head = head.replace("int f = 0", "static int f")  # the second time it does nothing
    assert late(f"for (int t = 0; t < 2; t++) {{ {TWO} drain(q); mark = 1; }}", head) == [True]


def test_sends_are_told_the_same_way() -> None:
    found = source(
        "static double buf[N];\nstatic int mark;\nint main(void)\n{\n    MPI_Request q; int f = 0;\n"
        f"    {ISEND.format('&q')}\n    while (!f) {{ mark = 1; {TEST} }}\n    mark = 2;\n    return 0;\n}}\n"
    )
    places = marks(found)
    late = pending_at(names_of(found.program), found.uses[0], places)
    assert [found.program.graph.nodes[n].action.value for n in places if n in late] == [ins.Const(1)]


ROWS = "static double buf[3][N], v[N];\n"
POST = "for (int d = 0; d < 3; d++) MPI_Irecv(buf[{}], N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &q[d]);"


def rows_refusal(body: str) -> str:
    """Why the receives of ``buf`` cannot convert for a request's sake; '' when they can."""
    found = source(f"{ROWS}int main(int argc, char **argv)\n{{\n    MPI_Request q[3];\n    {body}\n    return 0;\n}}\n")
    buffer = found.buffers["buf"]
    placed = place(found.program, buffer, frozenset(use.place for use in buffer.uses))
    assert not isinstance(placed, Refusal), placed
    refusal = alias_refusal(flow_of(found.program, buffer), buffer, placed.points, placed.rows)
    return refusal.message if refusal is not None else ""


@pytest.mark.parametrize(
    ("row", "loop"),
    [
        ("d", "for (int d = 0; d < 3; d++) { MPI_Wait(&q[d], MPI_STATUS_IGNORE); v[0] += buf[d][1]; }"),
        ("d", "for (int d = 2; d >= 0; d--) { MPI_Wait(&q[d], MPI_STATUS_IGNORE); v[0] += buf[d][1]; }"),
        ("2 - d", "for (int d = 0; d < 3; d++) { MPI_Wait(&q[d], MPI_STATUS_IGNORE); v[0] += buf[2 - d][1]; }"),
        ("d", "MPI_Waitall(3, q, MPI_STATUSES_IGNORE); for (int d = 0; d < 3; d++) v[0] += buf[d][1];"),
    ],
)
def test_each_row_has_its_request(row: str, loop: str) -> None:
    assert rows_refusal(f"{POST.format(row)} {loop}") == ""


@pytest.mark.parametrize(
    ("row", "loop"),
    [
        # (what touches a row before its request is complete is no correct program: here only the analysis is looked at)
        ("d", "for (int d = 0; d < 3; d++) { MPI_Wait(&q[2 - d], MPI_STATUS_IGNORE); v[0] += buf[d][1]; }"),
        ("2 - d", "for (int d = 0; d < 3; d++) { MPI_Wait(&q[d], MPI_STATUS_IGNORE); v[0] += buf[d][1]; }"),
        ("d", "for (int d = 0; d < 3; d++) { v[0] += buf[d][1]; MPI_Wait(&q[d], MPI_STATUS_IGNORE); }"),
        ("d", "for (int d = 1; d < 3; d++) MPI_Wait(&q[d], 0); for (int d = 0; d < 3; d++) v[0] += buf[d][1];"),
        ("d", "for (int d = 0; d < 3; d++) { if (argc > 1) MPI_Wait(&q[d], MPI_STATUS_IGNORE); v[0] += buf[d][1]; }"),
        ("d", "for (int d = 0; d < 3; d++) { MPI_Wait(&q[0], MPI_STATUS_IGNORE); v[0] += buf[d][1]; }"),
    ],
)
def test_a_row_whose_request_may_be_pending(row: str, loop: str) -> None:
    assert "pending" in rows_refusal(f"{POST.format(row)} {loop}")


ANY_ROW = "for (int k = 0; k < 3; k++) { int w; MPI_Waitany(3, q, &w, MPI_STATUS_IGNORE); v[0] += buf[w][1]; }"


def placed_rows(body: str) -> bool:
    """Each row is received into before it is unpacked, and none is pending where it changes hands."""
    found = source(f"{ROWS}int main(int argc, char **argv)\n{{\n    MPI_Request q[4];\n    {body}\n    return 0;\n}}\n")
    buffer = found.buffers["buf"]
    placed = place(found.program, buffer, frozenset(use.place for use in buffer.uses))
    if isinstance(placed, Refusal):
        return False
    guarded = any("if (!" in str(edit) for edit in placed.edits) or "OPI_Alloc" in str(placed.edits)
    return not guarded and alias_refusal(flow_of(found.program, buffer), buffer, placed.points, placed.rows) is None


@pytest.mark.parametrize(
    "body",
    [
        f"{POST.format('d')} {ANY_ROW}",
        f"for (int t = 0; t < 4; t++) {{ {POST.format('d')} {ANY_ROW} }}",
        f"{POST.format('d')} {ANY_ROW.replace('v[0] +=', 'if (w != MPI_UNDEFINED) v[0] +=')}",
        f"{POST.format('d')} {ANY_ROW.replace('for (int k = 0; k < 3; k++) {', 'int k = 3; while (k-- > 0) {')}",
        f"{POST.replace('&q[d]', '&q[d + 1]').format('d')} {ANY_ROW.replace('q,', 'q + 1,')}",
    ],
)
def test_each_row_has_one_turn(body: str) -> None:
    assert placed_rows(body)


@pytest.mark.parametrize(
    "body",
    [
        f"{POST.replace('MPI_Irecv', 'if (argc > d) MPI_Irecv').format('d')} {ANY_ROW}",
        f"if (argc > 1) {POST.format('d')} {ANY_ROW}",
        f"{POST.replace('d = 0', 'd = 1').format('d')} {ANY_ROW}",
        f"{POST.replace('&q[d]', '&q[2 - d]').format('d')} {ANY_ROW}",
        f"{POST.replace('&q[d]', '&q[d + 1]').format('d')} {ANY_ROW}",
        f"{POST.format('d')} {ANY_ROW.replace('k < 3', 'k < 4')}",
        f"{POST.format('d')} {ANY_ROW.replace('int w;', 'int w; if (argc > k) continue;')}",
        f"{POST.format('d')} {ANY_ROW.replace('Waitany(3', 'Waitany(2')}",
        f"{POST.format('d')} MPI_Wait(&q[0], MPI_STATUS_IGNORE); {ANY_ROW}",
        f"{POST.format('d')} q[1] = 0; {ANY_ROW}",
        f"{POST.format('d')} for (int t = 0; t < 4; t++) {{ {ANY_ROW} }}",
        f"{POST.format('d')} int f; {ANY_ROW.replace('Waitany(3, q, &w', 'Testany(3, q, &w, &f')}",
    ],
)
def test_rows_that_may_have_no_turn(body: str) -> None:
    assert not placed_rows(body)
