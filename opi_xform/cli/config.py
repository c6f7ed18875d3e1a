"""``opi.toml``, or ``[tool.opi-xform]`` of a pyproject.toml, at or above the working directory: options, a project's
usual run, and what people say of a program where no comment can stand.  Every key is known or an error; what has no
effect is told (OPI908).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from opi_xform.cli.arguments import bytes_of
from opi_xform.cli.inputs.annotations import DISJOINT, PACKED
from opi_xform.cli.inputs.usual import KEYS, Usual, read_usual, within
from opi_xform.cli.outcome import Failure, fail
from opi_xform.ir.ast import Unit
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Plan, Told
from opi_xform.privatize.model import FORMS
from opi_xform.record import dataclass
from opi_xform.report.choice import UnknownCodeError, codes_of, meant, unknown
from opi_xform.report.codes import CODES
from opi_xform.toml import TomlError, load_toml

OWN, SHARED = "opi.toml", "pyproject.toml"
TABLE = ("tool", "opi-xform")
NO_EFFECT = "OPI908"
_KEYS: dict[str, type] = {
    "strict": bool, "baseline": str, "privatize": str, "keep": list, "allow": list, "assume": list, "effects": dict,
    "select": list, "ignore": list, "min-bytes": object, **dict.fromkeys(KEYS, object),
}  # fmt: skip
_CODES = ("select", "ignore")
_WHERE = ("file", "function")
_ENTRIES = {"keep": (), "allow": ("code", "buffer"), "assume": ("packed", "disjoint")}
"""What an entry says besides where; the first is required, of an ``assume`` one of the two."""
_WHOLE = 1 << 62


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``[[keep]]``, ``[[allow]]`` or ``[[assume]]``: ``values`` as written, ``line`` of its header."""

    kind: str
    values: Mapping[str, str]
    line: int

    def covers(self, file: str, function: str) -> bool:
        """Whether it is about a function.  Both are patterns as the shell has them; what is left out fits all."""
        wanted = self.values.get("file"), self.values.get("function")
        return all(w is None or fnmatchcase(is_, w) for w, is_ in zip(wanted, (file, function), strict=True))

    @property
    def assumed(self) -> tuple[str, str]:
        """What an ``assume`` says: ``packed`` of a name, or ``disjoint`` of two."""
        what = next(key for key in _ENTRIES["assume"] if key in self.values)
        return what, "".join(self.values[what].split())

    def __str__(self) -> str:
        said = ", ".join(f'{key} = "{value}"' for key, value in self.values.items())
        return f"[[{self.kind}]] {said}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """``path`` is None where there is none.  effects: whether it describes functions."""

    path: Path | None = None
    strict: bool = False
    baseline: str | None = None
    entries: tuple[Entry, ...] = ()
    effects: bool = False
    privatize: str | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    min_bytes: int | None = None
    usual: Usual | None = None

    @property
    def folder(self) -> str:
        """Where the file is: what it names is relative to that."""
        return _folder(self.path) if self.path is not None else os.curdir

    def named(self, file: str) -> str:
        """A file as the configuration names it."""
        return os.path.relpath(file, self.folder)

    def told(self, units: Sequence[Unit]) -> list[tuple[Entry, Told]]:
        """What ``keep`` and ``assume`` say, by the functions that they cover."""
        spans = sorted(
            {(self.named(f.span.file), f.name, f.span.file, f.span.begin, f.span.end) for u in units for f in _own(u)}
        )
        found = []
        for entry in self.entries:
            if entry.kind == "allow":
                continue
            what, name = ("keep", "") if entry.kind == "keep" else entry.assumed
            places = [(file, b, e) for text, function, file, b, e in spans if entry.covers(text, function)]
            if "function" not in entry.values:  # the file once, not each of its functions
                places = [(file, 0, _WHOLE) for file in dict.fromkeys(file for file, _, _ in places)]
            span = self._span(entry.line)
            found += [(entry, Told(what, name, file, begin, end, span)) for file, begin, end in places]
        return found

    def allows(self, decision: Decision) -> list[Entry]:
        """The ``allow`` entries that are about a kept site."""
        return [
            entry
            for entry in self.entries
            if entry.kind == "allow"
            and decision.decision == "keep"
            and entry.values["code"] == decision.code
            and entry.covers(self.named(decision.span.file), decision.function)
            and entry.values.get("buffer") in (None, decision.object, decision.buffer)
        ]

    def judged(self, plan: Plan, told: Sequence[tuple[Entry, Told]]) -> Plan:
        """The plan, with one remark for each entry that has no effect."""
        if self.path is None:
            return plan
        many = Counter(entry.line for entry, _ in told)
        mine = [d for d in plan.diagnostics if d.span.file == str(self.path) and d.span.begin < 0]
        failed = Counter(d.span.line for d in mine)
        used = {entry.line for decision in plan.decisions for entry in self.allows(decision)}
        said = {d.span.line: d.message.partition("does not count: ")[2] for d in reversed(mine)}
        found = []
        for entry in self.entries:
            if entry.kind == "allow":
                reason = "" if entry.line in used else "no site there stays for that reason; remove the entry"
            elif not many[entry.line]:
                reason = "no function of the program is meant"
            else:
                reason = said.get(entry.line, "") if failed[entry.line] == many[entry.line] else ""
            if reason:
                found.append(self._remark(entry.line, f"`{entry}` does not count: {reason}"))
        others = [self._placed(d) for d in plan.diagnostics if d not in mine]
        return replace(plan, diagnostics=(*others, *found))

    def _placed(self, remark: Decision) -> Decision:
        """A remark about an ``[effects.NAME]`` entry, at its line."""
        named = re.match(r"the entry of `(\w+)`", remark.message) if remark.span.file == str(self.path) else None
        if named is None or self.path is None:
            return remark
        return replace(remark, span=replace(remark.span, line=_line(self.path, rf"effects\.\"?{named[1]}\"?", 0)))

    def wrong_effects(self, message: str) -> Failure:
        """What is wrong with ``[effects.NAME]``, at its line; ``message`` begins with the file's name."""
        said = message.removeprefix(f"{self.path}: ")
        named = re.match(r"effects\.(\w+): ", said)
        line = _line(self.path, rf"effects\.\"?{named[1]}\"?", 0) if named is not None and self.path is not None else 0
        return fail(f"{said}; see docs/effects.md", str(self.path or ""), line)

    def _span(self, line: int) -> Span:
        """Where an entry stands; the place before all bytes marks it as one of ours."""
        return Span(str(self.path), -1, -1, line, 1, editable=False)

    def _remark(self, line: int, message: str) -> Decision:
        span = Span(str(self.path), 0, 0, line, 1, editable=False)
        return Decision(span, "", "", "", "", "", "keep", NO_EFFECT, message)


def _own(unit: Unit) -> Iterable[Any]:
    return (f for f in unit.functions.values() if f.span.file)


def load_configuration() -> Configuration:
    """The nearest at or above the working directory.  Raises Failure."""
    here = os.getcwd()
    for folder in (here, *map(str, Path(here).parents)):
        near = Path(os.path.relpath(folder, here))
        found = _in_folder(near / OWN, near / SHARED)
        if found is not None:
            return found
    return Configuration()


def _in_folder(own: Path, shared: Path) -> Configuration | None:
    table = _shared_table(shared) if shared.is_file() else None
    if not own.is_file():
        return None if table is None else _checked(table, shared)
    if table is not None:
        raise fail(f"there is also [tool.opi-xform] in {shared}; keep one of them", str(own))
    try:
        return _checked(load_toml(own), own)
    except TomlError as error:
        raise _unreadable(error) from error


def _shared_table(path: Path) -> Mapping[str, Any] | None:
    try:
        tools = load_toml(path).get(TABLE[0], {})
    except TomlError as error:
        raise _unreadable(error) from error
    table = tools.get(TABLE[1]) if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise fail("tool.opi-xform is no table", str(path))
    return table


def _unreadable(error: TomlError) -> Failure:
    file, _, reason = str(error).partition(": ")
    if isinstance(error.__cause__, OSError):
        return fail(f"cannot be read ({reason}); check its permissions", file)
    return fail(f"{reason}; it has to be TOML", file)


def _checked(table: Mapping[str, Any], path: Path) -> Configuration:
    for key, value in table.items():
        wanted = _KEYS.get(key)
        if wanted is None:
            near = meant(key, _KEYS) or f"known are {', '.join(_KEYS)}"
            raise fail(f"unknown key `{key}`; {near}", str(path), _line(path, None, 0, key))
        if not isinstance(value, wanted):
            kind = {bool: "true or false", str: "a string", list: f"[[{key}]]", dict: f"[{key}.NAME]"}[wanted]
            kind = 'a list of codes: ["OPI101"]' if key in _CODES else kind
            raise fail(f"`{key}` has to be {kind}", str(path), _line(path, None, 0, key))
    if table.get("privatize", FORMS[0]) not in FORMS:
        known = " or ".join(f'"{form}"' for form in FORMS)
        raise fail(f"`privatize` has to be {known}", str(path), _line(path, None, 0, "privatize"))
    entries = [
        _entry(kind, given, _line(path, kind, number), path)
        for kind in _ENTRIES
        for number, given in enumerate(table.get(kind, ()))
    ]
    return Configuration(
        path,
        table.get("strict", False),
        within(_folder(path), table["baseline"]) if "baseline" in table else None,
        tuple(sorted(entries, key=lambda entry: entry.line)),
        bool(table.get("effects")),
        table.get("privatize"),
        _codes(table, "select", path),
        _codes(table, "ignore", path),
        _min_bytes(table, path),
        read_usual(table, _folder(path), lambda key, message: fail(message, str(path), _line(path, None, 0, key))),
    )


def _folder(path: Path) -> str:
    return os.path.dirname(path) or os.curdir


def _codes(table: Mapping[str, Any], key: str, path: Path) -> tuple[str, ...] | None:
    """``select`` or ``ignore``."""
    given = table.get(key)
    if given is None:
        return None
    if not all(isinstance(code, str) for code in given):
        raise fail(f'`{key}` has to be a list of codes: ["OPI101"]', str(path), _line(path, None, 0, key))
    try:
        return codes_of(given)
    except UnknownCodeError as error:
        raise fail(str(error), str(path), _line(path, None, 0, key)) from error


def _min_bytes(table: Mapping[str, Any], path: Path) -> int | None:
    given = table.get("min-bytes")
    if given is None:
        return None
    try:
        return bytes_of("" if isinstance(given, bool) else str(given))
    except ValueError as error:
        message = '`min-bytes` has to be a number of bytes: 4096 or "4K"'
        raise fail(message, str(path), _line(path, None, 0, "min-bytes")) from error


def _entry(kind: str, given: object, line: int, path: Path) -> Entry:
    said = _ENTRIES[kind]
    if not isinstance(given, dict):
        raise fail(f"`{kind}` has to be a list of tables: [[{kind}]]", str(path), line)
    for key, value in given.items():
        if key not in (*said, *_WHERE):
            raise fail(f"unknown key `{key}` in [[{kind}]]; known are {', '.join((*said, *_WHERE))}", str(path), line)
        if not isinstance(value, str):
            raise fail(f"`{key}` in [[{kind}]] has to be a string", str(path), line)
    if kind == "assume" and len(set(said) & set(given)) != 1:
        raise fail("[[assume]] needs `packed` or `disjoint`", str(path), line)
    if kind != "assume" and said and said[0] not in given:
        raise fail(f"[[{kind}]] needs `{said[0]}`", str(path), line)
    if not set(given) & set(_WHERE):
        raise fail(f"[[{kind}]] needs `file` or `function`: which sites are meant", str(path), line)
    if kind == "allow" and given["code"] not in CODES:
        raise fail(unknown(given["code"]), str(path), line)
    if "packed" in given and not PACKED.fullmatch(f"packed({given['packed']})"):
        raise fail(f"`{given['packed']}` is not the name of a buffer", str(path), line)
    if "disjoint" in given and not DISJOINT.fullmatch(f"disjoint({''.join(given['disjoint'].split())})"):
        raise fail(f"`{given['disjoint']}` is not two names, as in `a, b`", str(path), line)
    return Entry(kind, dict(given), line)


def _line(path: Path, header: str | None, number: int, key: str = "") -> int:
    """The line of the header (a pattern) with that number, or of a key, as far as a look at the text tells; else 1."""
    inside = r"(?:tool\.\"?opi-xform\"?\.)?"
    name = re.escape(key)
    wanted = rf"\s*\[+\s*{inside}{header or name}\s*[\].]"
    if header is None:
        wanted += rf"|\s*\"?{name}\"?\s*[=.]"
    lines = [i for i, text in enumerate(path.read_text("utf-8").split("\n"), 1) if re.match(wanted, text)]
    return lines[number] if number < len(lines) else 1
