"""One run of opi-xform: sources -> units -> plan -> new files -> self-check -> what was asked for."""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from opi_xform.cli import mending
from opi_xform.cli.config import Configuration, load_configuration
from opi_xform.cli.inputs.annotations import find_annotations
from opi_xform.cli.inputs.beside import notes
from opi_xform.cli.inputs.build_flags import BuildFlags, build_flags, include_directories
from opi_xform.cli.inputs.channels import with_channels
from opi_xform.cli.inputs.files import collect_sources, common_root, files_beside, foreign
from opi_xform.cli.inputs.knowledge import told
from opi_xform.cli.inputs.parsing import Job, parse_sources
from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.inputs.usual import with_configuration
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import SELF_CHECK, Failure, Problem, exit_code, fail
from opi_xform.cli.output.checks import findings, gained, load_baseline, with_remarks
from opi_xform.cli.output.destination import (
    beside_earlier,
    earlier,
    made_of,
    output_failure,
    read_by,
    require_apart,
    require_places,
)
from opi_xform.cli.output.facts import Facts
from opi_xform.cli.output.present import Result, present, present_fix, report_files
from opi_xform.cli.progress import Progress
from opi_xform.cli.terminal import print_error
from opi_xform.file_names import standing
from opi_xform.frontend import FrontendError, parse_once, parse_outline
from opi_xform.ir.ast import Diagnostic, Function, Unit, Units
from opi_xform.ir.walk import same
from opi_xform.launch.transform import MANIFEST, TREE, manifest
from opi_xform.ownership.model.plan import Edit, Plan
from opi_xform.report.finding import Finding
from opi_xform.resources import runtime_include_dir
from opi_xform.rewrite.apply import obstacle, place_of
from opi_xform.rewrite.header import header_name
from opi_xform.rewrite.manifest import NAME as kept_name
from opi_xform.rewrite.other_headers import other_headers
from opi_xform.rewrite.write import OutputError, OutputFile, in_place, mirror, write_all, written_before
from opi_xform.text.errors import PlanError
from opi_xform.text.sources import Sources

if TYPE_CHECKING:
    from opi_xform.ownership.model.buffers import Options as AnalysisOptions
    from opi_xform.pipeline import Decided, Given
    from opi_xform.report.profile import Run

# What only some runs need is imported where it is used: a short run spends much of its time on imports.

_NAMED = 3
"""So many programs of a build are named, and the others counted."""


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
    known = load_configuration()
    options = with_configuration(options, known)
    require_places(options)
    baseline = load_baseline(options)  # before the analysis: a wrong file is told at once
    runs = _profiles(options)
    result, units = transform(options, progress, known, runs)
    if result.facts.fixed is not None:
        fixed = replace(result, changed=dict(result.facts.fixed.texts))
        written = _write(_outputs(options, fixed, units))
        progress.close()
        present_fix(options, result, written)
        return exit_code(0)
    with progress.phase("output"):
        outputs = _outputs(options, result, units)
        kept = earlier(options)
        program, made = read_by(units, options, known), made_of(result.paths, units)
        found: list[Finding] = []
        if options.check:
            comments, facts = result.annotations, result.facts
            found = findings(
                options, result.plan, result.sources, comments, outputs, baseline, known, facts, kept, program, made
            )
            found = options.choice.findings(found)
        reports = report_files(options, result, found)
        require_apart(reports, outputs, program)
        removed: list[str] = []
        if not options.check and kept is not None:
            outputs, removed, left = beside_earlier(kept, outputs, program, made, options)
            result = replace(result, warnings=(*result.warnings, *left))
        written = _write([*(() if options.check else outputs), *reports], removed)
    progress.close()
    names = [report.target for report in reports]
    more = gained(options, result.plan, result.sources, baseline)
    mine = [name for name in written if name not in names and os.path.basename(name) != kept_name]
    try:
        present(options, result, found, mine, names, more, removed)
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(written_before(len(written))) if written else interrupt from None
    return exit_code(len(found))


def transform(
    options: Options, progress: Progress, known: Configuration, runs: Sequence[Run] = ()
) -> tuple[Result, tuple[Unit, ...]]:
    """Everything up to the checked new contents, and what was parsed.  Raises Failure."""
    mending.require_mpicc()
    sources = Sources()
    try:
        inputs = collect_sources(options)
        paths = inputs.sources
        root = common_root(paths, options)
        flags = build_flags(options, paths, root)
    except FrontendError as error:
        advice = "" if error.code else "; check -p"
        raise fail(f"{error.message}{advice}", shown(error.file), error.line, code=error.code) from error
    if not options.quiet:
        for note in notes(inputs, files_beside(options, paths), flags.names, flags.database, foreign(inputs.left)):
            print_error(str(note))
    with progress.phase("parse", len(paths)):
        units = _parse(paths, flags, options, progress)
    _require_unchanged(units, sources)
    _require_one_program(units, "" if options.paths else flags.database)
    files = {sources.name(path): path for path in _program_files(units, root)}
    annotations = tuple(
        annotation for name in sorted(files) for annotation in find_annotations(name, sources.data(name))
    )
    folders = tuple(dict.fromkeys(f for unit in units for f in include_directories(flags.of(unit.path))))
    from opi_xform import pipeline
    from opi_xform.effects.table import EffectsError
    from opi_xform.ownership.model.buffers import Options as AnalysisOptions

    entries = known.told(units)
    settings = AnalysisOptions(
        options.strict,
        root,
        known.path if known.effects else None,
        _obstacle(root, sources, options.in_place),
        (*told(annotations, files), *(one for _, one in entries)),
        options.jobs,
        header=header_name(units, folders, runtime_include_dir()),
        min_bytes=options.min_bytes or 0,
    )
    given = _given(units, flags, sources, settings, options)

    def judged(plan: Plan) -> Plan:
        plan = with_channels(annotations, known.judged(plan, entries), sources)
        return plan if options.check else with_remarks(plan, sources, annotations)

    try:
        if options.fix is None:
            found, changed = pipeline.run(given, judged, progress.phase, progress.part)
        else:
            found, changed = pipeline.decided(given, judged, progress.phase, progress.part), {}
    except EffectsError as error:
        raise known.wrong_effects(str(error)) from error
    except PlanError as error:
        raise _rejected(shown(error.span.file), error.span.line, error.reason) from error
    except pipeline.NoRoomError as error:
        raise fail(f"the self-check needs a temporary directory ({error}); set TMPDIR") from error
    except pipeline.RejectedError as error:
        problems = [Problem(_rejection(r.message), shown(r.file), r.line, code="OPI903") for r in error.rejected]
        raise Failure(problems, SELF_CHECK) from error
    plan, facts = found.plan, _facts(given, found, options, progress, runs)
    if options.fix is not None:
        from opi_xform.cli.output.fix import fixed

        with progress.phase("fix"):
            again = replace(pipeline.again(given), reasons=True)
            facts = replace(facts, fixed=fixed(options.fix, found.program, units, plan, again))
        return Result(root, paths, plan, sources, {}, annotations, _warnings(units), known, facts), units
    if options.privatize is not None:
        with progress.phase("privatize"):
            changed, plan, facts = _privatised(units, flags, changed, sources, options, root, plan, facts)
    warnings = _warnings(units)
    if options.output is not None or options.index is not None:
        warnings += _left_out(units, flags, root)
    return Result(root, paths, plan, sources, changed, annotations, warnings, known, facts, folders), units


def _privatised(
    units: Sequence[Unit],
    flags: BuildFlags,
    changed: dict[str, bytes],
    sources: Sources,
    options: Options,
    root: str,
    plan: Plan,
    facts: Facts,
) -> tuple[dict[str, bytes], Plan, Facts]:
    """The new contents with private variables, and what is decided of those."""
    from opi_xform.cli.output.private import privatised

    try:
        found = privatised(units, flags.of, changed, sources, options.privatize or "", root)
    except OSError as error:
        raise fail(f"--privatize needs a temporary directory ({error.strerror or error}); set TMPDIR") from error
    if not options.check:  # which finds them
        plan = replace(plan, diagnostics=(*plan.diagnostics, *found.remarks))
    return dict(found.changed), plan, replace(facts, variables=found.variables, hindrances=found.remarks)


def _given(
    units: Sequence[Unit], flags: BuildFlags, sources: Sources, settings: AnalysisOptions, options: Options
) -> Given:
    """What the pipeline works on, and how other texts of it are parsed."""
    from opi_xform.pipeline import Given

    def obstacle(top: str, files: Sources) -> Callable[[Edit], str]:
        return _obstacle(top, files, options.in_place)

    def parse(jobs: Sequence[Job]) -> list[Unit | FrontendError]:
        return parse_sources(jobs, options.jobs, lambda: None, parse_once)

    def outline(jobs: Sequence[Job]) -> list[Unit | FrontendError]:
        return parse_sources(jobs, options.jobs, lambda: None, parse_outline)

    return Given(units, sources, flags.of, settings, parse, outline, obstacle)


def _facts(given: Given, found: Decided, options: Options, progress: Progress, runs: Sequence[Run]) -> Facts:
    """What is found out for reports."""
    facts = Facts(tuple(runs))
    if found.program is None:
        return facts
    if options.report is not None or options.advise:
        from opi_xform.cli.output.explained import explained

        with progress.phase("explain"):
            facts = explained(found.program, found.plan, options, runs)
    if options.advise:
        from opi_xform.cli.output.fix import advised
        from opi_xform.pipeline import again

        with progress.phase("try changes"):
            fixes = advised(found.program, given.units, found.plan, replace(again(given), wordless=True))
            facts = replace(facts, fixes=fixes)
    return facts


def _profiles(options: Options) -> tuple[Run, ...]:
    if not options.profiles:
        return ()
    from opi_xform.cli.output.explained import load_profiles

    return load_profiles(options)


def _get_ready() -> None:
    """Brings the analysis along, which takes as long as the parsers take for a small program."""
    import opi_xform.pipeline  # noqa: F401  # loaded, no more
    from opi_xform.effects.table import EffectsError, read_shipped

    with suppress(EffectsError):  # it is told where the tables are needed
        read_shipped()


def _parse(paths: Sequence[str], flags: BuildFlags, options: Options, progress: Progress) -> tuple[Unit, ...]:
    jobs: list[Job] = [(path, flags.of(path)) for path in paths]
    units: list[Unit] = []
    problems: list[Problem] = []
    wrong = 0
    for result in parse_sources(jobs, options.jobs, progress.step, meanwhile=_get_ready):
        if isinstance(result, FrontendError):
            found = mending.problems(result)
        else:
            units.append(result)
            errors = (d for d in result.diagnostics if d.severity == "error")
            found = [mending.problem(d.message, d.file, d.line) for d in errors]
        problems += found
        wrong += bool(found)
    if problems:
        advice = [] if flags.database else mending.strays(wrong, len(paths))
        raise Failure([*mending.gathered(problems), *advice])
    return Units.of(units)


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


def _require_one_program(units: Sequence[Unit], database: str) -> None:
    """Raises Failure when two files define one function: what is known of a program would hold for neither.

    A header's definition is one as long as every file makes the same of it.  database: where the sources come from that
    nobody named.
    """
    mains = [shown(unit.path) for unit in units if any(f.name == "main" for f in unit.functions.values())]
    if database and len(mains) > 1:
        more = f" and {len(mains) - _NAMED} more" if len(mains) > _NAMED else ""
        message = f"compiles {len(mains)} programs, with main in {', '.join(mains[:_NAMED])}{more}"
        raise fail(f"{message}; name the sources of one, beside -p", shown(database), code="OPI902")
    known: dict[str, Function] = {}
    problems = []
    for unit in units:
        for key, function in unit.functions.items():
            other = known.setdefault(key, function)
            here = function.body.span == other.body.span  # with another macro in the place of `inline`, say
            if function.static or same(replace(function, span=other.span) if here else function, other):
                continue
            place = f"{shown(other.span.file)}:{other.span.line}"
            message = f"{function.name} is also defined at {place}; give the files of one program at a time"
            if here:
                message = f"{function.name} is not the same in every file that includes it; make it static"
            problems.append(Problem(message, shown(function.span.file), function.span.line))
    if problems:
        raise Failure(dict.fromkeys(problems))


def _obstacle(root: str, sources: Sources, in_place: bool) -> Callable[[Edit], str]:
    """Why an edit cannot be made, for the analyses to keep its site: outside the root, or written by a macro, say.

    in_place: the file that a link leads to is the one that is edited.
    """

    def reason(edit: Edit) -> str:
        file = sources.name(place_of(edit).file)
        if not _below(os.path.realpath(file) if in_place else file, root):
            return f"{shown(file)} lies outside {shown(root)}; --root DIR widens what may be edited"
        return obstacle(edit, sources)

    return reason


def _rejection(message: str) -> str:
    return f"the transformed program fails its self-check: {message}; nothing was written, please report it"


def _rejected(file: str, line: int, message: str) -> Failure:
    return fail(_rejection(message), file, line, code="OPI903", exit_code=SELF_CHECK)


def _program_files(units: Sequence[Unit], root: str) -> list[str]:
    """The sources, and the headers under the root that they read."""
    return sorted(file for file in _read(units) if _below(file, root))


def _read(units: Sequence[Unit]) -> set[str]:
    return {file for unit in units for file in (unit.path, *unit.files)}


# --- what was asked for -----------------------------------------------------------------------------------------------


def _written_files(units: Sequence[Unit], result: Result) -> list[str]:
    """The files of the program, and the headers that another compiler would read."""
    files = _program_files(units, result.root)
    return sorted([*files, *other_headers(files, result.folders, result.root, result.sources.data)])


def _outputs(options: Options, result: Result, units: Sequence[Unit]) -> tuple[OutputFile, ...]:
    """The files that -o or -i would write."""
    try:
        if options.output is not None:
            files = [*_written_files(units, result), *result.changed]
            return mirror(options.output, result.root, files, result.changed, result.sources)
        if options.index is not None:
            return _index(options.index, result, _written_files(units, result))
        return in_place(result.changed, result.sources, _read(units)) if options.in_place else ()
    except OutputError as error:
        raise output_failure(error) from error


def _index(folder: str, result: Result, files: Sequence[str]) -> tuple[OutputFile, ...]:
    """What ``opicc --transform`` takes: the program as -o writes it, and of what it was made."""
    sources = result.sources
    tree = mirror(os.path.join(folder, TREE), result.root, [*files, *result.changed], result.changed, sources)
    below = {os.path.relpath(sources.name(file), os.path.realpath(result.root)): file for file in files}
    digests = {name: hashlib.sha256(sources.data(file)).hexdigest() for name, file in below.items()}
    given = [os.path.relpath(sources.name(path), os.path.realpath(result.root)) for path in result.paths]
    known = manifest(os.path.realpath(result.root), digests, given)
    return (*tree, OutputFile(os.path.join(folder, MANIFEST), "", known))


def _write(outputs: Sequence[OutputFile], removed: Sequence[str] = ()) -> tuple[str, ...]:
    try:
        return write_all(outputs, removed)
    except OutputError as error:
        raise output_failure(error) from error


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
    return os.path.commonpath([os.path.realpath(folder), standing(file)]) == os.path.realpath(folder)
