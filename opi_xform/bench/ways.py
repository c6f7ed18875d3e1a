"""What OPI_PROFILE wrote of a run: messages and bytes by the way they went."""

from __future__ import annotations

from typing import Any


def ways(profile: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Messages and bytes by way; `mpi`: those that the MPI below carried. Ways without any are left out."""
    found = {name: (one["messages"], one["bytes"]) for name, one in profile["on_node"].items() if name != "all"}
    below = [profile["left_to_mpi"]["all"], profile["off_node"], profile["outside"]]
    found["mpi"] = (sum(one["messages"] for one in below), sum(one["bytes"] for one in below))
    return {name: one for name, one in found.items() if one[0]}
