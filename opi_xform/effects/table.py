"""Reads the tables of library effects (``analyses/effects/*.toml`` and ``[effects.NAME]`` in an ``opi.toml``).

The syntax is described for users in docs/effects.md.  Everything is checked while it is read: an unknown key, a bad
region or an entry that makes no sense is an error that names the file and the function, never silently "no effect".
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from opi_xform.effects.model import (
    AllocSpec,
    ArgRegion,
    Callback,
    Completion,
    Effects,
    Factor,
    Format,
    FreeSpec,
    FunctionEffect,
    Length,
    MpiBuffer,
    MpiOp,
    PointerFlow,
)
from opi_xform.kept import Kept, digest
from opi_xform.record import dataclass
from opi_xform.resources import analyses_dir
from opi_xform.toml import TomlError, load_toml


class EffectsError(Exception):
    """A table of effects is unreadable or wrong; the message is one line that names file and function."""


_REGION = re.compile(r"^(\*?)(\d+)(\.\.)?(?:\[([^\]]*)\])?(?:\?(\d+))?$")
_CALLBACK = re.compile(r"^(\d+)\(([^)]*)\)(?: (exit|later|concurrent))?$")
_FLOW = re.compile(r"^(\d+) <- (\d+|retained)$")
_FORMAT = re.compile(r"^(\d+) (prints|scans) (?:(\d+)\.\.|\*(\d+))$")
_NAME = re.compile(r"^[A-Za-z_]\w*$")


def parse_length(text: str) -> Length:
    """``arg1 * extent(2)`` and the like; ``extent(1, 2)`` is short for ``arg1 * extent(2)``.  Raises ValueError."""
    text = text.strip()
    if text == "string":
        return (Factor("string"),)
    factors: list[Factor] = []
    for part in (p.strip() for p in text.split("*")):
        if part == "elem":
            factors.append(Factor("elem"))
        elif part.isdecimal():
            factors.append(Factor("const", int(part)))
        elif re.fullmatch(r"arg\d+", part):
            factors.append(Factor("arg", int(part[3:])))
        elif m := re.fullmatch(r"extent\((?:(\d+), *)?(\d+)\)", part):
            if m[1] is not None:
                factors.append(Factor("arg", int(m[1])))
            factors.append(Factor("extent", int(m[2])))
        else:
            raise ValueError(f"bad length {text!r}")
    return tuple(factors)


@lru_cache(maxsize=512)
def parse_region(text: str) -> ArgRegion:
    """``0``, ``0[arg2]``, ``*1``, ``2..``, ``1[extent(2, 3)]?0``.  Raises ValueError."""
    m = _REGION.match(text)
    if m is None:
        raise ValueError(f"bad region {text!r}")
    return ArgRegion(
        arg=int(m[2]),
        length=None if m[4] is None else parse_length(m[4]),
        indirect=bool(m[1]),
        rest=bool(m[3]),
        in_place=None if m[5] is None else int(m[5]),
    )


def _callback(text: str) -> Callback:
    m = _CALLBACK.match(text)
    if m is None:
        raise ValueError(f"bad callback {text!r}")
    passes = [p.strip() for p in m[2].split(",")] if m[2].strip() else []
    if any(p != "-" and not p.isdecimal() for p in passes):
        raise ValueError(f"bad callback {text!r}")
    return Callback(int(m[1]), m[3] or "now", tuple(None if p == "-" else int(p) for p in passes))


def _flow(kind: str) -> Callable[[str], PointerFlow]:
    def parse(text: str) -> PointerFlow:
        m = _FLOW.match(text)
        if m is None:
            raise ValueError(f'bad {kind} {text!r}, expected "TARGET <- SOURCE"')
        return PointerFlow(kind, int(m[1]), None if m[2] == "retained" else int(m[2]))

    return parse


def _returns(text: str) -> dict[str, Any]:
    """``arg0``, ``inside arg0``, ``library``, ``retained``, ``stored at arg0``, several joined by `` or ``."""
    made: dict[str, Any] = {}
    for part in text.split(" or "):
        if part in ("library", "retained"):
            made[f"returns_{part}"] = True
        elif m := re.fullmatch(r"(inside |stored at )?arg(\d+)", part):
            if m[1] == "stored at ":
                made["returns_stored"] = int(m[2])
            else:
                made |= {"returns_arg": int(m[2]), "returns_inside": m[1] is not None}
        else:
            raise ValueError(f"bad returns {text!r}")
    return made


def _format(text: str) -> Format:
    """``0 prints 1..``, ``1 scans 2..``, ``0 prints *1`` (a va_list)."""
    m = _FORMAT.match(text)
    if m is None:
        raise ValueError(f"bad format {text!r}")
    return Format(int(m[1]), int(m[3] or m[4]), m[2] == "scans", m[4] is not None)


def _frees(text: str) -> FreeSpec:
    m = re.fullmatch(r"(\*?)(\d+)", text)
    if m is None:
        raise ValueError(f"bad frees {text!r}")
    return FreeSpec(int(m[2]), bool(m[1]))


def _checked(value: Mapping[str, Any], allowed: Mapping[str, type | tuple[type, ...]], what: str) -> Mapping[str, Any]:
    """``value`` itself, when all its keys are allowed and of the right type.  Raises ValueError."""
    for key, item in value.items():
        if key not in allowed:
            raise ValueError(f"unknown key {key!r} in {what}")
        expected = allowed[key]
        if not isinstance(item, expected) or (isinstance(item, bool) and expected is int):
            raise ValueError(f"wrong type of {key!r} in {what}")
    return value


def _keys_of(cls: type, skip: Sequence[str] = ()) -> dict[str, type | tuple[type, ...]]:
    """Keys and types of a dataclass whose fields are ints, bools and strings, for ``_checked``."""
    kinds: dict[str, type] = {"bool": bool, "str": str}
    return {f.name: kinds.get(str(f.type), int) for f in fields(cls) if f.name not in skip}


_ALLOC_KEYS: dict[str, type | tuple[type, ...]] = {
    "size": str,
    "zeroed": bool,
    "into": int,
    "copies_from": int,
    "contents": bool,
    "shared": bool,
    "alignment": str,
}
_BUFFER_KEYS = _keys_of(MpiBuffer)
_COMPLETION_KEYS = _keys_of(Completion)
_OP_NESTED = ("send", "recv", "completes")
_OP_KEYS = _keys_of(MpiOp, _OP_NESTED) | dict.fromkeys(_OP_NESTED, dict)
_OP_KINDS = frozenset(
    "send recv sendrecv collective rma io complete start free_request cancel probe".split()  # noqa: SIM905
)
_MODES = frozenset({"standard", "synchronous", "buffered", "ready", "partitioned"})
_WHICH = frozenset({"one", "all", "any", "some"})
_ENTRY_KEYS: dict[str, type | tuple[type, ...]] = {
    "like": str,
    "reads": list,
    "writes": list,
    "overwrites": list,
    "returns": str,
    "allocates": dict,
    "frees": str,
    "format": str,
    "copies": list,
    "stores": list,
    "retains": list,
    "retains_unwritten": list,
    "retains_stored": list,
    "calls": list,
    "noreturn": bool,
    "lets_errors_return": bool,
    "pure": bool,
    "computes": bool,
    "errno": bool,
    "may_yield_proc_null": list,
    "nonnegative": list,
    "positive": list,
    "below": str,
    "errors": str,
    "outside": bool,
    "repeatable": bool,
    "operation": int,
    "fills": str,
    "appends": str,
    "mpi": dict,
}


def _alloc(value: Mapping[str, Any]) -> AllocSpec:
    given = dict(_checked(value, _ALLOC_KEYS, "allocates"))
    for key in ("size", "alignment"):
        if key in given:
            given[key] = parse_length(given[key])
    return AllocSpec(**given)


def _op(value: Mapping[str, Any]) -> MpiOp:
    given = dict(_checked(value, _OP_KEYS, "mpi"))
    for side in ("send", "recv"):
        if side in given:
            given[side] = MpiBuffer(**_checked(given[side], _BUFFER_KEYS, f"mpi.{side}"))
    if "completes" in given:
        given["completes"] = Completion(**_checked(given["completes"], _COMPLETION_KEYS, "mpi.completes"))
        if given["completes"].which not in _WHICH:
            raise ValueError(f"bad mpi.completes.which {given['completes'].which!r}")
    if "kind" not in given:
        raise ValueError("mpi has no kind")
    op = MpiOp(**given)
    if op.kind not in _OP_KINDS:
        raise ValueError(f"bad mpi.kind {op.kind!r}")
    if op.mode not in _MODES:
        raise ValueError(f"bad mpi.mode {op.mode!r}")
    if op.convertible and not (op.opi_send or op.opi_recv or op.opi_both):
        raise ValueError("a convertible call names its opi_send, opi_recv or opi_both")
    if op.convertible and op.reason:
        raise ValueError("a convertible call has no reason to stay")
    if op.kind in ("send", "recv", "sendrecv") and not op.convertible and not op.reason:
        raise ValueError("a call that stays needs a reason")
    return op


def _strings(value: Any, key: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise ValueError(f"{key} is a list of strings")
    return value


def _integers(value: Any, key: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in value):
        raise ValueError(f"{key} is a list of argument numbers")
    return tuple(value)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``over`` on ``base``: tables are merged key by key, two levels deep; anything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            inner = dict(old)
            for k, v in value.items():
                was = inner.get(k)
                inner[k] = {**was, **v} if isinstance(was, dict) and isinstance(v, dict) else v
            merged[key] = inner
        else:
            merged[key] = value
    return merged


def _expand_like(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Every entry with the one named by ``like`` merged in; ``like`` refers to entries of the same file.

    Raises ValueError, whose text starts with the function's name.
    """
    done: dict[str, dict[str, Any]] = {}
    for name in entries:
        chain = [name]
        while chain[-1] not in done and "like" in entries[chain[-1]]:
            parent = entries[chain[-1]]["like"]
            if parent not in entries or parent in chain:
                raise ValueError(f"{chain[-1]}: 'like' names {parent!r}, which is no entry before it")
            chain.append(parent)
        for item in reversed(chain):
            if item not in done:
                own = {k: v for k, v in entries[item].items() if k != "like"}
                parent = entries[item].get("like")
                done[item] = _merge(done[parent], own) if parent is not None else own
    return done


def _appends(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+) at (\d+)", text)
    if found is None:
        raise ValueError(f"bad appends {text!r}; it is written like '3 at 5'")
    return int(found.group(1)), int(found.group(2))


def parse_effect(name: str, entry: Mapping[str, Any], source: str = "", user: bool = False) -> FunctionEffect:
    """One entry (``like`` already merged in) as a value.  Raises ValueError."""
    given = _checked(entry, _ENTRY_KEYS, "the entry")
    made: dict[str, Any] = {}
    for key in ("reads", "writes", "overwrites"):
        made[key] = tuple(parse_region(t) for t in _strings(given.get(key, []), key))
    made["flows"] = tuple(
        _flow(kind)(text) for kind in ("copies", "stores") for text in _strings(given.get(kind, []), kind)
    )
    made["calls"] = tuple(_callback(t) for t in _strings(given.get("calls", []), "calls"))
    for key in ("retains", "retains_unwritten", "retains_stored", "may_yield_proc_null", "nonnegative", "positive"):
        made[key] = _integers(given.get(key, []), key)
    for key in ("noreturn", "lets_errors_return", "pure", "computes", "errno", "repeatable", "outside"):
        made[key] = given.get(key, False)
    made["operation"] = given.get("operation")
    if "appends" in given:
        made["appends"] = _appends(given["appends"])
    if "fills" in given:
        (made["fills"],) = parse_length(given["fills"])
    for key in ("below", "errors"):
        made[key] = given.get(key, "")
    if made["errors"] not in ("", "sets", "makes"):
        raise ValueError(f"bad errors {made['errors']!r}")
    if "returns" in given:
        made |= _returns(given["returns"])
    if "allocates" in given:
        made["allocates"] = _alloc(given["allocates"])
    if "frees" in given:
        made["frees"] = _frees(given["frees"])
    if "format" in given:
        made["format"] = _format(given["format"])
    if "mpi" in given:
        made["mpi"] = _op(given["mpi"])
    effect = FunctionEffect(name=name, source=source, user=user, **made)
    touched = effect.reads or effect.all_writes or effect.allocates or effect.frees or effect.retains or effect.calls
    if effect.pure and (touched or effect.mpi or effect.flows):
        raise ValueError("a pure function touches nothing")
    others = effect.all_writes or effect.allocates or effect.frees or effect.retains or effect.calls or effect.flows
    if effect.computes and (effect.pure or effect.mpi or others or not effect.reads):
        raise ValueError("a function that computes its result reads, and nothing else")
    if effect.repeatable and effect.reads:
        raise ValueError("a repeatable function reads no memory, or equal arguments would not be equal inputs")
    if not set(effect.retains_unwritten) <= set(effect.retains):
        raise ValueError("retains_unwritten names arguments that are not retained")
    if any(r.length is None and not r.rest for r in effect.overwrites):
        raise ValueError("overwrites needs a length: [..]")
    if effect.appends is not None and effect.appends[0] not in {r.arg for r in effect.writes}:
        raise ValueError("appends names an argument through which nothing is written")
    return effect


@dataclass(frozen=True, slots=True)
class _Variant:
    """Another name of every function of a file: ``P{name}``.  ``reason``: why calls by it stay ('': they need not)."""

    pattern: str
    reason: str = ""

    def of(self, name: str, effect: FunctionEffect) -> tuple[str, FunctionEffect]:
        op = effect.mpi
        if op is not None and op.convertible and self.reason:
            effect = replace(effect, mpi=replace(op, convertible=False, reason=self.reason))
        return self.pattern.replace("{name}", name), effect


def _entries(data: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The ``[effects]`` and ``[[group]]`` parts of one file, by function name.  Raises ValueError."""
    entries: dict[str, Mapping[str, Any]] = {}

    def add(name: str, entry: Any) -> None:
        if not isinstance(entry, dict):
            raise ValueError(f"{name}: an entry is a table")
        if not _NAME.match(name):
            raise ValueError(f"{name!r} is no function name")
        if name in entries:
            raise ValueError(f"{name}: listed twice")
        entries[name] = entry

    effects = data.get("effects", {})
    if not isinstance(effects, dict):
        raise ValueError("'effects' is a table")
    for name, entry in effects.items():
        add(name, entry)
    for group in data.get("group", []):
        shared = {k: v for k, v in group.items() if k != "names"}
        for name in group.get("names", "").split() if isinstance(group.get("names"), str) else group["names"]:
            add(name, shared)
    return entries


def _parse(path: Path, data: Mapping[str, Any], user: bool) -> dict[str, FunctionEffect]:
    table: dict[str, FunctionEffect] = {}
    try:
        if not user and not data.keys() <= {"effects", "group", "variant"}:
            raise ValueError("entries stand under 'effects'")
        entries = _expand_like(_entries(data))
        variants = [_Variant(**v) for v in data.get("variant", [])]
    except (ValueError, TypeError, KeyError) as error:
        raise EffectsError(f"{path}: {error}") from error
    last: tuple[Mapping[str, Any], FunctionEffect] | None = None
    for name, entry in entries.items():
        if last is not None and last[0] == entry:  # the next one of a group
            table[name] = replace(last[1], name=name)
            continue
        try:
            table[name] = parse_effect(name, entry, path.name, user)
            last = (entry, table[name])
        except ValueError as error:
            raise EffectsError(f"{path}: effects.{name}: {error}") from error
    plain = list(table.items())
    for variant in variants:
        for name, effect in plain:
            other, changed = variant.of(name, effect)
            table.setdefault(other, changed)
    return table


def _load(path: Path) -> dict[str, Any]:
    try:
        return load_toml(path)
    except TomlError as error:
        raise EffectsError(str(error)) from error


@lru_cache(maxsize=1)
def read_shipped() -> Mapping[str, FunctionEffect]:
    """All shipped tables, as they were read before where nothing has changed.  Raises EffectsError."""
    paths = sorted((analyses_dir() / "effects").glob("*.toml"))
    code = [Path(__file__), Path(__file__).with_name("model.py"), Path(__file__).parent.parent / "toml.py"]
    kept = Kept("effects", sys.version, *map(str, paths))
    known = _unpacked(kept.load())
    if known is None:
        try:
            digests = {str(path): digest(str(path)) for path in (*paths, *code)}  # before: what is read is no older
        except OSError:
            digests = {}
        known = read_tables(paths)
        if digests:
            kept.store(pickle.dumps(known, pickle.HIGHEST_PROTOCOL), digests)
    return known


def _unpacked(data: bytes | None) -> dict[str, FunctionEffect] | None:
    if data is None:
        return None
    try:
        table = pickle.loads(data)
    except Exception:  # pickle raises nearly anything on corrupt bytes
        return None
    return table if isinstance(table, dict) and table else None


def read_tables(paths: Sequence[Path]) -> dict[str, FunctionEffect]:
    """The tables of these files; a function stands in one of them only.  Raises EffectsError."""
    table: dict[str, FunctionEffect] = {}
    for path in paths:
        for name, effect in _parse(path, _load(path), user=False).items():
            if name in table:
                raise EffectsError(f"{path}: effects.{name}: also in {table[name].source}")
            table[name] = effect
    return table


def read_user(path: Path) -> Mapping[str, FunctionEffect]:
    """The ``[effects.NAME]`` entries of an opi.toml, or of ``[tool.opi-xform]`` in a pyproject.toml."""
    data = _load(path)
    if path.name == "pyproject.toml":
        data = data.get("tool", {}).get("opi-xform", {})
    return _parse(path, {"effects": data.get("effects", {})}, user=True)


def load_effects(extra: Path | None = None, *, strict: bool = False) -> Effects:
    """The shipped tables, then the ``[effects.NAME]`` entries of ``extra`` (an ``opi.toml``), which win.

    ``strict`` leaves the user's entries out, but still reads and checks them.  Raises EffectsError.
    """
    table = dict(read_shipped())
    if extra is not None:
        user = read_user(extra)
        if not strict:
            table.update(user)
    return Effects(table)
