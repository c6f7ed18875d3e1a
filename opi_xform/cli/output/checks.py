"""What ``--check`` finds, and the baseline that tells which of it is new (docs/schema/report-1.json)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from opi_xform.cli.config import NO_EFFECT, Configuration
from opi_xform.cli.inputs.annotations import Annotation, judge
from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import fail
from opi_xform.cli.output.facts import Facts
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.report.baseline import Baseline, BaselineError, baseline_name, better, digest, know, read, worse
from opi_xform.report.finding import Finding, deciding
from opi_xform.rewrite.manifest import Kept, Program, stale
from opi_xform.rewrite.write import OutputFile
from opi_xform.text.sources import Sources

OUT_OF_DATE = "OPI906"
COMMENT = "OPI907"


def findings(
    options: Options,
    plan: Plan,
    sources: Sources,
    annotations: Sequence[Annotation],
    outputs: Sequence[OutputFile],
    baseline: Baseline | None,
    known: Configuration,
    facts: Facts | None = None,
    kept: Kept | None = None,
    program: Sequence[str] = (),
    made: Program | None = None,
) -> list[Finding]:
    """Outputs that are out of date, what is wrong with comments and opi.toml, what hinders ranks of one process (with
    ``--privatize``), what got worse than the baseline.  kept: what earlier runs wrote.  program: all that is read,
    made: as a record tells it.
    """
    found = [finding for output in outputs if (finding := _out_of_date(output, options, kept)) is not None]
    found += _stale(outputs, options, kept, program, made or Program())
    comments = [*_about_comments(plan, sources, annotations), *_about_entries(plan, known), *_hindrances(facts)]
    if options.baseline is None or baseline is None:
        return found + [finding for _, finding in comments]
    accepted = Counter(baseline.accepted)
    for mark, finding in _marked(comments, options.baseline):
        if accepted[mark]:
            accepted[mark] -= 1
        else:
            found.append(finding)
    now = know(plan.decisions, baseline_name(options.baseline), sources.data)
    found += [_got_worse(plan.decisions[w.index], w.before) for w in worse(now, baseline.sites)]
    return found


def gained(options: Options, plan: Plan, sources: Sources, baseline: Baseline | None) -> int:
    """How many sites convert that did not when the baseline was written."""
    if options.baseline is None or baseline is None:
        return 0
    return better(know(plan.decisions, baseline_name(options.baseline), sources.data), baseline.sites)


def with_remarks(plan: Plan, sources: Sources, annotations: Sequence[Annotation]) -> Plan:
    """The plan, with a remark for each comment that does not hold or is not understood; those of which the analysis
    says so itself have one.  For runs without ``--check``, where they are no findings."""
    told = {(sources.name(d.span.file), d.span.line) for d in plan.diagnostics if d.code == NO_EFFECT}
    remarks = [
        Decision(Span(f.file, 0, 0, f.line, 1, editable=False), "", "", "", "", "", "keep", f.code, f.message)
        for a, f in _about_comments(plan, sources, annotations)
        if (a.file, a.line) not in told
    ]
    return replace(plan, diagnostics=(*plan.diagnostics, *remarks)) if remarks else plan


def new_baseline(
    file: str,
    options: Options,
    plan: Plan,
    sources: Sources,
    annotations: Sequence[Annotation],
    known: Configuration,
    facts: Facts | None = None,
) -> Baseline:
    """What ``--write-baseline file`` writes."""
    comments = [*_about_comments(plan, sources, annotations), *_about_entries(plan, known), *_hindrances(facts)]
    marks = tuple(sorted(mark for mark, _ in _marked(comments, file)))
    return Baseline(know(plan.decisions, baseline_name(file), sources.data), marks, options.strict)


def load_baseline(options: Options) -> Baseline | None:
    """The baseline of ``--baseline``.  Raises Failure."""
    file = options.baseline
    if file is None:
        return None
    try:
        with open(file, "rb") as stream:
            baseline = read(stream.read())
    except OSError as error:
        advice = "--write-baseline FILE makes one"
        raise fail(f"cannot be read ({error.strerror}); {advice}", shown(file), code="OPI902") from error
    except BaselineError as error:
        raise fail(str(error), shown(file), code="OPI902") from error
    if baseline.strict != options.strict:
        how = "with" if baseline.strict else "without"
        raise fail(f"was written {how} --strict; check {how} it, or write it again", shown(file), code="OPI902")
    return baseline


def _got_worse(site: Decision, before: str) -> Finding:
    """At the access that broke it, where one is known; else at the call."""
    what = f"{site.call} of {site.buffer}"
    access = deciding(site)
    place = access.span if access is not None and access.span.file else site.span
    where = f" at {shown(site.span.file)}:{site.span.line}" if place != site.span else ""
    how = "used to convert and stays now" if before else "stays and is not in the baseline"
    message = f"{what}{where} {how}: {site.message}"
    return Finding(place.file, place.line, place.column, site.code, message, site.notes, site, before)


def _about_comments(
    plan: Plan, sources: Sources, annotations: Sequence[Annotation]
) -> list[tuple[Annotation, Finding]]:
    return [
        (verdict.annotation, Finding(verdict.annotation.file, verdict.annotation.line, 1, COMMENT, verdict.message))
        for verdict in judge(annotations, plan.decisions, sources, plan.diagnostics)
    ]


def _about_entries(plan: Plan, known: Configuration) -> list[tuple[Annotation, Finding]]:
    """Entries of opi.toml without effect; what they say stands for the comment."""
    return [
        (
            Annotation(d.span.file, d.span.line, "entry", d.message, 0, 0),
            Finding(d.span.file, d.span.line, 1, d.code, d.message),
        )
        for d in plan.diagnostics
        if known.path is not None and d.span.file == str(known.path)
    ]


def _hindrances(facts: Facts | None) -> list[tuple[Annotation, Finding]]:
    """What stands in the way of ranks that share a process; the code and the name stand for the comment."""
    if facts is None:
        return []
    refused = [
        (v.span, v.code, v.name, f"`{v.name}` cannot be private: {v.message}")
        for v in facts.variables
        if v.decision == "refused"
    ]
    others = [(d.span, d.code, d.message, d.message) for d in facts.hindrances]
    return [
        (
            Annotation(span.file, span.line, "private", f"{code} {what}", 0, 0),
            Finding(span.file, span.line, span.column, code, message),
        )
        for span, code, what, message in (*refused, *others)
    ]


def _marked(comments: Sequence[tuple[Annotation, Finding]], baseline: str) -> list[tuple[str, Finding]]:
    """Findings about comments, each with its fingerprint."""
    named = baseline_name(baseline)
    found = []
    for annotation, finding in comments:
        words = "\0".join((named(annotation.file), annotation.verb, annotation.word))
        found.append((digest(words.encode("utf-8", "surrogateescape")), finding))
    return found


def _again(options: Options) -> str:
    where = f"-o {options.output}" if options.output is not None else f"--index {options.index}"
    return f"opi-xform {'-i' if options.in_place else where}"


def _stale(
    outputs: Sequence[OutputFile], options: Options, kept: Kept | None, program: Sequence[str], made: Program
) -> list[Finding]:
    """What an earlier run wrote and this one would not."""
    found = []
    for one in stale(kept, outputs, program, made) if kept is not None else ():
        what = ", and it was edited since; remove it" if one.edited else f"; run {_again(options)}, which removes it"
        message = f"out of date: nothing in the sources makes this file any more{what}"
        found.append(Finding(one.path, 0, 0, OUT_OF_DATE, message))
    return found


def _out_of_date(output: OutputFile, options: Options, kept: Kept | None) -> Finding | None:
    again = _again(options)
    try:
        with open(output.target, "rb") as stream:
            present = stream.read()
    except FileNotFoundError:
        return Finding(output.target, 0, 0, OUT_OF_DATE, f"out of date: the file is missing; run {again}")
    except OSError as error:
        raise fail(f"cannot be read ({error.strerror}); check -o", shown(output.target), code="OPI904") from error
    if present == output.data:
        return None
    if kept is not None and not kept.wrote(output.target):
        again += " --force, for opi-xform did not write what is there"
    old, new = present.split(b"\n"), output.data.split(b"\n")
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    ends = same >= len(new) - (not new[-1])
    wanted = "the end of the file" if ends else f"`{new[same].decode('utf-8', 'replace').strip()}`"
    message = f"out of date: here should be {wanted}; run {again}"
    return Finding(output.target, same + 1, 1, OUT_OF_DATE, message)
