"""The report for programs: the one object of docs/schema/report-1.json, the same bytes for the same run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from opi_xform.ir.ast import Diagnostic
from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.report.finding import Finding
from opi_xform.report.globals import GlobalDecision

VERSION = 1
SIDES = ("send", "recv")
Shown = Callable[[str], str]
"""How a file's name is shown: relative to the working directory."""


def report_object(
    plan: Plan,
    warnings: Iterable[Diagnostic],
    shown: Shown,
    findings: Iterable[Finding] = (),
    variables: Iterable[GlobalDecision] = (),
    more: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """The report as plain values, keys in the documented order.  more: what counts instead, and further keys."""
    return {
        "version": VERSION,
        "sites": [_site(decision, shown) for decision in plan.decisions],
        "globals": [_global(variable, shown) for variable in variables],
        "diagnostics": [
            *(_diagnostic(decision, shown) for decision in plan.diagnostics),
            *(_warning(warning, shown) for warning in warnings),
            *(_finding(finding, shown) for finding in findings),
        ],
        "summary": summary(plan),
        **more,
    }


def report_json(
    plan: Plan,
    warnings: Iterable[Diagnostic],
    shown: Shown,
    findings: Iterable[Finding] = (),
    variables: Iterable[GlobalDecision] = (),
    more: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """The report as text, with a final newline; docs/schema/report-1.json describes it."""
    value = clean(report_object(plan, warnings, shown, findings, variables, more))
    return json.dumps(value, indent=2, ensure_ascii=True) + "\n"


def summary(plan: Plan) -> dict[str, dict[str, int]]:
    """Sites converted and kept, by side."""
    return {
        side: {
            decision: sum(1 for site in plan.decisions if site.side == side and site.decision == decision)
            for decision in ("convert", "keep")
        }
        for side in SIDES
    }


def _site(decision: Decision, shown: Shown) -> dict[str, Any]:
    return {
        "file": shown(decision.span.file),
        "line": decision.span.line,
        "column": decision.span.column,
        "function": decision.function,
        "call": decision.call,
        "side": decision.side,
        "buffer": decision.buffer,
        "decision": decision.decision,
        "code": decision.code,
        "message": decision.message,
        "notes": [_note(note, shown) for note in decision.notes],
        "assumptions": list(decision.assumptions),
    }


def _global(variable: GlobalDecision, shown: Shown) -> dict[str, Any]:
    return {
        "name": variable.name,
        "file": shown(variable.span.file),
        "line": variable.span.line,
        "decision": variable.decision,
        "code": variable.code,
        "message": variable.message,
    }


def _note(note: Note, shown: Shown) -> dict[str, Any]:
    return {
        "file": shown(note.span.file),
        "line": note.span.line,
        "column": note.span.column,
        "message": note.message,
    }


def _diagnostic(decision: Decision, shown: Shown) -> dict[str, Any]:
    return {
        "file": shown(decision.span.file),
        "line": decision.span.line,
        "column": decision.span.column,
        "severity": "note",
        "code": decision.code,
        "message": decision.message,
        "notes": [_note(note, shown) for note in decision.notes],
    }


def _warning(warning: Diagnostic, shown: Shown) -> dict[str, Any]:
    return {
        "file": shown(warning.file),
        "line": warning.line,
        "column": warning.column,
        "severity": warning.severity,
        "code": "OPI905",
        "message": warning.message,
        "notes": [],
    }


def _finding(finding: Finding, shown: Shown) -> dict[str, Any]:
    return {
        "file": shown(finding.file),
        "line": finding.line,
        "column": finding.column,
        "severity": "finding",
        "code": finding.code,
        "message": finding.message,
        "notes": [_note(note, shown) for note in finding.notes],
    }


def clean(value: Any) -> Any:
    """Bytes that are no UTF-8 (surrogates in ``str``) become U+FFFD: JSON text must be valid Unicode."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items()}
    return value
