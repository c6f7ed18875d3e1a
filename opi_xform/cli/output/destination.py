"""Where a run writes: what is there already, and what nobody wants overwritten."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from opi_xform import __version__
from opi_xform.cli.config import Configuration
from opi_xform.cli.inputs.build_flags import DATABASE
from opi_xform.cli.inputs.files import CPLUSPLUS, FORTRAN
from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Failure, Problem, fail
from opi_xform.file_names import standing
from opi_xform.ir.ast import Diagnostic, Unit
from opi_xform.rewrite.manifest import Kept, Program, new_manifest, read_kept, refused, stale
from opi_xform.rewrite.write import OutputError, OutputFile

_SOURCES = frozenset((".c", ".h", ".hh", ".hpp", ".hxx", *CPLUSPLUS, *FORTRAN))
_SHOWN = 10
"""So many files that stand in the way are named, and the others counted."""


def output_failure(error: OutputError) -> Failure:
    """An output that cannot be written, for the user."""
    return fail(error.reason, shown(error.path), code="OPI904")


def require_places(options: Options) -> None:
    """Raises Failure, before the analysis, when a report could not be written or would overwrite a source."""
    if options.force and options.output is None and options.index is None:
        raise fail("--force is for -o and --index; add one of them")
    for path in filter(None, (options.report, options.write_baseline, options.export_fixes)):
        folder = os.path.dirname(path) or os.curdir
        if os.path.isdir(path):
            raise fail("is a directory; name a file", shown(path), code="OPI904")
        if not os.path.isdir(folder) and not _to_be_made(folder, options):
            raise fail(f"the directory {shown(folder)} does not exist; make it first", shown(path), code="OPI904")
        if os.path.splitext(path)[1] in _SOURCES:
            raise fail("is the name of a source; give the report another one", shown(path), code="OPI904")


def _to_be_made(folder: str, options: Options) -> bool:
    """Whether -o or --index may make the folder."""
    tops = [os.path.realpath(top) for top in (options.output, options.index) if top is not None and not options.check]
    return any(os.path.realpath(folder) == top for top in tops)


def read_by(units: Sequence[Unit], options: Options, known: Configuration) -> tuple[str, ...]:
    """Every file that the run reads: sources, headers, and what says how."""
    files = {file for unit in units for file in (unit.path, *unit.files)}
    files |= {os.path.realpath(str(file)) for file in (known.path, options.baseline) if file is not None}
    files |= set(options.profiles)
    if options.build_dir is not None:
        inside = os.path.join(options.build_dir, DATABASE)
        files.add(inside if os.path.isdir(options.build_dir) else options.build_dir)
    return tuple(sorted(files))


def require_apart(reports: Iterable[OutputFile], outputs: Iterable[OutputFile], program: Iterable[str]) -> None:
    """Raises Failure when a report would overwrite what was read, by whatever name, or what else is written."""
    taken = {os.path.realpath(name) for name in (*program, *(output.target for output in outputs))}
    marks = {mark for name in taken if (mark := _identity(name)) is not None}
    for report in reports:
        target = os.path.realpath(report.target)
        if target in taken or _identity(target) in marks:
            raise fail("is used for something else already; name another file", shown(report.target), code="OPI904")
        taken.add(target)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def earlier(options: Options) -> Kept | None:
    """What earlier runs wrote to the directory of -o or --index; None without one.  Raises Failure."""
    folder = options.output if options.output is not None else options.index
    try:
        return None if folder is None else read_kept(folder)
    except OutputError as error:
        raise output_failure(error) from error


def made_of(paths: Iterable[str], units: Sequence[Unit]) -> Program:
    """The program of a run, as a manifest tells it."""
    mains = (standing(unit.path) for unit in units if any(f.name == "main" for f in unit.functions.values()))
    return Program(frozenset(standing(path) for path in paths), next(mains, ""))


def beside_earlier(
    kept: Kept, outputs: Sequence[OutputFile], program: Sequence[str], made: Program, options: Options
) -> tuple[tuple[OutputFile, ...], list[str], tuple[Diagnostic, ...]]:
    """What to write, with the manifest; what to remove; and what is out of date but was edited, as warnings.

    program: all that the run reads.  Raises Failure for files that the run may not overwrite.
    """
    wrong = refused(kept, outputs, program, made, options.force)
    if wrong:
        problems = [Problem(error.reason, shown(error.path), code="OPI904") for error in wrong[:_SHOWN]]
        if len(wrong) > _SHOWN:
            problems.append(
                Problem(f"{len(wrong) - _SHOWN} more files like these; nothing was written", kept.directory)
            )
        raise Failure(problems)
    old = stale(kept, outputs, program, made)
    message = "nothing in the sources makes this file any more, but it was edited since it was written; remove it"
    left = tuple(Diagnostic("warning", one.path, 0, 0, message) for one in old if one.edited)
    removed = [one.path for one in old if not one.edited]
    return (*outputs, new_manifest(kept, outputs, old, made, __version__)), removed, left
