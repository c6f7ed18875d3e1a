"""`opi-bench compare`: anybody's program as plain MPI, with libopi, and transformed, in alternating runs.

Timed runs are of programs as a user has them; only the begin and the end are taken down. Where the time goes is learnt
in runs of their own, since to time each call takes time: `apps_profile.c` stands in front of the MPI calls, linked into
the programs that are built here, and loaded before those that were built already.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opi_xform.bench.machine import cores_apart
from opi_xform.bench.processes import Ended, run_job
from opi_xform.bench.rounds import PIN
from opi_xform.bench.spread import Spread, spread
from opi_xform.bench.whole.apps import PROFILE, site_of, wrapped
from opi_xform.bench.whole.apps_report import Site
from opi_xform.bench.whole.apps_trace import Times, read_trace, times_of
from opi_xform.bench.whole.compare_output import Difference, Reference, differences, reference
from opi_xform.launch.executable import inspect_executable
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.opirun import mpi_of
from opi_xform.launch.runtime import ensure_runtime
from opi_xform.launch.tools import OPICC, XFORM, captured, checked, environment
from opi_xform.resources import runtime_include_dir

PLAIN, LINKED, TRANSFORMED = "plain", "linked", "transformed"
CALLS_KEPT = 200_000
"""Calls of a rank that are told into communication and waiting; the time of the others is added up."""
TRACED = 3
"""Runs of each form in which every call is timed, at most."""
OPENMP = (b"GOMP_parallel", b"__kmpc_fork_call")
"""A program with one of these starts threads of its own."""


LAUNCHER = re.compile(
    r"^(-{20,}|={20,})\n.*?(^\1$|\Z)"
    r"|^(?:YOUR APPLICATION TERMINATED|This typically refers to|Please see the FAQ page).*?$",
    re.MULTILINE | re.DOTALL,
)
"""What launchers add when a job ends badly; the program's own last words say more."""


@dataclass(frozen=True, slots=True)
class Form:
    """A program ready to run."""

    kind: str
    """`plain`, `linked` (with libopi, the sources as they are), `transformed`."""
    mpi: Mpi
    program: Path
    preload: tuple[Path, ...] = ()
    inside: bool = False
    """libopi comes before what times the calls, and tells the time of its own (OPI_PROFILE)."""

    @property
    def name(self) -> str:
        return self.mpi.kind if self.kind == PLAIN else f"{self.kind}/{self.mpi.kind}"


@dataclass(frozen=True, slots=True)
class Effort:
    """How a program is run."""

    ranks: int = 2
    rounds: int = 5
    arguments: tuple[str, ...] = ()
    cwd: Path | None = None
    timeout_s: float = 600
    pin: bool = True
    shared_heap: bool = False
    ignored: tuple[re.Pattern[str], ...] = ()
    """Lines of output that do not count."""


@dataclass(slots=True)
class Found:
    """What the runs of one form told."""

    form: Form
    times: list[float] = field(default_factory=list)
    """Seconds of the timed runs, one a round: from the end of MPI_Init to MPI_Finalize, on the slowest rank."""
    traced: list[Times] = field(default_factory=list)
    threads: bool = False
    """Its threads may call MPI at once, so no call was timed."""
    profile: dict[str, Any] | None = None
    """What OPI_PROFILE wrote; None for plain MPI."""
    failed: str = ""
    """One line: how a run went wrong; such a form is not run again."""
    differs: tuple[Difference, ...] = ()

    def in_mpi(self) -> float | None:
        """Seconds a rank spent in MPI and OPI calls, the median of the traced runs; None where nobody can tell."""
        if self.threads or not self.traced:
            return None
        seen = statistics.median(one.communication + one.waiting + one.beyond for one in self.traced)
        if not self.form.inside:
            return seen
        if self.profile is None:
            return None
        return seen + float(self.profile["time"]["library_s"]) / int(self.profile["ranks"])

    def share(self) -> float | None:
        """Of the time of the traced runs that part in MPI; None where nobody can tell."""
        inside = self.in_mpi()
        run = statistics.median(one.run for one in self.traced) if self.traced else 0.0
        return None if inside is None or run <= 0 else min(1.0, inside / run)

    def part(self, name: str) -> float | None:
        """`communication` or `waiting`, the median; None where the calls were not all followed."""
        if self.threads or self.form.inside or not self.traced or any(one.beyond for one in self.traced):
            return None
        return statistics.median(float(getattr(one, name)) for one in self.traced)

    @property
    def median(self) -> float:
        """Seconds."""
        return statistics.median(self.times)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it."""

    what: str
    """The program, its arguments, as a person wrote them."""
    effort: Effort
    pinned: bool
    found: tuple[Found, ...]
    sites: tuple[Site, ...] | None
    """What opi-xform decided; None where the transformed program was built elsewhere."""
    plain: Reference
    crowded: bool = False
    """There are more ranks than processors."""
    busy: float | None = None
    """The load average at the start, where others kept more than all processors busy."""

    def of(self, kind: str) -> list[Found]:
        """Those forms that ran to the end."""
        return [one for one in self.found if one.form.kind == kind and not one.failed]

    @property
    def best(self) -> Found | None:
        """The plain MPI with the better median."""
        return min(self.of(PLAIN), key=lambda one: one.median, default=None)

    def ratio(self, one: Found) -> Spread | None:
        """Time of the better plain MPI / its time, within each round; above 1 is faster."""
        best = self.best
        if best is None or one.failed or min(one.times) <= 0:
            return None
        return spread([theirs / its for theirs, its in zip(best.times, one.times, strict=True)])

    @property
    def wrong(self) -> bool:
        """A form failed, or printed something else for which there is no explanation."""
        return any(one.failed or any(not each.time for each in one.differs) for one in self.found)


# Building


def object_of(mpi: Mpi, work: Path, ours: bool) -> Path:
    """apps_profile.c, to be linked into a program. Raises LaunchError."""
    target = work / f"profile-{mpi.kind}-{'opi' if ours else 'plain'}.o"
    extra = (f"-I{runtime_include_dir()}", "-DAPPS_OPI") if ours else ()
    checked([str(mpi.mpicc), "-O2", *extra, "-c", str(PROFILE), "-o", str(target)], mpi)
    return target


def library_of(mpi: Mpi, work: Path) -> Path:
    """apps_profile.c, to be loaded before a program's MPI. Raises LaunchError."""
    target = work / f"profile-{mpi.kind}.so"
    if not target.exists():
        flags = ("-O2", "-fPIC", "-shared", "-DAPPS_PRELOAD")
        checked([str(mpi.mpicc), *flags, str(PROFILE), "-o", str(target), "-ldl"], mpi)
    return target


def sources_of(paths: Sequence[str]) -> list[str]:
    """The C files named, and those of the directories named, at any depth. Raises LaunchError."""
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            inside = sorted(map(str, Path(path).rglob("*.c")))
            if not inside:
                raise LaunchError(f"{path}: no .c file in this directory; name one that has C sources", 2)
            found += inside
        elif os.path.isfile(path):
            found.append(path)
        else:
            raise LaunchError(f"{path}: no such file; name the sources of the program, or a program", 2)
    return found


def _step(what: str, command: Sequence[str], mpi: Mpi, timeout_s: float, extra: Mapping[str, str] | None = None) -> str:
    """The stdout of a step of the build. Raises LaunchError, with the end of what the step said."""
    done = captured(command, mpi, timeout_s=timeout_s, extra=extra)
    if done.returncode != 0:
        said = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-12:])
        shown = shlex.join(word for word in command if not word.startswith("-Wl,--wrap="))
        if "undefined reference" in said:
            said += '\nlibraries stand in --flags, as in --flags "-O2 -lm"'
        raise LaunchError(f"{what} failed: {shown}\n{said}", 2)
    return done.stdout


def from_sources(
    sources: Sequence[str], flags: Sequence[str], mpis: Sequence[Mpi], effort: Effort, work: Path,
    say: Callable[[str], None],
) -> tuple[list[Form], tuple[Site, ...]]:  # fmt: skip
    """Every form of a program; with libopi over the first MPI. Raises LaunchError."""
    limit = max(effort.timeout_s, 1800.0)
    index, first = work / "index", mpis[0]
    say("compare: opi-xform decides")
    text = _step(
        "opi-xform", [*XFORM, *sources, "--index", str(index), "--output-format", "json", "--", *flags], first, limit
    )
    sites = tuple(site_of(one) for one in json.loads(text)["sites"])
    profile = PROFILE.read_text(encoding="utf-8")
    opicc = (*OPICC, "--shared-heap") if effort.shared_heap else OPICC
    forms: list[Form] = []
    for kind, mpi, compiler in (
        *((PLAIN, mpi, (str(mpi.mpicc),)) for mpi in mpis),
        (LINKED, first, opicc),
        (TRANSFORMED, first, (*opicc, "--transform")),
    ):
        ours = kind != PLAIN
        form = Form(kind, mpi, work / f"{kind}-{mpi.kind}")
        say(f"compare: building {form.name}")
        link = wrapped(profile, ours)
        # The user's libraries come after what needs them; those of the command line's end are theirs, too.
        command = [*compiler, *sources, str(object_of(mpi, work, ours)), *flags, *link, "-o", str(form.program)]
        _step(f"building {form.name}", command, mpi, limit, {"OPI_INDEX": str(index)})
        forms.append(form)
    return forms, sites


def shared_libopi(program: Path) -> list[Path]:
    """The libopi.so that the loader finds for a program: it stays before what takes the time, for libopi leaves all to
    the MPI where another library's MPI_Send comes before its own."""
    told = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    return [Path(path) for path in re.findall(r"^\s*libopi\.so\S* => (/\S+)", told, re.M)]


def from_programs(plain: str, transformed: str | None, effort: Effort, work: Path, mpis: Sequence[Mpi]) -> list[Form]:
    """The forms of programs that were built already: the plain one alone, and with libopi loaded before its MPI.

    ``mpis``: those named by the user, among which is the programs' own. Raises LaunchError."""
    forms: list[Form] = []
    for name, kind in ((plain, PLAIN), (transformed, TRANSFORMED)):
        if name is None:
            continue
        executable = inspect_executable(name)
        if not executable.tells:
            raise LaunchError(f"{name}: not a program that loads an MPI; name one, or the sources of one", 2)
        if kind == PLAIN and executable.has_libopi:
            raise LaunchError(f"{name} has libopi linked in; the first program is the one that mpicc built", 2)
        mpi = next((one for one in mpis if one.kind == executable.mpi_kind), None)
        if mpi is None and mpis and executable.mpi_kind is not None:
            raise LaunchError(f"{name} is a program of {executable.mpi_kind}; --mpi names another", 2)
        mpi = mpi or mpi_of(executable)
        path = executable.path.absolute()
        clock = library_of(mpi, work)
        if kind == PLAIN:
            forms.append(Form(PLAIN, mpi, path, (clock,)))
            runtime = ensure_runtime(mpi).preload(effort.shared_heap)
            forms.append(Form(LINKED, mpi, path, (*runtime, clock), inside=True))
        else:
            forms.append(Form(TRANSFORMED, mpi, path, (*shared_libopi(path), clock), inside=True))
    return forms


# Running


def starts_threads(forms: Sequence[Form]) -> bool:
    """Whether a program has threads of its own, for which a rank's one processor would be too few."""
    return any(mark in form.program.read_bytes() for form in forms for mark in OPENMP)


def command_of(form: Form, effort: Effort, pinned: bool) -> list[str]:
    """What runs a form; only the ranks get LD_PRELOAD."""
    command = [*form.mpi.run_command(effort.ranks)]
    if pinned:
        command += [*PIN, ",".join(map(str, cores_apart(effort.ranks)))]
    if form.preload:
        before = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
        command += [shutil.which("env") or "/usr/bin/env", "LD_PRELOAD=" + ":".join([*map(str, form.preload), *before])]
    return [*command, str(form.program), *effort.arguments]


def failure(ended: Ended, timeout_s: float) -> str:
    """One line for a run that went wrong, with the last of what it printed; empty for one that did not."""
    if ended.in_time and ended.code == 0:
        return ""
    out, err = ([line.strip() for line in LAUNCHER.sub("", text).splitlines()] for text in (ended.out, ended.err))
    lines = [line for text in (out, err) for line in [line for line in text if re.search(r"\w", line)][-2:]]
    lines = lines or [line.strip() for line in ended.err.splitlines() if line.strip(" =-")][-2:]
    lines = ["".join(letter if letter.isprintable() else "?" for letter in line) for line in lines]
    why = f"exit code {ended.code}" if ended.in_time else f"no end after {timeout_s:g} s, it was killed (--timeout)"
    return f"{why}; its output ends: {' | '.join(lines)[-300:]}" if lines else f"{why}; it printed nothing"


@dataclass(slots=True)
class Runner:
    """Runs forms and keeps what they print."""

    effort: Effort
    pinned: bool
    work: Path
    printed: dict[int, list[str]] = field(default_factory=dict)

    def run(self, found: Found, extra: Mapping[str, str]) -> bool:
        """One run; False when it went wrong, which ``found`` then tells. Raises LaunchError where it cannot start."""
        form = found.form
        command = command_of(form, self.effort, self.pinned)
        ended = run_job(command, environment(form.mpi, extra), self.effort.cwd, self.effort.timeout_s, self.work)
        found.failed = failure(ended, self.effort.timeout_s)
        if found.failed:
            return False
        self.printed.setdefault(id(found), []).append(ended.out)
        return True

    def traced(self, found: Found, calls: int) -> Times | None:
        """One run that leaves a trace with so many calls; None when it went wrong."""
        for number in range(self.effort.ranks):
            (self.work / f"trace.{number}").unlink(missing_ok=True)
        trace = self.work / "trace"
        if not self.run(found, {"OPI_BENCH_TRACE": str(trace), "OPI_BENCH_CALLS": str(calls)}):
            return None
        files = [trace.with_name(f"trace.{number}") for number in range(self.effort.ranks)]
        if not all(file.exists() for file in files):
            found.failed = "it ended without MPI_Finalize on every rank, so that nothing tells how long it took"
            return None
        traces = [read_trace(file) for file in files]
        found.threads = any(one.threads for one in traces)
        return times_of(traces)

    def profiled(self, found: Found) -> None:
        """One run with OPI_PROFILE."""
        file = self.work / "profile.json"
        file.unlink(missing_ok=True)
        if self.run(found, {"OPI_PROFILE": str(file)}):
            if file.exists():
                found.profile = json.loads(file.read_text(encoding="utf-8"))
            else:
                found.failed = "OPI_PROFILE wrote nothing: no libopi is in it, or it ended without MPI_Finalize"


def measure(
    forms: Sequence[Form], sites: tuple[Site, ...] | None, what: str, effort: Effort, work: Path,
    say: Callable[[str], None],
) -> Comparison:  # fmt: skip
    """Runs all forms. One that fails is told and left out from then on. Raises LaunchError."""
    load = os.getloadavg()[0]
    # With real-time priority the ranks wait for nobody.
    waits = os.sched_getscheduler(0) not in (os.SCHED_RR, os.SCHED_FIFO)
    busy = load if waits and load > len(os.sched_getaffinity(0)) + 0.5 else None
    pinned = effort.pin and not starts_threads(forms)
    runner = Runner(effort, pinned, work)
    found = [Found(form) for form in forms]

    def failed(one: Found) -> None:
        say(f"compare: {one.form.name}: {one.failed}")

    for number in range(effort.rounds):
        say(f"compare: round {number + 1} of {effort.rounds}")
        for turn in range(len(found)):
            one = found[(number + turn) % len(found)]
            if not one.failed:
                times = runner.traced(one, 0)
                if times is None:
                    failed(one)
                else:
                    one.times.append(times.run)
    for number in range(min(TRACED, effort.rounds)):
        say(f"compare: where the time goes, {number + 1} of {min(TRACED, effort.rounds)}")
        for one in found:
            if not one.failed:
                times = runner.traced(one, CALLS_KEPT)
                if times is None:
                    failed(one)
                else:
                    one.traced.append(times)
    for one in found:
        if one.form.kind != PLAIN and not one.failed:
            runner.profiled(one)
            if one.failed:
                failed(one)
    plain = reference(
        [text for one in found if one.form.kind == PLAIN for text in runner.printed.get(id(one), ())], effort.ignored
    )
    for one in found:
        if one.form.kind != PLAIN and plain.runs:
            one.differs = _told_once(
                each for text in runner.printed.get(id(one), ()) for each in differences(plain, text, effort.ignored)
            )
    crowded = effort.ranks > len(os.sched_getaffinity(0))
    return Comparison(what, effort, pinned, tuple(found), sites, plain, crowded, busy)


def _told_once(found: Iterable[Difference]) -> tuple[Difference, ...]:
    """Each class of lines once: a run after the other differs in the same place."""
    return tuple({(one.plain, bool(one.other), one.time): one for one in reversed(list(found))}.values())[::-1]


def program_of(words: Sequence[str], effort: Effort) -> str:
    """What is compared, for headings."""
    return shlex.join([*words, *(["--", *effort.arguments] if effort.arguments else [])])
