"""--fix: what new text says is what the compiler reads, and what the call did is still done."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tools import run_tool
from fix_support import HALO, fix


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
