"""opirun: which mpiexec and which libopi it takes, what the ranks get, exit codes and signals, and its messages."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import MPIS, MpiUser, Run

from opi_xform.launch.executable import inspect_executable
from opi_xform.launch.mpi import LaunchError
from opi_xform.launch.opirun import Request, command_line, mpi_of, parse

RING = """#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    double out[1000], in[1000];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 1000; i++)
        out[i] = rank;
    MPI_Sendrecv(out, 1000, MPI_DOUBLE, (rank + 1) % size, 0, in, 1000, MPI_DOUBLE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in[999] != (rank + size - 1) % size)
        MPI_Abort(MPI_COMM_WORLD, 99);
    if (argc > 1 && strcmp(argv[1], "stdin") == 0 && rank == 0) {
        char line[100] = "";
        printf("read=%s\\n", fgets(line, sizeof line, stdin) ? line : "nothing");
    }
    if (argc > 1 && strcmp(argv[1], "wait") == 0) {
        FILE *f = fopen(argv[2], "w");
        fclose(f);
        for (;;)
            pause();
    }
    MPI_Finalize();
    if (argc > 1 && strcmp(argv[1], "preloaded") == 0)
        printf("preload=%s\\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""


def opirun(user: MpiUser, *arguments: str | Path, stdin: str | None = None, **environment: str) -> Run:
    """opirun as a user types it: nothing names the MPI, the program tells."""
    variables = {key: value for key, value in user.environment.items() if key != "OPI_MPICC"} | environment
    command = [sys.executable, "-m", "opi_xform.launch.opirun", *map(str, arguments)]
    source = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=120, **source)
    return Run(done.returncode, done.stdout, done.stderr)


def messages(profile: Path) -> tuple[int, int, int]:
    """Ranks, messages that libopi carried, and messages between ranks of a node that it left to the MPI."""
    told = json.loads(profile.read_text())
    return told["ranks"], told["on_node"]["all"]["messages"], told["left_to_mpi"]["all"]["messages"]


@pytest.fixture(scope="module")
def ring(mpi_user: MpiUser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of the MPI alone."""
    folder = tmp_path_factory.mktemp("ring")
    (folder / "ring.c").write_text(RING)
    mpi_user.mpicc("-O1", folder / "ring.c", "-o", folder / "ring")
    return folder / "ring"


@pytest.mark.mpi
def test_an_unmodified_program_runs_over_libopi(mpi_user: MpiUser, ring: Path, tmp_path: Path) -> None:
    """Its own MPI is found, and its messages are libopi's: the profile says so."""
    result = opirun(mpi_user, "-n", "2", ring, OPI_PROFILE=str(tmp_path / "p.json"))
    assert result.code == 0, result.err
    assert messages(tmp_path / "p.json") == (2, 2, 0)


@pytest.mark.mpi
def test_version_tells_the_mpi_and_its_launcher(mpi_user: MpiUser) -> None:
    result = opirun(mpi_user, "--version")
    own, *launchers = result.out.splitlines()
    assert result.code == 0
    assert own.startswith("opirun ")
    assert str(MPIS[0].mpiexec) in own
    assert launchers


@pytest.mark.mpi
def test_exit_codes_are_the_launchers(mpi_user: MpiUser, ring: Path) -> None:
    assert opirun(mpi_user, "-n", "2", ring, "7").code == 7


@pytest.mark.mpi
def test_show_prints_and_runs_nothing(mpi_user: MpiUser, ring: Path) -> None:
    result = opirun(mpi_user, "-n", "2", "--show", ring, "a b")
    assert result.code == 0
    line = result.out.strip()
    assert str(mpi_user.mpi.mpiexec) in line
    assert "libopi.so" in line
    assert line.endswith("'a b'")


@pytest.mark.mpi
def test_what_is_preloaded_already_stays(mpi_user: MpiUser, ring: Path) -> None:
    library = opirun(mpi_user, "--print-preload", ring).out.strip()
    assert Path(library).name == "libopi.so"
    both = opirun(mpi_user, "--print-preload", ring, LD_PRELOAD="libm.so.6").out.strip()
    assert both == f"{library}:libm.so.6"


@pytest.mark.mpi
def test_only_the_ranks_get_the_preload(mpi_user: MpiUser, ring: Path) -> None:
    result = opirun(mpi_user, "-n", "1", ring, "preloaded")
    assert "libopi.so" in result.out, (result.out, result.err)


@pytest.mark.mpi
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT], ids=["terminate", "ctrl-c"])
def test_a_signal_ends_the_job(mpi_user: MpiUser, ring: Path, tmp_path: Path, sent: signal.Signals) -> None:
    """opirun is the launcher: what a batch system sends to it arrives. Ctrl-C goes to the whole process group."""
    ready = tmp_path / "ready"
    command = [sys.executable, "-m", "opi_xform.launch.opirun", "-n", "1", str(ring), "wait", str(ready)]
    job = subprocess.Popen(
        command, env=mpi_user.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert ready.exists()
        if sent == signal.SIGINT:
            os.killpg(job.pid, sent)
        else:
            job.send_signal(sent)
        assert job.wait(timeout=60) != 0
        while running(ring) and time.monotonic() < deadline + 60:
            time.sleep(0.05)
        assert running(ring) == []
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)


def running(program: Path) -> list[str]:
    """Processes that run this program."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and os.readlink(entry / "exe") == str(program):
                found.append(entry.name)
    return found


@pytest.mark.mpi
def test_standard_input_is_the_launchers(mpi_user: MpiUser, ring: Path) -> None:
    assert "read=one line" in opirun(mpi_user, "-n", "2", ring, "stdin", stdin="one line\n").out


OPTIONS = {
    "mpich": ("-hosts", "localhost", "-genv", "OF_THE_USER", "here"),
    "openmpi": ("--host", "localhost:5", "--bind-to", "none", "-x", "OF_THE_USER=here"),
}


@pytest.mark.mpi
def test_options_go_to_the_launcher(mpi_user: MpiUser, ring: Path, tmp_path: Path) -> None:
    """Hosts, variables, more ranks than processors."""
    options = OPTIONS.get(mpi_user.mpi.kind)
    if options is None:
        pytest.skip("options of this launcher are not known")
    many = ("--oversubscribe",) if mpi_user.mpi.kind == "openmpi" else ()
    profile = tmp_path / "p.json"
    result = opirun(mpi_user, "-n", "5", *options, *many, ring, OPI_PROFILE=str(profile))
    assert result.code == 0, result.err
    assert messages(profile) == (5, 5, 0)


@pytest.mark.mpi
def test_several_programs_in_one_job(mpi_user: MpiUser, ring: Path, tmp_path: Path) -> None:
    """`:` separates them; all get libopi, and one that has it linked in cannot run with one that has not."""
    profile = tmp_path / "p.json"
    result = opirun(mpi_user, "-n", "1", ring, ":", "-n", "1", ring, "0", OPI_PROFILE=str(profile))
    assert result.code == 0, result.err
    assert messages(profile) == (2, 2, 0)
    mpi_user.opicc("-O1", ring.with_suffix(".c"), "-o", tmp_path / "linked")
    refused = opirun(mpi_user, "-n", "1", ring, ":", "-n", "1", tmp_path / "linked")
    assert refused.code == 2
    assert refused.err == f"opirun: {tmp_path}/linked has libopi linked in, {ring} has not: link both with opicc\n"


@pytest.mark.mpi
def test_a_program_that_runs_the_program(mpi_user: MpiUser, ring: Path, tmp_path: Path) -> None:
    """`env`, a debugger, numactl: the MPI is that of the program they get as an argument."""
    profile = tmp_path / "p.json"
    result = opirun(mpi_user, "-n", "2", "env", "A=b", ring, OPI_PROFILE=str(profile))
    assert result.code == 0, result.err
    assert messages(profile) == (2, 2, 0)
    assert str(mpi_user.mpi.mpiexec) in opirun(mpi_user, "-n", "2", "--show", "env", "A=b", ring).out


@pytest.mark.mpi
def test_an_mpi_linked_in_statically_is_refused(mpi_user: MpiUser, tmp_path: Path) -> None:
    """Its calls do not go through the loader: with a preloaded libopi the program would run without it, unnoticed."""
    (tmp_path / "mpi.c").write_text("int MPI_Init(void) { return 0; }\n")
    (tmp_path / "main.c").write_text("int MPI_Init(void);\nint main(void) { return MPI_Init(); }\n")
    subprocess.run(["cc", "main.c", "mpi.c", "-o", "app"], cwd=tmp_path, check=True)
    refused = opirun(mpi_user, "-n", "2", tmp_path / "app")
    assert refused.code == 2
    assert refused.err.startswith(f"opirun: {tmp_path}/app has its MPI linked in statically")
    assert len(refused.err.splitlines()) == 1
    if subprocess.run(["cc", "-static", "main.c", "mpi.c", "-o", "all"], cwd=tmp_path, check=False).returncode == 0:
        refused = opirun(mpi_user, "-n", "2", tmp_path / "all")
        assert refused.code == 2
        assert "is linked statically" in refused.err


@pytest.mark.mpi
def test_a_program_of_the_mpi_abi(mpi_user: MpiUser, ring: Path, tmp_path: Path) -> None:
    """It needs a libopi with the handles of that interface, not with those of the MPI beside."""
    wrapper = mpi_user.mpi.mpicc.with_name("mpicc_abi")
    if not wrapper.exists():
        pytest.skip("this MPI has no mpicc_abi")
    subprocess.run([wrapper, "-O1", ring.with_suffix(".c"), "-o", tmp_path / "abi"], check=True)
    profile = tmp_path / "p.json"
    result = opirun(mpi_user, "-n", "2", tmp_path / "abi", OPI_PROFILE=str(profile), OPI_RUNTIME_CFLAGS="-O0")
    assert result.code == 0, result.err
    assert messages(profile) == (2, 2, 0)
    refused = opirun(mpi_user, "-n", "2", tmp_path / "abi", OPI_MPICC=str(mpi_user.mpi.mpicc))
    assert refused.code == 2
    assert "libmpi_abi" in refused.err


SRUN = """#!/bin/sh
# What the documentation says of srun: --export sets variables for the ranks, and each rank gets SLURM_LOCALID.
case "$1" in --export=ALL,*) ;; *) echo "srun: $1?"; exit 2;; esac
ranks=$3 set=${1#--export=ALL,}
shift 3
exec @MPIEXEC@ "$ranks" env "$set" sh -c '
    export SLURM_PROCID=${PMI_RANK:-$OMPI_COMM_WORLD_RANK} SLURM_STEP_TASKS_PER_NODE=@TASKS@
    export SLURM_LOCALID=$(expr $SLURM_PROCID "*" @STRIDE@)
    unset MPI_LOCALRANKID MPI_LOCALNRANKS PMI_LOCAL_RANK PMI_LOCAL_SIZE
    unset OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE
    exec "$@"' sh "$@"
"""


@pytest.mark.mpi
@pytest.mark.parametrize("stride", [1, 70])
def test_srun_with_the_preload_that_opirun_prints(mpi_user: MpiUser, ring: Path, tmp_path: Path, stride: int) -> None:
    """The documented command, with an srun that sets what Slurm sets and nothing of the launcher's own. Ranks far apart
    agree about how the region of shared memory is divided."""
    launcher = shlex.join(mpi_user.mpi.run_command(1)).replace(" -n 1", "", 1) + " -n"
    script = SRUN.replace("@MPIEXEC@", launcher).replace("@STRIDE@", str(stride)).replace("@TASKS@", '"128(x2),3"')
    (tmp_path / "srun").write_text(script)
    (tmp_path / "srun").chmod(0o755)
    opirun_command = shlex.join([sys.executable, "-m", "opi_xform.launch.opirun"])
    profile = tmp_path / "p.json"
    shell = f"srun --export=ALL,LD_PRELOAD=$({opirun_command} --print-preload {ring}) -n 2 {ring} preloaded"
    done = subprocess.run(
        ["sh", "-c", shell],
        env={**mpi_user.environment, "PATH": f"{tmp_path}:{os.environ['PATH']}", "OPI_PROFILE": str(profile)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("/libopi.so") == 2
    assert messages(profile) == (2, 2, 0)


@pytest.mark.mpi
def test_a_program_with_libopi_inside_is_not_preloaded(mpi_user: MpiUser, ring: Path) -> None:
    mpi_user.opicc("-O1", ring.with_suffix(".c"), "-o", ring.with_name("linked"))
    result = opirun(mpi_user, "-n", "2", "--show", ring.with_name("linked"))
    assert "LD_PRELOAD" not in result.out
    assert opirun(mpi_user, "-n", "2", ring.with_name("linked")).code == 0
    refused = opirun(mpi_user, "-n", "2", "--shared-heap", ring.with_name("linked"))
    assert refused.code == 2
    assert "opicc --shared-heap" in refused.err


@pytest.mark.mpi
def test_another_mpi_than_the_programs_is_refused(
    mpi_user: MpiUser, ring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [mpi for mpi in MPIS if mpi.kind != mpi_user.mpi.kind]
    if not others:
        pytest.skip("one MPI only")
    monkeypatch.setenv("OPI_MPICC", str(others[0].mpicc))
    with pytest.raises(LaunchError, match="linked with"):
        mpi_of(inspect_executable(str(ring)))


@pytest.mark.mpi
def test_the_installed_library_exports_mpi_and_opi_only(mpi_user: MpiUser, ring: Path) -> None:
    library = opirun(mpi_user, "--print-preload", ring).out.strip()
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    assert names
    assert [name for name in names if not name.startswith(("MPI_", "MPIX_", "OPI_"))] == []


def test_where_the_program_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "app"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    hosts = tmp_path / "hosts"
    hosts.write_text("localhost\n")
    assert parse(["-n", "4", "./app", "-n", "--show"]) == Request(("-n", "4"), ("./app", "-n", "--show"))
    assert parse(["-f", "hosts", "--show", "app"]) == Request(("-f", "hosts"), ("app",), show=True)
    assert parse(["--shared-heap", "-n", "2", "--", "later"]) == Request(("-n", "2"), ("later",), shared_heap=True)
    assert parse(["-n", "2", "nothing"]) == Request(("-n", "2", "nothing"), ())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "4", "--threads", "true"], "--threads"),
        (["-n", "4", "--fibers", "true"], "--fibers"),
        (["-n", "4"], "no program"),
        (["-n", "4", "no_such_program"], "no_such_program: no such program"),
        (["-n", "4", "--", "no_such_program"], "no_such_program: no such program"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(arguments: list[str], message: str) -> None:
    command = [sys.executable, "-m", "opi_xform.launch.opirun", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("opirun: ")
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


@pytest.mark.mpi
def test_a_launcher_of_an_unknown_mpi_gets_the_variable_through_env(mpi_user: MpiUser) -> None:
    from dataclasses import replace

    unknown = replace(mpi_user.mpi, kind="mpi")
    command = command_line(unknown, Request(("-n", "2"), ("app", "x")), "/lib/libopi.so")
    assert command[1:] == ["-n", "2", "env", "LD_PRELOAD=/lib/libopi.so", "app", "x"]
