"""The arguments of opi-xform as one value."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from opi_xform.cli.arguments import apart, bytes_of
from opi_xform.cli.outcome import fail
from opi_xform.cli.terminal import print_bytes
from opi_xform.record import dataclass
from opi_xform.report.choice import Choice, UnknownCodeError, codes_of, meant

_USAGE = "opi-xform [paths…] [-o DIR | -i] [--check] [--diff] [options] [-Iinclude -DN=1 …] [-- compiler flags]"
_EPILOG = """\
Without -o and -i nothing is written: a unified diff goes to stdout, the table of sites to stderr.
Without paths the sources are those of -p, or of the opi.toml here or above, whose output is written, too.
Exit status: 0 clean; 1 --check found something; 2 bad usage, unreadable input or a parse error; 123 the result failed
its self-check (nothing is written).  Every code in the table has a page: opi-xform --explain OPI101.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for.

    flags: those of the compiler; None where the command line had none, and no ``--``.  select, ignore: beginnings of
    codes; None, as of ``min_bytes``, where the command line says nothing.  usual_build: the ``build-dir`` of opi.toml,
    whose flags serve the files that it lists.
    """

    paths: tuple[str, ...]
    output: str | None = None
    index: str | None = None
    in_place: bool = False
    force: bool = False
    check: bool = False
    diff: bool = False
    build_dir: str | None = None
    format: str = "text"
    strict: bool = False
    root: str | None = None
    jobs: int = 1
    verbose: bool = False
    baseline: str | None = None
    write_baseline: str | None = None
    report: str | None = None
    profiles: tuple[str, ...] = ()
    advise: bool = False
    fix: str | None = None
    export_fixes: str | None = None
    explain: str | None = None
    completion: str | None = None
    manual: bool = False
    privatize: str | None = None
    version: bool = False
    flags: tuple[str, ...] | None = None
    quiet: bool = False
    statistics: bool = False
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    min_bytes: int | None = None
    usual_build: str | None = None

    @property
    def choice(self) -> Choice:
        """The codes that are shown and counted."""
        return Choice(self.select, self.ignore or ())

    @property
    def shows_diff(self) -> bool:
        """A diff is asked for, or is what happens when nothing else is."""
        files = (self.output, self.index, self.write_baseline, self.report, self.export_fixes)
        asked = any(files) or self.in_place or self.check or self.advise or self.statistics or self.format != "text"
        return self.diff or not asked


class _Parser(argparse.ArgumentParser):
    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As usual; of an option that there is not, the nearest is told."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            near = meant(rest[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(rest)}" + (f"; {near}" if near else ""))
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = meant(str(value), [str(choice) for choice in action.choices or ()])
            raise argparse.ArgumentError(action, f"{error.message}{f'; {near}' if near else ''}") from error

    def error(self, message: str) -> NoReturn:
        raise fail(message if message.endswith("?") else f"{message}; see opi-xform --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """The help, whatever stdout can encode; a full disk is told."""
        print_bytes(message.encode(), file or sys.stderr)


def _known_options() -> set[str]:
    return set(parser()._option_string_actions)


def parse_arguments(arguments: Sequence[str]) -> Options:
    """The options of a command line.  Raises Failure for an unknown flag, a bad value or a contradiction."""
    own, flags = list(arguments), None
    if "--" in own:
        cut = own.index("--")
        own, flags = own[:cut], tuple(own[cut + 1 :])
        late = [word for word in flags if word.startswith("--") and word.partition("=")[0] in _known_options()]
        if late:
            raise fail(f"{late[0]} stands after --, where flags of the compiler stand; put it before --")
    try:
        own, before = apart(own)
    except ValueError as error:
        raise fail(f"{error}; see opi-xform --help") from error
    flags = flags if not before else (*before, *(flags or ()))
    own = ["--privatize=tls" if word == "--privatize" else word for word in own]  # a path may follow, which is no value
    found = parser().parse_args(own)
    options = Options(
        paths=tuple(found.paths),
        output=found.output,
        index=found.index,
        in_place=found.in_place,
        force=found.force,
        check=found.check,
        diff=found.diff,
        build_dir=found.build_dir,
        format=found.format,
        strict=found.strict,
        root=found.root,
        jobs=found.jobs or available_cpus(),
        verbose=found.verbose,
        baseline=found.baseline,
        write_baseline=found.write_baseline,
        report=found.report,
        profiles=tuple(found.profiles),
        advise=found.advise,
        fix=found.fix,
        export_fixes=found.export_fixes,
        explain=found.explain,
        completion=found.completion,
        manual=found.manual,
        privatize=found.privatize,
        version=found.version,
        flags=flags,
        quiet=found.quiet,
        statistics=found.statistics,
        select=found.select,
        ignore=found.ignore,
        min_bytes=found.min_bytes,
    )
    _check(options)
    return options


def available_cpus() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check(options: Options) -> None:
    if options.explain is not None or options.completion is not None or options.manual or options.version:
        return
    if sum((options.output is not None, options.in_place, options.index is not None)) > 1:
        raise fail("-o and -i exclude each other, and --index both; choose one")
    if "" in (options.output, options.index):
        raise fail(f"{'-o' if options.output == '' else '--index'} needs the name of a directory")
    if options.diff and options.format != "text":
        raise fail(f"--diff and --output-format {options.format} both want stdout; run them apart")
    if options.statistics and options.format not in ("text", "json"):
        raise fail(f"--output-format {options.format} has no place for --statistics; use text or json")
    if options.quiet and options.verbose:
        raise fail("-q and -v exclude each other; choose one")
    if options.baseline is not None and not options.check:
        raise fail("--baseline is what --check compares with; add --check, or use --write-baseline")
    if options.profiles and not (options.report or options.advise):
        raise fail("--profile is for --report and --advise; add one of them")
    if options.advise and options.format != "text":
        raise fail(f"--advise and --output-format {options.format} both want stdout; run them apart")
    if options.fix is not None:
        _check_fix(options)
    for name in ("baseline", "write_baseline", "report", "export_fixes"):
        if getattr(options, name) == "":
            raise fail(f"--{name.replace('_', '-')} needs the name of a file")
    if options.force and options.check:
        raise fail("--check writes nothing, so there is nothing to --force; drop one of them")


def _check_fix(options: Options) -> None:
    """--fix changes the program's own text: nothing that the transformed program is for goes with it."""
    if options.fix is not None and options.fix.endswith((".c", ".h")):  # a file that is taken for its value
        raise fail(f"--fix needs FILE:LINE, and {options.fix!r} names no line; say --fix {options.fix}:LINE")
    others = {
        "-o": options.output,
        "--index": options.index,
        "--check": options.check,
        "--advise": options.advise,
        "--report": options.report,
        "--write-baseline": options.write_baseline,
        "--export-fixes": options.export_fixes,
        "--privatize": options.privatize,
        "--statistics": options.statistics,
        f"--output-format {options.format}": options.format != "text",
    }
    wrong = next((name for name, value in others.items() if value), None)
    if wrong is not None:
        raise fail(f"--fix changes the program's own text, which has no {wrong}; run them apart")


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return int(text)


def _bytes(text: str) -> int:
    try:
        return bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


class _Codes(argparse.Action):
    """Codes, in one word with commas or in several options."""

    def __call__(self, _parser: Any, namespace: Any, values: Any, _option: Any = None) -> None:
        try:
            more = codes_of([values])
        except UnknownCodeError as error:
            raise argparse.ArgumentError(self, str(error)) from error
        setattr(namespace, self.dest, (*(getattr(namespace, self.dest) or ()), *more))


class _Once(argparse.Action):
    """A value that is given at most once."""

    def __call__(self, _parser: Any, namespace: Any, values: Any, _option: Any = None) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "one site at a time; give it once")
        setattr(namespace, self.dest, values)


def parser() -> argparse.ArgumentParser:
    """What reads the command line."""
    made = _Parser(
        prog="opi-xform",
        usage=_USAGE,
        description="Rewrites sends and receives of a C MPI program so that buffers change owner instead of being "
        "copied, wherever that is proved to be safe.",
        epilog=_EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("paths", nargs="*", metavar="path", help="C files, or directories of which every .c file is taken")
    add("-o", dest="output", metavar="DIR", help="write the transformed program, headers and untouched files, to DIR")
    add("--index", metavar="DIR", help="write to DIR what `opicc --transform` compiles in place of each source")
    add("-i", dest="in_place", action="store_true", help="edit the files in place")
    add("--force", action="store_true", help="with -o or --index: overwrite files in DIR that opi-xform did not write")
    add(
        "--check",
        action="store_true",
        help="do not transform; exit 1 when -o DIR is out of date, an `opi: expect` comment is unmet, an "
        "`opi: allow` comment is unused, or a site got worse than the baseline",
    )
    add("--diff", action="store_true", help="print a unified diff, also with -o, -i or --check")
    add(
        "-p",
        dest="build_dir",
        metavar="BUILD_DIR",
        help="take compiler flags, and without paths the sources, from BUILD_DIR/compile_commands.json",
    )
    add(
        "--output-format",
        dest="format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="the report: a table for people, one JSON object, SARIF 2.1.0, or annotations for GitHub's workflows",
    )
    add("--baseline", metavar="FILE", help="with --check: find what got worse since FILE was written")
    add("--write-baseline", metavar="FILE", help="write what --baseline compares with")
    add("--report", metavar="FILE.html", help="write a page that shows sites, buffers and edits in the sources")
    add(
        "--profile",
        dest="profiles",
        metavar="FILE.json",
        action="append",
        default=[],
        help="what OPI_PROFILE=FILE.json wrote, for --report and --advise; may be given several times",
    )
    add(
        "--advise",
        action="store_true",
        help="rank the sites that stay by the bytes they could save, with what to change",
    )
    add(
        "--select",
        action=_Codes,
        metavar="CODE[,CODE]",
        help="show and count the sites that stay, and what --check finds, of these codes only (OPI1: all that begin "
        "so); what is converted stays the same",
    )
    add(
        "--ignore",
        action=_Codes,
        metavar="CODE[,CODE]",
        help="do not show and count those of these codes; what is converted stays the same",
    )
    add("--statistics", action="store_true", help="count the sites by code and by call instead of listing them")
    add(
        "--min-bytes",
        type=_bytes,
        metavar="N",
        help="keep the calls whose messages are known to have fewer than N bytes (4096, 4K, 1M)",
    )
    add(
        "--fix",
        action=_Once,
        metavar="FILE:LINE",
        help="change the program's own text so that the site there converts, where that surely keeps what the program "
        "does: prints a diff, -i writes it",
    )
    add("--export-fixes", metavar="FILE.yaml", help="write the edits for clang-apply-replacements")
    add(
        "--privatize",
        nargs="?",
        const="tls",
        choices=("tls", "struct"),
        metavar="tls|struct",
        help="give each rank its own globals, for ranks that share a process: tls (for threads; the default) or "
        "struct (for threads and fibers)",
    )
    add("--strict", action="store_true", help="rest on no assumption (A1 to A7) and no user-supplied effect")
    add("--root", metavar="DIR", help="the directory that -o mirrors and edits may reach (default: the sources' own)")
    add("--explain", metavar="CODE", help="print what a code means and how to change the program; all: list the codes")
    words = "parse and judge with N processes (default: all processors)"
    add("-j", dest="jobs", type=_jobs, default=0, metavar="N", help=words)
    add("-q", dest="quiet", action="store_true", help="print errors, findings and what is asked for, nothing else")
    words = "time spent per phase, sites on which the two analyses disagree, and the traceback of an internal error"
    add("-v", dest="verbose", action="store_true", help=words)
    add("--completion", choices=("bash", "zsh", "fish"), help="print the completion script of a shell")
    add("--manual", action="store_true", help="print the manual page, for `man -l -`")
    add("--version", action="store_true", help="print the version, and those of what it stands on")
    return made
