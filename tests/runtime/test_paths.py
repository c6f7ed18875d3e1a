"""The paths of a message inside a node: right for all memories and sizes, and OPI_PROFILE shows which was taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT, MpiUser, only_one

ENGINE = CHECKOUT / "runtime" / "tests" / "engine"
PROGRAMS = ("paths", "progress", "ways")
WARNINGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
WAYS = ("inline", "give", "heap", "pipelined", "reference", "kernel")

MOVED = {
    "OPI_TUNE_FILE": "/dev/null",
    "OPI_INLINE_LIMIT": "200",
    "OPI_EAGER_LIMIT": "1k",
    "OPI_PIPE_MIN": "4k",
    "OPI_KERNEL_MIN": "60k",
    "OPI_CO_MIN": "66k",
}
"""Thresholds that send small messages along every path."""

KNOWN = {
    "OPI_TUNE_FILE": "/dev/null",
    "OPI_INLINE_LIMIT": "256",
    "OPI_EAGER_LIMIT": "64k",
    "OPI_PIPE_MIN": "128k",
    "OPI_KERNEL_MIN": "32m",
    "OPI_CO_MIN": "512k",
}
"""Those that ways.c counts on."""

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="session")
def engine(mpi_user: MpiUser, shared_tmp: Path) -> dict[str, Path]:
    """The programs, by name; built by the first worker that asks."""
    folder = shared_tmp / f"engine-{mpi_user.mpi.kind}"
    with only_one(shared_tmp / f"engine-{mpi_user.mpi.kind}.lock"):
        folder.mkdir(exist_ok=True)
        for name in PROGRAMS:
            if not (folder / name).exists():
                mpi_user.opicc(*WARNINGS, ENGINE / f"{name}.c", "-o", folder / name)
    return {name: folder / name for name in PROGRAMS}


@pytest.mark.parametrize("kernel", ["allowed", "early", "late"])
def test_every_path_for_every_memory(mpi_user: MpiUser, engine: dict[str, Path], kernel: str) -> None:
    """Sizes around each (moved) threshold, private, reachable and owned memory, expected and unexpected; copying by the
    kernel allowed, forbidden from the start, and forbidden after MPI_Init found it to work."""
    result = mpi_user.run(2, engine["paths"], *(() if kernel == "allowed" else (kernel,)), **MOVED)
    assert result.out.strip() == "ok"


def test_every_memory_across_nodes(mpi_user: MpiUser, engine: dict[str, Path]) -> None:
    result = mpi_user.run(2, engine["paths"], "below", OPI_NODE_RANKS="1", **MOVED)
    assert result.out.strip() == "ok"


def profile(mpi_user: MpiUser, program: Path, file: Path, *arguments: str, **environment: str) -> dict[str, Any]:
    mpi_user.run(2, program, *arguments, OPI_PROFILE=str(file), **environment)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("kernel", ["unused", "allowed", "early", "late"])
def test_the_profile_shows_each_way(mpi_user: MpiUser, engine: dict[str, Path], tmp_path: Path, kernel: str) -> None:
    """ways.c sends a number of messages of its own along each way."""
    lent = {} if kernel == "unused" else {"OPI_KERNEL_MIN": "100k"}
    arguments = (kernel,) if kernel in ("early", "late") else ()
    found = profile(mpi_user, engine["ways"], tmp_path / "profile.json", *arguments, **{**KNOWN, **lent})
    counted = {way: found["on_node"][way]["messages"] for way in WAYS}
    expected = {
        "inline": 3 + 2,
        "give": 23 + 29,
        "heap": 5 + 6 + 17 + 31,
        "pipelined": 7,
        "reference": 11 + 13 + 19,
        "kernel": 0,
    }
    if kernel == "allowed":
        expected |= {"heap": 5 + 6 + 17, "pipelined": 0, "kernel": 7 + 31}
    if kernel == "late":
        # Lent until it was refused often enough; from then on as if it had never been allowed.
        assert found["by_reference"]["refused"] >= 8
        assert 8 <= counted["kernel"] < 7 + 31
        assert sum(counted.values()) == sum(expected.values())
        return
    assert counted == expected
    assert found["left_to_mpi"]["all"]["messages"] == 0
    assert found["by_reference"]["refused"] == 0
    assert found["copies"]["buffers_passed"] >= 23


def test_a_sender_that_waits_helps_to_copy(mpi_user: MpiUser, engine: dict[str, Path], tmp_path: Path) -> None:
    """Of 19 messages of 8 MiB, unless the sender has no processor while they are copied: then it is asked again."""
    assert any(
        profile(mpi_user, engine["ways"], tmp_path / f"{n}.json", **KNOWN)["by_reference"]["both_sides"]
        for n in range(10)
    )


@pytest.mark.parametrize(("ranks", "node_ranks"), [(2, 0), (3, 0), (4, 2), (2, 1)])
def test_nothing_waits_for_a_peer_that_is_in_the_mpi(
    mpi_user: MpiUser, engine: dict[str, Path], ranks: int, node_ranks: int
) -> None:
    """progress.c: barriers, one-sided, files, head-to-head sends, floods, the cap; on pretended nodes too."""
    nodes = {"OPI_NODE_RANKS": str(node_ranks)} if node_ranks else {}
    result = mpi_user.run(ranks, engine["progress"], OPI_TUNE_FILE="/dev/null", OPI_BUFFER_CAP="4m", **nodes)
    assert result.out.strip() == "ok"
