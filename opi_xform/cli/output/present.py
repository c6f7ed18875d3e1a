"""What a run says: the diff, the table or the report on stdout, and the reports that go to files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from opi_xform import __version__
from opi_xform.cli.config import Configuration
from opi_xform.cli.inputs.annotations import Annotation, allowed
from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Problem, fail
from opi_xform.cli.output.checks import new_baseline
from opi_xform.cli.output.facts import Facts
from opi_xform.cli.terminal import print_bytes, print_error, print_lines, width_of
from opi_xform.ir.ast import Diagnostic
from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.record import dataclass
from opi_xform.report import baseline
from opi_xform.report.codes import DISAGREE
from opi_xform.report.finding import Finding
from opi_xform.report.formats.json import report_json, summary
from opi_xform.report.formats.text import Line, global_lines, note_lines, summary_line, table
from opi_xform.report.globals import GlobalDecision
from opi_xform.rewrite.write import OutputFile
from opi_xform.text.sources import Sources


@dataclass(frozen=True, slots=True)
class Result:
    """A program analysed and rewritten, not yet written anywhere.  ``changed``: new contents by name in ``sources``.

    paths: the sources in the order given.  folders: where their flags look for headers.
    """

    root: str
    paths: tuple[str, ...]
    plan: Plan
    sources: Sources
    changed: dict[str, bytes]
    annotations: tuple[Annotation, ...]
    warnings: tuple[Diagnostic, ...]
    configuration: Configuration
    facts: Facts
    folders: tuple[str, ...] = ()


def report_files(options: Options, result: Result, findings: Sequence[Finding]) -> list[OutputFile]:
    """The files that --write-baseline, --export-fixes and --report ask for.  Raises Failure."""
    files = []
    if options.write_baseline is not None:
        known = new_baseline(
            options.write_baseline,
            options,
            result.plan,
            result.sources,
            result.annotations,
            result.configuration,
            result.facts,
        )
        files.append(OutputFile(options.write_baseline, "", baseline.write(known)))
    if options.export_fixes is not None:
        files.append(OutputFile(options.export_fixes, "", _fixes(result)))
    if options.report is not None:
        from opi_xform.report.page.html import Known, html  # jinja2 takes a while to load

        sources, facts = result.sources, result.facts
        beside = Known(facts.lives, facts.runs, facts.variables, facts.weights, facts.functions)
        page = html(result.plan, result.changed, sources.name, sources.data, shown, __version__, beside)
        files.append(OutputFile(options.report, "", page.encode("utf-8")))
    return files


def present(
    options: Options,
    result: Result,
    findings: Sequence[Finding],
    written: Sequence[str],
    reports: Sequence[str],
    gained: int = 0,
    removed: Sequence[str] = (),
) -> None:
    """The diff on stdout where there is one, the table beside it; every other form alone on stdout.  ``gained``: the
    sites that convert and did not when the baseline was written.  ``removed``: files that were out of date."""
    if not options.choice.counts("OPI905"):
        result = replace(result, warnings=())
    for warning in () if options.quiet else result.warnings:
        print_error(str(Problem(warning.message, shown(warning.file), warning.line, warning.severity, "OPI905")))
    for d in result.plan.decisions if options.verbose else ():
        if DISAGREE in (d.code, d.form):
            message = d.message if d.code == DISAGREE else f"two analyses disagree; the call stays anyway: {d.message}"
            print_error(str(Problem(message, shown(d.span.file), d.span.line, "note", DISAGREE)))
    if options.format == "text":
        _present_text(options, result, findings, written, reports, gained, removed)
        return
    print_bytes(_FORMS[options.format](result, findings, options).encode("utf-8"), sys.stdout)
    for finding in findings:
        print_error(str(_problem(finding)))


def present_fix(options: Options, result: Result, written: Sequence[str]) -> None:
    """The change of --fix as a diff on stdout; what it does beside it."""
    fixed = result.facts.fixed
    assert fixed is not None
    d = fixed.decision
    print_bytes(_diff(result, fixed.texts), sys.stdout)
    if options.quiet:
        return
    where = f"{shown(d.span.file)}:{d.span.line}"
    lines = [Line(f"{where}: {d.call} of {d.buffer} converts with {fixed.change.words}", "head")]
    lines += [Line(f"{shown(o.span.file)}:{o.span.line}: {o.call} of {o.buffer} stays then") for o in fixed.lost]
    lines += [Line(f"{shown(name)} written") for name in written] or [Line("nothing was written; -i writes it")]
    print_lines(lines, sys.stderr)


def _present_text(
    options: Options,
    result: Result,
    findings: Sequence[Finding],
    written: Sequence[str],
    reports: Sequence[str],
    gained: int,
    removed: Sequence[str],
) -> None:
    if options.advise:
        print_lines(_advice(replace(result, plan=options.choice.plan(result.plan))), sys.stdout)
    stream = sys.stderr if options.shows_diff or options.advise else sys.stdout
    lines = _sites(options, result, width_of(stream))
    for finding in findings:
        lines.append(Line(str(_problem(finding)), "finding"))
        lines += note_lines(finding.notes, shown)
    if not options.quiet:
        lines += _ending(options, result, findings, written, reports, gained, removed)
    print_lines(lines, stream)
    if options.shows_diff:
        print_bytes(_diff(result, result.changed), sys.stdout)


def _sites(options: Options, result: Result, width: int) -> list[Line]:
    """The table of sites, or their numbers; nothing with -q, where the numbers were not asked for."""
    seen = options.choice.plan(result.plan)
    if options.statistics:
        from opi_xform.report.statistics import statistics_lines

        return statistics_lines(seen, result.plan)
    if options.quiet:
        return []
    variables = _chosen_variables(options, result)
    return [*table(seen, shown, width), *global_lines(variables, shown)]


def _chosen_variables(options: Options, result: Result) -> list[GlobalDecision]:
    """Those that are shown: of the refused ones, those whose code is."""
    return [v for v in result.facts.variables if v.decision != "refused" or options.choice.counts(v.code)]


def _ending(
    options: Options,
    result: Result,
    findings: Sequence[Finding],
    written: Sequence[str],
    reports: Sequence[str],
    gained: int,
    removed: Sequence[str],
) -> list[Line]:
    """What there is in all, and what was written."""
    lines = []
    hidden = options.choice.hidden(result.plan)
    if hidden:
        sites = "site is" if hidden == 1 else "sites are"
        lines.append(Line(f"{hidden} {sites} not shown, by --select or --ignore", "note"))
    lines.append(Line(summary_line(result.plan), "head"))
    if options.output is not None or options.index is not None or options.in_place or options.check:
        lines.append(Line(_written_line(options, findings, written)))
    lines += [Line(f"{shown(name)} removed: nothing in the sources makes it any more") for name in removed]
    if gained:
        sites = "1 site converts" if gained == 1 else f"{gained} sites convert"
        lines.append(Line(f"{sites} that did not when {shown(options.baseline or '')} was written; write it again"))
    lines += [Line(f"{shown(name)} written") for name in reports]
    return lines


def _problem(finding: Finding) -> Problem:
    return Problem(finding.message, shown(finding.file), finding.line, "finding", finding.code)


def _written_line(options: Options, findings: Sequence[Finding], written: Sequence[str]) -> str:
    if options.check:
        return f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}; nothing was written"
    where = "in place" if options.in_place else f"to {options.output or options.index}"
    return f"{len(written)} {'file' if len(written) == 1 else 'files'} written {where}"


def _diff(result: Result, changed: Mapping[str, bytes]) -> bytes:
    """Names are relative to the working directory, so that ``patch -p1`` there finds them; else to the root."""
    from opi_xform.report.formats.diff import unified_diff

    names = sorted(changed)
    outside = any(os.path.relpath(name).startswith(os.pardir) for name in names)
    base = result.root if outside else os.getcwd()
    return unified_diff((os.path.relpath(name, base), result.sources.data(name), changed[name]) for name in names)


def _advice(result: Result) -> list[Line]:
    from opi_xform.report.advice import advice, measure
    from opi_xform.report.sidebyside import lines_of

    sources, facts = result.sources, result.facts
    files = {sources.name(d.span.file) for d in result.plan.decisions}
    old = {file: lines_of(sources.data(file)) for file in files}
    new = {file: lines_of(data) for file, data in result.changed.items()}
    measured = measure(result.plan, facts.runs, old, new)
    return advice(result.plan, facts.weights, measured, facts.runs, facts.fixes, shown, width_of(sys.stdout))


def _fixes(result: Result) -> bytes:
    from opi_xform.report.formats import fixes

    counts = summary_line(result.plan)
    try:
        text = fixes.export(result.plan, result.changed, result.paths[0], result.sources.data, counts)
    except fixes.FixesError as error:
        raise fail(str(error), shown(error.file), code="OPI904") from error
    return text.encode("utf-8")


def _json(result: Result, findings: Sequence[Finding], options: Options) -> str:
    seen = options.choice.plan(result.plan)
    variables = _chosen_variables(options, result)
    more: dict[str, Any] = {} if options.choice.all else {"hidden": options.choice.hidden(result.plan)}
    if options.statistics:
        from opi_xform.report.statistics import statistics

        more["statistics"] = statistics(seen, result.plan)
    return report_json(seen, result.warnings, shown, findings, variables, {"summary": summary(result.plan), **more})


def _sarif(result: Result, findings: Sequence[Finding], options: Options) -> str:
    from opi_xform.report.formats.columns import Columns
    from opi_xform.report.formats.sarif import Context, sarif

    sites = baseline.know(result.plan.decisions, lambda path: shown(path).replace(os.sep, "/"), result.sources.data)
    decisions = result.plan.decisions
    quiet = allowed(result.annotations, decisions, result.sources)
    quiet |= {index for index, site in enumerate(decisions) if result.configuration.allows(site)}
    columns = Columns(result.sources.data)
    compared = options.baseline is not None
    context = Context(__version__, sites, quiet, compared, shown, columns, options.choice)
    return sarif(_with_refused(result, options), result.warnings, findings, context)


def _with_refused(result: Result, options: Options) -> Plan:
    """The plan, with a remark for each variable that cannot be private; with --check they are findings."""
    if options.check:
        return result.plan
    refused = [
        Decision(v.span, "", "", "", "", "", "keep", v.code, f"`{v.name}` cannot be private: {v.message}")
        for v in result.facts.variables
        if v.decision == "refused"
    ]
    return replace(result.plan, diagnostics=(*result.plan.diagnostics, *refused))


def _github(result: Result, findings: Sequence[Finding], options: Options) -> str:
    from opi_xform.report.formats import github
    from opi_xform.report.formats.columns import Columns

    columns = Columns(result.sources.data)
    seen = options.choice.plan(_with_refused(result, options))
    lines = github.commands(seen, result.warnings, findings, shown, columns)
    return "".join(line.encode("utf-8", "surrogateescape").decode("utf-8", "replace") + "\n" for line in lines)


_FORMS: Mapping[str, Callable[[Result, Sequence[Finding], Options], str]] = {
    "json": _json,
    "sarif": _sarif,
    "github": _github,
}
