"""The MPI's names in libopi: generated from the headers of these MPIs, all of them classified, none forgotten."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import MPIS, MpiUser

from opi_xform.bindings.__main__ import main
from opi_xform.bindings.header import functions
from opi_xform.bindings.table import read_table, unclassified
from opi_xform.launch.runtime import ensure_runtime
from opi_xform.resources import runtime_dir


@pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")
def test_the_generated_source_is_that_of_these_headers() -> None:
    """And the table says of every function with requests, messages, peers or new communicators whose it is."""
    assert main(["--check", *(str(mpi.mpicc) for mpi in MPIS)]) == 0


@pytest.mark.parametrize(
    ("prototype", "asks"),
    [
        ("int MPI_Zsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)", True),
        ("int MPI_Zstart(MPI_Request *request)", True),
        ("int MPI_Zprobe(MPI_Message *message)", True),
        ("int MPI_Comm_zdup(MPI_Comm comm, MPI_Comm *newcomm)", True),
        ("int MPI_Zbcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)", False),
    ],
)
def test_a_new_function_that_concerns_libopi_does_not_go_unnoticed(prototype: str, asks: bool) -> None:
    types = "typedef int MPI_Comm, MPI_Datatype, MPI_Request, MPI_Message;\n"
    declared = functions(f"{types}{prototype};").values()
    assert unclassified(declared, read_table()) == ([function.name for function in declared] if asks else [])


def exported(library: Path) -> set[str]:
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


@pytest.mark.mpi
def test_libopi_has_the_covered_names_of_its_mpi_and_no_others(mpi_user: MpiUser) -> None:
    shared = ensure_runtime(mpi_user.mpi).shared
    listed = subprocess.run(["ldd", shared], capture_output=True, text=True, check=True).stdout
    libraries = [line.split()[2] for line in listed.splitlines() if line.split()[0].startswith("libmpi.so")]
    mpis = set().union(*(exported(Path(library)) for library in libraries))
    ours = {name for name in exported(shared) if name.startswith(("MPI_", "MPIX_"))}
    assert ours <= mpis
    assert ours == read_table().covered & mpis - only_macros(mpi_user)


def only_macros(user: MpiUser) -> set[str]:
    """The conversions of handles are macros where handles are numbers; ours are numbers there too (handles.c)."""
    names = {name for name, source in read_table().written.items() if source == "handles.c"}
    return names if user.mpi.kind == "mpich" else set()


def test_what_is_written_by_hand_is_where_the_table_says() -> None:
    for name, source in read_table().written.items():
        if source != "handles.c":
            assert f"EXPORT int {name}(" in (runtime_dir() / "process" / source).read_text(encoding="utf-8"), name
