"""SARIF 2.1.0: every site that stays, with the path that decides it, and what ``--check`` found.

A result is known again by its partial fingerprint, which counts no lines; with a baseline it says whether it is new.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

from opi_xform.ir.ast import Diagnostic
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.record import dataclass
from opi_xform.report.baseline import KnownSite, digest
from opi_xform.report.choice import Choice
from opi_xform.report.codes import CODES, page
from opi_xform.report.finding import Finding
from opi_xform.report.formats.columns import Columns
from opi_xform.report.formats.json import clean, summary

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "opiXform/v1"
Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """What the results need besides themselves.

    sites: those of the plan, as a baseline knows them.  allowed: indices of sites that a comment in the source allows
    to stay.  compared: there is a baseline.  shown: how a file is named.  choice: the codes
    of which there are results.
    """

    version: str
    sites: Sequence[KnownSite]
    allowed: frozenset[int]
    compared: bool
    shown: Callable[[str], str]
    columns: Columns
    choice: Choice


def sarif(plan: Plan, warnings: Iterable[Diagnostic], findings: Sequence[Finding], context: Context) -> str:
    """The log as text, with a final newline."""
    worse = {id(finding.site): finding for finding in findings if finding.site is not None}
    results = [
        _site_result(decision, index, worse.get(id(decision)), context)
        for index, decision in enumerate(plan.decisions)
        if decision.decision == "keep" and context.choice.shows(decision)
    ]
    results += [_remark(decision, context) for decision in plan.diagnostics if context.choice.counts(decision.code)]
    results += [_finding(finding, context) for finding in findings if finding.site is None]
    results += [
        _plain("OPI905", "warning", warning.message, (warning.file, warning.line, warning.column), context)
        for warning in warnings
    ]
    used = {result["ruleId"] for result in results}
    order = {code: index for index, code in enumerate(CODES)}
    for result in results:
        if result["ruleId"] in order:
            result["ruleIndex"] = order[result["ruleId"]]
    driver = {
        "name": "opi-xform",
        "version": context.version,
        "rules": [_rule(code, code in used) for code in CODES],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"summary": summary(plan)},
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(clean(log), indent=2, ensure_ascii=True) + "\n"


def _rule(code: str, used: bool) -> Object:
    """One code.  Its page, which is long, only where a result needs it."""
    known = CODES[code]
    rule: Object = {
        "id": code,
        "name": "".join(word.capitalize() for word in known.title.replace("-", " ").split()),
        "shortDescription": {"text": known.title},
        "fullDescription": {"text": known.meaning},
        "defaultConfiguration": {"level": "note"},
    }
    text = page(code) if used else None
    if text is not None:
        rule["help"] = {"text": text, "markdown": text}
    return rule


def _site_result(decision: Decision, index: int, worse: Finding | None, context: Context) -> Object:
    what = f"{decision.call} of {decision.buffer} stays: {decision.message}"
    result = _result(decision.code, "error" if worse else "note", worse.message if worse else what)
    result["locations"] = [_location(decision.span, context, function=decision.function)]
    result["partialFingerprints"] = {FINGERPRINT: context.sites[index].fingerprint}
    _add_path(result, decision.notes, decision, context)
    if context.compared:
        result["baselineState"] = "unchanged" if worse is None else "new"
    if index in context.allowed:
        result["suppressions"] = [{"kind": "inSource", "status": "accepted"}]
    result["properties"] = {"side": decision.side, "buffer": decision.buffer}
    return result


def _remark(decision: Decision, context: Context) -> Object:
    result = _result(decision.code, "note", decision.message)
    if decision.span.file:
        result["locations"] = [_location(decision.span, context)]
    _add_path(result, decision.notes, None, context)
    return result


def _finding(finding: Finding, context: Context) -> Object:
    place = (finding.file, finding.line, finding.column)
    result = _plain(finding.code, "error", finding.message, place, context)
    said = re.sub(r"\d+", "", finding.message)  # lines in it may move
    mark = "\0".join((finding.code, context.shown(finding.file), said))
    result["partialFingerprints"] = {FINGERPRINT: digest(mark.encode("utf-8", "surrogateescape"))}
    return result


def _plain(code: str, level: str, message: str, place: tuple[str, int, int], context: Context) -> Object:
    file, line, column = place
    result = _result(code, level, message)
    if file:
        result["locations"] = [{"physicalLocation": _physical(file, line, column, context)}]
    return result


def _result(code: str, level: str, message: str) -> Object:
    return {"ruleId": code, "ruleIndex": -1, "level": level, "message": {"text": " ".join(message.split())}}


def _add_path(result: Object, notes: Sequence[Note], site: Decision | None, context: Context) -> None:
    """The steps that decide, as a code flow; and as related locations, for readers that show no flows."""
    steps = [note for note in notes if note.span.file]
    if not steps:
        return
    places = [_location(note.span, context, message=note.message) for note in steps]
    flow = [*([_location(site.span, context, message=f"{site.call} of {site.buffer}")] if site else []), *places]
    result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": place} for place in flow]}]}]
    result["relatedLocations"] = [{"id": i, **place} for i, place in enumerate(places)]


def _location(span: Span, context: Context, message: str = "", function: str = "") -> Object:
    place = _physical(span.file, span.line, span.column, context)
    if span.end > span.begin:
        try:
            line, column = context.columns.at(span.file, span.end)
        except OSError:
            line = 0
        if (line, 0) >= (span.line, 0):
            place["region"] |= {"endLine": line, "endColumn": column}
    found: Object = {"physicalLocation": place}
    if function:
        found["logicalLocations"] = [{"name": function, "kind": "function"}]
    if message:
        found["message"] = {"text": " ".join(message.split())}
    return found


def _physical(file: str, line: int, column: int, context: Context) -> Object:
    place: Object = {"artifactLocation": {"uri": quote(context.shown(file).encode("utf-8", "surrogateescape"))}}
    if line:
        place["region"] = {"startLine": line, "startColumn": context.columns.column(file, line, max(column, 1))}
    return place
