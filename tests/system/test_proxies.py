"""The proxy applications: right before anything transforms them, and the same after.

In `make test` one MPI and 2 ranks; `make proxies` runs all forms on 1, 2, 4 and 8 ranks of each MPI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser

from opi_xform.bench.whole.apps import APPS, results_of
from opi_xform.launch.tools import XFORM

PROXIES = CHECKOUT / "testdata" / "proxies"
EVERYTHING = os.environ.get("OPI_TEST_PROXIES") == "all"
STRICT = ("-O2", "-Wall", "-Wextra", "-Werror")

pytestmark = pytest.mark.mpi


@dataclass(frozen=True, slots=True)
class Proxy:
    """``broken``: an edit (file, old, new) that spoils the communication; ``converts``: whether a site does."""

    name: str
    broken: tuple[str, str, str]
    converts: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        return next(app.quick for app in APPS if app.folders == (f"proxies/{self.name}",))


TABLE = (
    Proxy(
        "md",
        ("comm.c", "a->f[s->list[i]][c] += buf_recv[m++];", "a->f[s->list[i]][c] += buf_recv[3 * i];"),
        converts=True,
    ),
    Proxy("hydro", ("exchange.c", "unpack(b, d, from[d]);", "unpack(b, d, from[NDIR - 1]);")),
    Proxy("amr", ("exchange.c", "c->ghost[i] = *in++;", "c->ghost[i] = *in;")),
    Proxy("graph", ("outbox.c", "for (int i = 0; i < n; i++)", "for (int i = 1; i < n; i++)"), converts=True),
    Proxy("stencil", ("stencil.c", "row(s, u, s->rows) + 1, n, MPI", "row(s, u, 1) + 1, n, MPI")),
    Proxy("wave", ("wave.c", "side ? b->cells[d] : 1);", "side ? b->cells[d] - 1 : 1);")),
    Proxy("cannon", ("shift.c", "swap(&t->b, &t->b_next);", "(void)0;"), converts=True),
)


def user_of_first_mpi(cache: Path) -> MpiUser:
    if not MPIS:
        pytest.skip("no mpicc: set OPI_MPICC")
    return MpiUser(MPIS[0], cache)


def build_forms(user: MpiUser, proxy: Proxy, folder: Path) -> list[dict[str, str]]:
    """`plain`, `libopi` and `after` in a folder; returns the sites."""
    sources = sorted((PROXIES / proxy.name).glob("*.c"))
    command = [*XFORM, *map(str, sources), "-o", str(folder / "out"), "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=user.environment, timeout=120)
    assert done.returncode == 0, done.stderr
    user.mpicc(*STRICT, *sources, "-o", folder / "plain", "-lm")
    user.opicc(*STRICT, *sorted((folder / "out").glob("*.c")), "-o", folder / "after", "-lm")
    sites: list[dict[str, str]] = json.loads(done.stdout)["sites"]
    return sites


@pytest.mark.parametrize("proxy", TABLE, ids=lambda proxy: proxy.name)
def test_a_proxy_verifies_and_does_the_same_when_transformed(proxy: Proxy, opi_cache: Path, tmp_path: Path) -> None:
    user = user_of_first_mpi(opi_cache)
    sites = build_forms(user, proxy, tmp_path)
    assert any(site["decision"] == "convert" for site in sites) == proxy.converts
    alone = results_of(user.run(1, tmp_path / "plain", *proxy.arguments).out)
    assert alone.endswith("verification: PASSED")
    assert results_of(user.run(2, tmp_path / "plain", *proxy.arguments).out) == alone
    assert results_of(user.run(2, tmp_path / "after", *proxy.arguments, OPI_CHECK="1").out) == alone


@pytest.mark.parametrize("proxy", TABLE, ids=lambda proxy: proxy.name)
def test_a_proxy_notices_a_broken_exchange(proxy: Proxy, opi_cache: Path, tmp_path: Path) -> None:
    user = user_of_first_mpi(opi_cache)
    folder = tmp_path / "src"
    shutil.copytree(PROXIES / proxy.name, folder)
    name, old, new = proxy.broken
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    user.mpicc("-O2", *sorted(folder.glob("*.c")), "-o", tmp_path / "program", "-lm")
    done = user.run(2, tmp_path / "program", *proxy.arguments, check=False)
    assert done.code != 0
    assert "verification: PASSED" not in done.out


@pytest.mark.skipif(not EVERYTHING, reason="make proxies runs it")
@pytest.mark.parametrize("proxy", TABLE, ids=lambda proxy: proxy.name)
def test_every_form_on_every_number_of_ranks(mpi_user: MpiUser, proxy: Proxy, tmp_path: Path) -> None:
    build_forms(mpi_user, proxy, tmp_path)
    mpi_user.opicc(*STRICT, *sorted((PROXIES / proxy.name).glob("*.c")), "-o", tmp_path / "libopi", "-lm")
    alone = results_of(mpi_user.run(1, tmp_path / "plain", *proxy.arguments).out)
    for ranks in (1, 2, 4, 8):
        for form, check in (("plain", False), ("libopi", False), ("after", False), ("after", True)):
            if ranks == 8 and check:
                continue
            extra = {"OPI_CHECK": "1"} if check else {}
            done = mpi_user.run(ranks, tmp_path / form, *proxy.arguments, **extra)
            assert results_of(done.out) == alone, (form, ranks, check)
