"""libopi and libopi_ranks built with the sanitizers: unit tests, threads, random traffic, ranks run without a report.

The MPI itself is not instrumented, so that leaks are not judged, and UCX must not patch the memory calls that
ThreadSanitizer has patched already (MPICH's own MPI_Finalize crashes otherwise).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, only_one

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

RUNTIME = CHECKOUT / "runtime"
QUIET = {
    "ASAN_OPTIONS": "detect_leaks=0",
    "UBSAN_OPTIONS": "print_stacktrace=1,halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1",
    "UCX_MEM_MMAP_HOOK_MODE": "none",
    "UCX_MEM_EVENTS": "no",
    "UCX_ERROR_SIGNALS": "",
}
UNIT = ("ask", "copy", "heap", "match", "pool")
WINDOWS = ("windows", "span", "ask", "left")
RANKS = ("inbox", "messages", "p2p", "streams", "unslowed", "colls", "comms")
MPICH = [mpi for mpi in MPIS if mpi.kind == "mpich"]


def works(mpicc: Path, sanitizer: str, folder: Path) -> bool:
    """Does this compiler have the sanitizer, and does a program run with it here?"""
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    command = [str(mpicc), f"-fsanitize={sanitizer}", str(source), "-o", str(folder / "empty")]
    return (
        subprocess.run(command, capture_output=True, check=False).returncode == 0
        and subprocess.run([str(folder / "empty")], capture_output=True, check=False).returncode == 0
    )


def make(variables: list[str], targets: list[str]) -> None:
    command = ["make", "-j2", "-C", str(RUNTIME), *variables, *targets]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="session", params=["address,undefined", "thread"])
def sanitized(request: pytest.FixtureRequest, shared_tmp: Path) -> Path:
    """A folder with libopi, its unit and engine tests and the traffic test, built with one sanitizer."""
    sanitizer = request.param
    if not MPICH:
        pytest.skip("needs MPICH: Open MPI itself has reports")
    mpicc = MPICH[0].mpicc
    folder = shared_tmp / f"sanitized-{sanitizer.split(',')[0]}"
    with only_one(shared_tmp / f"{folder.name}.lock"):
        folder.mkdir(exist_ok=True)
        if not works(mpicc, sanitizer, folder):
            pytest.skip(f"no -fsanitize={sanitizer} here")
        if not (folder / "traffic").exists():
            targets = [f"{folder}/unit/{name}" for name in UNIT] + [f"{folder}/engine/threads"]
            level = "-O1" if sanitizer == "thread" else "-O0"  # what takes the least time, building and running
            variables = [f"MPICC={mpicc}", f"BUILD={folder}", f"SANITIZE={sanitizer}", f"OPT={level}"]
            make(variables, targets)
            flags = ["-std=c11", level, "-g", f"-fsanitize={sanitizer}", "-pthread", f"-I{RUNTIME / 'include'}"]
            for name in (*(f"onesided/{name}" for name in WINDOWS), "mpi/progress/guests", "mpi/random/traffic"):
                source, library = RUNTIME / "tests" / f"{name}.c", folder / "libopi.a"
                command = [str(mpicc), *flags, str(source), str(library), "-o", str(folder / source.stem)]
                subprocess.run(command, check=True, timeout=300)
    return folder


@pytest.mark.parametrize("name", UNIT)
def test_unit_tests_have_no_report(sanitized: Path, name: str) -> None:
    command = [str(sanitized / "unit" / name)]
    told = {**os.environ, **QUIET}
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"{name}: ok" in done.stdout + done.stderr


@pytest.mark.parametrize("nodes", [0, 2])
def test_traffic_has_no_report(sanitized: Path, opi_cache: Path, nodes: int) -> None:
    user = MpiUser(MPICH[0], opi_cache)
    more = {"OPI_NODE_RANKS": str(nodes), "TRAFFIC_CAREFUL": "1"} if nodes else {}
    result = user.run(3, sanitized / "traffic", "6", "1", **QUIET, **more)
    assert "traffic: ok, 0 failures" in result.out
    assert "Sanitizer" not in result.err
    assert "runtime error" not in result.err


def test_windows_have_no_report(sanitized: Path, opi_cache: Path) -> None:
    result = MpiUser(MPICH[0], opi_cache).run(2, sanitized / "windows", **QUIET)
    assert "windows: ok, 0 failures" in result.out
    assert "Sanitizer" not in result.err
    assert "runtime error" not in result.err


def test_copies_by_a_target_that_waits_have_no_report(sanitized: Path, opi_cache: Path) -> None:
    result = MpiUser(MPICH[0], opi_cache).run(2, sanitized / "ask", "200", **QUIET)
    assert "ask: ok, 0 failures" in result.out
    assert "Sanitizer" not in result.err
    assert "runtime error" not in result.err


def test_puts_that_are_left_to_their_target_have_no_report(sanitized: Path, opi_cache: Path) -> None:
    result = MpiUser(MPICH[0], opi_cache).run(2, sanitized / "left", **QUIET)
    assert "left: ok, 0 failures" in result.out
    assert "Sanitizer" not in result.err
    assert "runtime error" not in result.err


def test_windows_on_several_nodes_have_no_report(sanitized: Path, opi_cache: Path) -> None:
    result = MpiUser(MPICH[0], opi_cache).run(3, sanitized / "span", "2", **QUIET, OPI_NODE_RANKS="2")
    assert "span: ok, 0 failures" in result.out
    assert "Sanitizer" not in result.err
    assert "runtime error" not in result.err


def test_threads_have_no_report(sanitized: Path, opi_cache: Path) -> None:
    result = MpiUser(MPICH[0], opi_cache).run(2, sanitized / "engine" / "threads", **QUIET)
    assert "ok" in result.out.split()
    assert "Sanitizer" not in result.err


def test_threads_that_only_allocate_have_no_report(sanitized: Path, opi_cache: Path) -> None:
    result = MpiUser(MPICH[0], opi_cache).run(2, sanitized / "guests", **QUIET, GUESTS_FEW="1")
    assert "guests: ok, 0 failures" in result.out
    assert "Sanitizer" not in result.err


@pytest.fixture(scope="session")
def sanitized_ranks(sanitized: Path, shared_tmp: Path) -> Path:
    """In the same folder: libopi_ranks and its programs."""
    sanitizer = "thread" if sanitized.name.endswith("thread") else "address,undefined"
    with only_one(shared_tmp / f"{sanitized.name}.lock"):
        level = "-O1" if sanitizer == "thread" else "-O0"
        variables = [f"MPICC={MPICH[0].mpicc}", f"BUILD={sanitized}", f"SANITIZE={sanitizer}", f"OPT={level}"]
        make([*variables, f"PYTHON={sys.executable}"], [f"{sanitized}/ranks/test-{name}" for name in RANKS])
        target = sanitized / "ranks" / "divided"
        if not target.exists():
            source = RUNTIME / "tests" / "onesided" / "divided.c"
            whole = ("-Wl,--whole-archive", str(sanitized / "libopi_ranks.a"), "-Wl,--no-whole-archive")
            linked = [f"-Wl,@{sanitized}/ranks/libopi_ranks.link", *whole, "-o", str(target)]
            flags = ["-std=c11", level, "-g", f"-fsanitize={sanitizer}", "-pthread", f"-I{RUNTIME / 'include'}"]
            subprocess.run([str(MPICH[0].mpicc), *flags, str(source), *linked], check=True, timeout=300)
    return sanitized / "ranks"


@pytest.mark.parametrize("name", RANKS)
def test_thread_ranks_have_no_report(sanitized_ranks: Path, name: str) -> None:
    """Fibers are left out: the sanitizers do not know of stacks that change in ways of our own."""
    told = {**os.environ, **QUIET, "OPI_RANKS": "3", "OPI_RANKS_CARRIER": "threads"}
    command = [str(sanitized_ranks / f"test-{name}")]
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Sanitizer" not in done.stderr
    assert "runtime error" not in done.stderr


@pytest.mark.parametrize("watched", ["0", "1"])
@pytest.mark.parametrize("split", ["3", "2,1"])
def test_windows_of_thread_ranks_have_no_report(
    sanitized_ranks: Path, opi_cache: Path, split: str, watched: str
) -> None:
    """In one process ThreadSanitizer judges the numbers in the seats; in two it is told what the other passes on."""
    told = {"OPI_RANKS_PER_PROCESS": split, "OPI_RANKS_CARRIER": "threads"}
    told |= {"OPI_CHECK": watched, "OPI_PROFILE": watched}
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"):  # no memory is an answer that the program asks for
        told[name] = f"{QUIET[name]},allocator_may_return_null=1"
    result = MpiUser(MPICH[0], opi_cache).run(len(split.split(",")), sanitized_ranks / "divided", **{**QUIET, **told})
    assert "divided: ok, 0 failures" in result.out
    assert ("profile of 3 ranks" in result.err) == (watched == "1")
    assert "Sanitizer:" not in result.err  # a report; that memory was refused is told without the colon
    assert "runtime error" not in result.err
