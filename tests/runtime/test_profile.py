"""OPI_PROFILE: what it counts of a program whose messages are known, and that every key is documented."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT, MpiUser, only_one

from opi_xform.launch.ranks import ensure_ranks, link_flags
from opi_xform.resources import runtime_include_dir

SOURCE = CHECKOUT / "runtime" / "tests" / "check" / "misuse.c"
WAITS = SOURCE.with_name("waits.c")
MESSAGES, BYTES = 50, 3000 * 8
"""`misuse back`: so many buffers go from rank 0 to rank 1 and come back."""

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="session")
def program(mpi_user: MpiUser, shared_tmp: Path) -> Path:
    target = shared_tmp / f"profiled-{mpi_user.mpi.kind}"
    with only_one(target.with_suffix(".lock")):
        if not target.exists():
            mpi_user.opicc("-g", "-O1", SOURCE, "-o", target)
    return target


def profile(user: MpiUser, program: Path, tmp_path: Path, **environment: str) -> dict[str, Any]:
    file = tmp_path / "profile.json"
    result = user.run(2, program, "back", OPI_PROFILE=str(file), **environment)
    assert "misuse: ok" in result.out
    assert "profile" not in result.err
    told: dict[str, Any] = json.loads(file.read_text())
    return told


def test_gives_that_are_taken(mpi_user: MpiUser, program: Path, tmp_path: Path) -> None:
    """Every buffer passes, nothing is copied."""
    told = profile(mpi_user, program, tmp_path)
    everything = {"messages": 2 * MESSAGES, "bytes": 2 * MESSAGES * BYTES}
    assert told["version"] == 1
    assert told["ranks"] == 2
    assert told["on_node"]["all"] == told["on_node"]["give"] == everything
    assert told["left_to_mpi"]["all"]["messages"] == told["off_node"]["messages"] == told["outside"]["messages"] == 0
    assert told["copies"] == {
        "made": 0,
        "made_bytes": 0,
        "saved": 2 * everything["messages"],
        "saved_bytes": 2 * everything["bytes"],
        "buffers_passed": everything["messages"],
    }
    one_way = {"messages": MESSAGES, "bytes": MESSAGES * BYTES}
    nothing = {"messages": 0, "bytes": 0}
    assert told["matrix"] == [
        {"from": 0, "to": 1, "on_node": one_way, "mpi": nothing},
        {"from": 1, "to": 0, "on_node": one_way, "mpi": nothing},
    ]
    assert 0 < told["pool"]["new"] < told["pool"]["blocks"]
    assert told["time"]["calls"] >= 4 * MESSAGES
    assert 0 < told["time"]["waiting_s"] <= told["time"]["library_s"]


def test_every_call_that_waits_counts(mpi_user: MpiUser, tmp_path: Path) -> None:
    """Nine calls wait for a partner that sleeps 0.15 s before each; one that did not count would be missing."""
    program, file = tmp_path / "waits", tmp_path / "profile.json"
    mpi_user.opicc("-g", "-O1", WAITS, "-o", program)
    out = mpi_user.run(2, program, OPI_PROFILE=str(file)).out
    measured = re.search(r"waits: ([\d.]+)", out)
    assert measured is not None
    told = json.loads(file.read_text())
    time = told["time"]
    assert time["library_s"] >= time["waiting_s"] > float(measured[1]) - 0.1
    lines = WAITS.read_text(encoding="utf-8").split("\n")
    if shutil.which("addr2line") is not None:
        calls = {lines[int(site["at"].rpartition(":")[2]) - 1].strip().partition("(")[0] for site in told["sites"]}
        assert calls == {"MPI_Send", "MPI_Ssend", "MPI_Startall"}


def sender(told: dict[str, Any]) -> str:
    """The line that sent all, which must be one of the program's that sends."""
    assert sum(c["messages"] for s in told["sites"] for k, c in s.items() if k != "at") == 2 * MESSAGES
    assert sum(c["bytes"] for s in told["sites"] for k, c in s.items() if k != "at") == 2 * MESSAGES * BYTES
    if shutil.which("addr2line") is None:
        return ""
    lines = SOURCE.read_text(encoding="utf-8").split("\n")
    for site in told["sites"]:
        file, _, line = site["at"].rpartition(":")
        assert Path(file).name == SOURCE.name
        assert "OPI_Give(" in lines[int(line) - 1]
    return str(told["sites"][0]["at"])


def test_the_lines_that_sent(mpi_user: MpiUser, program: Path, tmp_path: Path) -> None:
    told = profile(mpi_user, program, tmp_path)
    at = sender(told)
    assert all(set(site) == {"at", "give"} for site in told["sites"])
    elsewhere = profile(mpi_user, program, tmp_path, OPI_NODE_RANKS="1")
    assert sender(elsewhere) == at
    assert all(set(site) == {"at", "mpi"} for site in elsewhere["sites"])
    table = mpi_user.run(2, program, "back", OPI_PROFILE="1").err
    assert re.search(rf"libopi: sent at {re.escape(at)}\S*: \d+ messages, \d+ bytes\n", table)


@pytest.mark.parametrize(
    ("variable", "value", "group", "key"),
    [
        ("OPI_NODE_RANKS", "1", "off_node", None),
        ("OPI_DISABLE", "1", "left_to_mpi", "disabled"),
        ("OPI_HEAP", "private", "left_to_mpi", "no shared heap"),
    ],
)
def test_messages_of_the_mpi(
    mpi_user: MpiUser, program: Path, tmp_path: Path, variable: str, value: str, group: str, key: str | None
) -> None:
    told = profile(mpi_user, program, tmp_path, **{variable: value})
    counted = told[group][key] if key else told[group]
    assert counted == {"messages": 2 * MESSAGES, "bytes": 2 * MESSAGES * BYTES}
    assert told["on_node"]["all"]["messages"] == 0
    assert [entry["mpi"]["messages"] for entry in told["matrix"]] == [MESSAGES, MESSAGES]


def test_the_table(mpi_user: MpiUser, program: Path) -> None:
    result = mpi_user.run(2, program, "back", OPI_PROFILE="1")
    assert re.search(rf"give +{2 * MESSAGES} messages +{2 * MESSAGES * BYTES} bytes", result.err)
    assert f"{2 * MESSAGES} buffers passed" in result.err
    assert re.search(rf"libopi: +0 +0 +{MESSAGES}\nlibopi: +1 +{MESSAGES} +0\n", result.err)


def test_every_key_is_documented(mpi_user: MpiUser, program: Path, tmp_path: Path) -> None:
    page = (CHECKOUT / "docs" / "runtime.md").read_text(encoding="utf-8")
    section = page[page.index("## Profile") :]
    section = section[: section.index("\n## ", 4)]

    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for inner in value.values() for key in keys(inner)}
        return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()

    told = profile(mpi_user, program, tmp_path)
    assert [key for key in sorted(keys(told)) if f"`{key}`" not in section and f'"{key}"' not in section] == []


WINDOWS = CHECKOUT / "runtime" / "tests" / "check" / "windows.c"


@pytest.mark.parametrize("nodes", [False, True], ids=["one node", "nodes"])
def test_windows_by_operation_and_way(mpi_user: MpiUser, tmp_path: Path, nodes: bool) -> None:
    """`windows put-get` makes one put and one get of 8 bytes; on pretended nodes they are the MPI's."""
    program, file = tmp_path / "windows", tmp_path / "profile.json"
    mpi_user.opicc("-O1", WINDOWS, "-o", program)
    mpi_user.run(2, program, "put-get", OPI_PROFILE=str(file), **({"OPI_NODE_RANKS": "1"} if nodes else {}))
    windows = json.loads(file.read_text())["windows"]
    carried = {"operations": 1, "bytes": 8}
    seen = {(kind, way): count for kind, by in windows.items() for way, count in by.items() if count["operations"]}
    way = "mpi" if nodes else "direct"
    assert seen == {("put", way): carried, ("get", way): carried}


@pytest.fixture(scope="session")
def windows_of_ranks(mpi_user: MpiUser, opi_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("profiled") / "windows"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPI_CACHE", str(opi_cache))
        flags = link_flags(ensure_ranks(mpi_user.mpi))
    mpi_user.mpicc("-g", "-O1", f"-I{runtime_include_dir()}", WINDOWS, *flags, "-o", program)
    return program


@pytest.mark.parametrize("split", ["3", "2,1", "1,2"])
@pytest.mark.parametrize("kind", ["threads", "fibers"])
def test_windows_of_ranks_that_share_processes(
    mpi_user: MpiUser, windows_of_ranks: Path, tmp_path: Path, kind: str, split: str
) -> None:
    """Over all ranks of all processes: with the keys that processes have, and nothing else is counted. Rank 0 puts into
    memory of rank 1's own, which the kernel does where rank 1 is in another process."""
    told = {"OPI_RANKS_PER_PROCESS": split, "OPI_RANKS_CARRIER": kind}
    processes, file = len(split.split(",")), tmp_path / "profile.json"

    def counted(mode: str) -> dict[tuple[str, str], tuple[int, int]]:
        result = mpi_user.run(processes, windows_of_ranks, mode, OPI_PROFILE=str(file), **told)
        assert (result.out, result.err) == ("windows: ok\n", "")
        profile = json.loads(file.read_text())
        assert set(profile) == {"version", "ranks", "windows"}
        assert (profile["version"], profile["ranks"]) == (1, 3)
        every = [(kind, way, c) for kind, by in profile["windows"].items() for way, c in by.items()]
        assert len(every) == 6 * 3
        return {(kind, way): (c["operations"], c["bytes"]) for kind, way, c in every if c["operations"]}

    in_order = {"put": (5, 56), "get": (5, 112), "accumulate": (9, 72), "fetch_and_op": (6, 48)}
    assert counted("right") == {(kind, "direct"): count for kind, count in in_order.items()}
    assert counted("private") == {("put", "kernel" if split == "1,2" else "direct"): (1, 24)}
    table = mpi_user.run(processes, windows_of_ranks, "right", OPI_PROFILE="1", **told).err
    assert "libopi: profile of 3 ranks\n" in table
    for kind, (operations, size) in in_order.items():
        assert re.search(rf"libopi:   window {kind}, +direct +{operations} operations +{size} bytes\n", table), table
    assert mpi_user.run(processes, windows_of_ranks, "right", OPI_PROFILE="0", **told).err == ""


def test_a_profile_of_ranks_that_cannot_be_written(mpi_user: MpiUser, windows_of_ranks: Path, tmp_path: Path) -> None:
    where = str(tmp_path / "none" / "profile.json")
    result = mpi_user.run(1, windows_of_ranks, "right", OPI_RANKS="3", OPI_RANKS_CARRIER="threads", OPI_PROFILE=where)
    assert (result.out, result.err) == ("windows: ok\n", f"libopi: OPI_PROFILE={where}: cannot be written\n")
