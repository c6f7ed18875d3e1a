"""The programs in testdata/ are right before anything transforms them.

Each is built without warnings, passes its own verification on 1, 2 and 4 ranks, prints the same result lines on each
number of ranks, and fails its verification when its exchange is broken.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

TESTDATA = Path(__file__).resolve().parents[2] / "testdata"
TIME_LINE = re.compile(r"time pack\+exchange\+unpack: \d+\.\d+ s")
RANKS = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class Program:
    """A program, arguments for a short run, and an edit (file, old, new) that breaks its exchange."""

    name: str
    arguments: tuple[str, ...]
    broken: tuple[str, str, str]


PROGRAMS = (
    Program("halo2d", ("40", "36", "20"), ("pack.c", "p[s] = rbuf[d][n++];", "p[s] = rbuf[0][n++];")),
    Program("fft2d", ("32", "3"), ("transpose.c", "block[j * mine + i]", "block[i * mine + j]")),
    Program(
        "particles", ("2000", "20"), ("migrate.c", "unpack(s, from_left, mleft);", "unpack(s, from_right, mleft);")
    ),
)


def find_mpicc() -> Path:
    """The mpicc that OPI_MPICC names, else the one of this environment, else the one on PATH."""
    named = os.environ.get("OPI_MPICC")
    beside = Path(sys.executable).parent / "mpicc"
    found = named or (str(beside) if beside.exists() else shutil.which("mpicc"))
    if not found:
        pytest.skip("no mpicc: set OPI_MPICC")
    return Path(found)


def build(mpicc: Path, folder: Path, target: Path) -> None:
    """Compile all C files of a folder; a warning is an error."""
    sources = sorted(str(path) for path in folder.glob("*.c"))
    command = [str(mpicc), "-O2", "-Wall", "-Wextra", "-Werror", *sources, "-o", str(target), "-lm"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr


def run_program(mpicc: Path, program: Path, ranks: int, arguments: tuple[str, ...]) -> tuple[int, list[str]]:
    """Exit code and lines of stdout of a run on so many ranks."""
    launcher = mpicc.parent / "mpiexec"
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    help_text = subprocess.run([str(launcher), "--version"], capture_output=True, text=True, check=False).stdout
    extra = ["--oversubscribe"] if "Open MPI" in help_text or "OpenRTE" in help_text else []
    command = [str(launcher), *extra, "-n", str(ranks), str(program), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    return result.returncode, result.stdout.splitlines()


def result_lines(lines: list[str]) -> list[str]:
    """The lines without the one that holds a time, of which there is exactly one."""
    times = [line for line in lines if TIME_LINE.fullmatch(line)]
    assert len(times) == 1, lines
    return [line for line in lines if line not in times]


@pytest.mark.mpi
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_passes_with_the_same_results_on_every_number_of_ranks(program: Program, tmp_path: Path) -> None:
    mpicc = find_mpicc()
    target = tmp_path / program.name
    build(mpicc, TESTDATA / program.name, target)
    outputs = []
    for ranks in RANKS:
        code, lines = run_program(mpicc, target, ranks, program.arguments)
        assert code == 0
        assert lines[-1] == "verification: PASSED"
        outputs.append(result_lines(lines))
    assert len(outputs[0]) > 3
    assert all(output == outputs[0] for output in outputs[1:])


@pytest.mark.mpi
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_verification_notices_a_broken_exchange(program: Program, tmp_path: Path) -> None:
    mpicc = find_mpicc()
    folder = tmp_path / "src"
    shutil.copytree(TESTDATA / program.name, folder)
    name, old, new = program.broken
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    target = tmp_path / program.name
    build(mpicc, folder, target)
    code, lines = run_program(mpicc, target, 2, program.arguments)
    assert code == 1
    assert lines[-1] == "verification: FAILED"
