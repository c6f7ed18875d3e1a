"""--privatize as an option: together with ownership, with -i, --diff, --check and a baseline, and under an MPI."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from conftest import CHECKOUT, MpiUser

from opi_xform.cli.main import main
from opi_xform.privatize.edits.prologue import _TYPES

EXCHANGE = r"""
#include <mpi.h>
#include <stdio.h>

#define N 3000

static double sbuf[N], rbuf[N], last;
static double *const places[] = {&last, &last};
static int turns;

static void exchange(int rank)
{
    static int calls = 7;
    MPI_Request requests[2];
    MPI_Irecv(rbuf, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < N; i++)
        sbuf[i] = rank * 1000 + i + turns * calls;
    MPI_Isend(sbuf, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        *places[i % 2] += rbuf[i] / (i + 1);
    turns++;
    calls += rank;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++)
        exchange(rank);
    double both[2] = {0};
    MPI_Gather(&last, 1, MPI_DOUBLE, both, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%a %a %d\n", both[0], both[1], turns);
    MPI_Finalize();
    return 0;
}
"""

SMALL = """\
static int n;
extern char **environ;

int main(void)
{
    n++;
    return environ ? n - 1 : 0;
}
"""


def tool(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.c"
    path.write_text(SMALL)
    return path


@pytest.mark.mpi
def test_the_result_is_the_same_with_ownership_and_private_variables(
    tmp_path: Path, mpi_user: MpiUser, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "exchange.c"
    source.write_text(EXCHANGE)
    original = tmp_path / "original"
    mpi_user.mpicc("-O2", source, "-o", original)
    expected = mpi_user.run(2, original).out
    assert re.fullmatch(r"0x\S+ 0x\S+ 5\n", expected)
    for form in ("tls", "struct"):
        code, out, err = tool(
            capfd, source, f"--privatize={form}", "-o", tmp_path / form, "--output-format", "json"
        )  # fmt: skip
        assert code == 0, err
        report = json.loads(out)
        assert report["summary"] == {"send": {"convert": 1, "keep": 0}, "recv": {"convert": 1, "keep": 0}}
        told = {v["name"]: (v["decision"], v["line"]) for v in report["globals"]}
        assert told == {
            "sbuf": ("private", 7), "rbuf": ("private", 7), "last": ("private", 7), "places": ("private", 8),
            "turns": ("private", 9), "calls": ("private", 13),
        }  # fmt: skip
        written = (tmp_path / form / "exchange.c").read_text()
        assert ("static _Thread_local double *sbuf, *rbuf, last;" in written) == (form == "tls")
        assert ("OPI_Igive(&OPI_MINE(sbuf), " in written) == (form == "struct")
        program = tmp_path / f"{form}.exe"
        mpi_user.opicc("-O2", "-Wall", "-Wextra", "-Werror", tmp_path / form / "exchange.c", "-o", program)
        assert mpi_user.run(2, program).out == expected


@pytest.mark.mpi
def test_the_private_program_needs_no_libopi(
    tmp_path: Path, mpi_user: MpiUser, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "ring.c"
    text = EXCHANGE.replace("#define N 3000", "#define N 2")  # too small to convert
    source.write_text(text)
    original = tmp_path / "original"
    mpi_user.mpicc(source, "-o", original)
    expected = mpi_user.run(2, original).out
    for form in ("tls", "struct"):
        code, _, err = tool(capfd, source, f"--privatize={form}", "-o", tmp_path / form)
        assert code == 0, err
        mpi_user.mpicc("-O2", "-Wall", "-Wextra", "-Werror", tmp_path / form / "ring.c", "-o", tmp_path / f"{form}.exe")
        assert mpi_user.run(2, tmp_path / f"{form}.exe").out == expected


def test_without_the_option_nothing_is_private(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = tool(capfd, small, "--output-format", "json")
    assert (code, json.loads(out)["globals"]) == (0, [])
    assert tool(capfd, small, "--check")[0] == 0


def test_tls_is_what_the_option_means(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, plain, _ = tool(capfd, small, "--privatize")
    _, tls, _ = tool(capfd, small, "--privatize=tls")
    _, struct, _ = tool(capfd, small, "--privatize=struct")
    assert "+static _Thread_local int n;" in plain
    assert plain == tls != struct
    assert "+    OPI_MINE(n)++;" in struct
    assert tool(capfd, small, "--privatize=both")[0] == 2


def test_in_place(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert tool(capfd, "-i", "--privatize", small)[0] == 0
    assert "static _Thread_local int n;\n" in small.read_text()
    before = small.read_bytes()
    code, _, err = tool(capfd, "-i", "--privatize=struct", small)
    assert (code, small.read_bytes()) == (2, before)
    assert "small.c: error: is private in the form tls already; use --privatize=tls" in err


def test_check_finds_what_hinders(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = tool(capfd, small, "--check", "--privatize")
    assert code == 1
    assert "small.c:2: finding: `environ` cannot be private: it is the environment of all ranks [OPI513]" in out
    assert small.read_text() == SMALL
    code, out, _ = tool(capfd, small, "--check", "--privatize", "--output-format", "sarif")
    assert code == 1
    (result,) = json.loads(out)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("OPI513", "error")


def test_a_baseline_accepts_what_hinders(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert tool(capfd, small, "--privatize", "--write-baseline", "known.json")[0] == 0
    assert tool(capfd, small, "--check", "--privatize", "--baseline", "known.json")[0] == 0
    small.write_text("#include <stdlib.h>\n" + SMALL.replace("n++", "n = rand() * 0 + 1"))
    code, out, _ = tool(capfd, small, "--check", "--privatize", "--baseline", "known.json")
    assert (code, out.count("finding:")) == (1, 1)
    assert "small.c:7: finding: `rand` has one seed" in out


def test_an_output_that_is_out_of_date_is_found(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    small.write_text(SMALL.replace("extern char **environ;", "static int environ = 1;"))
    assert tool(capfd, small, "--privatize", "-o", "out")[0] == 0
    assert tool(capfd, small, "--privatize", "-o", "out", "--check")[0] == 0
    assert tool(capfd, small, "--privatize=struct", "-o", "out", "--check")[0] == 1


def test_every_form_of_report_has_the_refused(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, text, _ = tool(capfd, small, "--privatize", "-o", "out", "--report", "page.html")
    assert "small.c:2: environ: refused OPI513 it is the environment of all ranks" in text
    assert "small.c:1: n: private each rank has its own" in text
    page = Path("page.html").read_text()
    assert "OPI513" in page
    assert "it is the environment of all ranks" in page
    _, log, _ = tool(capfd, small, "--privatize", "--output-format", "sarif")
    assert [r["ruleId"] for r in json.loads(log)["runs"][0]["results"]] == ["OPI513"]
    _, lines, _ = tool(capfd, small, "--privatize", "--output-format", "github")
    assert "::notice file=small.c,line=2,col=15,title=OPI513 variable of a library::`environ` cannot" in lines


def test_a_header_outside_the_root_is_not_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "state.h").write_text("extern int outside;\n")
    source = tmp_path / "src" / "main.c"
    source.write_text(
        '#include "../include/state.h"\nint outside;\nint inside;\n'
        "int main(void)\n{\n    outside = inside++;\n    return outside;\n}\n"
    )
    monkeypatch.chdir(tmp_path)
    for more, expected in (((), ("refused", "OPI502")), (("--root", "."), ("private", ""))):
        code, out, _ = tool(capfd, source, "--privatize", *more, "--output-format", "json")
        assert code == 0
        told = {v["name"]: (v["decision"], v["code"]) for v in json.loads(out)["globals"]}
        assert told == {"outside": expected, "inside": ("private", "")}


def test_what_cannot_be_parsed_back_is_refused(
    small: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from opi_xform.privatize.edits import edits

    monkeypatch.setattr(edits._Edits, "_storage", lambda self, d: None)
    code, _, err = tool(capfd, small, "--privatize", "-o", "out")
    assert code == 123
    assert "small.c:1: error: the program with private variables fails its self-check: `n` did not become" in err
    assert not Path("out").exists()


def test_a_use_that_is_left_behind_is_refused(
    small: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from opi_xform.privatize.edits import edits

    monkeypatch.setattr(edits._Edits, "_use", lambda self, file, at, name: None)
    code, _, err = tool(capfd, small, "--privatize=struct", "-o", "out")
    assert code == 123
    assert "a use of `n` was left as it was" in err


def test_the_text_and_the_header_have_the_same_types(tmp_path: Path) -> None:
    """A carrier sees opi_ranks.h, a program its own text."""
    header = (CHECKOUT / "runtime" / "include" / "opi_ranks.h").read_text()

    def fields(text: str) -> list[str]:
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        text = text.replace("__SIZE_TYPE__", "size_t").replace("__UINTPTR_TYPE__", "uintptr_t")
        found = re.findall(r"struct opi_rank_(?:ref|var|image) \{.*?\};", text, re.S)
        return [re.sub(r"\s+", " ", one) for one in found]

    assert len(fields(header)) == 3
    assert fields(header) == fields(_TYPES)
    both = tmp_path / "both.c"
    both.write_text(f'{_TYPES}\n#include "opi_ranks.h"\n')
    command = ["gcc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", str(CHECKOUT / "runtime" / "include")]
    subprocess.run([*command, str(both)], check=True)


def test_opi_toml_chooses_the_form(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("opi.toml").write_text('privatize = "struct"\n')
    assert "+    OPI_MINE(n)++;" in tool(capfd, small)[1]
    assert "OPI_MINE" not in tool(capfd, small, "--privatize=tls")[1]
    Path("opi.toml").write_text('privatize = "fibers"\n')
    code, _, err = tool(capfd, small)
    assert (code, '`privatize` has to be "tls" or "struct"' in err) == (2, True)


@pytest.mark.parametrize("form", ["tls", "struct"])
def test_a_file_that_was_left_out_does_not_link(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.c").write_text(
        "int n[3] = {1}, (*p)[3] = &n;\nint twice(void);\n"
        "int main(void)\n{\n    n[0]++;\n    return twice() - (*p)[0];\n}\n"
    )
    Path("other.c").write_text("extern int n[];\nint twice(void)\n{\n    return n[0] + n[1];\n}\n")
    assert tool(capfd, "main.c", f"--privatize={form}", "-o", "out")[0] == 0
    built = subprocess.run(["gcc", "out/main.c", "other.c", "-o", "wrong"], capture_output=True, text=True)
    assert built.returncode != 0
    assert tool(capfd, "main.c", "other.c", f"--privatize={form}", "-o", "out")[0] == 0
    subprocess.run(["gcc", "out/main.c", "out/other.c", "-o", "right"], check=True)
    assert subprocess.run(["./right"]).returncode == 0


def test_lines_keep_their_ends(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "dos.c"
    text = "/* \xe9 */\nstatic int n;\nint *p = &n, v[2] = {\n    1,\n    2};\nint main(void)\n{\n"
    text += "    static int *q = &n;\n    *p += *q + v[0];\n    return n - 1;\n}\n"
    source.write_bytes(text.replace("\n", "\r\n").encode("latin-1"))
    for form in ("tls", "struct"):
        assert tool(capfd, source, f"--privatize={form}", "-o", tmp_path / form)[0] == 0
        written = (tmp_path / form / "dos.c").read_bytes()
        assert written.count(b"\n") == written.count(b"\r\n")
        assert b"\xe9" in written
        subprocess.run(["gcc", "-x", "c", str(tmp_path / form / "dos.c"), "-o", str(tmp_path / "dos")], check=True)
        assert subprocess.run([str(tmp_path / "dos")]).returncode == 0
