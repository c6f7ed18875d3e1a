"""opi-bench apps: profiles of programs under real MPIs, and one quick run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MPIS, MpiUser

from opi_xform.bench.whole.apps import PROFILE, wrapped
from opi_xform.bench.whole.apps_report import FormTimes
from opi_xform.bench.whole.apps_trace import (
    RECEIVED,
    SENT,
    Times,
    Trace,
    read_trace,
    times_of,
)


def form(series: str, *runs: float, **ways: float) -> FormTimes:
    return FormTimes(series, "mpich", tuple(Times(run, run / 10, run / 100) for run in runs), ways)


PINGPONG = """
#include <mpi.h>
int main(int argc, char **argv)
{
    static double b[3000];
    int rank;
    MPI_Request rq;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        if (rank == 0) {
            MPI_Send(b, 3000, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
        } else {
            MPI_Irecv(b, 3000, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &rq);
            MPI_Wait(&rq, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.mpi
def test_the_profile_of_a_program_with_wildcards(mpi_user: MpiUser, tmp_path: Path) -> None:
    """The messages of both sides are there, and on the one clock none is received before it is sent."""
    (tmp_path / "p.c").write_text(PINGPONG)
    options = wrapped(PROFILE.read_text(), False)
    mpi_user.mpicc("-O1", tmp_path / "p.c", PROFILE, "-o", tmp_path / "p", *options)
    mpi_user.run(2, tmp_path / "p", OPI_BENCH_TRACE=str(tmp_path / "trace"))
    traces = [read_trace(tmp_path / f"trace.{rank}") for rank in range(2)]
    assert [[(m.side, m.peer, m.tag) for m in one.messages] for one in traces] == [
        [(SENT, 1, i) for i in range(20)],
        [(RECEIVED, 0, i) for i in range(20)],
    ]
    assert all(m.call >= 0 for one in traces for m in one.messages)
    for sent, received in zip(traces[0].messages, traces[1].messages, strict=True):
        assert traces[1].calls[received.call].leave >= sent.posted
    found = times_of(traces)
    assert found.communication > 0
    assert found.run >= found.waiting + found.communication


REQUESTS = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, level, flag = 0, index, count, done = 0, which[4], b[4] = {0}, big[4] = {0};
    MPI_Request rq[4];
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 4; i++)
            if (rank == 0)
                MPI_Issend(&big[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &rq[i]);
            else
                MPI_Irecv(&b[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &rq[i]);
        for (done = 0, flag = 0; round == 0 && !flag;)
            MPI_Testall(4, rq, &flag, MPI_STATUSES_IGNORE);
        while (round == 1 && done < 4) {
            MPI_Waitsome(4, rq, &count, which, MPI_STATUSES_IGNORE);
            done += count;
        }
        while (round == 2 && done < 4) {
            MPI_Testsome(4, rq, &count, which, MPI_STATUSES_IGNORE);
            done += count;
        }
        while (round == 3 && done < 4) {
            MPI_Testany(4, rq, &index, &flag, MPI_STATUS_IGNORE);
            done += flag;
        }
    }
    MPI_Sendrecv_replace(b, 4, MPI_INT, 1 - rank, 7, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.mpi
def test_the_profile_knows_each_way_to_complete_a_request(mpi_user: MpiUser, tmp_path: Path) -> None:
    """With a bound the other calls are added up, with 0 and in programs of several threads none is kept."""
    (tmp_path / "p.c").write_text(REQUESTS)
    options = wrapped(PROFILE.read_text(), False)
    mpi_user.mpicc("-O1", tmp_path / "p.c", PROFILE, "-o", tmp_path / "p", *options)

    def traces(*arguments: str, **environment: str) -> list[Trace]:
        mpi_user.run(2, tmp_path / "p", *arguments, OPI_BENCH_TRACE=str(tmp_path / "trace"), **environment)
        return [read_trace(tmp_path / f"trace.{rank}") for rank in range(2)]

    for rank, one in enumerate(traces()):
        assert len(one.messages) == 4 * 4 + 2
        assert all(message.call >= 0 and message.peer == 1 - rank for message in one.messages)
        assert one.beyond == 0
    for one in traces(OPI_BENCH_CALLS="3"):
        assert (len(one.calls), len(one.messages)) == (3, 3)
        assert 0 < one.beyond < one.ended - one.begun
    for found in (traces(OPI_BENCH_CALLS="0"), traces("threads")):
        assert all((one.calls, one.messages, one.beyond) == ((), (), 0) for one in found)
        assert all(one.begun < one.ended for one in found)
    assert found[0].threads


@pytest.mark.mpi
@pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")
def test_quick_run_of_a_program_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "apps.json"
    command = [sys.executable, "-m", "opi_xform.bench.main", "apps", "halo2d", "--quick", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    (program,) = json.loads(file.read_text())["programs"]
    assert [form["series"] for form in program["forms"]] == [*(mpi.kind for mpi in MPIS), "libopi", "opi"]
    assert all(form["total_s"] > 0 and form["communication_s"] > 0 for form in program["forms"])
    assert program["forms"][-1]["protocols_percent"] == {"give": 100.0}


@pytest.mark.parametrize("arguments", [("nosuch",), ("--ranks", "0"), ("halo2d", "--json", "/nosuch/a.json")])
def test_bad_usage_is_one_line(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "opi_xform.bench.main", "apps", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
