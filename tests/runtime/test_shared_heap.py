"""The replacement allocator: against the C library's by random traces, around fork and the ends of MPI, and under
programs that know nothing of it. The programs are in runtime/tests/malloc."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, Run, mpi_program, only_one
from test_faults import RUNNER, namespaces

from opi_xform.launch.runtime import include_flags, malloc_sources

PROGRAMS = CHECKOUT / "runtime" / "tests" / "malloc"
FLAGS = ("-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-fno-builtin")
ALONE = {"MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "1"}
"""What tells a process started without a launcher its place."""

MORE_MEMORY, KEPT_KIB = 1.25, 32 << 10
"""How far the peak of memory may lie above the C library's: by this factor and the free memory that is kept."""

pytestmark = pytest.mark.mpi

EXCHANGE = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 10; k++) {
        int n = 1 << 20;
        char *out = malloc(n), *in = malloc(n);
        MPI_Request r;
        memset(out, rank + k, n);
        MPI_Isend(out, n, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &r);
        MPI_Recv(in, n, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            bad |= in[i] != (char)(1 - rank + k);
        free(out);
        free(in);
    }
    MPI_Finalize();
    return bad;
}
"""


@dataclass(frozen=True, slots=True)
class Built:
    """Programs of one MPI: NAME-linked by `opicc --shared-heap`, NAME by the MPI's own compiler."""

    user: MpiUser
    folder: Path

    def opirun(self, ranks: int, *command: str | Path, **environment: str) -> Run:
        """`opirun --shared-heap -n RANKS COMMAND`."""
        crowd = ("--oversubscribe",) if self.user.mpi.kind == "openmpi" else ()
        words = [sys.executable, "-m", "opi_xform.launch.opirun", "--shared-heap", *crowd, "-n", str(ranks), *command]
        return captured([str(word) for word in words], {**self.user.environment, **environment})

    def preload(self) -> str:
        """LD_PRELOAD for allocator and libopi."""
        words = [sys.executable, "-m", "opi_xform.launch.opirun", "--shared-heap", "--print-preload"]
        return captured(words, self.user.environment).out.strip()

    def allocator(self) -> str:
        """LD_PRELOAD for the allocator alone."""
        return self.preload().split(":")[0]


def captured(command: list[str], environment: dict[str, str]) -> Run:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL
    )
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def built(mpi_user: MpiUser, shared_tmp: Path) -> Built:
    """The programs, built by the first worker that asks."""
    folder = shared_tmp / f"malloc-{mpi_user.mpi.kind}"
    with only_one(folder.with_suffix(".lock")):
        if not (folder / "ready").exists():
            folder.mkdir(exist_ok=True)
            (folder / "exchange.c").write_text(EXCHANGE)
            mpi_user.mpicc(*FLAGS, PROGRAMS / "replay.c", "-o", folder / "replay")
            mpi_user.mpicc(*FLAGS, *include_flags(), PROGRAMS / "full.c", *SOURCES, "-o", folder / "full")
            mpi_user.mpicc(*FLAGS, folder / "exchange.c", "-o", folder / "exchange")
            for name, source in (("life", PROGRAMS / "life.c"), ("exchange", folder / "exchange.c")):
                mpi_user.opicc("--shared-heap", *FLAGS, source, "-o", folder / f"{name}-linked")
            mpi_user.opicc("--shared-heap", *FLAGS, PROGRAMS / "replay.c", "-o", folder / "replay-linked")
            (folder / "ready").touch()
    return Built(mpi_user, folder)


def first_mpi_only(built: Built) -> None:
    """The allocator knows no MPI: what starts none need not be seen twice."""
    if built.user.mpi != MPIS[0]:
        pytest.skip("runs under the first MPI")


SOURCES = malloc_sources()


def peak(run: Run) -> int:
    assert run.code == 0, run.err
    found = re.match(r"peak (\d+) KiB", run.out)
    assert found, run.out
    return int(found[1])


@pytest.mark.parametrize(("seed", "threads"), [(1, 1), (2, 4), (3, 16)])
def test_a_random_trace_against_the_c_library(built: Built, seed: int, threads: int) -> None:
    """The same trace on both: contents, alignment, usable sizes, realloc, calloc, errno; and the peak of memory."""
    first_mpi_only(built)
    environment = {**built.user.environment, **ALONE}
    trace = [str(built.folder / "replay"), str(seed), "12000", str(threads)]
    theirs = captured(trace, environment)
    ours = captured([*trace, "shared"], {**environment, "LD_PRELOAD": built.allocator()})
    assert peak(ours) <= MORE_MEMORY * peak(theirs) + KEPT_KIB


def test_a_random_trace_with_the_allocator_linked_in(built: Built) -> None:
    first_mpi_only(built)
    trace = [str(built.folder / "replay-linked"), "4", "8000", "4", "shared"]
    peak(captured(trace, {**built.user.environment, **ALONE}))


def test_the_window_is_full(built: Built) -> None:
    first_mpi_only(built)
    run = captured([str(built.folder / "full")], {**built.user.environment, **ALONE, "MPI_LOCALNRANKS": "16"})
    assert (run.code, run.out) == (0, "full: ok\n"), run.err


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_program_around_mpi_and_fork(built: Built, ranks: int) -> None:
    """malloc before MPI_Init, free after MPI_Finalize; fork with and without exec, threads running; system, popen."""
    run = built.user.run(ranks, built.folder / "life-linked", check=False)
    assert (run.code, run.out) == (0, "life: ok, 0 failures\n"), run.err


@pytest.mark.parametrize("setting", ["OPI_HEAP=private", "OPI_DISABLE=1", "limit", "OPI_HEAP_LIMIT=8m"])
def test_where_there_is_no_shared_heap_malloc_is_the_c_librarys(built: Built, setting: str) -> None:
    program = [str(built.folder / "life-linked"), "private"]
    if setting == "limit":  # no room for the window's addresses
        program = ["sh", "-c", f"ulimit -v 12000000; exec {built.folder / 'life-linked'} private"]
    name, _, value = setting.partition("=")
    command = built.user.command(2, Path(program[0]), *program[1:])
    run = captured(command, {**built.user.environment, **({name: value} if value else {})})
    assert run.code == 0, run.err
    assert "life: ok, 0 failures" in run.out


@pytest.mark.parametrize("way", ["opicc", "opirun", "LD_PRELOAD"])
def test_messages_between_plain_buffers_are_copied_once(built: Built, tmp_path: Path, way: str) -> None:
    """An unmodified program's messages travel by reference: none through the kernel, none in two copies."""
    profile = tmp_path / "profile.json"
    if way == "opicc":
        run = built.user.run(2, built.folder / "exchange-linked", check=False, OPI_PROFILE=str(profile))
    elif way == "opirun":
        run = built.opirun(2, built.folder / "exchange", OPI_PROFILE=str(profile))
    else:
        program = ("env", f"LD_PRELOAD={built.preload()}", str(built.folder / "exchange"))
        run = built.user.run(2, Path(program[0]), *program[1:], check=False, OPI_PROFILE=str(profile))
    assert run.code == 0, run.err
    told = json.loads(profile.read_text())
    assert told["on_node"]["all"]["messages"] == 20
    assert told["on_node"]["reference"] == told["on_node"]["all"]
    assert told["left_to_mpi"]["all"]["messages"] == 0


@pytest.mark.parametrize(
    ("program", "arguments"), [("combos", ()), ("torture", ("150",)), ("types", ()), ("threads", ())]
)
def test_messages_of_every_kind_between_plain_buffers(
    built: Built, program: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    """The programs of test_runtime_mpi.py, all of whose buffers are reachable now."""
    built.user.opicc("--shared-heap", *FLAGS, mpi_program(f"{program}.c"), "-o", tmp_path / program)
    run = built.user.run(2, tmp_path / program, *arguments, check=False)
    assert run.code == 0, run.err
    assert f"{program}: ok, 0 failures" in run.out


CXX = r"""
#include <cstdint>
#include <cstdio>
#include <map>
#include <new>
#include <string>
#include <vector>

struct alignas(512) Wide { char bytes[3000]; };

int main()
{
    std::vector<double> grown;
    std::map<int, std::string> names;
    for (int i = 0; i < 200000; i++)
        grown.push_back(i);
    for (int i = 0; i < 2000; i++)
        names[i] = std::string(static_cast<std::size_t>(i), 'x');
    Wide *wide = new Wide[10];
    bool refused = false;
    try {
        volatile std::size_t huge = SIZE_MAX / 4;
        char *volatile all = new char[huge]; // volatile: a compiler may leave the pair out
        delete[] all;
    } catch (const std::bad_alloc &) {
        refused = true;
    }
    bool good = refused && grown[199999] == 199999 && names[1999].size() == 1999 && (std::uintptr_t)wide % 512 == 0;
    const std::uintptr_t region = 0x7e8000000000 >> 38;
    bool shared = (std::uintptr_t)grown.data() >> 38 == region && (std::uintptr_t)wide >> 38 == region;
    delete[] wide;
    std::puts(good && shared ? "ok" : "wrong");
}
"""


def test_new_and_delete(built: Built, tmp_path: Path) -> None:
    first_mpi_only(built)
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if not compiler:
        pytest.skip("no C++ compiler")
    (tmp_path / "new.cpp").write_text(CXX)
    made = captured(
        [compiler, "-std=c++17", "-O1", str(tmp_path / "new.cpp"), "-o", str(tmp_path / "new")], dict(os.environ)
    )
    assert made.code == 0, made.err
    run = captured([str(tmp_path / "new")], {**built.user.environment, **ALONE, "LD_PRELOAD": built.allocator()})
    assert (run.code, run.out) == (0, "ok\n"), run.err


def test_dev_shm_of_64_kib(built: Built, tmp_path: Path) -> None:
    """The heap needs nothing of /dev/shm and leaves nothing, named or running: without an MPI that needs some itself,
    and under one where that runs in so little."""
    if not namespaces():
        pytest.skip("no mount namespaces here: /dev/shm cannot be made small")
    visible = (CHECKOUT, Path(sys.prefix), built.user.mpi.mpicc.parent.parent, built.folder)
    runner = ["unshare", "-rmpif", "--kill-child", "--mount-proc", sys.executable, str(RUNNER), str(tmp_path)]
    runner += ["--namespace", "--tiny-shm", *(word for path in visible for word in ("--visible", str(path))), "--"]
    trace = [str(built.folder / "replay-linked"), "5", "4000", "2", "shared"]
    job = built.user.command(2, built.folder / "exchange-linked")
    plain = json.loads(
        captured([*runner, *built.user.command(2, built.folder / "exchange")], built.user.environment).out
    )
    for command in (trace, *([job] if plain["codes"] == [0] else [])):
        run = captured([*runner, *command], {**built.user.environment, **(ALONE if command is trace else {})})
        assert run.code == 0, run.err
        ended = json.loads(run.out)
        assert ended["codes"] == [0], ended
        assert ended["processes"] == []
        assert [file for file in ended["files"] if "opi" in file.lower() and "openmpi" not in file.lower()] == []


PYTHON = """
import os, subprocess, sys, threading
kept = [bytearray(i * 37) for i in range(3000)]
child = os.fork()
if child == 0:
    kept[1000][5] = 1
    os._exit(len([bytearray(i * 31) for i in range(2000)]) != 2000)
assert os.waitpid(child, 0)[1] == 0 and kept[1000][5] == 0
assert subprocess.run(["echo", "x"], capture_output=True, check=True).stdout == b"x\\n"
assert subprocess.run(["true"], preexec_fn=lambda: bytearray(100000), check=True).returncode == 0
workers = [threading.Thread(target=lambda: [bytearray(i * 50) for i in range(2000)]) for _ in range(4)]
[w.start() for w in workers], [w.join() for w in workers]
text = bytearray()
for i in range(5000):
    text.extend(b"y" * 1000)
assert len(text) == 5000000 and set(text) == {ord("y")}
print("heap" if "opi-heap" in open("/proc/self/maps").read() else "no heap", flush=True)
"""


def test_python_runs_under_it(built: Built) -> None:
    run = built.opirun(2, sys.executable, "-c", PYTHON)
    assert (run.code, run.out.replace("\n", "")) == (0, "heapheap"), run.err  # launchers mix lines


def test_sort_and_the_compiler_run_under_it(built: Built, tmp_path: Path) -> None:
    """Real programs, with children of their own, give what they give without."""
    first_mpi_only(built)
    text = tmp_path / "text"
    text.write_text("".join(f"{i * 2654435761 % 1000003:07} {i}\n" for i in range(150000)))
    under = {**built.user.environment, **ALONE, "LD_PRELOAD": built.allocator()}
    results = []
    for environment in (built.user.environment, under):
        sort = captured(["sort", "--parallel=4", "-S", "8M", str(text)], {**environment, "LC_ALL": "C"})
        assert sort.code == 0, sort.err
        compiler = os.environ.get("CC", "cc")
        if shutil.which(compiler):
            made = captured([compiler, "-O2", *include_flags(), "-S", "-o", "-", str(SOURCES[0])], environment)
            assert made.code == 0, made.err
            sort = Run(0, sort.out + made.out, "")
        results.append(sort.out)
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("char *p = malloc(3000); free(p + 128);", "no pointer that malloc returned"),
        ("char *p = malloc(100000); free(p + 16);", "no pointer that malloc returned"),
        ("char *p = malloc(100000); free(p); free(p);", "freed before"),
        ("char *p = malloc(3000); for (int i = 0; i < 100; i++) free(p);", "freed twice"),
    ],
)
def test_misuse_ends_the_program(built: Built, tmp_path: Path, statement: str, message: str) -> None:
    first_mpi_only(built)
    source = tmp_path / "misuse.c"
    source.write_text(f"#include <stdlib.h>\nint main(void) {{ {statement} return 0; }}\n")
    built.user.mpicc("-w", "-O0", source, "-o", tmp_path / "misuse")
    run = captured([str(tmp_path / "misuse")], {**built.user.environment, **ALONE, "LD_PRELOAD": built.allocator()})
    assert run.code == -6, run
    assert message in run.err
