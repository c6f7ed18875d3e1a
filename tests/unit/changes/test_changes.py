"""Changes of the user's own text: which calls can have one, what it says, and what its words mean in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from core_support import EXTRA
from ownership_support import HEADER, LIBC

from opi_xform.analysis import known
from opi_xform.changes.behind import is_object, unchanged
from opi_xform.changes.call import CallText, element, may_be_nobody
from opi_xform.changes.copies import copied, is_ignored
from opi_xform.changes.find import Finder
from opi_xform.changes.ground import SAID, Ground
from opi_xform.changes.guards import guarded
from opi_xform.changes.model import Change
from opi_xform.effects.table import load_effects
from opi_xform.frontend import parse_unit
from opi_xform.graph.whole import merge
from opi_xform.ir import ast
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.plan import Decision
from opi_xform.text.edit import apply_edits
from opi_xform.text.sources import Sources

HEAD = '#include "mpi.h"\n#include "more.h"\nstatic double u[100]; static int n = 9; int g(void); MPI_Status s, t[2];\n'
SEND = "MPI_Send(&u[n], n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);"
RECV = "MPI_Recv(u, n + 1, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
MORE = "int MPI_Abort(MPI_Comm, int); int MPI_Get_count(const MPI_Status *, MPI_Datatype, int *);"


@dataclass(frozen=True, slots=True)
class Site:
    program: Program
    use: Use
    ground: Ground
    text: bytes
    unit: ast.Unit
    file: str

    @property
    def call(self) -> CallText | None:
        return CallText.of(self.program, self.use, self.ground)

    def after(self, change: Change | None) -> str:
        assert change is not None
        return apply_edits(self.text, change.edits[self.file]).decode()


def site(folder: Path, statement: str, before: str = "int to = 1;", flags: Sequence[str] = (), head: str = "") -> Site:
    """A program with one call, and what is known of it."""
    root = folder.resolve()
    system = root / "system"
    system.mkdir(exist_ok=True)
    (system / "mpi.h").write_text(HEADER + "#define MPI_PROC_NULL (-2)\n" + EXTRA + MORE)
    (system / "more.h").write_text(LIBC)
    body = f"    int rc;\n    {before}\n    {statement}\n    return u[0] > 0;\n"
    text = f"{HEAD}{head}int main(int argc, char **argv)\n{{\n{body}}}\n"
    (root / "a.c").write_text(text)
    file = str(root / "a.c")
    unit = parse_unit(file, ["-isystem", str(system), *flags])
    program = known.program(merge([unit]), load_effects())
    use = collect(program)[0]
    sources = Sources()
    return Site(program, use, Ground([unit], file, sources, lambda path: tuple(flags)), text.encode(), unit, file)


# --- the call ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (SEND, True),
        (f"rc = {SEND}", True),
        (f"(void){SEND}", True),
        (f"if ({SEND[:-1]}) rc = 1;", False),
        (f"rc = rc + {SEND}", False),
        ("MPI_Send(u, n,\n#if X\nn,\n#endif\nMPI_DOUBLE, to, 7, MPI_COMM_WORLD);", False),
        (f"for ({SEND[:-1]}; rc; ) ;", False),
        (SEND.replace("to, 7", "/* a, b */ to, 7"), True),
    ],
)
def test_calls_that_are_statements(tmp_path: Path, statement: str, expected: bool) -> None:
    assert (site(tmp_path, statement).call is not None) is expected


def test_arguments_as_they_are_written(tmp_path: Path) -> None:
    call = site(tmp_path, "MPI_Send( u + n , n + 1,MPI_DOUBLE, to , 7, MPI_COMM_WORLD);").call
    assert call is not None
    assert [call.text(i) for i in range(4)] == ["u + n", "n + 1", "MPI_DOUBLE", "to"]
    assert call.operand(1) == "(n + 1)"
    assert call.operand(3) == "to"
    assert call.somebody(3) == "to != MPI_PROC_NULL"
    assert call.number(1) == "(n + 1)"
    assert call.again(1, 2, 3)
    assert call.alone(0)
    assert [call.name("_copy"), call.name("_copy")] == ["u_copy", "u_copy2"]


@pytest.mark.parametrize(
    ("count", "again"), [("n", True), ("n + 1", True), ("g()", False), ("n++", False), ("__LINE__", False)]
)
def test_arguments_that_may_be_evaluated_once_more(tmp_path: Path, count: str, again: bool) -> None:
    call = site(tmp_path, f"MPI_Send(u, {count}, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);").call
    assert call is not None
    assert call.again(1) is again


def test_lines_around_a_statement(tmp_path: Path) -> None:
    found = site(tmp_path, SEND)
    call = found.call
    assert call is not None
    edits = call.around(["before();"], ["after();"], [(0, "copy")], "to != 0")
    lines = apply_edits(found.text, edits).decode().split("\n")
    at = next(i for i, line in enumerate(lines) if "before" in line)
    assert [line.strip() for line in lines[at - 1 : at + 4]] == [
        "if (to != 0) {",
        "before();",
        "MPI_Send(copy, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);",
        "after();",
        "}",
    ]


@pytest.mark.parametrize(
    ("before", "expected"),
    [("int to = 1;", False), ("int to = argc > 1 ? 0 : MPI_PROC_NULL;", True), ("int to = g();", True)],
)
def test_partners_that_may_be_nobody(tmp_path: Path, before: str, expected: bool) -> None:
    found = site(tmp_path, SEND, before)
    assert may_be_nobody(found.program, [found.use]) is expected


@pytest.mark.parametrize(("type_", "c"), [("MPI_DOUBLE", "double"), ("MPI_INT", "int"), ("rc", "")])
def test_the_c_type_of_a_message(tmp_path: Path, type_: str, c: str) -> None:
    found = site(tmp_path, SEND.replace("MPI_DOUBLE", type_))
    assert element(found.program, [found.use]) == c


# --- changes ----------------------------------------------------------------------------------------------------------


def change(found: Site, kind: str = "double", nobody: bool = False) -> Change | None:
    call = found.call
    assert call is not None
    return copied(found.program, (found.file, found.use.call.span.begin, found.use.side), call, kind, nobody)


def test_a_send_from_a_copy(tmp_path: Path) -> None:
    found = site(tmp_path, SEND)
    made = change(found)
    assert made is not None
    assert made.kind == "copy"
    text = found.after(made)
    assert "double *u_copy = malloc(((size_t)n + 1) * sizeof(double));" in text
    assert "memcpy(u_copy, &u[n], (size_t)n * sizeof(double));" in text
    assert "MPI_Send(u_copy, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);" in text
    assert text.index("free(u_copy)") > text.index("MPI_Send(u_copy")


def test_a_receive_that_is_copied_from(tmp_path: Path) -> None:
    found = site(tmp_path, RECV)
    made = change(found)
    assert made is not None
    assert made.kind == "copy-out"
    text = found.after(made)
    assert "MPI_Recv(u_copy, n + 1, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, &u_status);" in text
    assert "MPI_Get_count(&u_status, MPI_DOUBLE, &u_came);" in text


@pytest.mark.parametrize(
    ("statement", "kind", "head"),
    [
        (SEND.replace("n, MPI", "g(), MPI"), "double", ""),
        (SEND, "", ""),
        (SEND, "double", "#define memcpy(a, b, c) other\n"),
        ("MPI_Request q; MPI_Isend(u, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, &q);", "double", ""),
    ],
    ids=["an argument that does something", "no basic type", "memcpy is another", "a nonblocking call"],
)
def test_sends_that_have_no_such_change(tmp_path: Path, statement: str, kind: str, head: str) -> None:
    found = site(tmp_path, statement, head=head)
    assert change(found, kind) is None


def test_a_receive_under_a_test_of_its_source(tmp_path: Path) -> None:
    found = site(tmp_path, RECV)
    call = found.call
    assert call is not None
    place = (found.file, found.use.call.span.begin, "recv")
    made = guarded(found.program, place, call, "double", True)
    assert made is not None
    assert "if (to != MPI_PROC_NULL) {" in found.after(made)
    assert guarded(found.program, place, call, "double", False) is None, "its source is somebody"
    with_status = site(tmp_path, RECV.replace("MPI_STATUS_IGNORE", "&s")).call
    assert with_status is not None
    assert guarded(found.program, place, with_status, "double", True) is None


@pytest.mark.parametrize(
    ("statement", "code", "kinds"),
    [
        (SEND, "OPI102", ["copy"]),
        (RECV, "OPI203", ["copy-out"]),
        (SEND, "OPI108", []),  # it travels in the envelope
    ],
)
def test_changes_of_a_site_that_stays(tmp_path: Path, statement: str, code: str, kinds: list[str]) -> None:
    found = site(tmp_path, statement)
    finder = Finder(found.program, [found.unit], Sources(), lambda path: ())
    kept = Decision(found.use.call.span, "main", "MPI", found.use.side, "u", "u", "keep", code, "why")
    assert [one.kind for one in finder.of(kept)] == kinds


# --- what is the same after the call ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("MPI_Recv(&u[n], n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, &s);", True),
        ("rc = MPI_Recv(&u[rc], n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, &s);", False),
        ("MPI_Recv(&u[s.MPI_TAG], n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, &s);", False),
        ("MPI_Recv(&u[n], n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, t + 1);", True),
    ],
)
def test_arguments_worth_the_same_behind_the_call(tmp_path: Path, statement: str, expected: bool) -> None:
    found = site(tmp_path, statement)
    args = list(found.use.call.args)
    target = found.call.target if found.call is not None else None
    assert unchanged(found.program, 0, args[:3], args[6], target) is expected
    assert is_object(args[6])
    assert not is_ignored(args[6])


def test_a_status_that_may_be_ignored(tmp_path: Path) -> None:
    pointer = "int to = 1; MPI_Status *p = argc > 1 ? &s : MPI_STATUS_IGNORE;"
    found = site(tmp_path, "MPI_Recv(u, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, p);", pointer)
    assert not is_object(found.use.call.args[6])
    assert is_ignored(site(tmp_path, RECV).use.call.args[6])


# --- words ------------------------------------------------------------------------------------------------------------


def test_what_words_mean_in_a_file(tmp_path: Path) -> None:
    ground = site(tmp_path, SEND, flags=["-DNAMED=1"], head="#define OWN 3\nint mine(int argument);\n").ground
    assert ground.knows("OWN")
    assert ground.knows("NAMED")
    assert not ground.knows("u_copy")
    assert ground.means_its_own(["OWN"])
    assert ground.means_its_own(["argc"])
    assert not ground.means_its_own(SAID)
    assert not ground.is_c_plus_plus
    assert site(tmp_path, SEND, flags=["-Wc++-compat"]).ground.is_c_plus_plus


@pytest.mark.parametrize(
    ("includes", "missing"),
    [
        ("", b"#include <stdlib.h>\n#include <string.h>\n"),
        ("#include <stdlib.h>\n", b"\n#include <string.h>"),
        ("#include <string.h>\n#include <stdlib.h>\n", b""),
    ],
)
def test_headers_that_are_missing(tmp_path: Path, includes: str, missing: bytes) -> None:
    text = f"{includes}int main(void)\n{{\n    return 0;\n}}\n"
    (tmp_path / "b.c").write_text(text)
    file = str((tmp_path / "b.c").resolve())
    ground = Ground([parse_unit(file, [])], file, Sources(), lambda path: ())
    edits = ground.includes(text.index("return"))
    assert edits is not None
    assert b"".join(e.text for e in edits) == missing
