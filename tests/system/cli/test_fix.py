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

from opi_xform.ownership.liveness.liveness import Judge

HALO = """#include <mpi.h>
#include <stdio.h>
#define N 1000
static double u[N];
static int n = 40;
int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int up = rank == 0 ? 1 : MPI_PROC_NULL, down = rank == 1 ? 0 : MPI_PROC_NULL;
    for (int i = 0; i < N; i++)
        u[i] = (rank + 1) * i;
    for (int t = 0; t < 4; t++) {
        if (n > 2)
            MPI_Send(&u[t], n, /* SEND */
                     MPI_DOUBLE, up, 0, MPI_COMM_WORLD);
        else
            n = 2;
        MPI_Recv(&u[t + 100], n + 60, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECV
        MPI_Sendrecv(u, n, MPI_DOUBLE, up, 1, u + 300, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, /* BOTH */
                     MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N; i++)
        sum += u[i] * (i % 7);
    printf("%d %.17g\\n", rank, sum);
    MPI_Finalize();
    return 0;
}
"""


def line_of(text: str, mark: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if mark in line)


def fix(text: str, mark: str, *more: str) -> tuple[int, str, str]:
    """In the working directory."""
    Path("a.c").write_text(text, encoding="utf-8")
    return run_tool(["a.c", "-j", "1", "--fix", f"a.c:{line_of(text, mark)}", *more])


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
#define N 4000
static double in[N], u[N];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    in[0] = 1;
    MPI_Recv(in, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // RECV
    if (rank > 0)
        for (int i = 0; i < N; i++)
            u[i] += in[i];
    MPI_Finalize();
    return u[3] > 5;
}
"""


def test_a_receive_from_nobody_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Judge, "may_replace", lambda judge, use: False)  # as where the buffer cannot be left in place
    code, out, err = fix(GUARD, "RECV")
    assert code == 0, err
    assert "+    if (from != MPI_PROC_NULL) {\n" in out
    assert "MPI_Get_count" not in out
    assert "converts with a test of the source against MPI_PROC_NULL around the call" in err


@pytest.mark.parametrize(
    ("old", "new", "mark", "message"),
    [
        ("/* SEND */", "/* SEND */", "printf", "no message's call begins here; the table names"),
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


# --- words that mean something else -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("macro", "old", "mark", "made"),
    [
        ("#define CNT K + 1\n#define K 39", "&u[t], n,", "SEND", "malloc((size_t)(CNT) * sizeof(double))"),
        ("#define CNT (K + 1)\n#define K 39", "&u[t], n,", "SEND", "malloc((size_t)CNT * sizeof(double))"),
        ("#define CNT K + 60\n#define K n", "100], n + 60,", "RECV", "((size_t)(CNT) + 1) * sizeof(double)"),
        ("#define UP rank == 0 ? 1 : MPI_PROC_NULL", "MPI_DOUBLE, up, 0", "SEND", "if ((UP) != MPI_PROC_NULL) {"),
    ],
)
def test_a_macro_falls_not_apart(macro: str, old: str, mark: str, made: str) -> None:
    new = old.replace("n + 60", "CNT").replace(" n,", " CNT,").replace("up,", "UP,")
    text = HALO.replace("#define N 1000", f"#define N 1000\n{macro}").replace(old, new, 1)
    code, out, err = fix(text, mark)
    assert code == 0, err
    assert made in out


@pytest.mark.parametrize(
    "more",
    [
        "static long used;\n#include <stdlib.h>\n#define malloc(s) (used++, (malloc)(s))\n",
        "static long used;\n#include <stdlib.h>\n# define  free(p) (used++, (free)(p))\n",
        '#include "own.h"\n',
    ],
)
def test_a_macro_of_the_programs_own_is_not_called(more: str) -> None:
    Path("own.h").write_text("#define memcpy(to, from, size) my_copy(to, from, size)\n", encoding="utf-8")
    code, out, err = fix(more + HALO, "SEND")
    assert (code, out) == (2, "")
    assert "no change is known that surely keeps" in err


def test_a_type_that_is_a_macro_is_not_named() -> None:
    code, _, err = fix(HALO.replace("#define N 1000", "#define N 1000\n#define double float"), "SEND")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_a_macro_of_the_flags_is_not_called() -> None:
    code, _, err = fix(HALO, "SEND", "--", "-Dmemcpy=memmove")
    assert code == 2
    assert "no change is known that surely keeps" in err


@pytest.mark.parametrize("local", ["int free = 3;", "void *(*malloc)(unsigned long) = 0;"])
def test_a_variable_is_not_called(local: str) -> None:
    name = "free" if "free" in local else "malloc"
    text = HALO.replace("int rank;", f"int rank; {local} (void){name};", 1)
    code, _, err = fix(text, "SEND")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_a_new_name_stands_in_no_header() -> None:
    Path("own.h").write_text("static int u_copy = 40;\n#define CNT u_copy\n", encoding="utf-8")
    text = HALO.replace("#define N 1000", '#define N 1000\n#include "own.h"').replace("&u[t], n,", "&u[t], CNT,", 1)
    code, out, err = fix(text, "SEND")
    assert code == 0, err
    assert "double *u_copy2 = malloc(((size_t)(CNT) + 1) * sizeof(double));" in out


@pytest.mark.parametrize("count", ["__LINE__", "HERE", "30 + __COUNTER__"])
def test_a_number_of_the_line_is_not_written_on_another(count: str) -> None:
    text = HALO.replace("#define N 1000", "#define N 1000\n#define HERE (2 * __LINE__)")
    code, _, err = fix(text.replace("&u[t], n,", f"&u[t], {count},", 1), "SEND")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_a_file_that_is_included_twice_is_changed_for_both() -> None:
    Path("send.h").write_text("MPI_Send(&u[t], HOW, MPI_DOUBLE, up, 0, MPI_COMM_WORLD);\n", encoding="utf-8")
    both = '\n#include "send.h"\n#undef HOW\n#define HOW count()\n#include "send.h"\n'
    text = HALO.replace("#define N 1000", "#include <stdlib.h>\n#include <string.h>\n#define N 1000\n#define HOW n")
    text = text.replace("int main(", "static int count(void)\n{\n    return n++;\n}\nint main(")
    head, tail = text.split("        if (n > 2)", 1)
    text = head + both + tail.split("n = 2;\n", 1)[1]
    Path("a.c").write_text(text, encoding="utf-8")
    code, _, err = run_tool(["a.c", "-j", "1", "--fix", "send.h:1"])
    assert code == 2
    assert "no change is known that surely keeps" in err


# --- what a call changes beside its buffer ----------------------------------------------------------------------------

PLAIN = """#include <mpi.h>
#include <stdio.h>
#define N 4000
static double u[N];
typedef MPI_Status told;
static void get(double *to, int n, int from, MPI_Status *status)
{
    MPI_Recv(to, n, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, status); // GIVEN
}
int main(int argc, char **argv)
{
    int rank, code = 0, n = N / 2;
    double sum = 0;
    told st, sts[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + i;
    st.MPI_TAG = n;
    st.MPI_SOURCE = sts[0].MPI_SOURCE = 1;
    if (rank == 1) {
        code = MPI_Send(u, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Send(u, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        code = MPI_Recv(&u[7], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &st); // RECV
        get(u, n, 1, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N; i++)
        sum += u[i];
    printf("%d %d %g\\n", rank, code, sum);
    MPI_Finalize();
    return 0;
}
"""


def test_a_receive_with_its_status_and_its_result() -> None:
    code, out, err = fix(PLAIN, "RECV")
    assert code == 0, err
    assert "+            MPI_Get_count(&st, MPI_DOUBLE, &u_came);\n" in out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MPI_Recv(&u[7], n,", "MPI_Recv(&u[st.MPI_SOURCE], n,"),
        ("MPI_Recv(&u[7], n,", "MPI_Recv(&u[7], st.MPI_TAG,"),
        ("MPI_Recv(&u[7], n,", "MPI_Recv(&u[code], n,"),
        ("code = MPI_Recv(", "n = MPI_Recv("),
        ("&st); // RECV", "&sts[sts[0].MPI_SOURCE - 1]); // RECV"),
    ],
)
def test_what_a_receive_sets_is_not_read_behind_it(old: str, new: str) -> None:
    code, _, err = fix(PLAIN.replace(old, new, 1), "RECV")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_a_status_that_is_given_may_be_none() -> None:
    """The caller gives ``MPI_STATUS_IGNORE``, of which nobody can ask how much came."""
    code, _, err = fix(PLAIN, "GIVEN")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_a_receive_that_may_fail_has_nothing_to_ask() -> None:
    text = PLAIN.replace("&argv);", "&argv);\n    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);")
    code, _, err = fix(text, "RECV")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_what_a_call_to_nobody_returns_is_kept() -> None:
    """The call is not left out: ``code`` would not be set."""
    text = HALO.replace("MPI_Send(&u[t], n, /* SEND */", "code = MPI_Send(&u[t], n, /* SEND */").replace(
        "int rank;", "int rank, code = 7;", 1
    )
    out = fix(text.replace("%d %.17g", "%d %d %.17g").replace("rank, sum)", "rank, code, sum)"), "SEND")[1]
    assert "if (n > 0 && up != MPI_PROC_NULL)" in out
    assert "if (up != MPI_PROC_NULL) {" not in out


def test_what_the_mpi_gives_may_be_nobody() -> None:
    """The program says nowhere ``MPI_PROC_NULL``; MPI_Cart_shift does."""
    text = HALO.replace("int up = rank == 0 ? 1 : MPI_PROC_NULL, down = rank == 1 ? 0 : MPI_PROC_NULL;", "CART")
    cart = "int up, down, no = 0, two = 2; MPI_Comm cart; MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &no, 0, &cart);"
    text = text.replace("CART", f"{cart} MPI_Cart_shift(cart, 0, 1, &down, &up);")
    code, out, err = fix(text, "SEND")
    assert code == 0, err
    assert "if (up != MPI_PROC_NULL) {" in out


@pytest.mark.parametrize(
    ("count", "made"),
    [
        ("n * sizeof(short)", "(int)(n * sizeof(short))"),
        ("0.5 * n", "(int)(0.5 * n)"),
        ("n + 0L", "(int)(n + 0L)"),
    ],
)
def test_a_count_is_what_the_call_makes_of_it(count: str, made: str) -> None:
    text = HALO.replace("&u[t], n,", f"&u[t], {count},", 1)
    code, out, err = fix(text, "SEND")
    assert code == 0, err
    assert f"(size_t){made} " in out


def test_of_a_pair_one_half_may_come() -> None:
    """MPI_Get_count says nothing of it then."""
    code, _, err = fix(PLAIN.replace("&u[7], n, MPI_DOUBLE", "&u[7], n, MPI_2INT"), "RECV")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_what_shall_compile_as_cxx_has_a_cast() -> None:
    code, out, err = fix(HALO, "SEND", "--", "-Wc++-compat", "-Werror")
    assert code == 0, err
    assert "double *u_copy = (double *)malloc(" in out


def test_a_large_count_is_no_int() -> None:
    code, _, err = fix(PLAIN.replace("code = MPI_Recv(", "code = MPI_Recv_c("), "RECV")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_a_name_that_macros_paste_is_not_hidden() -> None:
    text = HALO.replace("#define N 1000", "#define N 1000\n#define OF(x) x##_copy\nstatic int u_copy = 40;")
    code, _, err = fix(text.replace("&u[t], n,", "&u[t], OF(u),", 1).replace("u_copy = ", "OF(u) = "), "SEND")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_a_header_that_comes_too_late_declares_nothing() -> None:
    head, tail = HALO.split("#include <mpi.h>\n", 1)
    Path("own.h").write_text("#include <mpi.h>\n", encoding="utf-8")
    text = f'{head}#include "own.h"\n{tail}#include <stdlib.h>\n'
    code, _, err = fix(text, "SEND")
    assert code == 2
    assert "no change is known that surely keeps" in err


def test_a_function_that_is_reached_from_several_places_is_changed_for_all() -> None:
    """A count that is steady where one caller says it need not be where another does."""
    text = HALO.replace(
        "int main(",
        """static void give(const int *size, int to)
{
    MPI_Send(u, *size, MPI_DOUBLE, to, 3, MPI_COMM_WORLD); // GIVE
}
static int many(void) { return 40; }
static int two[2] = {40, 40};
int main(""",
    ).replace(
        "MPI_Sendrecv(u,",
        """two[1] = many();
        give(&two[0], up);
        give(&two[1], up);
        MPI_Recv(u, 900, MPI_DOUBLE, down, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(u, 900, MPI_DOUBLE, down, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(u,""",
    )
    code, out, err = fix(text, "GIVE")
    assert code == 0, err
    assert out.count("+        double *u_copy = malloc(") == 1


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
    code, _, err = run_tool(["a.c", "-j", "1", "--fix", "b.c:3"])
    assert (code, err) == (2, "b.c:3: error: not among the files that are read; name one as the table does\n")


def test_one_site_at_a_time() -> None:
    code, _, err = fix(HALO, "SEND", "--fix", "a.c:3")
    assert code == 2
    assert "argument --fix: one site at a time; give it once" in err
