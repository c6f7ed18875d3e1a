"""``analyses/privatize.toml``: functions and variables of libraries that ranks of one process share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from opi_xform.record import dataclass
from opi_xform.resources import analyses_dir
from opi_xform.toml import load_toml


@dataclass(frozen=True, slots=True)
class Shared:
    """Why something hinders ranks that share a process, and what to use instead ('' where there is nothing)."""

    why: str = ""
    instead: str = ""
    signature: str = ""

    @property
    def advice(self) -> str:
        return f"{self.why}; use {self.instead}" if self.instead else self.why


@dataclass(frozen=True, slots=True)
class Table:
    threads: Mapping[str, Shared]
    signals: Mapping[str, Shared]
    callbacks: Mapping[str, Shared]
    state: Mapping[str, Shared]
    process: Mapping[str, Shared]
    variables: Mapping[str, Shared]


@lru_cache(maxsize=1)
def table() -> Table:
    """The table that comes with the package.  Raises TomlError."""
    found = load_toml(analyses_dir() / "privatize.toml")
    parts = {part: {name: Shared(**entry) for name, entry in entries.items()} for part, entries in found.items()}
    return Table(**parts)
