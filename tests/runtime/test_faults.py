"""Jobs that go wrong: a rank is killed in each phase, memory runs out, the system refuses what libopi asks for.

Each job runs twice, linked with libopi and with the MPI alone, in namespaces of their own where the kernel allows that
(tests/fault_runner.py): afterwards no process, no file and no System V object may be left that the MPI alone does not
leave, and the job has to be gone within two seconds of the time that the MPI alone takes.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, mpi_program, only_one
from fault_runner import NEVER_FAULTY

from opi_xform.launch.runtime import ensure_runtime

FAULTS = CHECKOUT / "runtime" / "tests" / "faults"
RUNNER = CHECKOUT / "tests" / "fault_runner.py"
GRACE_S = 2.0
"""What libopi may add to the time from a fault to the end of the job."""
ATTEMPTS = 3

pytestmark = pytest.mark.mpi


@functools.cache
def namespaces() -> bool:
    """Whether this user may have mount, process and IPC namespaces of their own."""
    if shutil.which("unshare") is None:
        return False
    script = "mount -t tmpfs tmpfs /dev/shm && ls /proc/1"
    command = ["unshare", "-rmpif", "--kill-child", "--mount-proc", "sh", "-c", script]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0
    except subprocess.TimeoutExpired:
        return False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended, and what was left of it."""

    codes: tuple[int, ...]
    """Of the job, and of the second one where there was one."""
    outputs: tuple[str, ...]
    gone_s: float
    """From the fault until the last process had ended."""
    processes: tuple[str, ...]
    files: frozenset[str]
    system_v: int


class NeverFaulty(AssertionError):
    """A job that waited for ever before its fault: it says nothing of what comes after one."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """Runs jobs of one MPI that are to fail."""

    user: MpiUser
    folder: Path
    """The programs, built with libopi under their names and with the MPI alone as NAME-plain."""
    scratch: Path

    def command(self, ranks: int, program: str, *arguments: str, under: tuple[str, ...] = ()) -> list[str]:
        """A job; `under` comes between the launcher and the program."""
        return [*self.user.mpi.run_command(ranks), *under, str(self.folder / program), *arguments]

    def start(
        self,
        name: str,
        command: list[str],
        *flags: str,
        also: list[str] | None = None,
        environment: dict[str, str] | None = None,
    ) -> tuple[subprocess.Popen[str], Path]:
        """Starts a job; `{stamp}` in the command stands for the file to which it writes the time of its fault."""
        scratch = self.scratch / name
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        job = [word.replace("{stamp}", str(scratch / "stamp")) for word in command]
        runner = [sys.executable, str(RUNNER), str(scratch), *flags]
        if namespaces():
            visible = (CHECKOUT, sys.prefix, self.user.mpi.mpicc.parent.parent, self.folder)
            runner += ["--namespace", *(word for path in visible for word in ("--visible", str(path)))]
            runner = ["unshare", "-rmpif", "--kill-child", "--mount-proc", *runner]
        process = subprocess.Popen(
            [*runner, "--", *job, *(["--and", *also] if also else [])],
            env={**self.user.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return process, scratch

    def ended(self, started: tuple[subprocess.Popen[str], Path]) -> Ended:
        """Waits for a job."""
        process, _ = started
        try:
            out, err = process.communicate(timeout=150)
        finally:
            process.kill()
        if process.returncode == NEVER_FAULTY:
            raise NeverFaulty(err)
        assert process.returncode == 0, f"the job did not end:\n{err}"
        told = json.loads(out)
        return Ended(
            tuple(told["codes"]),
            tuple(told["outputs"]),
            told["gone_s"],
            tuple(told["processes"]),
            frozenset(told["files"]),
            told["system_v"],
        )

    def drop(self, all_of: list[tuple[subprocess.Popen[str], Path]]) -> None:
        """Kills what still runs."""
        for process, _ in all_of:
            process.kill()
            process.wait()

    def run(self, name: str, command: list[str], *flags: str, **more: object) -> Ended:
        """Runs one job to its end."""
        return self.ended(self.start(name, command, *flags, **more))  # type: ignore[arg-type]


@pytest.fixture
def jobs(mpi_user: MpiUser, shared_tmp: Path, tmp_path: Path) -> Jobs:
    """The programs of faults, built by the first worker that asks."""
    folder = shared_tmp / f"faults-{mpi_user.mpi.kind}"
    wrap = ("-Wl,--wrap=PMPI_Allgather", "-Wl,--wrap=PMPI_Allreduce")
    flags = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")
    with only_one(folder.with_suffix(".lock")):
        if not (folder / "ready").exists():
            folder.mkdir(exist_ok=True)
            mpi_user.opicc(*flags, *wrap, FAULTS / "fault.c", "-o", folder / "fault")
            mpi_user.opicc("--shared-heap", *flags, *wrap, FAULTS / "fault.c", "-o", folder / "fault-heap")
            mpi_user.mpicc(*flags, *wrap, FAULTS / "fault.c", "-o", folder / "fault-plain")
            mpi_user.opicc(*flags, FAULTS / "exhaust.c", "-o", folder / "exhaust")
            mpi_user.opicc(*flags, mpi_program("exchange.c"), "-o", folder / "exchange")
            mpi_user.opicc(*flags, mpi_program("plain.c"), "-o", folder / "plain")
            mpi_user.mpicc(*flags, FAULTS / "deny.c", "-o", folder / "deny")
            (folder / "ready").touch()
    return Jobs(mpi_user, folder, tmp_path)


def nothing_left(ended: Ended) -> None:
    assert ended.processes == ()
    assert ended.system_v == 0
    assert ours(ended) == []


def ours(ended: Ended) -> list[str]:
    """Files that bear libopi's name. Those of the MPIs do not."""
    return [file for file in ended.files if "opi" in file.lower() and "openmpi" not in file.lower()]


def differences(opi: Ended, alone: Ended) -> list[str]:
    """What libopi left, or took longer for, than the MPI alone."""
    found = [f"process {name} is left" for name in opi.processes]
    found += [f"{file} is left" for file in sorted(opi.files - alone.files)]
    if opi.system_v > alone.system_v:
        found.append(f"{opi.system_v} System V objects are left, {alone.system_v} by the MPI alone")
    if opi.gone_s > alone.gone_s + GRACE_S:
        found.append(f"gone after {opi.gone_s:.2f} s, the MPI alone after {alone.gone_s:.2f} s")
    return found


def as_the_mpi_alone(
    jobs: Jobs, how: str, *flags: str, ranks: int = 3, under: tuple[str, ...] = (), program: str = "fault"
) -> Ended:
    """The fault with libopi has to look like the fault without. Returns how the job with libopi ended.

    What an MPI leaves behind varies from run to run, and other work may delay a job: only what is so every time counts.
    """
    arguments = (how, "{stamp}")
    told: list[str] = []
    for _ in range(ATTEMPTS):
        both = [
            jobs.start("alone", jobs.command(ranks, "fault-plain", *arguments, under=under), *flags),
            jobs.start("opi", jobs.command(ranks, program, *arguments, under=under), *flags),
        ]
        try:
            alone, opi = (jobs.ended(job) for job in both)
        except NeverFaulty as error:
            jobs.drop(both)
            told.append(str(error))
            warnings.warn(f"{how}: {error}", stacklevel=2)
            continue
        assert ours(opi) == []
        found = differences(opi, alone)
        if not found:
            return opi
        told += found
    pytest.fail(f"{how}: {told}")


@pytest.mark.parametrize(
    ("fault", "code", "when"),
    [("", NEVER_FAULTY, "before"), ("echo 1 > stamp;", 1, "after")],
)
def test_a_job_that_does_not_end_says_where_it_waits(tmp_path: Path, fault: str, code: int, when: str) -> None:
    script = f"cd {tmp_path}; {fault} while :; do sleep 0.1; done"
    command = [sys.executable, str(RUNNER), str(tmp_path), "--limit", "1", "--", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert f"not ended after 1 s, {when} its fault" in done.stderr
    assert "sh " in done.stderr


def test_libopi_makes_nothing_that_has_a_name(jobs: Jobs) -> None:
    """Whatever kills a job, nothing can be left of what does not outlive its processes."""
    archive = next(iter(ensure_runtime(jobs.user.mpi).archive.parent.glob("libopi.so")))
    done = subprocess.run(["nm", "-D", "--undefined-only", archive], capture_output=True, text=True, check=True)
    used = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    assert "memfd_create" in used
    assert (
        used & {"shm_open", "shmget", "semget", "msgget", "sem_open", "mq_open", "mkfifo", "mkstemp", "tmpfile"}
        == set()
    )


KILLED = (
    "before-init",
    "init2",
    "init3",
    "recv",
    "any",
    "ssend",
    "copy-receiver",
    "copy-sender",
    "kernel-receiver",
    "kernel-sender",
    "collective",
    "finalize",
)


VARIANTS = ("init2", "any", "ssend", "kernel-sender", "exit-code", "exit-all", "segv")
"""Close to others: these run under the first MPI only, whose launcher is the quicker one."""


def first_mpi_only(jobs: Jobs) -> None:
    if jobs.user.mpi != MPIS[0]:
        pytest.skip("runs under the first MPI")


@pytest.mark.parametrize("how", KILLED)
def test_a_killed_rank_takes_the_job_down(jobs: Jobs, how: str) -> None:
    """kill -9 of rank 1, in the phase that the name says (runtime/tests/faults/fault.c)."""
    if how in VARIANTS:
        first_mpi_only(jobs)
    assert as_the_mpi_alone(jobs, how).codes[0] != 0


@pytest.mark.parametrize("how", ["kernel-receiver", "kernel-sender"])
def test_a_rank_with_the_shared_heap_is_killed(jobs: Jobs, how: str) -> None:
    """What malloc returned is shared memory then, and copied by both sides."""
    if how in VARIANTS:
        first_mpi_only(jobs)
    assert as_the_mpi_alone(jobs, how, program="fault-heap").codes[0] != 0


def test_abort_ends_the_job_with_its_code(jobs: Jobs) -> None:
    assert as_the_mpi_alone(jobs, "abort").codes == (3,)


@pytest.mark.parametrize("how", ["exit", "exit-code", "exit-all", "segv"])
def test_a_rank_that_leaves_without_finalize_takes_the_job_down(jobs: Jobs, how: str) -> None:
    """The exit code is the launcher's affair: MPICH's depends on which rank it hears of first."""
    if how in VARIANTS:
        first_mpi_only(jobs)
    ended = as_the_mpi_alone(jobs, how)
    assert how in ("exit", "exit-all") or ended.codes[0] != 0


def test_the_launcher_is_killed(jobs: Jobs) -> None:
    as_the_mpi_alone(jobs, "launcher", "--kill-launcher")


def test_a_killed_rank_among_eight_on_two_processors(jobs: Jobs) -> None:
    assert as_the_mpi_alone(jobs, "recv", ranks=8, under=("taskset", "-c", two_processors())).codes[0] != 0


def two_processors() -> str:
    return ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))


def test_eight_ranks_on_two_processors(jobs: Jobs) -> None:
    ended = jobs.run("opi", jobs.command(8, "plain", under=("taskset", "-c", two_processors())))
    assert ended.codes == (0,)
    assert "plain: ok, 0 failures" in ended.outputs[0]
    nothing_left(ended)


def test_a_fault_in_one_job_is_none_of_the_others(jobs: Jobs) -> None:
    """Two jobs at once, in the same namespaces: one loses a rank in the middle of a copy."""
    fault = jobs.command(3, "fault", "copy-receiver", "{stamp}")
    ended = jobs.run("opi", fault, also=jobs.command(2, "exchange"))
    assert ended.codes[0] != 0
    assert ended.codes[1] == 0, ended.outputs[1]
    assert "exchange: ok, 0 failures" in ended.outputs[1]
    assert ended.processes == ()
    assert ours(ended) == []


# ---- memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel_copy", ["1", "0", "denied"])
def test_a_full_heap_is_an_error_that_can_be_handled(jobs: Jobs, kernel_copy: str) -> None:
    """OPI_Alloc and a take say MPI_ERR_NO_MEM; messages go on, whatever their size; what is freed can be had again."""
    environment = {"OPI_HEAP_LIMIT": "8m", "OPI_KERNEL_COPY": kernel_copy}
    under: tuple[str, ...] = ()
    if kernel_copy == "denied":
        environment = {"OPI_HEAP_LIMIT": "8m"}
        under = (str(jobs.folder / "deny"), "process_vm_readv,process_vm_writev")
    ended = jobs.run("opi", jobs.command(2, "exhaust", under=under), environment=environment)
    assert "exhaust: ok, 0 failures" in ended.outputs[0]
    assert ended.codes == (0,)
    nothing_left(ended)


def test_a_full_heap_with_the_check(jobs: Jobs) -> None:
    """What OPI_CHECK keeps aside is handed out before memory is said to be exhausted."""
    ended = jobs.run("opi", jobs.command(2, "exhaust"), environment={"OPI_HEAP_LIMIT": "24m", "OPI_CHECK": "1"})
    assert ended.outputs[0].count("libopi:") == 0
    assert "exhaust: ok, 0 failures" in ended.outputs[0]


def test_a_full_heap_under_the_default_handler_ends_the_job(jobs: Jobs) -> None:
    ended = jobs.run("opi", jobs.command(2, "exhaust", "fatal"), environment={"OPI_HEAP_LIMIT": "8m"})
    assert ended.codes[0] != 0
    assert "libopi: rank 1: OPI_Alloc: MPI_ERR_NO_MEM: no memory for" in ended.outputs[0]
    nothing_left(ended)


@pytest.mark.parametrize("limit", ["-v 4000000", "-f 8000000"], ids=["address-space", "file-size"])
def test_a_limit_that_forbids_the_shared_heap_leaves_the_messages_to_the_mpi(jobs: Jobs, limit: str) -> None:
    """One warning a node, and every call works."""
    shell = ("sh", "-c", f'ulimit {limit} && exec "$@"', "sh")
    ended = jobs.run("opi", jobs.command(2, "exchange", under=shell))
    assert "exchange: ok, 0 failures" in ended.outputs[0]
    assert ended.outputs[0].count("cannot share a heap") == 1
    nothing_left(ended)


# ---- refusals --------------------------------------------------------------------------------------------------------


def test_dev_shm_of_64_kib(jobs: Jobs) -> None:
    """libopi needs nothing of /dev/shm: where the MPI alone runs in one of 64 KiB, it does too."""
    if not namespaces():
        pytest.skip("no mount namespaces here: /dev/shm cannot be made small")
    alone = jobs.run("alone", jobs.command(2, "fault-plain", "none", "{stamp}"), "--tiny-shm")
    opi = jobs.run("opi", jobs.command(2, "exchange"), "--tiny-shm")
    nothing_left(opi)
    if alone.codes != (0,):
        assert opi.codes[0] != 0
        pytest.skip("the MPI alone does not start there: " + " ".join(alone.outputs[0].split())[:300])
    assert "exchange: ok, 0 failures" in opi.outputs[0], opi.outputs[0]


REFUSED = {
    "process_vm_readv,process_vm_writev": "",
    "memfd_create": "cannot share a heap",
    "fallocate": "cannot share a heap",
    "membarrier": "",
}


@pytest.mark.parametrize("only", ["all", "1"])
@pytest.mark.parametrize("calls", REFUSED)
def test_system_calls_are_refused(jobs: Jobs, calls: str, only: str) -> None:
    """By a filter on all ranks, or on rank 1 only: messages go another way."""
    if (calls, only) not in (("memfd_create", "1"), ("process_vm_readv,process_vm_writev", "all")):
        first_mpi_only(jobs)
    under = (*(() if only == "all" else ("env", f"DENY_RANK={only}")), str(jobs.folder / "deny"), calls)
    program = "exchange" if only == "all" else "plain"
    ended = jobs.run("opi", jobs.command(2, program, under=under))
    assert f"{program}: ok, 0 failures" in ended.outputs[0], ended.outputs[0]
    assert REFUSED[calls] in ended.outputs[0]
    nothing_left(ended)


@pytest.mark.parametrize("how", ["kernel-receiver", "kernel-sender"])
def test_a_rank_is_killed_where_the_kernel_may_not_copy(jobs: Jobs, how: str) -> None:
    if how in VARIANTS:
        first_mpi_only(jobs)
    under = (str(jobs.folder / "deny"), "process_vm_readv,process_vm_writev")
    assert as_the_mpi_alone(jobs, how, under=under).codes[0] != 0
