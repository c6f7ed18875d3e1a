"""A program of many files: what is parsed again, any number of processes, and no shape that is too deep or too long."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from case_tools import run_tool

from opi_xform.frontend.units import UnitBuilder
from opi_xform.ir.ast import Unit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.machines.scale.generate import write
from tests.machines.scale.measure import program_in

TOP = """#include <mpi.h>
#include <stdio.h>
#define N 2048
static double out[N], in[N], u[N];
static void exchange(int to)
{
    for (int i = 0; i < N; i++)
        out[i] = u[i];
    MPI_Sendrecv(out, N, MPI_DOUBLE, to, 0, in, N, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        u[i] += in[i];
}
"""
MAIN = """int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(1 - rank);
    BODY
    printf("%g\\n", u[3]);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were parsed, as they are."""
    names: list[str] = []
    build: Callable[[UnitBuilder], Unit] = UnitBuilder.build

    def counted(self: UnitBuilder) -> Unit:
        unit = build(self)
        names.append(Path(unit.path).name)
        return unit

    monkeypatch.setattr(UnitBuilder, "build", counted)
    return names


def test_only_what_changed_is_parsed_again(tmp_path: Path, cache: Path, parsed: list[str]) -> None:
    folder = tmp_path / "program"
    write(1000, folder)
    command = [str(folder), "-j", "1"]
    first = run_tool(command)
    assert first[0] == 0, first[2]
    assert sorted(parsed) == sorted(file.name for file in folder.glob("*.c"))
    parsed.clear()
    assert run_tool(command) == first
    assert parsed == []
    with open(folder / "m0000.c", "a", encoding="utf-8") as file:
        file.write("/* touched */\n")
    assert run_tool(command)[0] == 0
    assert parsed == ["m0000.c"]
    parsed.clear()
    with open(folder / "sim.h", "a", encoding="utf-8") as file:
        file.write("/* touched */\n")
    assert run_tool(command)[0] == 0
    assert len(parsed) == len(list(folder.glob("*.c")))


def test_the_number_of_processes_changes_nothing(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "program"
    write(1500, folder)
    alone = run_tool([str(folder), "-j", "1"])
    assert alone[0] == 0, alone[2]
    for file in cache.rglob("*.*"):
        file.unlink(missing_ok=True)
    assert run_tool([str(folder), "-j", "3"]) == alone


SHAPES = {
    "calls 1000 deep": (
        "static int f0(int i) { return i; }\n"
        + "".join(f"static int f{k}(int i) {{ return f{k - 1}(i) + 1; }}\n" for k in range(1, 1000)),
        "u[0] += f999(0);",
    ),
    "a sum of 1500": ("", "u[0] = " + " + ".join(f"u[{i}]" for i in range(1500)) + ";"),
    "200 brackets": ("", "u[0] = " + "(" * 200 + "1" + ")" * 200 + ";"),
    "800 conditions": ("", "u[0] = " + " && ".join(f"u[{i}] > 0" for i in range(800)) + ";"),
    "500 choices": ("", "u[0] = " + "".join(f"rank == {i} ? {i} : " for i in range(500)) + "1;"),
    "500 else ifs": ("", "".join(f"if (rank == {i}) u[{i}] = 1; else " for i in range(500)) + "u[0] = 1;"),
    "200 blocks": ("", "".join(f"if (u[{i}] > 0) {{" for i in range(200)) + "u[0] = 1;" + "}" * 200),
    "40 loops": ("", "".join(f"for (int i{k} = 0; i{k} < 1; i{k}++) " for k in range(40)) + "u[0] += 1;"),
    "a function of 1500 lines": (
        "",
        "\n".join(
            f"u[{i}] += {i} * u[{(7 * i) % 2048}];" if i % 5 else f"if (u[{i}] > 1) u[1] -= 1;" for i in range(1500)
        ),
    ),
    "400 loops by goto": ("", "\n".join(f"L{i}: u[{i}] += 1; if (u[{i}] < 3) goto L{i};" for i in range(400))),
    "a switch of 500": ("", "switch (rank) {" + "".join(f"case {i}: u[{i}] += 1; break;\n" for i in range(500)) + "}"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_no_shape_is_too_deep_or_too_long(name: str, tmp_path: Path, cache: Path) -> None:
    """Both sites convert: nothing in the shape touches the buffers, whatever its size."""
    functions, body = SHAPES[name]
    file = tmp_path / "shape.c"
    file.write_text(TOP + functions + MAIN.replace("BODY", body), encoding="utf-8")
    code, out, err = run_tool([str(file), "-j", "1", "-v"])
    assert code == 0, err
    assert "OPI_Sendrecv" in out or "OPI_Give" in out, err
    assert "OPI_Alloc(&out" in out, err


def test_a_directory_is_measured_as_a_copy_of_it(tmp_path: Path) -> None:
    own = tmp_path / "code"
    (own / "src").mkdir(parents=True)
    (own / "src" / "main.c").write_text(TOP + MAIN, encoding="utf-8")
    (tmp_path / "code.facts").write_text("src/main.c -- -DN=64 -lm", encoding="utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    program = program_in(scratch, str(own))
    assert program.folder == scratch / "program"
    assert (program.sources, program.compiled()) == (("src/main.c",), ("-DN=64",))
    assert (program.folder / "src" / "main.c").read_text(encoding="utf-8") == TOP + MAIN
    with pytest.raises(ValueError, match="neither a number of lines nor a directory"):
        program_in(tmp_path, "nowhere")
