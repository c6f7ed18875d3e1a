"""That a block of its own can stand for the elements of a passage: programs with the marks around it."""

from __future__ import annotations

from pathlib import Path

import ownership_support
import pytest
from ownership_support import Source, source_in

from opi_xform.divide.passages.called import place_of
from opi_xform.divide.passages.proof import Marked, Proof, Proved, single
from opi_xform.ownership.model.buffers import Use

PACK = "for (int i = 0; i < n; i++)\nv[at + i] = u[i]; // PACKED"
SEND = "MPI_Send(&v[at], n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"


def program(
    folder: Path, inside: str, behind: str = "", before: str = "", top: str = "static double v[900];"
) -> Source:
    marked = f"long p_at = at, p_count = n, p_end;\n{inside}\np_end = 0;"
    turns = f"for (int t = 0; t < 3; t++) {{\n{before}\n{marked}\n{behind}\n}}"
    start = "int at = 3 * argc, n = argc + 2;"
    top += "\nstatic double u[900]; void other(void *);"
    return source_in(folder, f"{top}\nint main(int argc, char **argv)\n{{\n{start}\n{turns}\nreturn 0;\n}}\n")


def proved(found: Source, handed: bool = False) -> Proved | None:
    """Of the first message; whatever is written as an element of `v` may be one of it."""
    use: Use = found.uses[0]
    file, places, at = found.units[0].path, set(), found.text.find("v[")
    while at >= 0:
        places.add((file, at))
        at = found.text.find("v[", at + 1)
    return Proof(found.program, strict=False).of(
        Marked(use.place, "p_at", "p_count", "p_end", frozenset(places), handed)
    )


def at_line(found: Source, places: frozenset[tuple[str, int]]) -> set[str]:
    return {found.text[at:].split("\n")[0].rpartition("// ")[2] for _, at in places}


def test_what_is_packed_beside_its_send_is_a_passage(tmp_path: Path) -> None:
    found = program(tmp_path, f"{PACK}\n{SEND}")
    known = proved(found)
    assert known is not None
    assert at_line(found, known.anew) == {"PACKED"}
    assert not known.bytes
    assert known.assumes == ()


@pytest.mark.parametrize(
    ("inside", "behind", "before"),
    [
        (SEND, "", PACK),  # packed before the first mark
        (f"{PACK.replace('i < n', 'i < n - 1')}\n{SEND}", "", ""),  # the last element is an old one
        (f"{PACK}\n{SEND}", "u[0] = v[at];", ""),  # read after the last mark
        (f"{PACK}\n{SEND}", "other(v);", ""),  # others get the array
        (f"{PACK}\nif (argc > 4) break;\n{SEND}", "", ""),  # a way leads out
        (f"{PACK}\nat++;\n{SEND}", "at--;", ""),  # the start is another number there
        (f"{PACK}\nv[argc] += 1;\n{SEND}", "", ""),  # perhaps an element that travels, perhaps not
        (PACK, SEND, ""),  # the message is after the marks
    ],
)
def test_what_is_no_passage(inside: str, behind: str, before: str, tmp_path: Path) -> None:
    assert proved(program(tmp_path, inside, behind, before)) is None


def test_other_elements_may_be_used_beside_it(tmp_path: Path) -> None:
    found = program(tmp_path, f"{PACK}\nu[1] = v[at - 1]; // OTHER\n{SEND}", "v[at - 1] = 2;")
    known = proved(found)
    assert known is not None
    assert at_line(found, known.anew) == {"PACKED"}


def test_a_receive_that_is_unpacked_beside_it_rests_on_whole_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership_support, "HEADER", ownership_support.HEADER + "#define MPI_PROC_NULL (-1)\n")
    recv = SEND.replace("Send", "Recv").replace("WORLD)", "WORLD, MPI_STATUS_IGNORE)")
    found = program(tmp_path, f"{recv}\nfor (int i = 0; i < n; i++)\nu[i] += v[at + i]; // USED")
    known = proved(found)
    assert known is not None
    assert "A1" in known.assumes
    assert at_line(found, known.anew) == {"USED"}


def test_a_send_that_pends_at_the_last_mark_has_to_be_given_away(tmp_path: Path) -> None:
    isend = SEND.replace("Send", "Isend").replace("WORLD)", "WORLD, &q)")
    found = program(tmp_path, f"{PACK}\n{isend}", "MPI_Wait(&q, MPI_STATUS_IGNORE);", "MPI_Request q;")
    assert proved(found) is None
    assert proved(found, handed=True) is not None


@pytest.mark.parametrize(
    ("top", "alone"),
    [
        ("static double v[900];", True),
        ("double v[900];", True),
        ("static double *v;", False),  # nobody allocates it
    ],
)
def test_one_piece_of_memory_that_nobody_else_knows(top: str, alone: bool, tmp_path: Path) -> None:
    found = program(tmp_path, f"{PACK}\n{SEND}", top=top)
    assert single(found.program, found.uses, found.uses[0]) is alone


@pytest.mark.parametrize(("more", "alone"), [("", True), ("*kept = v;", False), ("mine = v;", False)])
def test_memory_of_a_loop_is_one_piece_where_one_variable_holds_it(more: str, alone: bool, tmp_path: Path) -> None:
    """What was there before is nobody's any more then."""
    made = f"double *v = malloc(n * 80); {more}"
    found = program(tmp_path, f"{PACK}\n{SEND}", "free(v);", made, top="static double *mine, **kept = &mine;")
    assert single(found.program, found.uses, found.uses[0]) is alone


@pytest.mark.parametrize(("more", "alone"), [("", True), ("old = v;", False), ("*kept = v;", False)])
@pytest.mark.parametrize("first", ["", "if (t == 0)\nv = malloc(8);"])
def test_memory_that_grows_is_one_piece_where_it_is_there_one_at_a_time(
    first: str, more: str, alone: bool, tmp_path: Path
) -> None:
    grown = f"{first}\nif (9 * n > room) {{\n{more}\nfree(v);\nv = malloc(n * 80);\nroom = 9 * n;\n}}"
    top = "static double *v, *old, **kept = &old; static int room = 1;"
    found = program(tmp_path, f"{PACK}\n{SEND}", "if (old)\nu[1] = old[0];", grown, top=top)
    assert single(found.program, found.uses, found.uses[0]) is alone


BETWEEN = "MPI_Send(&v[m], k, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);"


@pytest.mark.parametrize(
    ("inside", "behind", "assumes"),
    [
        (BETWEEN, "", ("A3",)),  # its count says that k is not negative
        ("", BETWEEN, ("A3",)),  # so it does later
        (f"if (argc > 3) {BETWEEN}", "", None),
        ("", f"if (argc > 3) break; {BETWEEN}", None),
        ("", "", None),
    ],
)
def test_a_message_between_two_others_tells_its_size(
    inside: str, behind: str, assumes: tuple[str, ...] | None, tmp_path: Path
) -> None:
    """`v[0 .. m)` is beside `v[m + k .. m + k + n)` where the message in between has no negative count.

    What is tried: opi_xform.divide.passages.sizes."""
    other = "for (int i = 0; i < m; i++)\nv[i] = 1;"
    before = "int m = argc + 1, k = argc - 5; at = m + k;"
    found = program(tmp_path, f"{PACK}\n{other}\n{SEND}\n{inside}", behind, before)
    known = proved(found)
    assert (None if known is None else known.assumes) == assumes


@pytest.mark.parametrize(
    ("before", "condition", "proven"),
    [
        ("int peer = 1;", "peer != -1", True),
        ("int peer = 1;", "!(peer == -1)", True),
        ("int peer = 1;", "peer == 1", True),
        ("int peer = t * t;", "peer != -1", True),  # it is not negative
        ("int peer = argc > 3 ? -1 : 1;", "peer != -1", False),
        ("int peer = 1;", "peer == -1", False),
        ("int peer = 1;", "peer != 1", False),
        ("int peer = argc;", "peer > 0", False),  # no comparison for equality
        ("int peer = t * t;", "peer != 1", False),
        ("unsigned peer = argc;", "peer != -1", False),
    ],
)
def test_a_message_under_a_condition_is_there_each_time(
    before: str, condition: str, proven: bool, tmp_path: Path
) -> None:
    """Else its size may be anything at the first mark.  What is tried: opi_xform.divide.passages.guards."""
    found = program(tmp_path, f"{PACK}\nif ({condition})\n{SEND}", before=before)
    assert (proved(found) is not None) is proven


SENDS = "MPI_Send(b, m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"


def called(folder: Path, body: str, call: str = "put(&v[at], n);") -> Source:
    top = f"static double v[900];\nextern double w[];\nstatic void put(double *b, int m) {{ {body} }}"
    return program(folder, f"{PACK}\n{call}", top=top)


def test_a_message_in_a_function_that_is_given_its_place(tmp_path: Path) -> None:
    found = called(tmp_path, SENDS)
    by = place_of(found.program, found.uses[0])
    assert by is not None
    assert [found.program.functions[key].name for key in by.through] == ["put"]
    known = proved(found)
    assert known is not None
    assert at_line(found, known.anew) == {"PACKED"}


@pytest.mark.parametrize(
    ("body", "call"),
    [
        (f"if (m == 4) return; {SENDS}", "put(&v[at], n);"),  # the message is left out
        (f"w[1] += b[0]; {SENDS}", "put(&v[at], n);"),  # the address is used otherwise
        (f"m -= 1; {SENDS}", "put(&v[at], n);"),  # the count is another one
        (f"w[1] += v[3]; {SENDS}", "put(&v[at], n);"),  # the array is read by its own name
        (SENDS, "put(&v[at], n - 1);"),
        (SENDS, "put(&v[at], n); put(&v[at + 1], n);"),
        (SENDS, "if (t) put(&v[at], n);"),
    ],
)
def test_what_a_function_does_besides_keeps_its_message(body: str, call: str, tmp_path: Path) -> None:
    assert proved(called(tmp_path, body, call)) is None
