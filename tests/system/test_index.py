"""`opi-xform --index` and `opicc --transform`: a Makefile project is transformed while it is built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from case_tools import run_tool
from conftest import MPIS, MpiUser

from opi_xform.launch.mpi import LaunchError
from opi_xform.launch.transform import transformed

HEADER = "#define N 1000\nextern double out[N], in[N];\nvoid pack(double t);\ndouble unpack(void);\n"
PACK = """#include "inc/halo.h"
double out[N], in[N];
void pack(double t)
{
    for (int i = 0; i < N; i++)
        out[i] = t + i;
}
double unpack(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += in[i];
    return sum;
}
"""
MAIN = """#include <mpi.h>
#include <stdio.h>
#include "halo.h"
int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        pack(rank + t);
        MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - rank, 0, in, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sum += unpack();
    }
    if (rank == 0)
        printf("%s %.1f\\n", __FILE__, sum);
    MPI_Finalize();
    return 0;
}
"""
MAKEFILE = """app: main.o pack.o
\t$(CC) -o $@ $^
%.o: src/%.c
\t$(CC) -O1 -I src/inc -c -o $@ $<
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPI_INDEX", raising=False)
    (tmp_path / "src" / "inc").mkdir(parents=True)
    for name, text in (("src/inc/halo.h", HEADER), ("src/pack.c", PACK), ("src/main.c", MAIN), ("Makefile", MAKEFILE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    code, out, _ = run_tool(["src", "--index", ".opi-index", "-j", "1", "--", "-Isrc/inc"])
    assert code == 0
    assert "2 sites: 2 converted" in out
    assert "4 files written to .opi-index\n" in out
    return tmp_path


def test_the_index_is_the_program(project: Path) -> None:
    known = json.loads((project / ".opi-index" / "index.json").read_text())
    assert known["sources"] == ["main.c", "pack.c"]
    assert sorted(known["files"]) == ["inc/halo.h", "main.c", "pack.c"]
    assert known["root"] == str((project / "src").resolve())
    assert "OPI_Givetake(" in (project / ".opi-index" / "tree" / "main.c").read_text()
    assert "double *out" in (project / ".opi-index" / "tree" / "inc" / "halo.h").read_text()
    assert (project / "src" / "main.c").read_text() == MAIN


def test_arguments_lead_to_the_index(project: Path) -> None:
    tree = project / ".opi-index" / "tree"
    found = transformed(["-O2", "-I", "src/inc", "-Isrc", "-I/usr/include", "-c", "src/main.c", "-o", "x.c"])
    assert found == [
        "-O2",
        *("-I", str(tree / "inc"), "-I", "src/inc"),
        *(f"-I{tree}", "-Isrc"),
        *("-I/usr/include", "-c", str(tree / "main.c"), "-o", "x.c"),
        f"-fmacro-prefix-map={tree}/=src/",
    ]
    assert transformed(["main.o", "pack.o", "-o", "app"]) == ["main.o", "pack.o", "-o", "app"]


def test_headers_that_are_named_lead_to_the_index(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header of the program is the transformed one however it comes in."""
    tree = project / ".opi-index" / "tree"
    found = transformed(["-include", "src/inc/halo.h", "-imacros", "other.h", "-isystemsrc/inc", "-c", "src/pack.c"])
    assert found[:2] == ["-include", str(tree / "inc" / "halo.h")]
    assert found[2:4] == ["-imacros", "other.h"]
    assert found[4:6] == [f"-isystem{tree / 'inc'}", "-isystemsrc/inc"]
    assert str(tree / "pack.c") in transformed(["-c", "src/pack.c"], project / ".opi-index")
    monkeypatch.setenv("CPATH", f"/usr/include:{project / 'src' / 'inc'}")
    found = transformed(["-Isrc", "-c", "src/pack.c"])
    assert found[2:7] == ["-c", str(tree / "pack.c"), "-I", str(tree / "inc"), "-I"]


def test_links_lead_to_the_index(project: Path) -> None:
    """A source that is a link, where it stands; a link to a source, which some builds make, as that source."""
    (project / "farm").mkdir()
    (project / "farm" / "pack.c").symlink_to("../src/pack.c")
    assert transformed(["-c", "farm/pack.c"])[1] == str(project / ".opi-index/tree/pack.c")
    (project / "store").mkdir()
    os.rename("src/pack.c", "store/real.c")
    os.symlink("../store/real.c", "src/pack.c")
    assert run_tool(["src", "--index", ".opi-index", "-j", "1", "--", "-Isrc/inc"])[0] == 0
    assert (project / ".opi-index/tree/pack.c").is_file()
    assert transformed(["-c", "src/pack.c"])[1] == str(project / ".opi-index/tree/pack.c")
    with pytest.raises(LaunchError, match=r"store/real.c: not in .*opi-index"):
        transformed(["-c", "store/real.c"])


def test_an_index_elsewhere_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".opi-index").rename(project / "elsewhere")
    with pytest.raises(LaunchError, match=r"no \.opi-index here or above; run `opi-xform --index"):
        transformed(["-c", "src/main.c"])
    monkeypatch.setenv("OPI_INDEX", "elsewhere")
    assert str(project / "elsewhere" / "tree" / "main.c") in transformed(["-c", "src/main.c"])
    monkeypatch.setenv("OPI_INDEX", "nowhere")
    with pytest.raises(LaunchError, match="nowhere: no index"):
        transformed(["-c", "src/main.c"])


def test_what_changed_since_is_an_error(project: Path) -> None:
    (project / "src" / "inc" / "halo.h").write_text(HEADER + "\n")
    with pytest.raises(LaunchError, match=r"halo\.h: changed since .* run `opi-xform --index` again"):
        transformed(["-c", "src/pack.c"])
    (project / "src" / "inc" / "halo.h").unlink()
    with pytest.raises(LaunchError, match=r"halo\.h: No such file"):
        transformed(["-c", "src/pack.c"])


def test_what_is_not_in_the_index_is_an_error(project: Path) -> None:
    (project / "src" / "more.c").write_text("int more;\n")
    with pytest.raises(LaunchError, match=r"more\.c: not in .*give `opi-xform --index` all sources"):
        transformed(["-c", "src/more.c"])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}'])
def test_a_damaged_index_is_an_error(project: Path, text: str) -> None:
    (project / ".opi-index" / "index.json").write_text(text)
    with pytest.raises(LaunchError, match="make it again"):
        transformed(["-c", "src/main.c"])


def test_check_finds_an_index_that_is_out_of_date(project: Path) -> None:
    arguments = ["--check", "src", "--index", ".opi-index", "-j", "1", "--", "-Isrc/inc"]
    assert run_tool(arguments)[0] == 0
    (project / "src" / "main.c").write_text(MAIN.replace("t < 3", "t < 4"))
    code, out, _ = run_tool(arguments)
    assert code == 1
    assert "main.c:11: finding: out of date" in out
    assert "run opi-xform --index .opi-index [OPI906]" in out
    assert run_tool(["src", "--index", "a", "-o", "b"])[0] == 2


@pytest.mark.mpi
def test_make_builds_the_transformed_program(project: Path, mpi_user: MpiUser) -> None:
    if mpi_user.mpi != MPIS[0]:
        pytest.skip("the first MPI is enough")
    environment = {**os.environ, **mpi_user.environment}
    opicc = f"{sys.executable} -m opi_xform.launch.opicc --transform"
    done = subprocess.run(
        ["make", f"CC={opicc}"], cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = mpi_user.run(2, project / "app", OPI_PROFILE="profile.json")
    assert result.out == "src/main.c 1504500.0\n"
    assert json.loads(Path("profile.json").read_text())["on_node"]["give"]["messages"] == 6
    (project / "src" / "main.c").write_text(MAIN.replace("t < 3", "t < 4"))
    done = subprocess.run(
        ["make", f"CC={opicc}"], cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode != 0
    assert "changed since" in done.stderr
