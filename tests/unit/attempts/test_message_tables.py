"""Receives in a loop into one buffer: which of them are proved to need a block each, and what becomes of them.

They are found by ``opi_xform.divide.passages.tables``, proved by ``opi_xform.divide.passages.table_proof`` and written
by ``opi_xform.divide.passages.table_spell``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ownership_support
import pytest
from other_texts import Whole, whole

from opi_xform.attempts.again import Again
from opi_xform.attempts.tables.message_tables import Tabling

POST = (
    "for (int i = 0; i < n; i++)\n    MPI_Irecv(&in[at[i]], many[i], MPI_DOUBLE, 1, i, MPI_COMM_WORLD, &q[i]); // ONE\n"
)
WAIT = "MPI_Waitall(n, q, MPI_STATUSES_IGNORE);\n"
READ = "for (int i = 0; i < n; i++)\n    for (int j = 0; j < many[i]; j++)\n        sum[at[i] + j] += in[at[i] + j];\n"
ANY = """for (int i = 0; i < n; i++) {
    MPI_Waitany(n, q, &which, MPI_STATUS_IGNORE);
    for (int j = 0; j < many[which]; j++)
        sum[j] += in[j + at[which]];
}
"""
TURN = """for (int i = 0; i < n; i++) {
    int b = at[i], m = many[i];
    MPI_Irecv(in + b, m, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, &q[i]); // ONE
}
"""
ANY_BY_NAME = ANY.replace("    for", "    int b = at[which];\n    for").replace("in[j + at[which]]", "in[b + j]")


@pytest.fixture(autouse=True)
def null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership_support, "HEADER", ownership_support.HEADER + "#define MPI_PROC_NULL (-1)\n")


def program(folder: Path, body: str, behind: str = "", before: str = "", start: str = "int") -> Whole:
    top = "static double in[900], sum[900], other[900];\nstatic int n, many[20];\nstatic MPI_Request q[40];\n"
    top += f"static {start} at[20];\n"
    set_up = "for (int i = 0; i < n; i++) {\nat[i] = s;\nmany[i] = 6 + i % 3;\ns += many[i];\n}\nat[n] = s;\n"
    main = f"int s = 0;\nn = argc + 2;\n{set_up}for (int t = 0; t < 3; t++) {{\nint which;\n{before}{body}{behind}}}\n"
    return whole(folder, f"{top}int main(int argc, char **argv)\n{{\n{main}return (int)sum[argc];\n}}\n")


def tabling(found: Whole) -> Tabling:
    return Tabling(found.program, found.units, found.plan, found.again)


@pytest.mark.parametrize(
    ("body", "written"),
    [
        (POST + WAIT + READ, "+= in_part[i][j];"),
        (POST + ANY, "+= in_part[which][j];"),
        (TURN + ANY_BY_NAME, "+= in_part[which][b + j - at[which]];"),
        (POST + WAIT + READ.replace("at[i] + j];\n", "many[i] - 1 - j + at[i]];\n"), "in_part[i][many[i] - 1 - j];"),
        (
            POST
            + WAIT
            + "for (int m = 0; m < n; m++)\n"
            + "    for (int k = at[m]; k < at[m] + many[m]; k++)\n        sum[k] += in[k];\n",
            "+= in_part[m][k - at[m]];",
        ),
    ],
)
def test_each_message_gets_a_row(body: str, written: str, tmp_path: Path) -> None:
    found = program(tmp_path, body)
    assert found.decisions == {"ONE": "keep"}
    tried = tabling(found).run()
    assert tried is not None
    assert found.of(tried.plan) == {"ONE": "convert"}
    (data,) = (data.decode() for name, data in tried.changed.items() if name.endswith("f0.c"))
    assert written in data
    assert "double *in_part[n > 0 ? n : 1];" in data


def test_what_cannot_be_proved_costs_no_analysis(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found, asked = program(tmp_path, POST + WAIT + READ), list[int]()
    monkeypatch.setattr(Again, "look", lambda _, texts: asked.append(len(texts)))
    assert tabling(found).proved() == []
    assert asked == [1]
    nest = replace(found.program.nest, irreducible=True)
    known = replace(found, program=replace(found.program, nest=nest))
    assert tabling(known).proved() == []
    assert asked == [1]


@pytest.mark.parametrize(("start", "written"), [("long", "(at[i] + j - 3 + 3L) - at[i]"), ("int", "j - 3 + 3")])
def test_what_is_left_of_a_sum_is_as_wide_as_it_was(start: str, written: str, tmp_path: Path) -> None:
    """``j - 3`` alone wraps where j is unsigned, and did not beside a long start."""
    number = "at[i] + j - 3 + 3"
    read = READ.replace("many[i]", "6").replace("at[i] + j]", f"{number}]")
    if start == "long":
        read = read.replace("int j", "unsigned j").replace("3]", "3L]")
    found = program(tmp_path, POST.replace("many[i]", "6") + WAIT + read, start=start)
    tried = tabling(found).run()
    assert tried is not None
    (data,) = (data.decode() for name, data in tried.changed.items() if name.endswith("f0.c"))
    assert f"in_part[i][{written}]" in data


@pytest.mark.parametrize(
    ("body", "behind", "before"),
    [
        (POST + WAIT + READ.replace("j < many[i]", "j <= many[i]"), "", ""),  # beyond the message
        (POST + WAIT + READ.replace("int i = 0; i < n", "int i = 0; i <= n"), "", ""),  # one message more
        (POST.replace("i < n", "i < n - t % 2") + WAIT + READ, "", ""),  # one message less
        (POST.replace("int i = 0", "int i = t % 2") + WAIT + READ, "", ""),  # the first one does not come
        (POST.replace("    MPI", "    if (i != t) MPI") + WAIT + READ, "", ""),  # nor another one
        (POST.replace("i++)\n", "i++) {\nif (i > t) break;\n") + "}\n" + WAIT + READ, "", ""),  # nor all after one
        (POST + ANY.replace("Waitany(n", "Waitany(n + 1"), "", ""),  # another request may be the one
        (TURN.replace("    MPI", "    b += t;\n    MPI") + ANY, "", ""),  # begins elsewhere than was said
        (TURN.replace("    MPI", "    m -= t;\n    MPI") + ANY, "", ""),  # is shorter than was said
        (POST + WAIT + "many[0]++;\n" + READ + "many[0]--;\n", "", ""),  # longer than it came
        (POST + WAIT + "n++;\n" + READ + "n--;\n", "", ""),  # one more
        (POST + WAIT + "at[1] -= 2;\n" + READ + "at[1] += 2;\n", "", ""),  # begins elsewhere
        (POST + "MPI_Wait(&q[0], MPI_STATUS_IGNORE);\n" + READ, WAIT, ""),  # complete after it
        (POST + WAIT + READ, "other[t] = in[t];\n", ""),  # read after it
        (POST + WAIT + READ, "", "other[t] = in[t];\n"),  # read before it
        (POST + WAIT + READ + "if (t == 1) break;\nother[0] = in[at[0]];\n", "", ""),  # a way leads out
        (POST + "MPI_Send(in, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\n" + WAIT + READ, "", ""),  # another message
        (POST + "MPI_Cancel(&q[0]);\n" + WAIT + READ, "", ""),  # it may not come
        (POST.replace(", 1, i,", ", t ? 1 : MPI_PROC_NULL, i,") + WAIT + READ, "", ""),  # nobody sends it
    ],
)
def test_what_is_no_table(body: str, behind: str, before: str, tmp_path: Path) -> None:
    found = program(tmp_path, body, behind, before)
    assert found.decisions["ONE"] == "keep"
    assert tabling(found).proved() == []


def test_a_message_that_is_waited_for_in_its_turn_may_lie_where_another_does(tmp_path: Path) -> None:
    turn = POST.replace("i++)\n", "i++) {\n").rstrip() + "\nMPI_Wait(&q[i], MPI_STATUS_IGNORE);\n}\n"
    assert tabling(program(tmp_path, turn + WAIT + READ)).proved() == []


def test_strict_assumes_nothing_of_messages(tmp_path: Path) -> None:
    found = program(tmp_path, POST + WAIT + READ)
    assert len(tabling(found).proved()) == 1
    assert Tabling(found.program, found.units, found.plan, found.again, strict=True).proved() == []
