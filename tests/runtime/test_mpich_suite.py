"""Running MPICH's own suite with ranks that share a process: what its lists say, what passes, and a small suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import MPIS, MpiUser

from tests.mpich_suite.lists import Line, Recipe, read_line, read_lists, read_recipe
from tests.mpich_suite.run import Outcome, changes, judge, main, table

needs_mpi = pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")


def test_what_a_line_says() -> None:
    assert read_line("coll", "# bcast 4") is None
    assert read_line("coll", "") is None
    assert read_line("coll", "allred 7 arg=-count=10 env=A=b=c timeLimit=30 mem=1.5") == Line(
        "coll", "allred", 7, ("-count=10",), (("A", "b=c"),), 30, memory=1.5
    )
    assert [line.ends for text in ("x 2 resultTest=TestStatus", "x 2") if (line := read_line("init", text))] == [
        True,
        False,
    ]


def test_what_a_program_is_built_from(tmp_path: Path) -> None:
    (tmp_path / "coll").mkdir()
    (tmp_path / "coll" / "Makefile.am").write_text(
        "noinst_PROGRAMS = \\\n  a \\\n  ia\nia_SOURCES = \\\n  a.c more.c more.h\nia_CPPFLAGS = -DNB $(AM_CPPFLAGS)\n"
    )
    assert read_recipe(tmp_path, "coll", "a") == Recipe(("a.c",), ())
    assert read_recipe(tmp_path, "coll", "ia") == Recipe(("a.c", "more.c"), ("-DNB",))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("coll/Makefile_mpitests.mk", "a_LDADD = $(run_mpitests_obj) $(LDADD)\n"),
        ("maint/all_mpitests.txt", "# those that have no main\ncoll/a -lm\n"),
    ],
)
def test_a_program_without_a_main(file: str, text: str, tmp_path: Path) -> None:
    for name in ("coll", "maint"):
        (tmp_path / name).mkdir()
    (tmp_path / "coll" / "Makefile.am").write_text("noinst_PROGRAMS = a ia\n")
    (tmp_path / file).write_text(text)
    assert [read_recipe(tmp_path, "coll", name).hosted for name in ("a", "ia")] == [True, False]


@pytest.mark.parametrize(
    ("code", "text", "word"),
    [
        (0, " No Errors\n", "pass"),
        (0, "No errors\nTest Passed\n", "pass"),
        (1, " No Errors\n", "wrong"),
        (0, " No Errors\nand more\n", "wrong"),
        (0, "", "wrong"),
        (0, "Test Skipped\n", "skipped"),
        (1, "libopi: rank 0: MPI_Win_create: not available with thread ranks\n", "refused"),
    ],
)
def test_what_passes(code: int, text: str, word: str) -> None:
    assert judge(Line("coll", "a", 2), code, text)[0] == word


def test_a_program_that_has_to_end_with_an_error() -> None:
    line = Line("init", "a", 2, ends=True)
    assert [judge(line, code, "anything\n")[0] for code in (0, 3)] == ["wrong", "pass"]


def test_the_table() -> None:
    lines = [Line("coll", "a", 2), Line("coll", "b", 4), Line("init", "c", 1), Line("init", "not run", 1)]
    results = {
        "coll/a 2": Outcome("pass", "", 1),
        "coll/b 4": Outcome("wrong", "x\ny", 1),
        "init/c 1": Outcome("late", "", 1),
    }
    shown = table(lines, results).splitlines()
    assert [row.split()[:3] for row in shown[1:4]] == [["coll", "2", "1"], ["init", "1", "0"], ["together", "3", "1"]]
    assert shown[5:7] == ["wrong: coll/b 4: x", "    y"]


def test_what_ended_otherwise() -> None:
    lines = [Line("rma", name, 2) for name in ("same", "worse", "new")]
    before = {"rma/same 2": Outcome("late", "", 1), "rma/worse 2": Outcome("pass", "", 1)}
    after = {
        "rma/same 2": Outcome("late", "", 2),
        "rma/worse 2": Outcome("wrong", "x\ny", 1),
        "rma/new 2": Outcome("pass", "", 1),
    }
    assert changes(lines, before, after) == ["2 lines compared, 1 differ", "pass -> wrong: rma/worse 2: x\n    y"]


HEADER = "#include <mpi.h>\nvoid done(int wrong);\n"
UTIL = (
    '#include "mpitest.h"\n#include <stdio.h>\nint calls;\nstatic int errors;\n'
    + """
void done(int wrong)
{
    int all, rank;
    errors += wrong || ++calls != 1; /* each rank's own */
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf(all ? " Found %d errors\\n" : " No Errors\\n", all);
    MPI_Finalize();
}
"""
)
PROGRAM = """#include "mpitest.h"
#include <stdlib.h>
#include <unistd.h>
#ifndef MORE
#define MORE 0
#endif
static int mine;
int main(int argc, char **argv)
{
    int size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine++;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (getenv("MORE_TIME"))
        for (;;)
            sleep(1);
    done(sum != size + MORE - (argc - 1)); /* one argument is for `more` */
    return 0;
}
"""
HOST = """#include "mpitest.h"
int run(const char *arg);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    done(run(""));
    return 0;
}
"""
HOSTED = """#include "mpitest.h"
#include <unistd.h>
int run(const char *arg)
{
    return access("there.txt", R_OK) != 0; /* it is run in its directory */
}
"""


@needs_mpi
@pytest.mark.parametrize("carrier", ["threads", "fibers", "processes", "libopi"])
def test_a_small_suite(
    mpi_user: MpiUser, carrier: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if mpi_user.mpi != MPIS[0]:
        pytest.skip("the suite is of one MPI")
    suite, work = tmp_path / "suite", tmp_path / "work"
    for name, text in {
        "include/mpitest.h": HEADER,
        "util/mtest.c": UTIL,
        "coll/sum.c": PROGRAM,
        "util/run_mpitests.c": HOST,
        "coll/hosted.c": HOSTED,
        "coll/Makefile_mpitests.mk": "hosted_LDADD = $(run_mpitests_obj) $(LDADD)\n",
        "coll/there.txt": "",
        "coll/Makefile.am": "noinst_PROGRAMS = sum more hosted\nmore_SOURCES = sum.c\nmore_CPPFLAGS = -DMORE=1\n",
        "coll/testlist": "sum 3\n# sum 9\nsum 2 arg=-x\nmore 2 arg=-x\nsum 1 env=MORE_TIME=1\nlost 1\n"
        "sum 4 mem=6\nhosted 2\n",
    }.items():
        (suite / name).parent.mkdir(parents=True, exist_ok=True)
        (suite / name).write_text(text)
    for name in ("OPI_CACHE", "OPI_MPICC"):
        monkeypatch.setenv(name, mpi_user.environment[name])
    arguments = [str(suite), "--work", str(work), "--carrier", carrier, "--limit", "3"]
    assert main([*arguments, "--only", "coll/sum", "--until", "-1"]) == 1  # nothing was begun
    assert capsys.readouterr().out.splitlines()[1].split() == ["together", *"00000000"]
    assert main([*arguments, "--only", "coll/sum 3"]) == 0
    assert main(arguments) == 1
    shown = capsys.readouterr().out.splitlines()
    assert len(read_lists(work / "source", ["coll"], ["testlist"])) == 7
    assert ["together", *"73100", "1", "1", "1"] in [row.split() for row in shown]
    assert any(row.startswith("wrong: coll/sum 2 -x:  Found 2 errors") for row in shown)
    assert any(row.startswith("late: coll/sum 1 MORE_TIME=1: not ended after 3 s") for row in shown)
    assert any(row.startswith("unbuilt: coll/lost 1:") for row in shown)
    assert "skipped: coll/sum 4: it needs 6 GB, and has 4" in shown
