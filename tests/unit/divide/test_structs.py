"""Structs that functions get or return by value, as structs that they get the address of; blocks for passages."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import source_in

from opi_xform.divide.passages.find import passages
from opi_xform.divide.passages.spell import PassageSpelling
from opi_xform.divide.structs.by_address import ByAddress, Untouched
from opi_xform.divide.structs.by_result import ByResult
from opi_xform.graph.whole import merge
from opi_xform.text.edit import apply_edits
from opi_xform.text.sources import Sources

STRUCT = "struct halo { int n; double *out; }; static double u[1000]; void other(struct halo *);\n"


def read(name: str) -> bytes:
    return Path(name).read_bytes()


def rewritten(folder: Path, maker: type[ByAddress] | type[ByResult], text: str) -> str | None:
    """The file with the first change that is found."""
    found = source_in(folder, STRUCT + text)
    changes = list(maker(found.program, merge(found.units), found.units, read).run())
    if not changes:
        return None
    _, edits = changes[0]
    file = found.units[0].path
    return apply_edits(read(file), edits[file]).decode()


SENDS = "MPI_Send(h.out, h.n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SENDS, True),
        (SENDS.replace("h.out", "( & h ) -> out"), True),
        (f"(&h)->n = 3; {SENDS}", False),
        (f"h.n = 3; {SENDS}", False),  # its own copy changes
        (f"other(&h); {SENDS}", False),
    ],
)
def test_a_struct_that_is_only_read_is_passed_by_address(tmp_path: Path, body: str, expected: bool) -> None:
    text = (
        f"static void send(struct halo h) {{ {body} }}\n"
        "int main(int argc, char **argv)\n{\nstruct halo mine = { 9, u };\nsend(mine);\nreturn 0;\n}\n"
    )
    after = rewritten(tmp_path, ByAddress, text)
    assert (after is not None) is expected
    if after is not None:
        assert "send(&mine)" in after
        assert "h->out" in after.replace(" ", "")


def test_what_nothing_writes_while_a_function_runs(tmp_path: Path) -> None:
    text = (
        f"static struct halo a, b; static void keeps(struct halo h) {{ {SENDS} }}\n"
        f"static void writes(struct halo h) {{ b.n = 2; {SENDS} }}\n"
        "int main(int argc, char **argv)\n{\na.out = b.out = u;\nkeeps(a);\nwrites(b);\nreturn 0;\n}\n"
    )
    found = source_in(tmp_path, STRUCT + text)
    untouched = Untouched(found.program, merge(found.units))
    named = {key.rpartition(":")[2]: key for key in found.program.functions}
    assert untouched.stays(named["keeps"], 0)
    assert not untouched.stays(named["writes"], 0)
    assert not untouched.stays("unknown", 0)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("struct halo h; h.n = k; h.out = malloc(8 * k); return h;", True),
        ("static struct halo h; h.n = k; return h;", False),
        ("struct halo h; other(&h); return h;", True),
        ("struct halo h; h.n = k; if (k) return h; return h;", True),
    ],
)
def test_a_struct_that_is_returned_is_filled_where_it_goes(tmp_path: Path, body: str, expected: bool) -> None:
    text = (
        f"static struct halo make(int k) {{ {body} }}\n"
        "int main(int argc, char **argv)\n{\nstruct halo mine = make(9);\n"
        "MPI_Send(mine.out, mine.n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);\nreturn 0;\n}\n"
    )
    after = rewritten(tmp_path, ByResult, text)
    assert (after is not None) is expected
    if after is not None:
        assert "&mine" in after
        assert "= make(" not in after


def test_the_marks_around_a_passage(tmp_path: Path) -> None:
    send = "MPI_Send(&u[at], n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"
    body = f"int at = 3 * n;\nfor (int i = 0; i < n; i++)\nu[at + i] = i;\n{send}"
    top = "static double u[1000]; static int n = 9;"
    found = source_in(tmp_path, f"{top}\nint main(int argc, char **argv)\n{{\n{body}\nreturn 0;\n}}\n")
    (use,) = found.uses
    file = found.units[0].path
    (one, *_) = passages(found.program, [use.place[:3]], [file], read)
    spelling = PassageSpelling(found.program, Sources())
    assert spelling.possible()
    at, count, end = spelling.names(one)
    assert len({at, count, end}) == 3
    after = apply_edits(read(file), spelling.marks(one)).decode()
    assert f"long {at} = at, {count} = n, {end};" in after
    assert after.index(f"{end} = 0;") > after.index("MPI_Send")
