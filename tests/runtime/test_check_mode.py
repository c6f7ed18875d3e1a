"""OPI_CHECK=1: each misuse of a buffer is named with the lines that did it, and right programs run as before.

The lines are those that carry `mark: NAME` in runtime/tests/check/misuse.c.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from case_tools import Case, load_cases, transform
from conftest import CHECKOUT, MPIS, MpiUser, Run, in_turn, mpi_program, only_one

from opi_xform.launch.ranks import ensure_ranks, link_flags
from opi_xform.resources import runtime_include_dir

WINDOWS = CHECKOUT / "runtime" / "tests" / "check" / "windows.c"
SOURCE = CHECKOUT / "runtime" / "tests" / "check" / "misuse.c"

pytestmark = pytest.mark.mpi


def marks(source: Path) -> dict[str, int]:
    """Line numbers in a source by their marks."""
    found = {}
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if match := re.search(r"/\* mark: ([a-z-]+) \*/", line):
            found[match[1]] = number
    return found


LINE = marks(SOURCE)
LINE_OF_WINDOWS = marks(WINDOWS)


@dataclass(frozen=True, slots=True)
class Misuse:
    """A mode of misuse.c and the message it must get: `@name` stands for the line with that mark."""

    mode: str
    message: str

    def pattern(self) -> str:
        return re.sub(r"@([a-z-]+)", lambda match: rf"\S*misuse\.c:{LINE[match[1]]}\b", self.message)


MISUSES = (
    Misuse("read", r"buffer given at @give, touched at @read \(read, byte 12000\)"),
    Misuse("write", r"buffer given at @give, touched at @write \(written, byte 12000\)"),
    Misuse("igive", r"buffer given at @igive, touched at @write \(written, byte 12000\)"),
    Misuse("small", r"buffer given at @give, touched at @read \(read, byte 16\)"),
    Misuse("large", r"buffer given at @give, touched at @write \(written, byte 800000\)"),
    Misuse("send", r"buffer given at \S+, touched at @send \(by MPI_Send\)"),
    Misuse("twice", r"buffer freed at @free, passed to OPI_Free at @again"),
    Misuse("freed", r"buffer freed at @freed, touched at @after \(read, byte 8\)"),
    Misuse("foreign", r"never was a buffer of OPI_Alloc or OPI_Take, passed to OPI_Free at @foreign"),
    Misuse("inside", r"lies inside the buffer allocated at @alloc, passed to OPI_Free at @inside"),
    Misuse("give-given", r"buffer given at \S+, passed to OPI_Give at @second"),
    Misuse("short-beyond", r"buffer taken at @take: 800 bytes arrived, byte 864 read at @beyond"),
    Misuse("tiny-beyond", r"buffer taken at @take: 0 bytes arrived, byte 64 read at @beyond"),
    Misuse("short-send", r"buffer taken at @take: 800 bytes arrived, read beyond them by MPI_Send at @all"),
)

RIGHT = ("back", "short", "short-write", "short-give", "self", "kept")


@pytest.fixture(scope="session")
def misuse(mpi_user: MpiUser, shared_tmp: Path) -> Path:
    """The program of misuses, built once a run and MPI."""
    target = shared_tmp / f"misuse-{mpi_user.mpi.kind}"
    with only_one(shared_tmp / f"misuse-{mpi_user.mpi.kind}.lock"):
        if not target.exists():
            mpi_user.opicc("-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", SOURCE, "-o", target)
    return target


def first_or_chosen(mpi_user: MpiUser, chosen: bool) -> None:
    """All cases run under the first MPI; under another, whose launcher takes its time, those that touch the MPI."""
    if mpi_user.mpi != MPIS[0] and not chosen:
        pytest.skip("runs under the first MPI")


@pytest.mark.parametrize("case", MISUSES, ids=lambda case: case.mode)
def test_a_misuse_is_named_with_its_lines(mpi_user: MpiUser, misuse: Path, case: Misuse) -> None:
    first_or_chosen(mpi_user, case.mode in ("read", "igive", "send", "twice", "short-beyond"))
    result = mpi_user.run(2, misuse, case.mode, check=False, timeout_s=60, OPI_CHECK="1")
    assert result.code != 0
    said = result.err + result.out
    assert re.search(case.pattern(), said), (case.pattern(), result.err, result.out)
    # misuse.c ends a rank that is left running, where another one has aborted only: no other wait may last that long.
    assert "Alarm clock" not in said or "Abort(" in said, said


def test_right_use_is_not_reported(mpi_user: MpiUser, misuse: Path) -> None:
    result = mpi_user.run(2, misuse, *RIGHT, OPI_CHECK="1")
    assert "misuse: ok" in result.out
    assert "libopi:" not in result.err


@pytest.mark.parametrize("mode", ["igive", "twice", "short-beyond"])
def test_across_nodes_too(mpi_user: MpiUser, misuse: Path, mode: str) -> None:
    first_or_chosen(mpi_user, mode == "igive")
    case = next(case for case in MISUSES if case.mode == mode)
    result = mpi_user.run(2, misuse, mode, check=False, timeout_s=60, OPI_CHECK="1", OPI_NODE_RANKS="1")
    assert result.code != 0
    assert re.search(case.pattern(), result.err + result.out), (case.pattern(), result.err, result.out)


def test_a_leak_is_told_at_the_end(mpi_user: MpiUser, misuse: Path) -> None:
    result = mpi_user.run(2, misuse, "leak", OPI_CHECK="1")
    assert "misuse: ok" in result.out
    for rank in (0, 1):
        assert re.search(rf"rank {rank} leaks 1 buffer of 80 bytes from \S*misuse\.c:{LINE['alloc']}\b", result.err), (
            result.err
        )


def test_without_it_nothing_is_said(mpi_user: MpiUser, misuse: Path) -> None:
    """A touch after a give goes unnoticed: the program is wrong, but runs."""
    result = mpi_user.run(2, misuse, "read")
    assert "libopi:" not in result.err
    assert "leak" not in mpi_user.run(2, misuse, "leak").err


@pytest.mark.parametrize(
    ("program", "arguments", "node_ranks"),
    [("torture", ("60",), "0"), ("torture", ("60",), "1"), ("combos", ("0", "11"), "0")],
)
def test_right_programs_run_as_before(
    mpi_user: MpiUser, shared_tmp: Path, program: str, arguments: tuple[str, ...], node_ranks: str
) -> None:
    target = shared_tmp / f"checked-{program}-{mpi_user.mpi.kind}"
    with only_one(target.with_suffix(".lock")):
        if not target.exists():
            mpi_user.opicc("-std=c11", "-g", "-O1", "-pthread", mpi_program(f"{program}.c"), "-o", target)
    result = mpi_user.run(2, target, *arguments, OPI_CHECK="1", OPI_NODE_RANKS=node_ranks)
    assert f"{program}: ok, 0 failures" in result.out
    assert "touched at" not in result.err
    assert "arrived" not in result.err


TRANSFORMED = {"halo2d": ("40", "36", "20"), "fft2d": ("32", "3"), "particles": ("2000", "20")}
RANKS = (1, 2, 3, 4)


@pytest.fixture(scope="session", params=sorted(TRANSFORMED))
def transformed(request: pytest.FixtureRequest, mpi_user: MpiUser, shared_tmp: Path) -> tuple[Path, Path, str]:
    """A program of testdata before (with the MPI alone) and after opi-xform (with libopi), and its name."""
    name: str = request.param
    source, result = CHECKOUT / "testdata" / name, shared_tmp / f"transformed-{name}"
    folder = shared_tmp / f"transformed-{name}-{mpi_user.mpi.kind}"
    with only_one(shared_tmp / f"transformed-{name}.lock"):
        if not result.exists():
            script = "import sys; from opi_xform.cli.main import main; sys.exit(main())"
            command = [sys.executable, "-c", script, str(source), "-o", str(result)]
            done = subprocess.run(command, env=mpi_user.environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert "OPI_" in "".join(file.read_text(encoding="utf-8") for file in result.glob("*.c"))
        if not folder.exists():
            folder.mkdir()
            mpi_user.mpicc("-O1", *sorted(source.glob("*.c")), "-o", folder / "before", "-lm")
            mpi_user.opicc("-g", "-O1", *sorted(result.glob("*.c")), "-o", folder / "after", "-lm")
    return folder / "before", folder / "after", name


def without_time(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("time ")]


@pytest.mark.parametrize("ranks", RANKS)
def test_transformed_programs_pass_the_check(
    mpi_user: MpiUser, transformed: tuple[Path, Path, str], ranks: int
) -> None:
    """Nothing is touched after it was given or read without having arrived, nothing leaks; the results are the same."""
    before, after, name = transformed
    first_or_chosen(mpi_user, ranks in (2, 4))
    expected = mpi_user.run(ranks, before, *TRANSFORMED[name])
    checked = mpi_user.run(ranks, after, *TRANSFORMED[name], OPI_CHECK="1")
    assert "libopi:" not in checked.err
    assert without_time(checked.out) == without_time(expected.out)


EVERY = 1 if os.environ.get("OPI_TEST_CORPUS") == "all" else 24
"""Of the corpus of convertible programs each so many-th runs in `make test`; all do in `make check-corpus`."""
CORPUS = [case for group in ("convert", "either") for case in load_cases(group)]
CORPUS = [case for i, case in enumerate(CORPUS) if i % EVERY == 0 or case.name == "growing"]
PAST_THE_MESSAGE = {"growing", "growing_realloc"}
"""These unpack more than came, and so break assumption A1: the check has to say so."""
LEAKING = {"member_leak2", *(f"left_{k}" for k in range(1, 6))}
"""Each rank of these never frees one buffer, in the original either: that is what the check has to say, once a rank."""


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_the_corpus_passes_the_check(mpi_user: MpiUser, tmp_path: Path, case: Case) -> None:
    """Programs of tests/cases, transformed: as before with the MPI alone, and nothing to report."""
    first_or_chosen(mpi_user, EVERY == 1 or case == CORPUS[0])
    case.write(tmp_path / "src")
    transform(case, tmp_path / "src", tmp_path / "out")
    mpi_user.mpicc("-O1", *(tmp_path / "src" / name for name in case.files), "-o", tmp_path / "before", "-lm")
    mpi_user.opicc("-g", "-O1", *(tmp_path / "out" / name for name in case.files), "-o", tmp_path / "after", "-lm")
    expected = mpi_user.run(2, tmp_path / "before", check=False)
    checked = mpi_user.run(2, tmp_path / "after", check=False, OPI_CHECK="1")
    if case.name in PAST_THE_MESSAGE:
        assert re.search(r"buffer taken at \S+: \d+ bytes arrived, byte \d+ read at ", checked.err)
        return
    told = [line for line in checked.err.splitlines() if "libopi:" in line]
    assert all(" leaks 1 buffer of " in line for line in told)
    assert len(told) == (2 if case.name in LEAKING else 0)
    assert checked.code == expected.code
    assert sorted(checked.out) == sorted(expected.out)  # a launcher may mix the lines of ranks


CONFLICTS = {
    "put-put": ("bytes 8 to 15", "MPI_Put of rank 0", "put-first", "MPI_Put of rank 2", "put-second"),
    "put-get": ("bytes 24 to 31", "MPI_Put of rank 0", "own-put", "MPI_Get of rank 0", "own-get"),
    "put-put-local": ("bytes 40 to 47", "MPI_Put of rank 0", "local-first", "MPI_Put of rank 0", "local-second"),
    "operations": ("bytes 0 to 7", "MPI_Accumulate of rank 0", "sum", "MPI_Accumulate of rank 2", "product"),
    "update": ("bytes 32 to 39", "MPI_Put of rank 0", "unflushed", "MPI_Accumulate of rank 2", "update"),
}
"""Modes of windows.c: the bytes of rank 1's window, and who touches them, with the marks of the lines."""


@pytest.fixture(scope="session")
def conflicts(mpi_user: MpiUser, shared_tmp: Path) -> Path:
    target = shared_tmp / f"conflicts-{mpi_user.mpi.kind}"
    with only_one(target.with_suffix(".lock")):
        if not target.exists():
            mpi_user.opicc("-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", WINDOWS, "-o", target)
    return target


def assert_named(mode: str, result: Run) -> None:
    touched, first, mark, second, other = CONFLICTS[mode]
    lines = [rf"\S*windows\.c:{LINE_OF_WINDOWS[name]}\b" for name in (mark, other)]
    pattern = rf"conflicting accesses to {touched} of rank 1's window: {first} at {lines[0]}, {second} at {lines[1]}"
    assert result.code != 0
    assert re.search(pattern, result.err + result.out), (pattern, result.err, result.out)


@pytest.mark.parametrize("mode", CONFLICTS)
def test_accesses_to_a_window_that_conflict_are_named_with_their_lines(
    mpi_user: MpiUser, conflicts: Path, mode: str
) -> None:
    assert_named(mode, mpi_user.run(3, conflicts, mode, check=False, timeout_s=60, OPI_CHECK="1"))


def test_accesses_to_a_window_that_are_in_order_are_not_reported(mpi_user: MpiUser, conflicts: Path) -> None:
    result = mpi_user.run(3, conflicts, "right", timeout_s=60, OPI_CHECK="1")
    assert "windows: ok" in result.out


@pytest.mark.parametrize("name", ["windows", "counts", "nested"])
def test_right_programs_with_windows_are_not_reported(mpi_user: MpiUser, tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    mpi_user.opicc("-g", "-O1", CHECKOUT / "runtime" / "tests" / "onesided" / f"{name}.c", "-o", program)
    result = mpi_user.run(3, program, timeout_s=100, OPI_CHECK="1")
    assert f"{name}: ok" in result.out or "this MPI has no such calls" in result.out


OF_RANKS = {
    "conflicts": WINDOWS,
    **{n: CHECKOUT / "runtime" / "tests" / "onesided" / f"{n}.c" for n in ("windows", "divided")},
}
SPLITS = ("3", "2,1")
"""Three ranks in one process, and in two."""


@pytest.fixture(scope="session")
def of_ranks(mpi_user: MpiUser, opi_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs linked with libopi_ranks."""
    folder = tmp_path_factory.mktemp("checked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPI_CACHE", str(opi_cache))
        flags = link_flags(ensure_ranks(mpi_user.mpi))
    for name, source in OF_RANKS.items():
        mpi_user.mpicc("-g", "-O1", f"-I{runtime_include_dir()}", source, *flags, "-o", folder / name)
    return folder


def run_of_ranks(user: MpiUser, program: Path, split: str, kind: str, *arguments: str, **environment: str) -> Run:
    told = {"OPI_RANKS_PER_PROCESS": split, "OPI_RANKS_CARRIER": kind, **environment}
    return user.run(len(split.split(",")), program, *arguments, check=False, timeout_s=100, **told)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", ["threads", "fibers"])
@pytest.mark.parametrize("mode", CONFLICTS)
def test_conflicting_accesses_of_ranks_that_share_processes_are_named(
    mpi_user: MpiUser, of_ranks: Path, mode: str, kind: str, split: str
) -> None:
    assert_named(mode, run_of_ranks(mpi_user, of_ranks / "conflicts", split, kind, mode, OPI_CHECK="1"))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", ["threads", "fibers"])
@pytest.mark.parametrize("name", OF_RANKS)
def test_accesses_of_ranks_that_share_processes_and_are_in_order_are_not_reported(
    mpi_user: MpiUser, of_ranks: Path, name: str, kind: str, split: str
) -> None:
    if name != "conflicts":
        in_turn(mpi_user, len(name) + len(kind) + len(split))
    result = run_of_ranks(mpi_user, of_ranks / name, split, kind, OPI_CHECK="1")
    assert (result.code, "conflicting" in result.err) == (0, False), result.err
    assert f"{'windows' if name == 'conflicts' else name}: ok" in result.out


@pytest.mark.parametrize("kind", ["threads", "fibers"])
def test_without_it_nothing_is_said_of_windows_of_ranks(mpi_user: MpiUser, of_ranks: Path, kind: str) -> None:
    result = run_of_ranks(mpi_user, of_ranks / "conflicts", "2,1", kind, "put-put")
    assert (result.code, result.err) == (0, "")
