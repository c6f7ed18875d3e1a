"""Whole programs: testdata's, the NAS kernels and the proxy applications, in four forms.

As plain MPI by each MPI found, linked with libopi, and transformed; the same flags and cores, in rounds that begin with
another form each time. Every run must verify itself, and all forms must print the same results. apps_profile.c stands
in front of the MPI calls of every form alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opi_xform.bench.machine import cores_apart
from opi_xform.bench.rounds import FLAGS, pinned
from opi_xform.bench.ways import ways
from opi_xform.bench.whole.apps_report import AppResult, FormTimes, Site
from opi_xform.bench.whole.apps_trace import Times, read_trace, times_of
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.tools import OPICC, XFORM, c_sources, captured, checked, compile_with
from opi_xform.resources import resource, runtime_include_dir

PROFILE = Path(__file__).with_name("apps_profile.c")
ROUNDS = 5
TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class App:
    """A program: its folders in testdata/, and arguments of a measured and of a quick run."""

    name: str
    folders: tuple[str, ...]
    full: tuple[str, ...]
    quick: tuple[str, ...]
    kernel: bool = False
    """A NAS kernel: its argument is a class."""
    square: bool = False
    """Runs on square numbers of ranks only: with 2 asked for, on 4."""

    def sources(self, root: Path) -> list[str]:
        """Its C files below testdata/ or a transformed copy of it."""
        return [file for folder in self.folders for file in c_sources(root / folder)]


def _kernel(name: str, *more: str, shared: tuple[str, ...] = (), square: bool = False) -> App:
    folders = tuple(f"npb/{folder}" for folder in (name.partition("-")[0], *shared))
    return App(name, folders, ("A", *more), ("S", *more), kernel=True, square=square)


def _proxy(name: str, full: str, quick: str) -> App:
    return App(name, (f"proxies/{name}",), tuple(full.split()), tuple(quick.split()))


APPS = (
    App("halo2d", ("halo2d",), ("256", "256", "300"), ("40", "36", "20")),
    App("fft2d", ("fft2d",), ("512", "20"), ("32", "3")),
    App("particles", ("particles",), ("200000", "100"), ("2000", "20")),
    *(_kernel(name) for name in ("ep", "is", "cg", "mg", "ft")),
    _kernel("ft-p2p", "p2p"),
    _kernel("lu", shared=("flow",)),
    *(_kernel(name, shared=("flow", "partition"), square=True) for name in ("sp", "bt")),
    _proxy("md", "12 100", "6 40"),
    _proxy("hydro", "32 20", "8 3"),
    _proxy("amr", "16 300", "6 20"),
    _proxy("graph", "200000", "4000"),
    _proxy("stencil", "1024 200", "64 20"),
    _proxy("cannon", "768 4", "48 2"),
    _proxy("wave", "96 100", "24 20"),
)


@dataclass(frozen=True, slots=True)
class Form:
    """A program ready to run."""

    series: str
    """`mpich`, `openmpi`: plain; `libopi`; `opi`: transformed."""
    mpi: Mpi
    command: tuple[str, ...]


def available() -> list[App]:
    """Those whose sources are there. Raises IncompleteInstallError where testdata/ is not."""
    root = resource("testdata")
    return [app for app in APPS if all(c_sources(root / folder) for folder in app.folders)]


def wrapped(source: str, ours: bool) -> tuple[str, ...]:
    """Linker options that put the profile's functions in front of the MPI's."""
    names = re.findall(r"^(?:REAL\([\w *]+, |COLLECTIVE\(|\w+_LIKE\()((?:MPI|OPI)_\w+)", source, re.MULTILINE)
    return tuple(f"-Wl,--wrap={name}" for name in names if ours or name.startswith("MPI_"))


def transform(app: App, out: Path, mpi: Mpi) -> tuple[Site, ...]:
    """Through opi-xform, to the same places below ``out`` as in testdata/; its sites. Raises LaunchError."""
    root = resource("testdata")
    text = checked([*XFORM, *app.sources(root), "--root", str(root), "-o", str(out), "--output-format", "json"], mpi)
    return tuple(site_of(one) for one in json.loads(text)["sites"])


def site_of(one: dict[str, Any]) -> Site:
    """One of opi-xform's JSON sites."""
    where = f"{Path(one['file']).name}:{one['line']}"
    return Site(where, one["call"], one["side"], one["buffer"], one["decision"], one["code"], one["message"])


def build(
    app: App, mpis: Sequence[Mpi], ranks: int, arguments: Sequence[str], work: Path, shared_heap: bool = False
) -> tuple[list[Form], tuple[Site, ...]]:
    """Every form; libopi and the transformed program over the first MPI, with ``shared_heap`` both with malloc from
    the shared heap. Raises LaunchError."""
    source = resource("testdata")
    cpus = cores_apart(ranks)
    work.mkdir(parents=True)
    sites = transform(app, work / "transformed", mpis[0])
    profile = PROFILE.read_text(encoding="utf-8")
    forms: list[Form] = []
    plain = [(mpi.kind, mpi, (str(mpi.mpicc),), source) for mpi in mpis]
    opicc = (*OPICC, "--shared-heap") if shared_heap else OPICC
    for series, mpi, compiler, root in (
        *plain,
        ("libopi", mpis[0], opicc, source),
        ("opi", mpis[0], opicc, work / "transformed"),
    ):
        ours = series in ("libopi", "opi")
        extra = (f"-I{runtime_include_dir()}", "-DAPPS_OPI") if ours else ()
        flags = (*FLAGS, *extra, *wrapped(profile, ours))
        target = compile_with(compiler, [*app.sources(root), str(PROFILE)], work / series, mpi, flags)
        forms.append(Form(series, mpi, pinned(mpi, ranks, target, cpus, arguments)))
    return forms, sites


def results_of(text: str) -> str:
    """What a program printed but for its times."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().lower().startswith("time"))


_TOTAL = re.compile(r"^time total: ([0-9.]+)", re.MULTILINE)


def run_once(app: App, form: Form, ranks: int, work: Path) -> tuple[Times, str]:
    """One run, and its results. The total time is what the program prints as such, else from MPI_Init's end to
    MPI_Finalize. Raises LaunchError when the program fails."""
    trace = work / "trace"
    done = captured(form.command, form.mpi, timeout_s=TIMEOUT_S, extra={"OPI_BENCH_TRACE": str(trace)})
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-2000:]
        raise LaunchError(f"{app.name}, {form.series}, {ranks} ranks: exit code {done.returncode}\n{said}", 1)
    times = times_of([read_trace(trace.with_name(f"trace.{rank}")) for rank in range(ranks)])
    told = _TOTAL.search(done.stdout)
    if told:
        times = Times(float(told.group(1)), times.communication, times.waiting)
    return times, results_of(done.stdout)


def protocols(form: Form, work: Path) -> dict[str, float]:
    """Percent of messages by the way they went, in a run of their own with OPI_PROFILE. Raises LaunchError."""
    file = work / "profile.json"
    done = captured(form.command, form.mpi, timeout_s=TIMEOUT_S, extra={"OPI_PROFILE": str(file)})
    if done.returncode != 0:
        raise LaunchError(f"{form.series} with OPI_PROFILE: exit code {done.returncode}\n{done.stderr[-2000:]}", 1)
    counts = {name: count for name, (count, _) in ways(json.loads(file.read_text(encoding="utf-8"))).items()}
    return {name: 100.0 * count / sum(counts.values()) for name, count in counts.items()}


@dataclass(frozen=True, slots=True)
class Effort:
    """What is run."""

    ranks: int = 2
    rounds: int = ROUNDS
    quick: bool = False
    """Small problems, one round."""
    kernel_class: str = "A"
    """Of the NAS kernels, unless it is quick."""
    shared_heap: bool = False
    """Our forms take malloc from the shared heap."""

    def arguments(self, app: App) -> tuple[str, ...]:
        if self.quick:
            return app.quick
        return (self.kernel_class, *app.full[1:]) if app.kernel else app.full


def measure(app: App, mpis: Sequence[Mpi], effort: Effort, work: Path) -> AppResult:
    """Builds and runs one program. Raises LaunchError when a run fails or the forms disagree."""
    ranks = effort.ranks
    if app.square and round(ranks**0.5) ** 2 != ranks:
        ranks = next(n * n for n in range(1, ranks + 1) if n * n >= ranks)
    arguments = effort.arguments(app)
    forms, sites = build(app, mpis, ranks, arguments, work, effort.shared_heap)
    found: list[list[Times]] = [[] for _ in forms]
    first: str | None = None
    for number in range(1 if effort.quick else effort.rounds):
        for turn in range(len(forms)):
            index = (number + turn) % len(forms)
            times, results = run_once(app, forms[index], ranks, work)
            if first is None:
                first = results
            elif results != first:
                said = f"--- first\n{first}\n--- this\n{results}"
                raise LaunchError(f"{app.name} on {ranks} ranks: {forms[index].series} prints other results\n{said}", 1)
            found[index].append(times)
    ways = {form.series: protocols(form, work) for form in forms if form.series in ("libopi", "opi")}
    return AppResult(
        app.name,
        " ".join(arguments),
        ranks,
        tuple(
            FormTimes(form.series, form.mpi.kind, tuple(times), ways.get(form.series, {}))
            for form, times in zip(forms, found, strict=True)
        ),
        sites,
    )


def run(
    names: Iterable[str], mpis: Sequence[Mpi], effort: Effort, work: Path, say: Callable[[str], None]
) -> list[AppResult]:
    """The named programs, all where none is named. Raises LaunchError."""
    known = {app.name: app for app in available()}
    if not known:
        raise LaunchError("the programs that apps runs are not installed, they come with a checkout (testdata/)", 2)
    chosen = list(names) or list(known)
    for name in chosen:
        if name not in known:
            raise LaunchError(f"no program {name}; there are {', '.join(known)}", 2)
    done: list[AppResult] = []
    for name in chosen:
        say(f"apps: {name}")
        done.append(measure(known[name], mpis, effort, work / name))
    return done
