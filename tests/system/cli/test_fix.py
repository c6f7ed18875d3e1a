"""--fix: one site of the program's own text is changed so that it converts, and the program does what it did."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool
from conftest import MpiUser
from fix_support import HALO, fix, line_of


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mark", ["SEND", "RECV", "BOTH"])
def test_a_diff_by_itself_writes_nothing(mark: str, folder: Path) -> None:
    code, out, err = fix(HALO, mark)
    assert code == 0, err
    assert "+#include <stdlib.h>\n+#include <string.h>\n" in out
    assert Path("a.c").read_text(encoding="utf-8") == HALO
    assert re.search(r"^a\.c:\d+: MPI_\w+ of \S.* converts with a .*buffer of its own", err)
    assert err.endswith("nothing was written; -i writes it\n")


@pytest.mark.mpi
def test_the_changed_program_converts_and_prints_the_same(folder: Path, mpi_user: MpiUser) -> None:
    Path("plain.c").write_text(HALO, encoding="utf-8")
    mpi_user.mpicc("-O1", folder / "plain.c", "-o", folder / "plain")
    before = sorted(mpi_user.run(2, folder / "plain").out.splitlines())
    text = HALO
    for mark in ("SEND", "RECV", "BOTH"):
        code, _, err = fix(text, mark, "-i")
        assert code == 0, err
        assert err.endswith("a.c written\n")
        text = Path("a.c").read_text(encoding="utf-8")
    mpi_user.mpicc("-O1", "-Wall", "-Werror", folder / "a.c", "-o", folder / "changed")
    assert sorted(mpi_user.run(2, folder / "changed").out.splitlines()) == before
    out = run_tool(["a.c", "-j", "1", "-o", "out"])[1]
    assert "4 sites: 3 converted" in out
    mpi_user.opicc("-O1", folder / "out" / "a.c", "-o", folder / "transformed")
    assert sorted(mpi_user.run(2, folder / "transformed").out.splitlines()) == before


def test_an_else_keeps_its_if(folder: Path) -> None:
    """What is put around a statement that is no block by itself takes no `else` along."""
    _, out, _ = fix(HALO, "SEND")
    assert "+            {\n+                if (up != MPI_PROC_NULL) {\n" in out
    assert "+                    MPI_Send(u_copy, n, /* SEND */\n+                             MPI_DOUBLE, up" in out


def test_an_else_keeps_its_if_behind_a_case_too() -> None:
    """A ``case`` stands between no braces by itself."""
    text = HALO.replace("if (n > 2)", "switch (t) { case 0: if (n > 2) case 1:", 1).replace("n = 2;\n", "n = 2; }\n", 1)
    code, out, err = fix(text, "SEND")
    assert code == 0, err
    assert "+            {\n+                if (up != MPI_PROC_NULL) {\n" in out


GUARD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 4000
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in), sum = 0;
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL, to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < N; i++)
            out[i] = in[i] = i + t;
        MPI_Send(out, N, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
        MPI_Recv(in, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECV
        for (int i = 0; i < N; i++)
            sum += in[i];
        double *swap = in;
        in = out;
        out = swap;
    }
    free(in);
    free(out);
    printf("%g\\n", sum);
    MPI_Finalize();
    return 0;
}
"""


def test_a_receive_from_nobody_is_not_called() -> None:
    """Buffers that change places cannot be left as they are: OPI_Take_replace is no help."""
    code, out, err = fix(GUARD, "RECV")
    assert code == 0, err
    assert "+        if (from != MPI_PROC_NULL) {\n" in out
    assert "MPI_Get_count" not in out
    assert "converts with a test of the source against MPI_PROC_NULL around the call" in err


@pytest.mark.parametrize(
    ("old", "new", "mark", "message"),
    [
        ("/* SEND */", "/* SEND */", "printf", "the table was printed: the nearest site that stays is at line"),
        ("&u[t], n,", "&u[t], n++,", "SEND", "no change is known that surely keeps what the program does"),
        ("MPI_Send(&u[t]", "if (MPI_Send(&u[t]", "SEND", "no change is known that surely keeps"),
        ("static int n = 40;", "static volatile int n = 40;", "SEND", "no change is known that surely keeps"),
        ("static int n = 40;", "static int n = 40; void *malloc(unsigned long s) { (void)s; return 0; }", "SEND",
         "no change is known that surely keeps"),
        ("MPI_STATUS_IGNORE); // RECV", "&st); MPI_Get_count(&st, MPI_DOUBLE, &n); // RECV", "RECV", "no change is"),
    ],
)  # fmt: skip
def test_what_cannot_be_changed_is_told(old: str, new: str, mark: str, message: str) -> None:
    text = HALO.replace(old, new, 1).replace("int rank;", "int rank; MPI_Status st; (void)st;", 1)
    if "if (MPI_Send" in new:
        text = text.replace("up, 0, MPI_COMM_WORLD);", "up, 0, MPI_COMM_WORLD)) n = 3;", 1)
    code, out, err = fix(text, mark)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err


def test_what_converts_needs_no_change(folder: Path) -> None:
    Path("a.c").write_text(HALO, encoding="utf-8")
    fix(HALO, "SEND", "-i")
    text = Path("a.c").read_text(encoding="utf-8")
    code, _, err = fix(text, "SEND", "-i")
    assert (code, Path("a.c").read_text(encoding="utf-8")) == (2, text)
    assert "what is here converts as it is" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-o", "out"), "--fix changes the program's own text, which has no -o; run them apart"),
        (("--check",), "which has no --check"),
        (("--output-format", "json"), "which has no --output-format json"),
        (("--advise",), "which has no --advise"),
        (("--statistics",), "which has no --statistics"),
    ],
)
def test_what_goes_with_a_transformed_program_does_not_go_with_it(more: tuple[str, ...], message: str) -> None:
    code, _, err = fix(HALO, "SEND", *more)
    assert code == 2
    assert message in err


@pytest.mark.parametrize("where", ["a.c", "a.c:", "a.c:x", ":3", "a.c:0"])
def test_a_place_that_is_none(where: str) -> None:
    Path("a.c").write_text(HALO, encoding="utf-8")
    code, _, err = run_tool(["a.c", "-j", "1", "--fix", where])
    assert code == 2
    assert "--fix needs FILE:LINE" in err


def test_a_count_in_memory_that_nobody_else_reaches_may_be_read_once_more() -> None:
    text = HALO.replace("static int n = 40;", "static int n = 40; struct box { int n, up; }; static struct box *box;")
    text = text.replace("int rank;", "int rank; box = malloc(sizeof *box); box->n = 40;", 1)
    text = text.replace("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>").replace(
        "&u[t], n,", "&u[t], box->n,"
    )
    code, out, err = fix(text, "SEND")
    assert code == 0, err
    assert "+                    double *u_copy = malloc(((size_t)box->n + 1) * sizeof(double));\n" in out


def test_a_header_that_is_there_is_not_included_again() -> None:
    """That ``free`` is not called yet says nothing of where it is declared."""
    more = "#  include <string.h> /* memcpy */\n#include <stdlib.h>"
    text = HALO.replace("#include <stdio.h>", f"#include <stdio.h>\n{more}")
    code, out, err = fix(text, "SEND")
    assert code == 0, err
    assert "+#include" not in out
    late = text.replace("#include <stdlib.h>", "#ifdef LATE\n#include <stdlib.h>\n#endif")
    assert fix(late, "SEND")[0] == 2  # where it would go depends on the configuration


# --- files ------------------------------------------------------------------------------------------------------------


def test_the_mark_of_utf_8_stays_in_front(folder: Path) -> None:
    data = b"\xef\xbb\xbf" + HALO.encode()
    Path("a.c").write_bytes(data)
    for mark in ("SEND", "RECV"):
        text = Path("a.c").read_text(encoding="utf-8")
        code, _, err = run_tool(["a.c", "-j", "1", "--fix", f"a.c:{line_of(text, mark)}", "-i"])
        assert code == 0, err
    assert Path("a.c").read_bytes().startswith(b"\xef\xbb\xbf#include <mpi.h>")
    assert run_tool(["a.c", "-j", "1", "-o", "out"])[0] == 0


def test_lines_end_as_they_did(folder: Path) -> None:
    Path("a.c").write_bytes(HALO.replace("\n", "\r\n").encode())
    assert run_tool(["a.c", "-j", "1", "--fix", f"a.c:{line_of(HALO, 'SEND')}", "-i"])[0] == 0
    data = Path("a.c").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") > HALO.count("\n")


def test_a_link_stays_one_and_the_file_keeps_its_mode(folder: Path) -> None:
    Path("b.c").write_text(HALO, encoding="utf-8")
    Path("b.c").chmod(0o640)
    Path("a.c").symlink_to("b.c")
    assert run_tool(["a.c", "-j", "1", "--fix", f"a.c:{line_of(HALO, 'SEND')}", "-i"])[0] == 0
    assert Path("a.c").is_symlink()
    assert "u_copy" in Path("b.c").read_text(encoding="utf-8")
    assert Path("b.c").stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_read_only_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and may(path, mode))
    code, out, err = fix(HALO, "SEND", "-i")
    assert (code, out) == (2, "")
    assert err == "a.c: error: is read-only; nothing was written [OPI904]\n"
    assert Path("a.c").read_text(encoding="utf-8") == HALO


def test_a_file_that_an_editor_changed_meanwhile_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what somebody wrote while the program was analysed would be lost."""
    from opi_xform.cli.output import fix as module

    def meanwhile(*arguments: Any) -> Any:
        found = trial(*arguments)
        Path("a.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
        return found

    trial = module.trial
    monkeypatch.setattr(module, "trial", meanwhile)
    code, _, err = fix(HALO, "SEND", "-i")
    assert code == 2
    assert err == "a.c: error: changed while it was analysed; nothing was written, run again [OPI904]\n"
    assert Path("a.c").read_text(encoding="utf-8") == "int main(void) { return 0; }\n"


def test_a_site_that_is_lost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from opi_xform.cli.output import fix as module

    def worse(*arguments: Any) -> Any:
        tried, texts = trial(*arguments)
        decisions = tuple(replace(d, decision="keep" if d.side == "send" else "convert") for d in tried.plan.decisions)
        return replace(tried, plan=replace(tried.plan, decisions=decisions)), texts

    fix(HALO, "SEND", "-i")
    trial = module.trial
    monkeypatch.setattr(module, "trial", worse)
    text = Path("a.c").read_text(encoding="utf-8")
    code, _, err = fix(text, "RECV")
    assert code == 0, err
    assert f"a.c:{line_of(text, 'SEND')}: MPI_Send of u_copy stays then\n" in err


def test_a_file_that_is_not_read_is_told() -> None:
    Path("a.c").write_text(HALO, encoding="utf-8")
    code, _, err = run_tool(["--fix", "a.c"])  # the file is taken for the value, which leaves no input
    assert (code, "'a.c' names no line; say --fix a.c:LINE" in err) == (2, True)
    code, _, err = run_tool(["a.c", "-j", "1", "--fix", "b.c:3"])
    assert (code, err) == (2, "b.c:3: error: not among the files that are read; name one as the table does\n")


def test_one_site_at_a_time() -> None:
    code, _, err = fix(HALO, "SEND", "--fix", "a.c:3")
    assert code == 2
    assert "argument --fix: one site at a time; give it once" in err


def test_a_change_that_is_not_enough_is_told_with_the_page_of_what_is_left() -> None:
    """Threads that another configuration has may use the new buffer, too."""
    threads = "#ifdef PAR\n#pragma omp parallel\n#endif\n    for (int t"
    code, out, err = fix(HALO.replace("    for (int t", threads, 1), "SEND")
    assert (code, out) == (2, "")
    assert "stays with a copy of the message in a buffer of its own, too (OPI405" in err
    assert err.endswith("nothing was written; opi-xform --explain OPI405 tells what is in the way\n")
