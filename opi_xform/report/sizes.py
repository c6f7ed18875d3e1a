"""Numbers of bytes for people, written alike in every report."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes with three figures that count, and a unit: ``1.46 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or abs(count) >= 100 else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} TiB" if abs(count) < 100 else f"{count:.0f} TiB"


def exactly(count: int) -> str:
    """Bytes as a file of OPI_PROFILE has them, for beside the rounded number: ``1,536,000``; '' where that is exact."""
    return f"{count:,}" if abs(count) >= 1024 else ""
