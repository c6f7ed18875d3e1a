"""Random one-sided programs (tests/machines/onesided): all carriers; and their judge, by planted faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import MPIS, MpiUser

from opi_xform.launch.mpi import Mpi
from tests.machines.onesided.run import SETTINGS, SOURCE, Setting, build, command, plain_settings, run

pytestmark = pytest.mark.mpi

WHERE = (SETTINGS[1], SETTINGS[3], SETTINGS[4], *(s for s in SETTINGS if s.per_process), SETTINGS[9])


@pytest.mark.parametrize("where", WHERE, ids=str)
def test_every_outcome_is_legal(
    mpi_user: MpiUser, where: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPI_CACHE", "OPI_MPICC"):
        monkeypatch.setenv(name, mpi_user.environment[name])
    program = build(mpi_user.mpi, tmp_path, "libopi" if where.carrier == "processes" else "ranks")
    assert run(command(mpi_user.mpi, program, where, 1, 20), where, 120) == ""


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.kind)
def test_the_mpi_itself_is_judged_right(mpi: Mpi, tmp_path: Path) -> None:
    where = plain_settings(mpi)[0]
    assert run(command(mpi, build(mpi, tmp_path, "plain"), where, 1, 15), where, 120) == ""


ACCUMULATE = "const void *o, int n, MPI_Datatype t, int r, MPI_Aint d, int m, MPI_Datatype u, MPI_Op op, MPI_Win w"
PUT = "const void *o, int n, MPI_Datatype t, int r, MPI_Aint d, int m, MPI_Datatype u, MPI_Win w"
GET = PUT.removeprefix("const ")
FETCH = "const void *o, void *f, MPI_Datatype t, int r, MPI_Aint d, MPI_Op op, MPI_Win w"
LARGE_PUT = PUT.replace("int n", "MPI_Count n").replace("int m", "MPI_Count m")
QUERY = "MPI_Win w, int r, MPI_Aint *size, int *unit, void *base"
SWAP = "const void *o, const void *c, void *f, MPI_Datatype t, int r, MPI_Aint d, MPI_Win w"
FAULTS = {
    "an accumulate is lost": f"int MPI_Accumulate({ACCUMULATE})\n"
    "{ static int n_; return ++n_ % 5 ? PMPI_Accumulate(o, n, t, r, d, m, u, op, w) : MPI_SUCCESS; }",
    "an accumulate happens twice": f"int MPI_Accumulate({ACCUMULATE})\n"
    "{ PMPI_Accumulate(o, n, t, r, d, m, u, op, w); return PMPI_Accumulate(o, n, t, r, d, m, u, op, w); }",
    "a put is lost": f"int MPI_Put({PUT})\n"
    "{ static int n_; return ++n_ % 5 ? PMPI_Put(o, n, t, r, d, m, u, w) : MPI_SUCCESS; }",
    "a get does not write": f"int MPI_Get({GET})\n"
    "{ (void)o; (void)n; (void)t; (void)r; (void)d; (void)m; (void)u; (void)w; return MPI_SUCCESS; }",
    "MPI_PROC_NULL is rank 0": f"int MPI_Get({GET})\n"
    "{ return PMPI_Get(o, n, t, r == MPI_PROC_NULL ? 0 : r, d, m, u, w); }",
    "what is fetched is the value after": f"int MPI_Fetch_and_op({FETCH})\n"
    "{ PMPI_Fetch_and_op(o, f, t, r, d, op, w); if (op != MPI_NO_OP) *(char *)f ^= 1; return MPI_SUCCESS; }",
    "a put with large counts is lost": f"int MPI_Put_c({LARGE_PUT})\n"
    "{ static int n_; return ++n_ % 5 ? PMPI_Put_c(o, n, t, r, d, m, u, w) : MPI_SUCCESS; }",
    "each member's shared memory is rank 0's": f"int MPI_Win_shared_query({QUERY})\n"
    "{ (void)r; return PMPI_Win_shared_query(w, 0, size, unit, base); }",
    "a swap does not compare": f"int MPI_Compare_and_swap({SWAP})\n"
    "{ (void)c; return PMPI_Fetch_and_op(o, f, t, r, d, MPI_REPLACE, w); }",
}
"""What an MPI must not do, put between the program and a correct one."""


@pytest.mark.parametrize("fault", FAULTS)
def test_the_judge_finds_what_is_wrong(fault: str, tmp_path: Path, opi_cache: Path) -> None:
    if not MPIS or MPIS[0].kind != "mpich":
        pytest.skip("planted beneath MPICH")
    shim = tmp_path / "shim.c"
    shim.write_text(f"#include <mpi.h>\n{FAULTS[fault]}\n")
    user = MpiUser(MPIS[0], opi_cache)
    user.mpicc("-std=c11", "-O1", SOURCE, shim, "-o", tmp_path / "program")
    done = user.run(2, tmp_path / "program", "40", "1", check=False)
    assert done.code != 0
    assert "onesided: wrong" in done.out
