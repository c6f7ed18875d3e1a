"""Every program of testdata/ that transforms gives, with thread and fiber ranks, what it gives with process ranks.

Each goes through opi-xform with its globals private and its buffers passed. `make test` runs some in the form struct;
`make carriers` (OPI_TEST_CARRIERS=all) runs all of them in both forms, two of them also as 1,000 fibers.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, only_one

from opi_xform.bench.whole.apps import APPS, results_of
from opi_xform.launch.ranks import ensure_ranks, link_flags
from opi_xform.launch.tools import XFORM
from opi_xform.resources import runtime_include_dir

TESTDATA = CHECKOUT / "testdata"
EVERYTHING = os.environ.get("OPI_TEST_CARRIERS") == "all"
FEW = ("fft2d", "particles", "lu")
WAYS = (("tls", "threads"), ("struct", "threads"), ("struct", "fibers"))

pytestmark = pytest.mark.mpi


@dataclass(frozen=True, slots=True)
class Program:
    """A program: folders below testdata/, arguments of a short run."""

    name: str
    folders: tuple[str, ...]
    arguments: tuple[str, ...]

    def sources(self, root: Path) -> list[Path]:
        return [file for folder in self.folders for file in sorted((root / folder).glob("*.c"))]


PROGRAMS = [Program(app.name, app.folders, app.quick) for app in APPS]
BY_NAME = {program.name: program for program in PROGRAMS}
CHOSEN = [program for program in PROGRAMS if EVERYTHING or program.name in FEW]
FORMS = ("tls", "struct") if EVERYTHING else ("struct",)


@pytest.fixture
def user(opi_cache: Path, monkeypatch: pytest.MonkeyPatch) -> MpiUser:
    if not MPIS:
        pytest.skip("no mpicc: set OPI_MPICC")
    user = MpiUser(MPIS[0], opi_cache)
    for name in ("OPI_CACHE", "OPI_MPICC"):
        monkeypatch.setenv(name, user.environment[name])
    return user


def build(user: MpiUser, program: Program, form: str, shared_tmp: Path) -> Path:
    """The folder with `plain`, the program as it is, and one program for each form; each made once per run."""
    name = program.name.replace("-p2p", "")
    folder = shared_tmp / f"carriers-{name}"
    with only_one(folder.with_suffix(".lock")):
        folder.mkdir(exist_ok=True)
        if not (folder / "plain").exists():
            user.mpicc("-O1", *program.sources(TESTDATA), "-o", folder / "plain", "-lm")
        if not (folder / form).exists():
            out = folder / f"{form}.src"
            command = [*XFORM, *map(str, program.sources(TESTDATA)), "--root", str(TESTDATA), f"--privatize={form}"]
            done = subprocess.run(
                [*command, "-o", str(out)], capture_output=True, text=True, check=False, env=user.environment
            )
            assert done.returncode == 0, done.stderr
            flags = [f"-I{runtime_include_dir()}", *program.sources(out), *link_flags(ensure_ranks(user.mpi))]
            user.mpicc("-O1", *flags, "-o", folder / form, "-lm")
    return folder


def run(user: MpiUser, binary: Path, ranks: int, carrier: str, arguments: Sequence[str]) -> str:
    """The result lines of a run in one process, which starts its ranks itself."""
    told = {**user.environment, "OPI_RANKS": str(ranks), "OPI_RANKS_CARRIER": carrier}
    command = [str(binary), *arguments]
    done = subprocess.run(
        command, env=told, capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, (carrier, ranks, done.stdout[-2000:], done.stderr[-2000:])
    return results_of(done.stdout)


@pytest.mark.parametrize("program", CHOSEN, ids=lambda program: program.name)
def test_threads_and_fibers_give_what_processes_give(program: Program, user: MpiUser, shared_tmp: Path) -> None:
    for form in FORMS:
        folder = build(user, program, form, shared_tmp)
        expected = results_of(user.run(4, folder / "plain", *program.arguments).out)
        assert "PASSED" in expected or "SUCCESSFUL" in expected
        for made, carrier in WAYS:
            if made == form:
                assert run(user, folder / form, 4, carrier, program.arguments) == expected, (form, carrier)


MANY = (
    replace(BY_NAME["fft2d"], arguments=("1024", "1")),
    replace(BY_NAME["halo2d"], arguments=("200", "200", "4")),
)
FIBERS = 1000 if EVERYTHING else 100


@pytest.mark.parametrize("program", [one for one in MANY if EVERYTHING or one.name in FEW], ids=lambda one: one.name)
def test_sixteen_threads_and_many_fibers_give_what_one_rank_gives(
    program: Program, user: MpiUser, shared_tmp: Path
) -> None:
    folder = build(user, program, "struct", shared_tmp)
    alone = results_of(user.run(1, folder / "plain", *program.arguments).out)
    assert alone.endswith("verification: PASSED")
    assert run(user, folder / "struct", 16, "threads", program.arguments) == alone
    assert run(user, folder / "struct", FIBERS, "fibers", program.arguments) == alone
