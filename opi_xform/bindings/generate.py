"""Writes the entry points of libopi from the table and the headers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from opi_xform.bindings.header import Function
from opi_xform.bindings.table import Table, TableError
from opi_xform.record import dataclass

TEMPLATE = Path(__file__).with_name("names.c.j2")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Entry:
    """One generated function, as the template wants it."""

    name: str
    prototype: str
    arguments: str
    expression: str


def merged(headers: Sequence[Mapping[str, Function]], table: Table) -> dict[str, Function]:
    """The covered functions of all headers. Raises TableError where two disagree about types."""
    found: dict[str, Function] = {}
    for header in headers:
        for name, function in header.items():
            if name not in table.generated:
                continue
            known = found.setdefault(name, function)
            if known.types != function.types:
                raise TableError(f"{name} has different types in two headers: {known.types}, {function.types}")
    return found


def _entry(function: Function, expression: str) -> Entry:
    text = " ".join(expression.replace("{call}", f'"{function.name}"').split())
    missing = [p.name for p in function.parameters if p.name not in set(_IDENTIFIER.findall(text))]
    if missing:
        raise TableError(f"{function.name}: the table's expression does not use {', '.join(missing)}")
    return Entry(function.name, function.prototype, function.arguments, text)


FILES = {"names.c": "messages", "names_windows.c": "windows"}
"""The files that are written, and what the functions in each are about."""


def _file_of(expression: str) -> str:
    return "names_windows.c" if expression.startswith(("opiw_", "opi_win_")) else "names.c"


def generate(headers: Sequence[Mapping[str, Function]], table: Table) -> dict[str, str]:
    """The text of each file. Raises TableError where the table names a function that no header has."""
    known = merged(headers, table)
    absent = sorted(set(table.generated) - set(known))
    if absent:
        raise TableError(f"no header declares {', '.join(absent)}")
    groups: dict[str, list[tuple[str | None, list[Entry]]]] = {file: [] for file in FILES}
    for feature in (None, *table.features):
        entries = [
            _entry(known[name], expression)
            for name, expression in table.generated.items()
            if table.since.get(name) == feature
        ]
        for file, made in groups.items():
            inside = [entry for entry in entries if _file_of(entry.expression) == file]
            if inside:
                made.append((table.features.get(feature or ""), inside))
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return {
        file: template.render(file=file, about=about, groups=groups[file]).rstrip() + "\n"
        for file, about in FILES.items()
    }
