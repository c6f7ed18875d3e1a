"""One run of opi-xform: sources -> units -> plan -> new files -> self-check -> what was asked for."""

from __future__ import annotations

import gc
import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opi_xform.cli.annotations import Annotation, find_annotations, judge
from opi_xform.cli.build_flags import BuildFlags, build_flags, include_directories
from opi_xform.cli.inputs import collect_sources, common_root
from opi_xform.cli.knowledge import CONFIGURATION, configuration, told
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import SELF_CHECK, Failure, Problem, exit_code, fail
from opi_xform.cli.parsing import Job, parse_sources
from opi_xform.cli.progress import Progress
from opi_xform.cli.terminal import print_bytes, print_error, print_lines, width_of
from opi_xform.frontend import FrontendError, parse_outline
from opi_xform.ir.ast import Diagnostic, Function, Unit
from opi_xform.ir.same import same
from opi_xform.ownership.model import Options as AnalysisOptions
from opi_xform.ownership.plan import Edit, Plan
from opi_xform.program.driver import analyse
from opi_xform.program.effects_table import EffectsError
from opi_xform.report.diff import unified_diff
from opi_xform.report.json import report_json
from opi_xform.report.text import Line, summary_line, table
from opi_xform.rewrite.apply import obstacle, place_of, rewrite
from opi_xform.rewrite.errors import PlanError
from opi_xform.rewrite.selfcheck import self_check
from opi_xform.rewrite.sources import Sources
from opi_xform.rewrite.write import OutputError, OutputFile, in_place, mirror, write_all


@dataclass(frozen=True, slots=True)
class Result:
    """A program analysed and rewritten, not yet written anywhere.  ``changed``: new contents by name in ``sources``."""

    root: str
    units: tuple[Unit, ...]
    plan: Plan
    sources: Sources
    changed: dict[str, bytes]
    annotations: tuple[Annotation, ...]
    warnings: tuple[Diagnostic, ...]


def shown(path: str) -> str:
    """A file's name for people and programs: relative to the working directory."""
    return os.path.relpath(path) if path else ""


def run(options: Options, progress: Progress) -> int:
    """The exit code of a whole run.  Raises Failure."""
    collecting = gc.isenabled()
    gc.disable()  # nearly all that is made lives to the end, in no cycles: looking for some costs half the time
    try:
        return _run(options, progress)
    finally:
        if collecting:
            gc.enable()


def _run(options: Options, progress: Progress) -> int:
    result = transform(options, progress)
    with progress.phase("output"):
        outputs = _outputs(options, result)
        findings = _findings(options, result, outputs) if options.check else []
        written = () if options.check else _write(outputs)
    progress.close()
    _report(options, result, findings, written)
    return exit_code(len(findings))


def transform(options: Options, progress: Progress) -> Result:
    """Everything up to the checked new contents.  Raises Failure."""
    sources = Sources()
    paths = collect_sources(options)
    root = common_root(paths, options)
    try:
        flags = build_flags(options, paths, root)
    except FrontendError as error:
        raise fail(f"{error.message}; check -p", shown(error.file), error.line) from error
    with progress.phase("parse", len(paths)):
        units = _parse(paths, flags, options, progress)
    _require_unchanged(units, sources)
    _require_one_program(units)
    files = {sources.name(path): path for path in _program_files(units, root)}
    annotations = tuple(
        annotation for name in sorted(files) for annotation in find_annotations(name, sources.data(name))
    )
    with progress.phase("analyse"):
        known = AnalysisOptions(
            options.strict, root, configuration(), _obstacle(root, sources), tuple(told(annotations, files))
        )
        try:
            plan = analyse(units, known, progress.part)
        except EffectsError as error:
            raise fail(f"{error}; see docs/effects.md", CONFIGURATION) from error
    with progress.phase("rewrite"):
        try:
            changed = dict(rewrite(plan, sources).changed)
        except PlanError as error:
            raise _rejected(shown(error.span.file), error.span.line, error.reason) from error
    with progress.phase("self-check", len(paths)):
        _self_check(units, flags, changed, sources, options)
    warnings = _warnings(units)
    if options.output is not None:
        warnings += _left_out(units, flags, root)
    return Result(root, units, plan, sources, changed, annotations, warnings)


def _parse(paths: Sequence[str], flags: BuildFlags, options: Options, progress: Progress) -> tuple[Unit, ...]:
    jobs: list[Job] = [(path, flags.of(path)) for path in paths]
    units: list[Unit] = []
    problems: list[Problem] = []
    for result in parse_sources(jobs, options.jobs, progress.step):
        if isinstance(result, FrontendError):
            problems.append(Problem(_advice(result.message), shown(result.file), result.line, code="OPI901"))
        else:
            units.append(result)
            problems += [
                Problem(_advice(d.message), shown(d.file), d.line, code="OPI901")
                for d in result.diagnostics
                if d.severity == "error"
            ]
    if problems:
        raise Failure(dict.fromkeys(problems))
    return tuple(units)


def _advice(message: str) -> str:
    """What to do about a message of the front end that says nothing of it."""
    if ";" in message:
        return message
    if "file not found" in message:
        return f"{message}; name its directory after --, as in `opi-xform FILES -- -Iinclude`, or use -p"
    return f"{message}; the file must compile before it can be analysed"


def _require_unchanged(units: Sequence[Unit], sources: Sources) -> None:
    """Spans count bytes of what was parsed.  Raises Failure when a file changed since, or cannot be read any more."""
    for unit in units:
        for file, digest in unit.files.items():
            try:
                same = hashlib.sha256(sources.data(file)).hexdigest() == digest
            except OSError as error:
                raise fail(f"cannot be read ({error.strerror}); check it and run again", shown(file)) from error
            if not same:
                raise fail("changed while it was being read; run again", shown(file))


def _require_one_program(units: Sequence[Unit]) -> None:
    """Raises Failure when two files define one function: what is known of a program would hold for neither.

    A header's definition is one as long as every file makes the same of it.
    """
    known: dict[str, Function] = {}
    problems = []
    for unit in units:
        for key, function in unit.functions.items():
            other = known.setdefault(key, function)
            if function.static or same(function, other):
                continue
            place = f"{shown(other.span.file)}:{other.span.line}"
            message = f"{function.name} is also defined at {place}; give the files of one program at a time"
            if (other.span.file, other.span.begin) == (function.span.file, function.span.begin):
                message = f"{function.name} is not the same in every file that includes it; make it static"
            problems.append(Problem(message, shown(function.span.file), function.span.line))
    if problems:
        raise Failure(dict.fromkeys(problems))


def _obstacle(root: str, sources: Sources) -> Callable[[Edit], str]:
    """Why an edit cannot be made, for the analyses to keep its site: outside the root, or written by a macro, say."""

    def reason(edit: Edit) -> str:
        file = sources.name(place_of(edit).file)
        if not _below(file, root):
            return f"{shown(file)} lies outside {shown(root)}; --root DIR widens what may be edited"
        return obstacle(edit, sources)

    return reason


def _self_check(
    units: Sequence[Unit], flags: BuildFlags, changed: dict[str, bytes], sources: Sources, options: Options
) -> None:
    def parse(jobs: Sequence[Job]) -> list[Unit | FrontendError]:
        return parse_sources(jobs, options.jobs, lambda: None, parse_outline)

    try:
        rejected = self_check(units, flags.of, changed, sources, parse)
    except OSError as error:
        raise fail(f"the self-check needs a temporary directory ({error.strerror or error}); set TMPDIR") from error
    if rejected:
        raise Failure(
            [
                Problem(_rejection(r.message), shown(r.file), r.line, code="OPI903")
                for r in rejected
            ],
            SELF_CHECK,
        )  # fmt: skip


def _rejection(message: str) -> str:
    return f"the transformed program fails its self-check: {message}; nothing was written, please report it"


def _rejected(file: str, line: int, message: str) -> Failure:
    return fail(_rejection(message), file, line, code="OPI903", exit_code=SELF_CHECK)


def _program_files(units: Sequence[Unit], root: str) -> list[str]:
    """The sources, and the headers under the root that they read."""
    files = {file for unit in units for file in (unit.path, *unit.files)}
    return sorted(file for file in files if _below(file, root))


# --- what was asked for -----------------------------------------------------------------------------------------------


def _outputs(options: Options, result: Result) -> tuple[OutputFile, ...]:
    """The files that -o or -i would write."""
    try:
        if options.output is not None:
            files = [*_program_files(result.units, result.root), *result.changed]
            return mirror(options.output, result.root, files, result.changed, result.sources)
        return in_place(result.changed) if options.in_place else ()
    except OutputError as error:
        raise _output_failure(error) from error


def _write(outputs: Sequence[OutputFile]) -> tuple[str, ...]:
    try:
        return write_all(outputs)
    except OutputError as error:
        raise _output_failure(error) from error


def _output_failure(error: OutputError) -> Failure:
    return fail(error.reason, shown(error.path), code="OPI904")


def _findings(options: Options, result: Result, outputs: Sequence[OutputFile]) -> list[Problem]:
    """What --check has to say: outputs that are out of date, expectations unmet, suppressions unused."""
    found = [problem for output in outputs if (problem := _out_of_date(output, options)) is not None]
    for verdict in judge(result.annotations, result.plan.decisions, result.sources, result.plan.diagnostics):
        found.append(Problem(verdict.message, shown(verdict.file), verdict.line, "finding"))
    return found


def _out_of_date(output: OutputFile, options: Options) -> Problem | None:
    again = "opi-xform -i" if options.in_place else f"opi-xform -o {options.output}"
    try:
        with open(output.target, "rb") as stream:
            present = stream.read()
    except FileNotFoundError:
        return Problem(f"out of date: the file is missing; run {again}", shown(output.target), 0, "finding")
    except OSError as error:
        raise fail(f"cannot be read ({error.strerror}); check -o", shown(output.target), code="OPI904") from error
    if present == output.data:
        return None
    old, new = present.split(b"\n"), output.data.split(b"\n")
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    wanted = new[same].decode("utf-8", "replace").strip() if same < len(new) else "the end of the file"
    return Problem(f"out of date: here should be `{wanted}`; run {again}", shown(output.target), same + 1, "finding")


def _report(options: Options, result: Result, findings: Sequence[Problem], written: Sequence[str]) -> None:
    """The diff on stdout where there is one, the table beside it; JSON alone on stdout, findings then on stderr."""
    for warning in result.warnings:
        print_error(str(Problem(warning.message, shown(warning.file), warning.line, warning.severity, "OPI905")))
    if options.format == "json":
        print_bytes(report_json(result.plan, result.warnings, shown).encode("ascii"), sys.stdout)
        for finding in findings:
            print_error(str(finding))
        return
    stream = sys.stderr if options.shows_diff else sys.stdout
    lines = table(result.plan, shown, width_of(stream))
    lines += [Line(str(finding), "finding") for finding in findings]
    lines.append(Line(summary_line(result.plan), "head"))
    if options.output is not None or options.in_place or options.check:
        lines.append(Line(_written_line(options, findings, written)))
    print_lines(lines, stream)
    if options.shows_diff:
        print_bytes(_diff(result), sys.stdout)


def _written_line(options: Options, findings: Sequence[Problem], written: Sequence[str]) -> str:
    if options.check:
        return f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}; nothing was written"
    where = "in place" if options.in_place else f"to {options.output}"
    return f"{len(written)} {'file' if len(written) == 1 else 'files'} written {where}"


def _warnings(units: Sequence[Unit]) -> tuple[Diagnostic, ...]:
    found = {diagnostic for unit in units for diagnostic in unit.diagnostics if diagnostic.severity != "error"}
    return tuple(sorted(found, key=lambda d: (d.file, d.line, d.column, d.message)))


def _left_out(units: Sequence[Unit], flags: BuildFlags, root: str) -> tuple[Diagnostic, ...]:
    """Headers that -o does not copy and no include directory brings: its result would not find them."""
    missing = set()
    for unit in units:
        folders = [root, *include_directories(flags.of(unit.path))]
        missing |= {file for file in unit.files if not any(_below(file, folder) for folder in folders)}
    message = "this header is outside what -o copies, the result will not find it; --root DIR widens that"
    return tuple(Diagnostic("warning", file, 1, 1, message) for file in sorted(missing))


def _below(file: str, folder: str) -> bool:
    return os.path.commonpath([os.path.realpath(folder), os.path.realpath(file)]) == os.path.realpath(folder)


def _diff(result: Result) -> bytes:
    """Names are relative to the working directory, so that ``patch -p1`` there finds them; else to the root."""
    names = sorted(result.changed)
    outside = any(os.path.relpath(name).startswith(os.pardir) for name in names)
    base = result.root if outside else os.getcwd()
    return unified_diff(
        (os.path.relpath(name, base), result.sources.data(name), result.changed[name]) for name in names
    )
