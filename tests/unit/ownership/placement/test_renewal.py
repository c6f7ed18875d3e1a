"""Where a buffer gets new memory, so that there is room for what is packed after a receive.

``opi_xform.ownership.placement.renewal`` is asked by way of whole programs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool

TAKE = "MPI_Recv(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
READ = "for (int i = 0; i < n; i++) v[i] += b[i];"
PACK = "for (int i = 0; i < N; i++)\nb[i] = v[i];"
GIVE = "MPI_Send(b, N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);"
BOTH = ["convert", "convert"]


def program(folder: Path, body: str, top: str = "") -> str:
    head = f"#include <mpi.h>\n#define N 900\nstatic double b[N], v[N];\n{top}\nint main(int argc, char **argv)\n{{"
    loop = f"MPI_Init(&argc, &argv);\nint n = argc;\nfor (int t = 0; t < 3; t++) {{\n{body}\n}}"
    (folder / "a.c").write_text(f"{head}\n{loop}\nMPI_Finalize();\nreturn 0;\n}}\n")
    return str(folder / "a.c")


def decided(folder: Path, body: str, top: str = "", *options: str) -> list[str]:
    """Of each site; with ``A3`` after it where that is assumed."""
    code, out, err = run_tool([program(folder, body, top), "-j", "1", "--output-format", "json", *options])
    assert code == 0, err
    return [s["decision"] + (" A3" if "A3" in s["assumptions"] else "") for s in json.loads(out)["sites"]]


def calls(folder: Path, body: str, top: str = "") -> list[str]:
    """What is put in, and the line right after it."""
    code, _, err = run_tool([program(folder, body, top), "-j", "1", "-o", str(folder / "out")])
    assert code == 0, err
    lines = [line.strip() for line in (folder / "out" / "a.c").read_text().splitlines()]
    return [f"{line} {lines[i + 1]}" for i, line in enumerate(lines) if line.startswith(("OPI_Alloc", "OPI_Free"))]


def test_what_is_there_is_freed_and_as_much_is_asked_for_as_the_program_has(tmp_path: Path) -> None:
    body = f"{TAKE}\nif (argc > 2) {{\n{READ}\n}}\n{PACK}\n{GIVE}"
    assert decided(tmp_path, body) == BOTH
    assert [line for line in calls(tmp_path, body) if "for" in line or "Alloc" in line] == [
        "OPI_Free(&b); OPI_Alloc(&b, sizeof(double[N]));",
        "OPI_Alloc(&b, sizeof(double[N])); for (int i = 0; i < N; i++)",
    ]


def test_a_call_that_would_only_find_null_is_left_out(tmp_path: Path) -> None:
    found = calls(tmp_path, f"{TAKE}\n{READ}\n{PACK}\n{GIVE}")
    assert sum(line.startswith("OPI_Free") for line in found) == 1


@pytest.mark.parametrize(
    "body",
    [
        f"{TAKE} {READ} {PACK.replace('int i = 0', 'int i = 1')} {GIVE}",
        f"{TAKE} {READ} {PACK.replace('b[i] = v[i]', 'if (v[i] > 0) b[i] = v[i]')} {GIVE}",
        f"{TAKE} {READ} while (n-- > 3) {{ v[n] = b[0]; {PACK} }} {GIVE}",
        f"{TAKE} {READ} if (argc > 5) goto inside; {PACK.replace('b[i]', '{ inside: b[i]')}; }} {GIVE}",
    ],
)
def test_where_something_of_it_is_needed_or_a_jump_goes_around_it_stays(body: str, tmp_path: Path) -> None:
    assert decided(tmp_path, body)[0] == "keep"


def test_a_loop_that_comes_back_to_its_test_gets_the_memory_once(tmp_path: Path) -> None:
    body = f"{TAKE} {READ}\nint k = 0;\nwhile (k < N) {{\nb[k] = v[k];\nk++;\n}}\n{GIVE}"
    assert decided(tmp_path, body) == BOTH
    assert any(line.endswith("while (k < N) {") for line in calls(tmp_path, body))


def test_an_operation_that_may_use_the_memory_keeps_it(tmp_path: Path) -> None:
    begun = "MPI_Request q;\nMPI_Issend(b + 9, 9, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, &q);\n"
    body = f"{TAKE} {READ}\n{PACK}\nMPI_Wait(&q, MPI_STATUS_IGNORE);"
    assert decided(tmp_path, f"{begun}{body}")[1] == "keep"


def test_what_it_rests_on_is_named_at_every_site_of_the_buffer(tmp_path: Path) -> None:
    pack = "for (int j = 0; j < k; j++) for (int i = 0; i < m; i++) b[j * m + i] = v[j];"
    give = "MPI_Send(b, k * m, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);"
    body = f"int k = argc - 1, m = argc - 2;\n{TAKE} {READ}\n{pack}\n{give}"
    assert decided(tmp_path, body) == ["convert A3"] * 2
    assert decided(tmp_path, body, "", "--strict")[0] == "keep"
