"""The predefined MPI datatypes, from ``analyses/datatypes.toml``: how many bytes an element has.

A datatype that is not in the table is a derived one (or unknown): its layout has to be found otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from opi_xform.record import dataclass
from opi_xform.resources import analyses_dir
from opi_xform.toml import TomlError, load_toml


@dataclass(frozen=True, slots=True)
class Datatype:
    """size: bytes of data in one element.  extent: bytes from one element to the next.  c: the C type ('' for none)."""

    name: str
    size: int
    extent: int
    c: str

    @property
    def contiguous(self) -> bool:
        """Whether every byte of an element is data (no padding, as between value and index of MPI_DOUBLE_INT)."""
        return self.size == self.extent


@lru_cache(maxsize=1)
def load_datatypes() -> Mapping[str, Datatype]:
    """Datatype by the macro's name, in the table's order.  Raises TomlError."""
    path = analyses_dir() / "datatypes.toml"
    table: dict[str, Datatype] = {}
    for name, entry in load_toml(path)["datatypes"].items():
        if not set(entry) <= {"size", "extent", "c"} or "size" not in entry:
            raise TomlError(f"{path}: datatypes.{name}: size, extent and c are its keys")
        table[name] = Datatype(name, entry["size"], entry.get("extent", entry["size"]), entry.get("c", ""))
    return table
