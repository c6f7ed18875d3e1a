"""docs/supported.md says what happens to each way into MPI: each row of its table of calls is tried."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool

PAGE = Path(__file__).resolve().parents[2] / "docs" / "supported.md"
TO, FROM = "N, MPI_DOUBLE, peer, 7, comm", "N, MPI_DOUBLE, peer, 7, comm"
WAIT = " MPI_Wait(&q, MPI_STATUS_IGNORE);"
STARTED = " MPI_Start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Request_free(&q);"
STATUS = "MPI_STATUS_IGNORE"
MATCHED = "MPI_Message m; MPI_Mprobe(peer, 7, comm, &m, MPI_STATUS_IGNORE); "
BOTH = f"s, {TO.removesuffix(', comm')}, r, N, MPI_DOUBLE, peer, 7, comm"
SENDS = ("Send", "Rsend", "Ssend", "Bsend")
NONBLOCKING = ("Isend", "Irsend", "Issend", "Ibsend")
PERSISTENT = ("Send_init", "Ssend_init", "Bsend_init")
CALLS = {
    **{f"MPI_{name}": f"MPI_{name}(s, {TO});" for name in SENDS},
    **{f"MPI_{name}": f"MPI_{name}(s, {TO}, &q);{WAIT}" for name in NONBLOCKING},
    **{f"MPI_{name}": f"MPI_{name}(s, {TO}, &q);{STARTED}" for name in PERSISTENT},
    "MPI_Recv": f"MPI_Recv(r, {FROM}, {STATUS});",
    "MPI_Irecv": f"MPI_Irecv(r, {FROM}, &q);{WAIT}",
    "MPI_Recv_init": f"MPI_Recv_init(r, {FROM}, &q);{STARTED}",
    "MPI_Sendrecv": f"MPI_Sendrecv({BOTH}, {STATUS});",
    "MPI_Sendrecv_replace": f"MPI_Sendrecv_replace(s, N, MPI_DOUBLE, peer, 7, peer, 7, comm, {STATUS});",
    "MPI_Isendrecv": f"MPI_Isendrecv({BOTH}, &q);{WAIT}",
    "MPI_Isendrecv_replace": f"MPI_Isendrecv_replace(s, N, MPI_DOUBLE, peer, 7, peer, 7, comm, &q);{WAIT}",
    "MPI_Mrecv": f"{MATCHED}MPI_Mrecv(r, N, MPI_DOUBLE, &m, {STATUS});",
    "MPI_Imrecv": f"{MATCHED}MPI_Imrecv(r, N, MPI_DOUBLE, &m, &q);{WAIT}",
    "MPI_Probe": f"MPI_Probe(peer, 7, comm, {STATUS}); MPI_Recv(r, {FROM}, {STATUS});",
    "MPI_Iprobe": f"int f = 0; while (!f) MPI_Iprobe(peer, 7, comm, &f, {STATUS}); MPI_Recv(r, {FROM}, {STATUS});",
    "MPI_Psend_init": "MPI_Psend_init(s, 1, N, MPI_DOUBLE, peer, 7, comm, MPI_INFO_NULL, &q);"
    f" MPI_Start(&q); MPI_Pready(0, q);{WAIT} MPI_Request_free(&q);",
    "MPI_Precv_init": f"MPI_Precv_init(r, 1, N, MPI_DOUBLE, peer, 7, comm, MPI_INFO_NULL, &q);{STARTED}",
    "MPI_Send_c": f"MPI_Send_c(s, {TO});",
}
BUFFERS = {
    "MPI_BOTTOM": ("MPI_Send(MPI_BOTTOM, 1, vector, peer, 7, comm);", "keep OPI402"),
    "derived": ("MPI_Send(s, 1, vector, peer, 7, comm);", "keep OPI107"),
    "small": ("MPI_Send(s, 5, MPI_DOUBLE, peer, 7, comm);", "keep OPI108"),
    "nobody": (f"MPI_Send(s, {TO.replace('peer', 'MPI_PROC_NULL')});", "convert "),
    "between groups": (f"MPI_Send(s, {TO.replace('comm', 'inter')});", "convert "),
    "any": (f"MPI_Recv(r, N, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, {STATUS});", "convert "),
    "inside": (f"MPI_Send(s + 1, {TO.replace('N,', 'N - 1,')});", "keep OPI104"),
    "cancelled": (f"MPI_Irecv(r, {FROM}, &q); MPI_Cancel(&q);{WAIT}", "keep OPI206"),
    "alloca": (
        f"double *p = __builtin_alloca(N * sizeof *p); for (int i = 0; i < N; i++) p[i] = u[i]; MPI_Send(p, {TO});",
        "keep OPI113",
    ),
    "variable length": (
        f"double p[peer * N]; for (int i = 0; i < N; i++) p[i] = u[i]; MPI_Send(p, {TO});",
        "convert ",
    ),
    "in place": (f"MPI_Send(s, {TO}); MPI_Allreduce(MPI_IN_PLACE, s, N, MPI_DOUBLE, MPI_SUM, comm);", "keep OPI101"),
}


def rows() -> dict[str, str]:
    """What the table of calls says, by the name of a call."""
    table = PAGE.read_text(encoding="utf-8").split("## Calls", 1)[1].split("\n## ", 1)[0]
    out = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name in re.findall(r"`(P?MPI_\w+)`", cells[0] if line.startswith("|") else ""):
            out[name] = f"{cells[1]} {cells[2] if len(cells) > 2 else ''}"
    return out


def program(statements: Collection[str]) -> str:
    """Each call in a function of its own, f0, f1, …"""
    lines = ["#include <mpi.h>", "#define N 1000", "static double u[N];", "static int peer = 1;"]
    lines.append("static MPI_Comm comm = MPI_COMM_WORLD, inter;\nstatic MPI_Datatype vector;")
    for number, statement in enumerate(statements):
        lines.append(f"static void f{number}(void)\n{{\nstatic double s[N], r[N];\nMPI_Request q = MPI_REQUEST_NULL;")
        lines.append(f"for (int i = 0; i < N; i++) s[i] = u[i];\n{statement}")
        lines.append("for (int i = 0; i < N; i++) u[i] += r[i];\n(void)q;\n}")
    calls = " ".join(f"f{number}();" for number in range(len(statements)))
    lines.append("int main(int argc, char **argv)\n{\nMPI_Init(&argc, &argv); peer = argc; inter = comm;")
    return "\n".join([*lines, f"{calls}\nMPI_Finalize();\nreturn 0;\n}}\n"])


STATEMENTS = {**CALLS, **{name: statement for name, (statement, _) in BUFFERS.items()}}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The sites by what they are tried for; one program, since parsing mpi.h takes longest."""
    folder = tmp_path_factory.mktemp("supported")
    (folder / "a.c").write_text(program(STATEMENTS.values()))
    code, out, err = run_tool([str(folder / "a.c"), "--output-format", "json"])
    assert code == 0, err
    names = {f"f{number}": name for number, name in enumerate(STATEMENTS)}
    by_name: dict[str, list[dict[str, Any]]] = {name: [] for name in STATEMENTS}
    for site in json.loads(out)["sites"]:
        by_name[names[site["function"]]].append(site)
    return by_name


def test_a_call_by_its_profiling_name_keeps_all_sites(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(program([f"PMPI_Send(s, {TO});", f"MPI_Send(s, {TO});"]))
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    said = rows()["PMPI_Send"]
    assert said.startswith("stays, and so do all sites")
    assert [(site["decision"], site["code"] in said) for site in json.loads(out)["sites"]] == [("keep", True)] * 2


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_row_of_the_table_of_calls(name: str, found: dict[str, list[dict[str, Any]]]) -> None:
    said = rows()[name]
    assert found[name]
    for site in found[name]:
        if site["decision"] == "convert":
            assert "converts" in said
        else:
            assert said.startswith("stays")
            assert site["code"] in said


def test_every_call_of_the_table_is_tried() -> None:
    assert sorted(rows().keys() - CALLS.keys()) == ["PMPI_Send"]  # which has a program of its own


@pytest.mark.parametrize("name", sorted(BUFFERS))
def test_arguments(name: str, found: dict[str, list[dict[str, Any]]]) -> None:
    first = found[name][0]
    assert f"{first['decision']} {first['code']}" == BUFFERS[name][1]
