"""The table of disturbances: ``table/*.toml``, one entry a kind, and ``uses.toml``, what is done with what it brings.

README.md beside this file describes the entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from opi_xform.toml import load_toml

HERE = Path(__file__).resolve().parent
BRINGS = ("address", "flag", "rank", "count", "type", "fill", "nothing")
SIDES = ("send", "recv")
EXPECT = ("keep", "equal")


class TableError(Exception):
    """An entry that does not say what it has to."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One disturbance.

    name, group, why: for the reader.  brings: what ``put``, ``get`` make, for a use to work with.  condition: which
    premise of docs/soundness.md it tries.  include: headers.  top: text at file level.  put, get, clean: statements.
    places: where its variables may be: ``inline``, in the block of the call, and ``function``, in a function of their
    own.  flags: where the flag may live, ``local`` or ``static``.  uses: only these; '' for all that fit.
    sides: of host sites.  host: what is expected of the host's site.  strict: analysed with ``--strict``.
    alone: no other program runs in its MPI job, and it has its own ``main``.  writes: into the buffer, after the call.
    lasting: the buffer has to be there at the program's end.  beginning: the message begins where its buffer does.
    """

    name: str
    group: str
    why: str
    brings: str = "nothing"
    condition: str = ""
    include: tuple[str, ...] = ()
    top: str = ""
    put: str = ""
    get: str = ""
    clean: str = ""
    places: tuple[str, ...] = ("inline", "function")
    flags: tuple[str, ...] = ("static", "local")
    uses: tuple[str, ...] = ()
    sides: tuple[str, ...] = SIDES
    host: str = ""
    strict: bool = False
    alone: bool = False
    writes: bool = False
    lasting: bool = False
    beginning: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """What is done with what a kind brings.

    before, after: text around the host's call, in which ``$put``, ``$get``, ``$clean`` are the kind's.  hole: text for
    the marked packing loop's first value.  side: of the host.  host: expected of its site, ``keep`` or ``equal``; lines
    of the text that end with ``//~ keep`` are sites that must stay.
    blocking: the host's call has completed when it returns.  typed: the elements' C type is known.
    carrier: the host's buffer is a pointer variable, whose own address is what leaves.  real: elements are floating.
    """

    name: str
    brings: str
    side: str
    before: str = ""
    after: str = ""
    hole: str = ""
    host: str = "equal"
    blocking: bool = False
    typed: bool = False
    carrier: bool = False
    real: bool = False


@dataclass(frozen=True, slots=True)
class Variant:
    """A kind put to a use in one form."""

    kind: Kind
    use: Use
    place: str
    flag: str

    @property
    def name(self) -> str:
        parts = [self.kind.name, self.use.name, self.place, *([self.flag] if self.kind.brings == "flag" else [])]
        return "-".join(parts)

    @property
    def host(self) -> str:
        """What is expected of the host's site."""
        return self.kind.host or self.use.host


@cache
def kinds() -> tuple[Kind, ...]:
    """All kinds, in the order of the files' names and in these in the text's.  Raises TableError."""
    found = [kind for path in sorted((HERE / "table").glob("*.toml")) for kind in _kinds(path)]
    names = [kind.name for kind in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise TableError(f"named twice: {', '.join(sorted(twice))}")
    return tuple(found)


def _kinds(path: Path) -> Iterator[Kind]:
    data = load_toml(path)
    for entry in data["kind"]:
        yield _checked(Kind(**_values({"group": data["group"], **entry}, Kind, path)), path)


def _checked(kind: Kind, path: Path) -> Kind:
    wrong = kind.brings not in BRINGS or kind.host not in ("", *EXPECT) or not set(kind.sides) <= set(SIDES)
    apart = "function" in kind.places and kind.brings in ("address", "flag", "rank")
    wrong |= apart and any(word in kind.put + kind.get + kind.clean for word in ("$count", "$bytes"))
    if wrong or not kind.why or not (kind.put or kind.get):
        raise TableError(f"{path.name}: {kind.name}: not a disturbance")
    return kind


@cache
def uses() -> tuple[Use, ...]:
    path = HERE / "uses.toml"
    return tuple(Use(**_values(entry, Use, path)) for entry in load_toml(path)["use"])


def _values(entry: dict[str, Any], kind: type, path: Path) -> dict[str, Any]:
    known = {field.name for field in fields(kind)}
    if unknown := entry.keys() - known:
        raise TableError(f"{path.name}: {entry.get('name')}: {', '.join(sorted(unknown))} is no key")
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def variants(of: Kind) -> Iterator[Variant]:
    """The kind in all its forms, the use changing fastest."""
    flags = of.flags if of.brings == "flag" else ("static",)
    for place in of.places if of.brings in ("address", "flag", "rank", "count", "type") else ("inline",):
        for flag in flags:
            for use in uses():
                fits = use.brings == of.brings and use.side in of.sides and (not of.uses or use.name in of.uses)
                if fits and not (use.hole and place == "inline"):
                    yield Variant(of, use, place, flag)
