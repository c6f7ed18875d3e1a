"""The NAS kernels of testdata/npb: each verifies, and prints the same after opi-xform, line for line.

`make test` runs those that convert most in class S under the first MPI.  `make npb` sets OPI_TEST_NPB to classes (S and
W): it runs all of them on every number of ranks, under each MPI, also with OPI_CHECK=1 and with libopi but not
transformed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, only_one

NPB = CHECKOUT / "testdata" / "npb"
CLASSES = os.environ.get("OPI_TEST_NPB", "").split()


@dataclass(frozen=True, slots=True)
class Kernel:
    """``ranks``: all in `make npb`; ``few``: of these; ``broken``: an edit (file, old, new) that spoils the result;
    ``shared``: folders that belong to it."""

    name: str
    ranks: tuple[int, ...]
    few: int
    broken: tuple[str, str, str]
    arguments: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    def sources(self, root: Path) -> list[Path]:
        return [file for folder in (self.name, *self.shared) for file in sorted((root / folder).glob("*.c"))]


CELLS = ("partition/partition.c", "in[d][count++]", "in[0][count++]"), (), ("flow", "partition")
KERNELS = (
    Kernel("ep", (1, 2, 4), 2, ("ep/main.c", "k += size", "k += size + 1")),
    Kernel("is", (1, 2, 4, 8), 2, ("is/rank.c", "s->below = sum;", "s->below = sum + 1;")),
    Kernel("cg", (1, 2, 4, 8), 2, ("cg/solve.c", "w[i] += q[i];", "w[i] = q[i];")),
    Kernel("mg", (1, 2, 4, 8), 2, ("mg/exchange.c", "box(l, axis, 1 - dir, 1,", "box(l, axis, dir, 1,")),
    Kernel("ft", (1, 2, 4, 8), 2, ("ft/transpose.c", "slabs, p, recvbuf[p]", "slabs, p, recvbuf[0]"), ("p2p",)),
    Kernel("lu", (1, 2, 4, 8), 2, ("lu/exchange.c", "int j = up ? -1 : c->n[1];", "int j = -1;"), shared=("flow",)),
    Kernel("bt", (1, 4), 4, *CELLS),
    Kernel("sp", (1, 4), 4, *CELLS),
)
QUICK = [kernel for kernel in KERNELS if kernel.name in ("ft", "mg") or CLASSES]
FORMS = (("plain", {}), ("after", {}), ("after", {"OPI_CHECK": "1"}), ("after", {"OPI_DISABLE": "1"}))
WHOLE = [(kernel, ranks) for kernel in KERNELS for ranks in kernel.ranks]


def build(user: MpiUser, kernel: Kernel, folder: Path) -> None:
    """In ``folder``: `before`, with the MPI alone; `after`, transformed; and `plain`, not transformed, with libopi."""
    target = folder / "src"
    flags = ("-std=c11", "-O2" if CLASSES else "-O1", "-Wall", "-Wextra", "-Werror")
    user.mpicc(*flags, *kernel.sources(NPB), "-o", folder / "before", "-lm")
    script = "import sys; from opi_xform.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", script, *map(str, kernel.sources(NPB)), "--root", str(NPB), "-o", str(target)]
    done = subprocess.run(command, env=user.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    user.opicc(*flags, *kernel.sources(target), "-o", folder / "after", "-lm")
    if CLASSES:
        user.opicc(*flags, *kernel.sources(NPB), "-o", folder / "plain", "-lm")


def built(user: MpiUser, kernel: Kernel, shared_tmp: Path) -> Path:
    """The folder with the programs of a kernel, made once per run."""
    folder = shared_tmp / f"npb-{kernel.name}-{user.mpi.kind}"
    with only_one(folder.with_suffix(".lock")):
        if not (folder / "done").exists():
            folder.mkdir(exist_ok=True)
            build(user, kernel, folder)
            (folder / "done").touch()
    return folder


def result(text: str) -> list[str]:
    """The lines that do not depend on the machine; the last one says that all published values were found."""
    lines = [line for line in text.splitlines() if not line.startswith("time ")]
    assert lines[-1] == "verification: SUCCESSFUL"
    assert len(lines) >= 3
    return lines


@pytest.mark.mpi
@pytest.mark.skipif(not MPIS, reason="needs an MPI")
@pytest.mark.parametrize("kernel", QUICK, ids=lambda kernel: kernel.name)
def test_the_same_after_the_transformation(kernel: Kernel, opi_cache: Path, shared_tmp: Path) -> None:
    user = MpiUser(MPIS[0], opi_cache)
    folder = built(user, kernel, shared_tmp)
    arguments = ("S", *kernel.arguments)
    before = user.run(kernel.few, folder / "before", *arguments)
    after = user.run(kernel.few, folder / "after", *arguments)
    assert result(after.out) == result(before.out)


@pytest.mark.mpi
@pytest.mark.skipif(not CLASSES, reason="make npb")
@pytest.mark.parametrize(("kernel", "ranks"), WHOLE, ids=[f"{kernel.name}-{ranks}" for kernel, ranks in WHOLE])
@pytest.mark.parametrize("size", CLASSES)
def test_every_form_prints_the_same(mpi_user: MpiUser, kernel: Kernel, ranks: int, size: str, shared_tmp: Path) -> None:
    folder = built(mpi_user, kernel, shared_tmp)
    arguments = (size, *kernel.arguments)
    expected = result(mpi_user.run(ranks, folder / "before", *arguments, timeout_s=600).out)
    for name, environment in FORMS:
        run = mpi_user.run(ranks, folder / name, *arguments, timeout_s=600, **environment)
        assert "libopi:" not in run.err
        assert result(run.out) == expected, (name, environment)


@pytest.mark.mpi
@pytest.mark.skipif(not CLASSES, reason="make npb")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_verification_notices_what_is_broken(mpi_user: MpiUser, kernel: Kernel, tmp_path: Path) -> None:
    shutil.copytree(NPB, tmp_path / "src")
    name, old, new = kernel.broken
    text = (tmp_path / "src" / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tmp_path / "src" / name).write_text(text.replace(old, new), encoding="utf-8")
    mpi_user.mpicc("-O2", *kernel.sources(tmp_path / "src"), "-o", tmp_path / "broken", "-lm")
    run = mpi_user.run(kernel.few, tmp_path / "broken", "S", *kernel.arguments, check=False)
    assert run.code == 1
    assert run.out.splitlines()[-1] == "verification: FAILED"
