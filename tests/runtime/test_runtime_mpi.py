"""libopi from the outside: the programs in runtime/tests/mpi, built by opicc, under each MPI and on pretended nodes.

Each program checks its part of the contract (opi.h; MPI's own semantics) and prints one line `NAME: ok, 0 failures`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import MPI_PROGRAMS, MpiUser, Run, mpi_program, only_one

from opi_xform.bindings.table import read_table

WARNINGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")

pytestmark = pytest.mark.mpi


@dataclass(frozen=True, slots=True)
class Case:
    """One run: ranks, ranks per pretended node (0: the machine is one node), arguments."""

    program: str
    ranks: int
    node_ranks: int = 0
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        nodes = f"-nodes-of-{self.node_ranks}" if self.node_ranks else ""
        settings = "".join(f"-{name}={value}" for name, value in self.environment)
        return f"{self.program}-{self.ranks}{nodes}{settings}"


MOVED = (("OPI_INLINE_LIMIT", "0"), ("OPI_EAGER_LIMIT", "256"), ("OPI_PIPE_MIN", "2k"), ("OPI_BUFFER_CAP", "64k"))
"""Thresholds so low that ordinary messages take the ways of large ones, and few may wait unmatched."""
CAREFUL = ("TRAFFIC_CAREFUL", "1")

CASES = (
    Case("combos", 2),
    Case("combos", 2, 1),
    Case("combos", 4, 2, ("0", "11")),
    Case("self", 1),
    Case("self", 3, 1),
    Case("exchange", 1),
    Case("exchange", 2),
    Case("exchange", 3),
    Case("exchange", 4, 2),
    Case("exchange", 2, 1),
    Case("progress", 2),
    Case("progress", 4, 2),
    Case("progress", 2, 1, ("small",)),
    Case("order", 2),
    Case("order", 3),
    Case("order", 4, 2),
    Case("order", 3, 1),
    Case("requests", 2),
    Case("requests", 4, 2),
    Case("requests", 2, 1),
    Case("errors", 2),
    Case("errors", 2, 1),
    Case("procnull", 1),
    Case("procnull", 2),
    Case("procnull", 1, 0, (), (("OPI_HEAP", "private"),)),
    Case("types", 2),
    Case("types", 2, 1),
    Case("layouts", 1, 0, ("3000",)),
    Case("layouts", 2, 0, ("500", "70000")),
    Case("held", 2),
    Case("held", 2, 1),
    Case("held", 3, 1),
    Case("held", 4, 2),
    Case("held", 2, 1, ("threads",)),
    Case("refused", 2),
    Case("refused", 2, 1),
    Case("comms", 2),
    Case("comms", 4),
    Case("comms", 4, 2),
    Case("comms", 2, 1),
    Case("stream", 2),
    Case("stream", 2, 1, ("5000",)),
    Case("lifetime", 1),
    Case("lifetime", 3),
    Case("lifetime", 2, 1),
    Case("torture", 1, 0, ("100",)),
    Case("torture", 2, 0, ("150",)),
    Case("torture", 3, 0, ("150", "151")),
    Case("torture", 4, 2, ("80", "301")),
    Case("torture", 3, 1, ("100", "401")),
    Case("traffic", 1, 0, ("30", "1")),
    Case("traffic", 2, 0, ("60", "100")),
    Case("traffic", 3, 0, ("40", "200")),
    Case("traffic", 3, 0, ("40", "300"), MOVED),
    Case("traffic", 2, 0, ("20", "400"), (("OPI_HEAP", "private"), CAREFUL)),
    Case("traffic", 2, 1, ("30", "500"), (CAREFUL,)),
    Case("traffic", 4, 2, ("20", "600"), (CAREFUL,)),
    Case("threads", 2),
    Case("threads", 2, 1),
    Case("lazy", 1),
    Case("lazy", 2),
    Case("lazy", 3, 1),
    Case("guests", 1),
    Case("guests", 2),
    Case("guests", 3, 1),
    Case("guests", 2, 0, (), (("OPI_CHECK", "1"), ("GUESTS_FEW", "1"))),
    Case("cancel", 2),
    Case("cancel", 2, 1, ("receives",)),
    Case("polling", 2),
    Case("polling", 2, 1),
    Case("polling", 3),
    Case("polling", 4, 2),
    Case("freed_types", 2),
    Case("freed_types", 2, 1),
    Case("forking", 2),
    Case("alltoall", 1),
    Case("alltoall", 2),
    Case("alltoall", 3),
    Case("alltoall", 4),
    Case("alltoall", 4, 2, ("native",)),
    Case("alltoall", 2, 0, (), MOVED),
    Case("alltoall", 3, 0, (), MOVED),
    Case("alltoall", 2, 0, (), (("OPI_KERNEL_MIN", "1k"),)),
    Case("alltoall", 2, 0, ("full",), (("OPI_HEAP_LIMIT", "3m"), ("OPI_KERNEL_COPY", "0"))),
    Case("alltoall", 3, 0, ("threads",)),
    Case("alltoall", 2, 0, ("native",), (("OPI_ALLTOALL", "0"),)),
    Case("plain", 1),
    Case("plain", 2),
    Case("plain", 4, 2),
    Case("plain", 2, 1),
)


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of runtime/tests/mpi, by name; each is built by the first worker that asks for it."""

    user: MpiUser
    folder: Path

    def __getitem__(self, name: str) -> Path:
        target = self.folder / name
        with only_one(target.with_suffix(".lock")):
            if not target.exists():
                self.user.opicc(*WARNINGS, mpi_program(f"{name}.c"), "-o", target)
        return target


@pytest.fixture(scope="session")
def built(mpi_user: MpiUser, shared_tmp: Path) -> Programs:
    """Programs of one MPI."""
    folder = shared_tmp / f"runtime-{mpi_user.mpi.kind}"
    folder.mkdir(exist_ok=True)
    return Programs(mpi_user, folder)


def nodes(case: Case) -> dict[str, str]:
    return {"OPI_NODE_RANKS": str(case.node_ranks)} if case.node_ranks else {}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_contract(mpi_user: MpiUser, built: Programs, case: Case) -> None:
    arguments = case.arguments
    if case.program == "errors" and case.node_ranks and mpi_user.mpi.kind == "openmpi":
        arguments = ("eager",)  # see errors.c
    result = mpi_user.run(case.ranks, built[case.program], *arguments, **nodes(case), **dict(case.environment))
    assert f"{case.program}: ok, 0 failures" in result.out


def test_every_program_is_run() -> None:
    special = {"beyond", "ending", "defects", "every", "revoked", "sums"}
    assert {case.program for case in CASES} | special == {source.stem for source in MPI_PROGRAMS.rglob("*.c")}


DEFECTS = {
    "vector-types": "vector datatypes were silently corrupted",
    "truncation": "truncation returned success and overflowed the heap; between zero-copy calls it was not checked",
    "take-of-a-send": "a take of a plain send hung",
    "receive-any-of-a-give": "a wildcard receive of a give leaked the buffer",
    "take-any-source": "a take from any source never matched",
    "split-undefined": "MPI_Comm_split with MPI_UNDEFINED aborted",
    "status-and-locality": "the status was not set off-node; ranks were taken to be mapped to nodes by blocks",
    "pointers-cleared": "give and free did not clear the pointer",
    "count-from-either-side": "the count of a status depended on which side came first",
}
"""What broke in Hybrid MPI and FG-MPI, by the names in runtime/tests/mpi/defects.c. The others have tests of their own:
more than 16 ranks (below), address space randomisation (below), a crash that leaves a file behind
(test_a_killed_rank_takes_the_job_down_and_leaves_nothing), a pool that grows without bound (stream.c)."""

HEAP = {"OPI_HEAP_LIMIT": "60m"}
"""Less than receive-any-of-a-give would leak, and less than its receiver kept when that was 32 MiB of each size."""
DEFECT_RUNS = {"node": (2, HEAP), "three": (3, HEAP), "cyclic": (4, {**HEAP, "OPI_NODE_RANKS": "2,cyclic"})}


@pytest.fixture(scope="session", params=DEFECT_RUNS)
def defects(request: pytest.FixtureRequest, mpi_user: MpiUser, built: Programs) -> str:
    """What the program of the defects prints, on one node and on nodes that ranks are dealt out to in turn."""
    ranks, environment = DEFECT_RUNS[request.param]
    return mpi_user.run(ranks, built["defects"], check=False, **environment).out


@pytest.mark.xdist_group("defects")
@pytest.mark.parametrize("name", DEFECTS)
def test_defect_of_earlier_layers(defects: str, name: str) -> None:
    assert f"defect {name}: ok" in defects


def test_more_than_16_ranks_on_a_node(mpi_user: MpiUser, built: Programs) -> None:
    """Hybrid MPI aborted."""
    assert "defects: ok, 0 failures" in mpi_user.run(18, built["defects"], "status-and-locality").out


def test_addresses_are_randomised(mpi_user: MpiUser, built: Programs) -> None:
    """FG-MPI and Hybrid MPI started only without; the tests above run with it, or would prove nothing."""
    assert int(Path("/proc/self/personality").read_text(encoding="ascii"), 16) & 0x0040000 == 0
    assert "defects: ok, 0 failures" in mpi_user.run(2, built["defects"], "take-of-a-send").out


@pytest.mark.parametrize("ranks", [1, 3])
def test_disabled_leaves_everything_to_the_mpi(mpi_user: MpiUser, built: Programs, ranks: int) -> None:
    result = mpi_user.run(ranks, built["plain"], OPI_DISABLE="1")
    assert "plain: ok, 0 failures" in result.out


BEYOND = (
    "MPI_Bsend",
    "MPI_Ibsend",
    "MPI_Rsend",
    "MPI_Irsend",
    "MPI_Send_init",
    "MPI_Ssend_init",
    "MPI_Recv_init",
    "MPI_Sendrecv_replace",
    "MPI_Mprobe",
    "MPI_Improbe",
    "MPI_Isendrecv",
    "MPI_Isendrecv_replace",
    "MPI_Psend_init",
)


@pytest.mark.parametrize("node_ranks", [0, 1])
def test_every_form_meets_gives_and_takes(mpi_user: MpiUser, built: Programs, node_ranks: int) -> None:
    """Forms beyond the plain sends and receives, on the node and across (pretended) nodes."""
    result = mpi_user.run(2, built["beyond"], *BEYOND, **nodes(Case("beyond", 2, node_ranks)))
    assert "beyond: ok, 0 failures" in result.out


@pytest.mark.parametrize(("ranks", "node_ranks"), [(4, 0), (2, 1)])
def test_a_message_each_way_by_every_form_and_communicator(
    mpi_user: MpiUser, built: Programs, tmp_path: Path, ranks: int, node_ranks: int
) -> None:
    """The profile has every message as libopi's on the node, but for those on the intercommunicator."""
    profile = tmp_path / "profile.json"
    result = mpi_user.run(ranks, built["every"], OPI_PROFILE=str(profile), **nodes(Case("every", ranks, node_ranks)))
    assert "every: ok, 0 failures" in result.out
    counted = re.search(r"every: (\d+) messages, (\d+) on an intercommunicator", result.out)
    assert counted is not None
    told = json.loads(profile.read_text())
    below, here = told["left_to_mpi"], told["on_node"]["all"]["messages"]
    if node_ranks:
        assert here == ranks  # on MPI_COMM_SELF
        assert told["off_node"]["messages"] + below["all"]["messages"] == int(counted[1]) - here
    else:
        assert here == int(counted[1]) - int(counted[2])
        assert below["all"] == below["intercommunicator"]
        assert below["all"]["messages"] == int(counted[2]) == ranks


@pytest.mark.parametrize("setting", ["", "OPI_ALLTOALL=0", "one rank"])
def test_an_exchange_is_a_message_for_each_pair_of_ranks(
    mpi_user: MpiUser, built: Programs, tmp_path: Path, setting: str
) -> None:
    """Or none of libopi's, where any rank is told to leave it to the MPI."""
    profile = tmp_path / "profile.json"
    name, _, value = setting.partition("=")
    more = {name: value} if value else {}
    arguments = ("count", "20", *(["one"] if setting == "one rank" else []))
    result = mpi_user.run(3, built["alltoall"], *arguments, OPI_PROFILE=str(profile), **more)
    assert "alltoall: ok, 0 failures" in result.out
    carried = 0 if setting else 20 * 3 * 2
    told = json.loads(profile.read_text())
    assert told["on_node"]["all"] == {"messages": carried, "bytes": carried}
    assert told["left_to_mpi"]["all"]["messages"] == 0
    assert sum(site["inline"]["messages"] for site in told["sites"]) == carried


def test_blocks_of_an_exchange_are_used_again(mpi_user: MpiUser, built: Programs, tmp_path: Path) -> None:
    """Also where the two messages of a pair would lie in blocks of two size classes: what one rank gets, it sends."""
    profile = tmp_path / "profile.json"
    result = mpi_user.run(2, built["alltoall"], "uneven", "40", OPI_PROFILE=str(profile))
    assert "alltoall: ok, 0 failures" in result.out
    told = json.loads(profile.read_text())
    assert told["on_node"]["pipelined"]["messages"] == 80
    assert told["pool"]["new"] < 20


def test_a_revoked_communicator_is_refused_everywhere(mpi_user: MpiUser, built: Programs) -> None:
    """Open MPI passes a revocation on where it is told to tolerate faults, and has a call that asks."""
    if mpi_user.mpi.kind != "openmpi":
        assert "revoked: ok, 0 failures" in mpi_user.run(1, built["revoked"]).out
        return
    launcher, *rest = mpi_user.command(3, built["revoked"])
    done = subprocess.run(
        [launcher, "--with-ft", "ulfm", *rest],
        env=mpi_user.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "revoked: ok, 0 failures" in done.stdout, done.stdout + done.stderr


def test_a_take_that_the_mpi_refuses_gives_back_nothing(mpi_user: MpiUser, tmp_path: Path) -> None:
    """Its share in the communicator and the datatype was never taken."""
    program = tmp_path / "refused"
    mpi_user.opicc(*WARNINGS, "-DREFUSES", "-Wl,--wrap=PMPI_Irecv", mpi_program("refused.c"), "-o", program)
    assert "refused: ok, 0 failures" in mpi_user.run(2, program, OPI_NODE_RANKS="1").out


@pytest.mark.parametrize("ranks", [2, 4, 5])
def test_sums_are_those_of_the_mpi_alone(mpi_user: MpiUser, built: Programs, shared_tmp: Path, ranks: int) -> None:
    """To the last bit: MPICH adds in another order after some collectives on a communicator, of which none is ours."""
    alone = shared_tmp / f"sums-{mpi_user.mpi.kind}"
    with only_one(alone.with_suffix(".lock")):
        if not alone.exists():
            mpi_user.mpicc("-O1", mpi_program("sums.c"), "-o", alone)
    assert mpi_user.run(ranks, built["sums"]).out == mpi_user.run(ranks, alone).out


def test_every_form_is_walked() -> None:
    """What the table of the bindings generates is in the test above, but for the probes, which take no count, the
    collectives (alltoall_forms.h) and the calls of windows (runtime/tests/onesided)."""
    text = mpi_program("every_form.h").read_text(encoding="utf-8")
    table = read_table()
    windows = {name for name, made in table.generated.items() if made.strip().startswith(("opiw_", "opi_win_"))}
    programs = "".join(c.read_text(encoding="utf-8") for c in sorted(MPI_PROGRAMS.with_name("onesided").glob("*.c")))
    assert [name for name in sorted(windows) if f"{name}(" not in programs] == []
    messages = set(table.generated) - windows
    large = {name.removesuffix("_c") for name in messages if name.endswith("_c")}
    assert large == {name for name in messages if not name.endswith("_c") and "probe" not in name.lower()}
    collectives = {name for name in large if "all" in name}
    assert [name for name in sorted(large - collectives) if f"F({name})" not in text] == []
    exchanges = mpi_program("alltoall_forms.h").read_text(encoding="utf-8")
    assert [name for name in sorted(collectives) if f"EITHER({name}_c," not in exchanges] == []
    made = mpi_program("every.c").read_text(encoding="utf-8")
    creators = [name for name, source in table.written.items() if source == "objects/comm.c"]
    assert [name for name in creators if f"{name}(" not in made] == ["MPI_Comm_disconnect"]


def test_a_fatal_error_names_the_call_and_ends_the_job(mpi_user: MpiUser, built: Programs) -> None:
    result = mpi_user.run(2, built["ending"], "fatal", check=False, timeout_s=30)
    assert result.code != 0
    assert "OPI_Give" in result.out + result.err


def test_abort_ends_with_its_code(mpi_user: MpiUser, built: Programs) -> None:
    assert mpi_user.run(2, built["ending"], "abort", check=False, timeout_s=30).code == 5


def shared_files() -> set[str]:
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def processes(program: Path) -> list[int]:
    """Processes that run this program."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.readlink(entry / "exe").split(" (deleted)")[0] == str(program):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_a_killed_rank_takes_the_job_down_and_leaves_nothing(mpi_user: MpiUser, built: Programs) -> None:
    before = shared_files()
    result = mpi_user.run(3, built["ending"], "killed", check=False, timeout_s=60)
    assert result.code != 0
    deadline = time.monotonic() + 30
    while processes(built["ending"]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes(built["ending"]) == []
    assert [name for name in shared_files() - before if "opi" in name.lower() and "openmpi" not in name] == []


def test_an_untaken_give_is_received_at_the_end(mpi_user: MpiUser, built: Programs) -> None:
    assert "ending: ok, 0 failures" in mpi_user.run(2, built["ending"], "pending").out


def test_two_jobs_at_once_never_meet(mpi_user: MpiUser, built: Programs) -> None:
    command = mpi_user.command(2, built["exchange"])
    jobs = [
        subprocess.Popen(
            command,
            env=mpi_user.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        for _ in range(2)
    ]
    results: list[Run] = []
    try:
        for job in jobs:
            out, _ = job.communicate(timeout=180)
            results.append(Run(job.returncode, out, ""))
    finally:
        for job in jobs:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
    for result in results:
        assert result.code == 0, result.out
        assert "exchange: ok, 0 failures" in result.out


def test_wrong_use_of_the_pointer_does_not_compile(mpi_user: MpiUser, tmp_path: Path) -> None:
    """`OPI_Give(b, …)` for `OPI_Give(&b, …)`, a const carrier, a number: compile-time errors; `&b` compiles."""
    template = """#include "opi.h"
int f(double *b, double *const c, long n, void *v)
{{
    (void)b; (void)c; (void)n; (void)v;
    return {};
}}
"""
    source = tmp_path / "use.c"
    right = ("OPI_Give(&b, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD)", "OPI_Free(&b)", "(OPI_Free)(v)", "OPI_Alloc(&b, 8)")
    wrong = ("OPI_Give(b, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD)", "OPI_Free(b)", "OPI_Free(&c)", "OPI_Alloc(&n, 8)")
    for expression in right:
        source.write_text(template.format(expression))
        mpi_user.opicc("-Wall", "-Wextra", "-Werror", "-c", source, "-o", tmp_path / "use.o")
    for expression in wrong:
        source.write_text(template.format(expression))
        assert mpi_user.opicc("-c", source, "-o", tmp_path / "use.o", check=False).code != 0, expression
