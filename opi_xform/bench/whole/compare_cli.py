"""The command line of `opi-bench compare`."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.bench.rounds import machine_line
from opi_xform.bench.whole import compare, compare_report
from opi_xform.bench.whole.compare import Effort
from opi_xform.launch.executable import resolve
from opi_xform.launch.mpi import LaunchError, Mpi, inspect_mpi

DESCRIPTION = """\
What libopi and opi-xform gain on a program: it runs as plain MPI by each MPI found, linked with libopi, and
transformed, in alternating runs, and all must print the same.

  opi-bench compare src/*.c --flags "-O3 -Iinclude -lm" -n 4 -- ARGUMENTS
      builds every form from the sources (files or directories)
  opi-bench compare ./plain ./transformed -- ARGUMENTS
      runs what mpicc and opicc have built, both by the same MPI
  opi-bench compare ./plain -- ARGUMENTS
      runs it alone, and with libopi loaded before its MPI"""
EPILOG = """\
Exit code: 0; 1 when a run failed or a form printed something else; 2 for bad usage or a failed build."""
DEFAULT_FLAGS = "-O2"


USAGE = "opi-bench compare [options] PLAIN [TRANSFORMED] | SOURCE... [-- ARGUMENTS]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """All of `compare`."""
    parser.description, parser.epilog, parser.usage = DESCRIPTION, EPILOG, USAGE
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", metavar="PLAIN|SOURCE", nargs="+", help="one or two programs, or the sources of one")
    parser.add_argument("-n", "--ranks", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--rounds", type=int, default=5, metavar="K", help="runs of each form (5, the least that tell)")
    parser.add_argument("--flags", metavar="FLAGS", help=f"of the compiler and the linker, one word ({DEFAULT_FLAGS})")
    parser.add_argument(
        "--mpi", action="append", metavar="MPICC", help="an MPI's mpicc; again for more; libopi is over the first"
    )
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="run the programs there (here)")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="seconds that a run may take (600)")
    parser.add_argument(
        "--ignore-lines", action="append", default=[], metavar="REGEX", help="lines of output that may differ"
    )
    parser.add_argument("--no-pin", action="store_true", help="do not bind each rank to a processor")
    parser.add_argument("--shared-heap", action="store_true", help="our forms take malloc from the shared heap")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result as JSON")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="write a picture: .png, .svg, .pdf (needs matplotlib)"
    )


TAKES_FLAGS = ("--flags", "--ignore-lines")
"""Their values may begin with a dash, which argparse takes for an option of its own."""


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The command's own arguments, and those of the program: what follows the first `--`."""
    at = list(arguments).index("--") if "--" in arguments else len(arguments)
    own: list[str] = []
    for argument in arguments[:at]:
        if own and own[-1] in TAKES_FLAGS:
            own[-1] += f"={argument}"
        else:
            own.append(argument)
    return own, list(arguments[at + 1 :])


def effort_of(options: argparse.Namespace, arguments: Sequence[str]) -> Effort:
    """Raises LaunchError for what makes no sense."""
    for name, value in (("-n", options.ranks), ("--rounds", options.rounds), ("--timeout", options.timeout)):
        if value <= 0:
            raise LaunchError(f"{name} {value:g}: a number above 0 is wanted", 2)
    if options.cwd is not None and not options.cwd.is_dir():
        raise LaunchError(f"--cwd {options.cwd}: no such directory", 2)
    ignored = []
    for text in options.ignore_lines:
        try:
            ignored.append(re.compile(text))
        except re.error as error:
            raise LaunchError(f"--ignore-lines {text}: no regular expression: {error}", 2) from error
    return Effort(
        options.ranks, options.rounds, tuple(arguments), options.cwd, options.timeout, not options.no_pin,
        options.shared_heap, tuple(ignored),
    )  # fmt: skip


def mpis_of(named: Sequence[str] | None, installed: Callable[[], list[Mpi]]) -> list[Mpi]:
    """Those that were named, else those found. Raises LaunchError."""
    if not named:
        return installed()
    found: dict[str, Mpi] = {}
    for name in named:
        path = shutil.which(name)
        if path is None:
            raise LaunchError(f"--mpi {name}: no such command; the mpicc of an MPI is wanted", 2)
        mpi = inspect_mpi(Path(path).absolute())
        if mpi.kind in found:
            raise LaunchError(f"--mpi {name}: {mpi.kind} again; one of each kind can be compared", 2)
        found[mpi.kind] = mpi
    return list(found.values())


def is_source(word: str) -> bool:
    """Whether it stands for sources, not for a program."""
    return Path(word).is_dir() or Path(word).suffix == ".c"


@dataclass(frozen=True, slots=True)
class Told:
    """What came out, and the machine it came out on."""

    comparison: compare.Comparison
    machine: str


def run(
    options: argparse.Namespace,
    arguments: Sequence[str],
    installed: Callable[[], list[Mpi]],
    say: Callable[[str], None],
) -> Told:
    """Builds and runs. Raises LaunchError."""
    effort = effort_of(options, arguments)
    words: list[str] = options.what
    built = [word for word in words if not is_source(word)]
    if built and len(built) < len(words):
        raise LaunchError(f"{built[0]}: not a .c file; name either programs or sources", 2)
    if len(built) > 2:
        raise LaunchError(f"{built[2]}: two programs at most, the plain and the transformed one; "
                          "the program's own arguments follow --", 2)  # fmt: skip
    missing = next((word for word in built[1:] if resolve(word) is None), None)
    if missing is not None:
        raise LaunchError(f"{missing}: no such program; the program's own arguments follow --", 2)
    if built and options.flags is not None:
        raise LaunchError("--flags: goes with sources, programs are built already", 2)
    with tempfile.TemporaryDirectory(prefix="opi-bench-") as name:
        work = Path(name)
        if built:
            named = mpis_of(options.mpi, installed) if options.mpi else []
            forms = compare.from_programs(built[0], built[1] if len(built) > 1 else None, effort, work, named)
            sites, flags = None, []
        else:
            flags = shlex.split(DEFAULT_FLAGS if options.flags is None else options.flags)
            mpis = mpis_of(options.mpi, installed)
            forms, sites = compare.from_sources(compare.sources_of(words), flags, mpis, effort, work, say)
        what = compare.program_of(words, effort)
        found = compare.measure(forms, sites, what, effort, work, say)
    used = list({form.mpi.kind: form.mpi for form in forms}.values())
    return Told(found, machine_line(used, flags).rstrip(", "))


def finish(told: Told, json_file: Path | None, plot_file: Path | None) -> int:
    """Prints and writes; the exit code."""
    print(compare_report.text_of(told.comparison, told.machine))
    if json_file is not None:
        json_file.write_text(compare_report.as_json(told.comparison, told.machine), encoding="utf-8")
    if plot_file is not None:
        compare_report.save_plot(told.comparison, told.machine, plot_file)
    return int(told.comparison.wrong)
