"""What is released: wheel and sdist hold the tables and the runtime; an installed wheel works without a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import CHECKOUT, MpiUser

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

RUNTIME = ("include", "process", "ranks", "malloc", "shared")
PROGRAM = """#include <mpi.h>
#include <stdio.h>

static double out[1000], in[1000];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 1000; i++)
        out[i] = i + rank;
    MPI_Sendrecv(out, 1000, MPI_DOUBLE, 1 - rank, 0, in, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 1000; i++)
        sum += in[i];
    if (rank == 0)
        printf("sum %.1f\\n", sum);
    MPI_Finalize();
    return 0;
}
"""


def done(command: Sequence[str | Path], cwd: Path, environment: dict[str, str] | None = None) -> str:
    """The output of a command that must succeed."""
    result = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, f"{command}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}"
    return result.stdout


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    done([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, "."], CHECKOUT)
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    return wheel, sdist


def data_files() -> set[str]:
    """The files, relative to the checkout, that must travel with the package."""
    roots = ("analyses", *(f"runtime/{part}" for part in RUNTIME), "testdata/opbench")
    listed = subprocess.run(["git", "ls-files", *roots], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    names = set(listed.stdout.split())
    if not names:  # not a git checkout
        names = {str(p.relative_to(CHECKOUT)) for root in roots for p in (CHECKOUT / root).rglob("*") if p.is_file()}
    return names


def test_wheel_and_sdist_hold_tables_and_runtime(released: tuple[Path, Path]) -> None:
    wheel, sdist = released
    needed = data_files()
    assert {"analyses", "runtime", "testdata"} == {name.split("/")[0] for name in needed}
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    assert {f"opi_xform/_data/{name}" for name in needed} <= in_wheel
    top = {name.split("/")[0] for name in in_wheel}
    shared = {name.partition("/")[2]: name for name in in_wheel if name.split("/")[0].endswith(".data")}
    package = {f"data/share/cmake/opi/{file.name}" for file in (CHECKOUT / "runtime/cmake/package").iterdir()}
    manual = shared["data/share/man/man1/opi-xform.1"]
    assert shared.keys() == {"data/share/man/man1/opi-xform.1", *package}
    assert "data/share/cmake/opi/opiConfig.cmake" in package
    (known,) = (name for name in top if name.endswith(".dist-info"))
    assert top == {"opi_xform", known, manual.split("/")[0]}
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    assert needed | {"LICENSE", "README.md", "Makefile", "pyproject.toml", "tests/system/test_packaging.py"} <= in_sdist


def test_installed_wheel_works_outside_a_checkout(
    released: tuple[Path, Path], mpi_user: MpiUser, tmp_path: Path
) -> None:
    """A new environment; the dependencies come from this one, so that nothing is downloaded."""
    wheel, _ = released
    venv = tmp_path / "venv"
    done([sys.executable, "-m", "venv", "--without-pip", venv], tmp_path)
    python = venv / "bin" / "python"
    site = Path(done([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], tmp_path).strip())
    here = Path(
        done([sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], tmp_path).strip()
    )
    done([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel], tmp_path)
    # After the new environment's own packages, and without the editable install's hook: that is a .pth file.
    (site / "dependencies.pth").write_text(f"{here}\n")

    environment = {key: value for key, value in mpi_user.environment.items() if key != "PYTHONPATH"}
    environment["OPI_CACHE"] = str(tmp_path / "cache")
    environment["OPI_RUNTIME_CFLAGS"] = "-O0"  # half the time to build it
    found = done([python, "-c", "import opi_xform; print(opi_xform.__file__)"], tmp_path, environment)
    assert Path(found.strip()).is_relative_to(venv)

    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "sum.c").write_text(PROGRAM)
    done([venv / "bin" / "opi-xform", "program/sum.c", "-o", "out"], tmp_path, environment)
    assert "OPI_Givetake" in (tmp_path / "out" / "sum.c").read_text()
    done([venv / "bin" / "opicc", "-O2", "out/sum.c", "-o", "sum"], tmp_path, environment)
    output = done(mpi_user.command(2, tmp_path / "sum"), tmp_path, environment)
    assert output == "sum 500500.0\n"
    assert "opbench" in done([venv / "bin" / "opi-bench", "list"], tmp_path, environment)
    leaked = [name for name in os.listdir(site) if name in ("analyses", "runtime", "tests", "testdata")]
    assert leaked == []
