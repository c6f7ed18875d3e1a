"""Reasons name the change of the source that would let a site convert, and what they name is true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from opi_xform.cli.main import main
from opi_xform.codes import Reason
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.hints import told
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.plan import Advice

HEAD = """#include <mpi.h>
#define N 1000
static double u[N], v[N], buf[N];
static double sum(const double *p) { double s = 0; for (int i = 0; i < N; i++) s += p[i]; return s; }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
"""
TAIL = """
    MPI_Finalize();
    return 0;
}
"""
PACK = "for (int i = 0; i < N; i++) buf[i] = u[i];"
SEND = "MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"


def site(lines: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    (folder / "a.c").write_text(HEAD + "\n".join(lines) + TAIL)
    assert main([str(folder / "a.c"), "--output-format", "json"]) == 0
    sites: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["sites"]
    return sites[0]


@pytest.mark.parametrize("read", ["v[0] = buf[3];", "for (int i = 0; i < N; i++) v[i] += buf[i];", "v[1] = sum(buf);"])
def test_the_read_moves_before_the_send(read: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept = site([PACK, SEND, read], tmp_path, capfd)
    assert re.search(r"; moving the (read|call) at line 10 before the send would let it convert$", kept["message"])
    assert site([PACK, read, SEND], tmp_path, capfd)["decision"] == "convert"


@pytest.mark.parametrize(
    "lines",
    [
        [PACK, SEND, "v[0] = buf[3];", "v[1] = 1;", "if (argc > 1) v[2] = buf[4];"],  # two reads
        ["for (int t = 0; t < 3; t++) {", "v[t] = buf[t];", PACK, SEND, "}"],  # it is before the send already
        ["if (argc > 1) {", PACK, SEND, "}", "v[0] = buf[3];"],  # not only there
        [PACK, SEND, "buf[5] = v[5];", "v[0] = buf[3] + buf[5];"],  # written in between
    ],
)
def test_no_move_is_named_that_would_not_do(
    lines: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = site(lines, tmp_path, capfd)
    assert kept["decision"] == "keep"
    assert "moving" not in kept["message"]


def test_a_read_in_a_function_is_shown_with_its_call(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept = site([PACK, SEND, "v[1] = sum(buf);"], tmp_path, capfd)
    assert [(note["line"], note["message"]) for note in kept["notes"]] == [
        (4, "`buf` is read here"),
        (10, "called from here"),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        [PACK, SEND, "double w = u[4];", "v[0] = buf[3] * w;"],  # declared in between
        [PACK, SEND, "v[9] = u[4];", "v[0] = buf[3] * v[9];"],  # set in between
        [PACK, SEND, "MPI_Bcast(v, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);", "v[0] += buf[3];"],  # it comes in between
        [PACK, SEND, "v[5] = v[0];", "v[0] = buf[3];"],  # the old one is used in between
        [PACK, SEND, "MPI_Bcast(buf, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);"],  # a message itself
    ],
)
def test_a_read_does_not_move_past_what_it_needs(
    lines: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = site(lines, tmp_path, capfd)
    assert kept["decision"] == "keep"
    assert "moving" not in kept["message"]


@pytest.mark.parametrize("between", ["v[1] = u[2];", "MPI_Bcast(u, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);", "u[3] = 1;"])
def test_it_moves_past_what_has_nothing_to_do_with_it(
    between: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = site([PACK, SEND, between, "v[0] = buf[3];"], tmp_path, capfd)
    wanted = "v[1]" not in between  # of an array, one element counts as all
    assert ("; moving the read at line 11 before the send would let it convert" in kept["message"]) is wanted


MEMORY = "double *q = malloc(N * 8); if (!q) exit(1);"
HALF = "for (int i = 0; i < N / 2; i++) q[i] = i;"
ALL = "for (int i = 0; i < N; i++) q[i] = i;"
Q = "MPI_Send(q, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"


def of_line(lines: list[str], line: int, folder: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    text = HEAD.replace("#define N", "#include <stdlib.h>\n#define N") + "\n".join(lines) + TAIL
    (folder / "a.c").write_text(text)
    assert main([str(folder / "a.c"), "--output-format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["sites"]
    return next(s for s in found if s["line"] == line)


def test_what_is_packed_for_each_turn_need_not_be_written_before(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = of_line([MEMORY, HALF, "for (int t = 0; t < 3; t++)", Q, "free(q);"], 12, tmp_path, capfd)
    assert kept["message"].endswith("; packing all of it anew for each turn would let it convert")
    packed = [MEMORY, HALF, "for (int t = 0; t < 3; t++) {" + ALL, Q, "}", "free(q);"]
    assert of_line(packed, 12, tmp_path, capfd)["decision"] == "convert"


def test_packing_at_one_send_does_not_write_what_another_one_sends(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    q = Q.replace("q, N", "q, k")
    take = "MPI_Recv(q, k, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }"
    warm = ["double *q = malloc(N * 8); int k = 100;", "for (int t = 0; t < 9; t++) { v[0] += q[7];", q, take]
    grow = "for (k = 1; k <= N; k = (int)(k * 1.25) + 1) for (int t = 0; t < 9; t++) {"
    kept = of_line([*warm, grow, q, take, "free(q);"], 14, tmp_path, capfd)
    assert kept["message"].endswith("that line 14 sends are surely written after this send")
    packed = [*warm, grow + ALL.replace("< N", "< k"), q, take, "free(q);"]
    assert of_line(packed, 14, tmp_path, capfd)["decision"] == "keep"


def test_no_other_buffer_is_advised_for_the_call_itself(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    twice = [PACK, "for (int t = 0; t < 3; t++)", SEND, SEND]
    kept = of_line(twice, 11, tmp_path, capfd)
    assert kept["code"] == "OPI102"
    assert "buffer at line" not in kept["message"]


def test_no_other_buffer_is_advised_for_a_part_further_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It would be filled from this one after the send."""
    rest = "MPI_Send(buf + argc, N - argc, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);"
    kept = site([PACK, SEND, rest], tmp_path, capfd)
    assert kept["message"].endswith("from another place in it on, and nothing is written to it until then")
    kept = site([PACK, SEND, SEND.replace("1, 0", "2, 0")], tmp_path, capfd)
    assert kept["message"].endswith("another buffer at line 10 would let it convert")


def test_all_calls_that_come_while_a_receive_is_pending_need_another_buffer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def take(name: str, k: int) -> str:
        return f"if (argc > {k}) MPI_Irecv({name}, N, MPI_DOUBLE, {k}, 0, MPI_COMM_WORLD, &r[{k}]);"

    def lines(b: str, c: str) -> list[str]:
        made = "MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};"
        waited = ["MPI_Waitall(3, r, MPI_STATUSES_IGNORE);", "v[0] = argc > 0 ? buf[3] : 0;"]
        return [made, take("buf", 0), take(b, 1), take(c, 2), *waited]

    kept = of_line(lines("buf", "buf"), 10, tmp_path, capfd)
    assert kept["message"].endswith("; another buffer at line 11 and 12 would let it convert")
    assert of_line(lines("u", "buf"), 10, tmp_path, capfd)["decision"] == "keep"
    assert of_line(lines("u", "v"), 10, tmp_path, capfd)["decision"] == "convert"


READ, USED = Span("a.c", 10, 14, 3, 1), Span("a.c", 30, 34, 5, 1)
MOVE = Advice("move", "moving the read", (READ,))
KEPT = Refusal(Reason.READ_LATER, "`b` is read", ((READ, "here"),), hint=MOVE)


@pytest.mark.parametrize(
    ("other", "shared", "message"),
    [
        (None, False, "`b` is read; moving the read would let it convert"),
        (None, True, "`b` is read"),  # other buffers come to the call: what is said of this one is not all
        (
            Refusal(Reason.ESCAPE, "`b` escapes; and more"),
            True,
            "`b` is read; moving the read would not be enough: `b` escapes",
        ),
        (Refusal(Reason.OLD_BYTES, "`b` is read"), False, "`b` is read"),  # the same again
        (Refusal(Reason.OLD_ADDRESS, "`p` is used", ((READ, "used here"),)), False, "`b` is read"),  # by what moves
        (
            Refusal(Reason.OLD_ADDRESS, "`p` is used", ((USED, "used here"),)),
            False,
            "`b` is read; moving the read would not be enough: `p` is used",
        ),
    ],
)
def test_what_is_left_when_somebody_follows_a_hint(other: Refusal | None, shared: bool, message: str) -> None:
    found = told(KEPT, other, shared)
    assert (found.message, found.hint) == (message, None)
    assert found.advice == (MOVE if message.endswith("would let it convert") else None)


def test_what_is_advised_counts_for_all_sites_that_stay_for_the_same_test(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """With `exit(1)` both receives convert; with one of them as a plain receive the block could be too small for it."""
    lines = ["int n = argc, s = 0, *b = NULL;", "if (!(b = aligned_alloc(16, N * sizeof(int)))) {", "exit(0);", "}"]
    lines += ["do {", "MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);", "if (n % 3 == 1) {"]
    for source in (1, 2):
        lines += [f"MPI_Recv(b, n, MPI_INT, {source}, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"]
        lines += ["for (int i = 0; i < n; i++) s += b[i];", "} else {" if source == 1 else "}"]
    lines += ["} while (n > 0);", "free(b);", "v[0] = s;"]

    def sites(text: str) -> list[dict[str, Any]]:
        (tmp_path / "a.c").write_text("#include <stdlib.h>\n" + text)
        assert main([str(tmp_path / "a.c"), "--output-format", "json"]) == 0
        found: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["sites"]
        return found

    text = HEAD + "\n".join(lines) + TAIL
    kept = sites(text)
    assert [s["decision"] for s in kept] == ["keep", "keep"]
    ending = " and no MPI_Finalize wherever it is NULL at line 10 would let it convert"
    assert all(s["message"].endswith(ending) for s in kept)
    assert [s["decision"] for s in sites(text.replace("exit(0)", "exit(1)"))] == ["convert", "convert"]


LOOP = ["for (int i = 1; i < argc; i++) // LOOP", "MPI_Send(buf, N, MPI_DOUBLE, i, 0, MPI_COMM_WORLD);"]


def test_a_loop_that_sends_the_same_again_is_told_before_another_call(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What a call of MPI reads later is one message more: the loop sends the buffer again before that."""
    kept = site([PACK, *LOOP, "MPI_Bcast(buf, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);"], tmp_path, capfd)
    assert kept["code"] == "OPI102"
    again = "`buf` may be sent again in the next turn of the loop in line 9, in which nothing is written to it"
    assert kept["message"].partition("; ")[0] == again


def test_a_loop_that_fills_the_buffer_is_not_told_to_send_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    filled = [LOOP[0], "{", "if (v[i] > 0) buf[i] = u[i];", LOOP[1], "}"]
    kept = site([PACK, *filled], tmp_path, capfd)
    assert kept["code"] == "OPI102"
    assert "next turn" not in kept["message"]


def test_a_plain_read_is_told_before_two_sends(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept = site([PACK, *LOOP, *LOOP, "v[0] = sum(buf);"], tmp_path, capfd)
    assert kept["code"] == "OPI101"
    assert [note["line"] for note in kept["notes"][:2]] == [4, 13]
    kept = site([PACK, *LOOP, *LOOP, PACK, "v[0] = sum(buf);"], tmp_path, capfd)  # that reads other values
    assert kept["code"] == "OPI102"
    assert [(note["line"], note["message"]) for note in kept["notes"][:1]] == [(12, "`buf` is sent again here")]


def test_a_read_of_an_unknown_place_after_a_receive_is_what_could_not_be_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    receive = ["int at = argc, n = 10 * argc;", PACK, "MPI_Recv(buf, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &s);"]
    jump = "for (int i = 0; i < n; i++) { v[i] = buf[at]; at = (int)v[i] % 7; }"
    kept = site(["MPI_Status s;", *receive, jump], tmp_path, capfd)
    assert kept["code"] in ("OPI201", "OPI202")
    assert "could not show that line 12 reads only those bytes of `buf` that this receive brings" in kept["message"]
    kept = site(["MPI_Status s;", *receive, "v[0] = buf[N - 1];"], tmp_path, capfd)
    assert "could not show that line 12 reads only those bytes of `buf` that this receive brings" in kept["message"]


@pytest.mark.parametrize(("kind", "words"), [("double", "a floating number, whose value is not followed"), ("int", "")])
def test_a_source_that_is_a_floating_number(
    kind: str, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{kind} up; int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);", "for (int t = 0; t < 3; t++) {"]
    lines += ["if (rank != 0) up = rank - 1; else up = MPI_PROC_NULL;"]
    lines += ["for (int i = 0; i < N; i++) v[i] = u[i] + t;"]
    lines += ["MPI_Sendrecv(v, N, MPI_DOUBLE, 0, 3, buf, N, MPI_DOUBLE, up, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"]
    lines += ["if (rank != 0) for (int i = 0; i < N; i++) u[i] += buf[i];", "}"]
    (tmp_path / "a.c").write_text(HEAD + "\n".join(lines) + TAIL)
    assert main([str(tmp_path / "a.c"), "--output-format", "json"]) == 0
    received = json.loads(capfd.readouterr().out)["sites"][1]
    assert (received["decision"] == "keep") is bool(words)
    assert words in received.get("message", "")
    assert "would let it convert" not in received.get("message", "")
