"""The functions of a header, whose each is by the table, and the C that is written from both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opi_xform.bindings import __main__ as command
from opi_xform.bindings.coverage import HEAD, calls, directories, page, verdict
from opi_xform.bindings.generate import FILES, generate
from opi_xform.bindings.header import HeaderError, functions
from opi_xform.bindings.ranks import (
    WRAPPED,
    RanksTable,
    collective_of,
    kind_of,
    linker_options,
    read_ranks_table,
    symbols,
    weak_functions,
    written,
)
from opi_xform.bindings.ranks import generate as generate_ranks
from opi_xform.bindings.table import Table, TableError, concerns_us, read_table, unclassified

HEADER = """
typedef int MPI_Comm; typedef int MPI_Datatype; typedef int MPI_Request; typedef long MPI_Aint; typedef int MPI_Info;
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Isend(const void *buf, int count, MPI_Datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Waitall(int count, MPI_Request requests[], int *);
double MPI_Wtime(void);
int MPI_Pcontrol(const int level, ...);
int MPI_T_init(int a);
int other(void);
int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request);
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Type_size(MPI_Datatype datatype, int *size);
int MPI_Pack_size(int n, MPI_Datatype datatype, MPI_Comm comm, int *size);
int MPI_Win_create(void *base, long size, int *win);
int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]);
"""
FOUND = functions(HEADER)


def test_what_a_header_declares() -> None:
    assert set(FOUND) == {
        *("MPI_Send", "MPI_Isend", "MPI_Waitall", "MPI_Wtime", "MPI_Pcontrol", "MPI_Alltoallv", "MPI_Ibarrier"),
        *("MPI_Barrier_init", "MPI_Type_size", "MPI_Pack_size", "MPI_Win_create", "MPI_Cart_coords"),
    }  # not the tools' interface, nor what is no function of MPI
    isend = FOUND["MPI_Isend"]
    assert isend.arguments == "buf, count, a2, dest, tag, comm, request"  # one without a name gets one
    assert isend.prototype.startswith("int MPI_Isend(const void *buf, int count, MPI_Datatype a2, int dest")
    assert FOUND["MPI_Waitall"].types == ("int", "int", "MPI_Request *", "int *")  # an array is a pointer
    assert FOUND["MPI_Wtime"].prototype == "double MPI_Wtime(void)"
    assert FOUND["MPI_Pcontrol"].prototype == "int MPI_Pcontrol(const int level, ...)"
    with pytest.raises(HeaderError, match="cannot be read"):
        functions("int MPI_Send(")


# --- libopi -----------------------------------------------------------------------------------------------------------

TABLE = """
native = [{functions = ["MPI_Wtime"], reason = "no message"}]
[generated]
MPI_Send = "opi_send(buf, count, datatype, dest, tag, comm, {call})"
MPI_Win_create = "opi_win_create(base, size, win)"
[large]
generated = []
[written]
"mpi/send.c" = ["MPI_Waitall"]
[since]
four = ["MPI_Send"]
[features]
four = "MPI_VERSION >= 4"
"""


def table(folder: Path, text: str = TABLE) -> Table:
    path = folder / "table.toml"
    path.write_text(text)
    return read_table(path)


def test_whose_a_function_is(tmp_path: Path) -> None:
    found = table(tmp_path)
    assert found.covered == {"MPI_Send", "MPI_Win_create", "MPI_Waitall"}
    assert found.knows("MPI_Wtime")
    assert found.knows("MPI_Wtime_c")  # with large counts, too
    assert not found.knows("MPI_Isend")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('["MPI_Wtime"]', '["MPI_Wtime", "MPI_Wtime"]', "MPI_Wtime is native twice"),
        ('["MPI_Waitall"]', '["MPI_Send"]', "in two kinds at once: MPI_Send"),
        ('four = ["MPI_Send"]', 'four = ["MPI_Recv"]', "`since` names what the table does not: MPI_Recv"),
        ('four = ["MPI_Send"]', 'five = ["MPI_Send"]', "`since` names what the table does not: five"),
    ],
)
def test_a_table_that_contradicts_itself(old: str, new: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=why):
        table(tmp_path, TABLE.replace(old, new))


def test_functions_of_which_the_table_has_to_say_whose_they_are(tmp_path: Path) -> None:
    concerned = {name for name, function in FOUND.items() if concerns_us(function)}
    # requests, or a peer and a tag: a rank alone is no message
    assert concerned == {"MPI_Send", "MPI_Isend", "MPI_Waitall", "MPI_Ibarrier", "MPI_Barrier_init"}
    assert unclassified(FOUND.values(), table(tmp_path)) == ["MPI_Barrier_init", "MPI_Ibarrier", "MPI_Isend"]


def test_the_entry_points_of_libopi(tmp_path: Path) -> None:
    texts = generate([FOUND], table(tmp_path))
    assert set(texts) == set(FILES)
    assert 'opi_send(buf, count, datatype, dest, tag, comm, "MPI_Send")' in texts["names.c"]
    assert "MPI_VERSION >= 4" in texts["names.c"]
    assert "opi_win_create(base, size, win)" in texts["names_windows.c"]
    assert "MPI_Win_create" not in texts["names.c"]


@pytest.mark.parametrize(
    ("expression", "header", "why"),
    [
        ("opi_send(buf)", HEADER, "does not use count, datatype, dest, tag, comm"),
        ("opi_send(buf, count, datatype, dest, tag, comm)", "typedef int MPI_Comm;", "no header declares MPI_Send"),
    ],
)
def test_a_table_that_does_not_fit_a_header(expression: str, header: str, why: str, tmp_path: Path) -> None:
    text = TABLE.replace("opi_send(buf, count, datatype, dest, tag, comm, {call})", expression)
    with pytest.raises(TableError, match=why):
        generate([functions(header)], table(tmp_path, text))


def test_two_headers_that_disagree(tmp_path: Path) -> None:
    other = functions(
        HEADER.replace("int MPI_Send(const void *buf, int count", "int MPI_Send(const void *buf, long count")
    )
    with pytest.raises(TableError, match="MPI_Send has different types in two headers"):
        generate([FOUND, other], table(tmp_path))
    named = functions(
        HEADER.replace("MPI_Send(const void *buf", "MPI_Send(const void *data")
    )  # a name is each header's own
    assert generate([FOUND, named], table(tmp_path)) == generate([FOUND], table(tmp_path))


def test_the_command_says_what_is_old_and_whose_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {name: FOUND[name] for name in ("MPI_Send", "MPI_Waitall", "MPI_Win_create")}
    made = table(tmp_path)
    monkeypatch.setattr(command, "read_table", lambda: made)
    monkeypatch.setattr(command, "runtime_dir", lambda: tmp_path)
    monkeypatch.setattr(command, "read_header", lambda mpicc: known)
    (tmp_path / "process" / "mpi").mkdir(parents=True)
    assert command.main(["--check", "mpicc"]) == 1
    assert "names.c is out of date" in capsys.readouterr().err
    assert command.main(["mpicc"]) == 0
    assert command.main(["--check", "mpicc"]) == 0
    monkeypatch.setattr(command, "read_header", lambda mpicc: FOUND)
    assert command.main(["--check", "mpicc"]) == 1
    assert "does not say whose these are: MPI_Barrier_init, MPI_Ibarrier, MPI_Isend" in capsys.readouterr().err


# --- libopi_ranks -----------------------------------------------------------------------------------------------------

RANKS = RanksTable(
    {"MPI_Send": "opir_send(buf, count, datatype, dest, tag, comm)"},
    {"Alltoallv": "OPIR_ALLTOALL", "Barrier": "OPIR_BARRIER"},
    ("MPI_Type_*", "MPI_Pack_size", "MPI_Wtime"),
    ("MPI_Pack*",),
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MPI_Waitall", "written"),
        ("MPI_Send", "expression"),
        ("MPI_Send_c", "expression"),
        ("MPI_Ibarrier", "collective"),
        ("MPI_Barrier_init", "collective"),
        ("MPI_Alltoallv_c", "collective"),
        ("MPI_Type_size", "below"),
        ("MPI_Win_create", "missing"),
    ],
)
def test_what_virtual_ranks_do_with_a_function(name: str, kind: str) -> None:
    assert kind_of(name, RANKS, frozenset({"MPI_Waitall"})) == kind


def test_forms_of_a_collective() -> None:
    assert collective_of("MPI_Ialltoallv_c", RANKS) == "Alltoallv"
    assert collective_of("MPI_Barrier_init", RANKS) == "Barrier"
    assert collective_of("MPI_Isend", RANKS) is None


def test_the_entry_points_of_libopi_ranks() -> None:
    have, text = generate_ranks(FOUND, RANKS, frozenset({"MPI_Waitall"}))
    assert "#define OPIR_HAS_MPI_Waitall 1" in have
    assert "EXPORT int MPI_Waitall(" not in text  # a source has it
    assert "return opir_send(buf, count, datatype, dest, tag, comm);" in text
    assert ".kind = OPIR_ALLTOALL, .sbuf = sendbuf, .scounts = sendcounts" in text
    assert ".v = true, .csize = sizeof *sendcounts, .dsize = sizeof *sdispls, .has_s = true, .has_r = true" in text
    assert 'opir_coll("MPI_Ibarrier", comm, &args, request, false)' in text
    assert 'opir_coll("MPI_Barrier_init", comm, &args, request, true)' in text
    assert "return PMPI_Wtime();" in text
    assert "opir_serial_begin();\n    int rc = PMPI_Pack_size(n, datatype, MPI_COMM_SELF, size);" in text
    assert 'opir_missing("MPI_Win_create");' in text


def test_a_collective_with_a_parameter_that_is_not_known() -> None:
    odd = functions("typedef int MPI_Comm; int MPI_Barrier(MPI_Comm comm, int patience);")
    with pytest.raises(TableError, match="MPI_Barrier: parameter patience is not known"):
        generate_ranks(odd, RANKS, frozenset())


def test_functions_that_the_sources_define(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.c").write_text(
        "EXPORT int MPI_Send(int a)\n{ }\nint MPI_Recv(int a);\nCONVERSIONS(x, MPI_Comm, y)\nINTS(x, MPI_Op)\n"
    )
    assert written(tmp_path) == {"MPI_Send", "MPI_Comm_c2f", "MPI_Comm_f2c", "MPI_Op_toint", "MPI_Op_fromint"}


def test_where_operations_on_windows_are_called_is_noted() -> None:
    """In the function that a program calls first: MPI_Put, or PMPI_Put by itself."""
    only = functions(
        "typedef int MPI_Win; typedef long MPI_Aint; int MPI_Put(const void *origin_addr, int origin_count,"
        " int origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, int target_datatype,"
        " MPI_Win win);"
    )
    _, names = generate_ranks(only, read_ranks_table(), frozenset())
    assert re.search(r"\{\n    OPIR_SITE\(\);\n    return opiw_put\(", names)
    assert "{\n    OPIR_WEAK_SITE();\n    return __wrap_PMPI_Put(" in weak_functions(only)


def test_names_that_a_program_may_define_itself() -> None:
    only = {"MPI_Wtime": FOUND["MPI_Wtime"]}
    weak = weak_functions(only)
    assert "double __wrap_PMPI_Wtime(void);" in weak
    assert "double opir_weak_MPI_Wtime(void) {\n    return __wrap_PMPI_Wtime();\n}" in weak
    assert symbols(only) == (
        "MPI_Wtime __wrap_PMPI_Wtime\nPMPI_Wtime __real_PMPI_Wtime\nopir_weak_MPI_Wtime MPI_Wtime\n"
    )
    options = linker_options(only).splitlines()
    assert options == [*(f"--wrap={name}" for name in WRAPPED), "--wrap=PMPI_Wtime"]


# --- the page of functions --------------------------------------------------------------------------------------------


def test_the_page_has_a_row_for_each_function() -> None:
    text = page(["MPI_Send", "MPI_Send", "MPI_Wtime", "MPI_Register_datarep"], {"a.c": frozenset({"MPI_Send"})})
    rows = text.removeprefix(HEAD).splitlines()
    assert [row.split(" | ")[0].lstrip("| ") for row in rows] == ["MPI_Register_datarep", "MPI_Send", "MPI_Wtime"]
    assert rows[1] == "| MPI_Send | libopi | yes | a.c |"
    nobody = page(["MPI_Nothing"], {"a.c": frozenset({"MPI_Nothing"})}).removeprefix(HEAD)
    assert nobody == "| MPI_Nothing | MPI | no |  |\n"  # who calls it tests nothing of it
    table_ = read_ranks_table()
    assert verdict("MPI_Send", table_, frozenset({"MPI_Send"})) == "yes"
    assert verdict("MPI_Nothing", table_, frozenset()) == "no"
    assert directories("a:b") == [Path("a"), Path("b")]


def test_what_a_program_calls(tmp_path: Path) -> None:
    """A compiler stands in for the wrapper: what counts is what the object file calls."""
    (tmp_path / "a.c").write_text("int MPI_Send(void); int other(void); int f(void) { return MPI_Send() + other(); }\n")
    assert calls(Path("cc"), tmp_path / "a.c") == {"MPI_Send"}
    (tmp_path / "a.c").write_text("int f(void) { return }\n")
    with pytest.raises(HeaderError, match=r"a\.c"):
        calls(Path("cc"), tmp_path / "a.c")
