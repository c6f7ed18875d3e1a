"""Whose each function of MPI is: the table, and what the table has to say something about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from opi_xform.bindings.header import Function
from opi_xform.record import dataclass
from opi_xform.toml import load_toml

TABLE = Path(__file__).with_name("table.toml")


class TableError(Exception):
    """The table contradicts itself, or a header."""


@dataclass(frozen=True, slots=True)
class Table:
    """Every function the table names is in exactly one of the three."""

    generated: Mapping[str, str]
    """Name to the C expression after it; it may answer OPI_NATIVE."""
    written: Mapping[str, str]
    """Name to the source of libopi that defines it."""
    native: Mapping[str, str]
    """Name to the reason why the MPI's own function is right."""
    since: Mapping[str, str]
    """Name to the feature it needs; functions of MPI 3.0 need none."""
    features: Mapping[str, str]
    """Feature to its condition in the C preprocessor."""

    def knows(self, name: str) -> bool:
        return any(name in kind for kind in (self.generated, self.written, self.native))

    @property
    def covered(self) -> frozenset[str]:
        return frozenset(self.generated) | frozenset(self.written)


def read_table(path: Path = TABLE) -> Table:
    """The table as shipped. Raises TableError."""
    data = load_toml(path)
    generated: dict[str, str] = dict(data["generated"])
    for name in data["large"]["generated"]:
        generated[f"{name}_c"] = generated[name]
    written = {name: source for source, names in data["written"].items() for name in names}
    native: dict[str, str] = {}
    for group in data["native"]:
        for name in group["functions"]:
            if name in native:
                raise TableError(f"{name} is native twice")
            native[name] = native[f"{name}_c"] = group["reason"]
    features: dict[str, str] = dict(data["features"])
    since = {name: feature for feature, names in data["since"].items() for name in names}
    since.update({f"{name}_c": "large" for name in data["large"]["generated"]})
    twice = (set(generated) & set(written)) | (set(generated) & set(native)) | (set(written) & set(native))
    if twice:
        raise TableError(f"in two kinds at once: {', '.join(sorted(twice))}")
    unknown = (set(since) - set(generated) - set(written)) | (set(since.values()) - set(features))
    if unknown:
        raise TableError(f"`since` names what the table does not: {', '.join(sorted(unknown))}")
    return Table(generated, written, native, since, features)


def concerns_us(function: Function) -> bool:
    """Does the table have to say whose this function is?

    Everything that takes or returns requests or messages, everything with a peer and a tag, and everything that makes
    or ends a communicator: were one of these to slip past libopi, a message could be lost.
    """
    types = " ".join(function.types)
    names = {p.name.lower().rstrip("_") for p in function.parameters}
    peer = any(name in {"dest", "source", "peer", "rank"} for name in names)
    return (
        "MPI_Request" in types
        or "MPI_Message" in types
        or any(t.replace("const ", "") in {"MPI_Comm *", "MPI_Comm*"} for t in function.types)
        or (peer and "tag" in names)
    )


def unclassified(declared: Iterable[Function], table: Table) -> list[str]:
    """The functions of a header that the table should mention and does not."""
    return sorted(f.name for f in declared if concerns_us(f) and not table.knows(f.name))
