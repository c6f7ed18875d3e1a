"""What is said of calls that the program graph does not have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool
from ownership_support import source, source_in

from opi_xform.graph.graph import Lost
from opi_xform.ir.calls import calls_of
from opi_xform.ownership.explain.reaching.by_pointer import called_by, why_anywhere
from opi_xform.ownership.explain.unreached import never_true
from opi_xform.ownership.model.lines import told

HEAD = """#include <mpi.h>
#include <setjmp.h>
static double b[4000];
static jmp_buf again;
"""
SEND = "MPI_Send(b, 4000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (
            f"static void put(void) {{ {SEND} }}\nint main(void) {{ return b[0] > 1; }}",
            "the call is not reached from main: nothing calls `put`",
            5,
        ),
        (
            f"static void *put(void *a) {{ {SEND} return a; }}\n"
            "int pthread_create(unsigned long *, const void *, void *(*)(void *), void *);\n"
            "int main(void) {\n unsigned long t;\n return pthread_create(&t, 0, put, 0); }",
            "`put`, which leads to the call, is not followed: `pthread_create` runs it in a thread of its own",
            9,
        ),
        (
            f"static void put(int n) {{ {SEND} b[0] = n; }}\nvoid (*signal(int, void (*)(int)))(int);\n"
            "int main(void) {\n double x;\n signal(2, put);\n return 0; }",
            "`put`, which leads to the call, is not followed: `signal` runs it whenever a signal comes",
            9,
        ),
        (
            f"static void put(void) {{ {SEND} }}\nint solve(void *, void (*)(void));\n"
            "int main(void) {\n double x;\n return solve(&x, put); }",
            "`put`, which leads to the call, is given to `solve`, of which nothing is known",
            9,
        ),
        (
            "void put();\nint main(void) {\n put(1, 2);\n return 0; }\n"
            f"void put(int a, int c, int *d) {{ a = c = *d; {SEND} }}",
            "`put`, which leads to the call, is called with another number of arguments",
            7,
        ),
        (
            f"static void put(void) {{ {SEND} }}\nstatic void all(void) {{ if (!setjmp(again)) put(); }}\n"
            "int main(void) {\n all();\n return 0; }",
            "`all`, which leads to the call, is not followed: setjmp or longjmp in line 6",
            8,
        ),
        (
            f"void unknown(void);\nstatic void put(void) {{ {SEND} }}\nstatic void (*go)(void) = put;\n"
            "int main(void) {\n unknown();\n go();\n return 0; }",
            "`put`, which leads to the call, may be called through a pointer that may lead anywhere: nothing is known "
            "of `unknown`, which line 9 calls",
            (10, 9),
        ),
        (
            f"void unknown(void);\nstatic void put(void) {{ {SEND} }}\nstatic void all(int n) {{ if (n) put(); }}\n"
            "static int other(int a, int b) { return a < b; }\n"
            "static void (*go)(int) = all;\nstatic int (*less)(int, int) = other;\n"
            "int main(void) {\n unknown();\n less(1, 2);\n go(1);\n return 0; }",
            "`all`, which leads to the call, may be called through a pointer that may lead anywhere: nothing is known "
            "of `unknown`, which line 12 calls",
            (14, 12),
        ),
        (  # two pointers to functions of one type: that to which the function is handed out
            f'void unknown(void);\nstatic void put(void) {{ {SEND} }}\nstatic void other(void) {{ puts(""); }}\n'
            "static void (*get(void))(void) { return put; }\n"
            "static void (*go)(void);\nstatic struct { void (*hook)(void); } on = {other};\n"
            "int main(void) {\n unknown();\n on.hook();\n go = get();\n go();\n return 0; }",
            "`put`, which leads to the call, may be called through a pointer that may lead anywhere: nothing is known "
            "of `unknown`, which line 12 calls",
            (15, 12),
        ),
    ],
)
def test_the_cause_and_its_line(text: str, message: str, line: int | tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(HEAD + text + "\n")
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    assert (site["code"], site["message"]) == ("OPI111", message)
    assert [note["line"] for note in site["notes"]] == ([line] if isinstance(line, int) else list(line))


def test_a_place_inside_a_buffer_is_told_before_openmp_that_is_not_followed(tmp_path: Path) -> None:
    """It stays whatever the OpenMP does; what begins where its buffer does might not."""
    text = """#include <mpi.h>
#include <stdlib.h>
static void share(double *x, int h)
{
    double most = 0;
    for (int i = 0; i < h; i++) {
#pragma omp critical // HERE
        if (x[i] > most) most = x[i];
    }
    MPI_Send(x + 2 + h, h, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(x, h, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double *u = calloc(3 * argc, 80);
    share(u, argc * 10);
    return 0;
}
"""
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    found = json.loads(out)["sites"]
    inside = "the call begins inside `x`, at a place that the program computes; a message needs a buffer of its own"
    beside = "the message lies in `x`, and line 10 sends from further in; a message needs a buffer of its own"
    assert [site["code"] for site in found] == ["OPI104", "OPI104"]
    assert found[0]["message"].startswith(f"{inside}; also, `share`, which leads to the call, is not followed")
    assert found[1]["message"] == found[0]["message"].replace(inside, beside)
    line = next(i for i, line in enumerate(text.splitlines(), 1) if "HERE" in line)
    assert found[1]["message"].endswith(f"is not followed: OpenMP `critical` in line {line} is not followed")


@pytest.mark.parametrize(("name", "why"), [("parallel", "has statements that"), ("critical", "is not followed")])
@pytest.mark.parametrize(
    ("flag", "note"),
    [("", ", which `#ifdef THREADS` in line {} leaves out here but perhaps not elsewhere,"), ("-DTHREADS", "")],
)
def test_openmp_that_is_left_out_is_told_as_such(name: str, why: str, flag: str, note: str, tmp_path: Path) -> None:
    text = """#include <mpi.h>
static double b[1000];
static void fill(double *p)
{
#ifdef THREADS
#pragma omp parallel
#endif
    {
        p[0] = 1;
#ifdef THREADS
#pragma omp for
#endif
        for (int i = 0; i < 1000; i++) p[i] = i;
    }
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    fill(b);
    MPI_Send(b, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
""".replace("parallel", name)
    (tmp_path / "a.c").write_text(text)
    flags = ["-DOTHER", *([flag] if flag else [])]
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json", "--", *flags])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    assert (site["decision"], site["code"]) == ("keep", "OPI103")
    begins = text.splitlines().index("#ifdef THREADS") + 1
    assert f"OpenMP `{name}` in line {begins + 1}{note.format(begins)} {why}" in site["message"]


def test_openmp_that_is_compiled_is_told_before_what_is_left_out(tmp_path: Path) -> None:
    """Its program is what the user has; a change of the other text would be no help."""
    text = """#include <mpi.h>
static double u[1000];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
#if COMPUTE
#pragma omp parallel num_threads(2) // OTHER
#else
#pragma omp parallel // HERE
#endif
    {
        static int n;
        u[n] += 1;
    }
    MPI_Send(u, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    return 0;
}
"""
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    line = next(i for i, line in enumerate(text.splitlines(), 1) if "HERE" in line)
    assert f"OpenMP `parallel` in line {line} has statements that each of its threads runs" in site["message"]


def test_a_macro_that_makes_openmp_is_named(tmp_path: Path) -> None:
    text = f"""{HEAD}#define SPREAD(...) _Pragma("omp parallel for")
static void put(void)
{{
    int i;
    SPREAD(b) // HERE
    for (i = 0; i < 4000; i++) b[i] = i;
    {SEND}
}}
int main(void) {{ put(); return 0; }}
"""
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    line = next(i for i, line in enumerate(text.splitlines(), 1) if "HERE" in line)
    assert site["message"].endswith(f"OpenMP in a macro, `SPREAD` in line {line}, is not followed")


@pytest.mark.parametrize(("called", "note"), [("put", "called here"), ("go", "here"), ("u->step", "here")])
def test_a_place_inside_a_buffer_is_told_before_what_is_not_analysed(called: str, note: str, tmp_path: Path) -> None:
    """Whatever the function does besides, the message stays where it is; what else keeps it is told after that."""
    text = f"""{HEAD}static void put(double *p, int n)
{{
    if (setjmp(again)) return;
    MPI_Send(p + n, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    {SEND}
}}
static void other(double *p, int n) {{ p[n] = 0; }}
void *load(const char *);
int main(int argc, char **argv) {{
    void (*go)(double *, int) = argv[1][0] == 'a' ? put : other;
    struct user {{ void (*step)(double *, int); }} *u = load(argv[1]);
    {called}(b, argc);
    return 0;
}}
"""
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    found = json.loads(out)["sites"]
    inside = "the call begins inside `p`, at a place that the program computes; a message needs a buffer of its own"
    lies = "the message lies in `b`, and line 8 sends from further in, as `p`; a message needs a buffer of its own"
    first, rest = found[0]["message"].split("; also, ", 1)
    assert (found[0]["code"], first) == ("OPI104", inside)
    assert rest.startswith("`put`, which leads to the call, ")
    direct = called == "put"  # then `p` is `b`
    assert found[1]["code"] == ("OPI104" if direct else "OPI111")
    assert found[1]["message"] == (f"{lies}; also, {rest}" if direct else rest)
    assert found[0]["notes"][0]["message"] == f"{note}, and what more may keep it was not looked at"


def test_a_region_that_is_left_out_is_told_after_one_that_is_compiled(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < 4; i++)"
    put = "static void put(void)\n{\n#if defined(THREADS) && \\\n    !defined NO // not\n"
    put += f"#pragma omp parallel for // OUT\n#endif\n{loop} {SEND}\n"
    other = f"#pragma omp parallel for // IN\n{loop} omp_set_lock(b);\n"
    condition = "`#if defined(THREADS) && !defined NO`"
    for more, mark, note in (
        ("", "OUT", f", which {condition} in line {{}} leaves out here but perhaps not elsewhere,"),
        (other, "IN", ""),
    ):
        text = f"{HEAD}void omp_set_lock(void *);\n{put}{more}}}\nint main(void) {{ put(); return 0; }}\n"
        (tmp_path / "a.c").write_text(text)
        code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json", "--", "-fopenmp"])
        assert code == 0, err
        line = next(i for i, at in enumerate(text.splitlines(), 1) if mark in at)
        called = "MPI_Send" if mark == "OUT" else "omp_set_lock"
        told = note.format(line - 2)
        message = f"`put`, which leads to the call, is not followed: OpenMP `parallel for` in line {line}{told} calls"
        last = json.loads(out)["sites"][0]["message"].rpartition("; also, ")[2]  # the loop may read `b`, too
        assert last.partition("; ")[0] == f"{message} `{called}`"


@pytest.mark.parametrize(
    ("sent", "small"),
    [
        ("1, MPI_INT", True),
        ("(int)5, MPI_DOUBLE", True),
        ("TEN, MPI_INT", True),
        ("6, MPI_DOUBLE", False),
        ("n, MPI_INT", False),
        ("1, kind", False),
        ("0, kind", True),
    ],
)
def test_a_small_message_stays_whatever_leads_to_its_call(tmp_path: Path, sent: str, small: bool) -> None:
    text = f"""{HEAD}#define TEN 10
static void put(int n, MPI_Datatype kind) {{ MPI_Send(b, {sent}, 1, 0, MPI_COMM_WORLD); }}
int main(void) {{ return b[0] > 1; }}
"""
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    assert json.loads(out)["sites"][0]["code"] == ("OPI108" if small else "OPI111")


def test_an_empty_message_in_a_macro_has_not_the_reason_of_the_other_call_there(tmp_path: Path) -> None:
    text = f"""{HEAD}void other(double *);
#define GET(a, n) {{ MPI_Status s; if (n == 0) MPI_Recv(0, 0, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, &s); \\
  else MPI_Recv(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &s); other(a); }}
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    GET(b, argc)
    MPI_Finalize();
    return 0;
}}
"""
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    assert [site["code"] for site in json.loads(out)["sites"]] == ["OPI208", "OPI403"]


@pytest.mark.parametrize(
    ("sets", "held"),
    [
        ("go = one;", True),
        ("go = two;", False),
        ("hand(one);", True),
        ("go = pick(1);", True),
        ("on.hook = one; go = on.hook;", True),
        ("on.hook = one; go = table[1];", False),
        ("go = table[0];", True),
    ],
)
def test_which_pointer_may_hold_a_function(sets: str, held: bool, tmp_path: Path) -> None:
    text = f"""void unknown(void); void one(void) {{ unknown(); }} void two(void) {{ }}
static void (*go)(void), (*rest)(void) = two;
static struct {{ int n; void (*hook)(void); }} on;
static void (*table[2])(void) = {{{"one" if "table[0]" in sets else "two"}, two}};
static void hand(void (*f)(void)) {{ go = f; }}
static void (*pick(int n))(void) {{ return n ? one : two; }}
int main(int argc, char **argv)
{{
    unknown();
    hand(two);
    {sets}
    rest = pick(0);
    go();
    return 0;
}}
"""
    program = source_in(tmp_path, text).program
    (lost,) = (n.action for n in program.graph.nodes if isinstance(n.action, Lost))
    assert called_by(program, lost, "one") is held
    assert why_anywhere(program)[0].startswith(": nothing is known of `unknown`, which line ")


@pytest.mark.parametrize(
    ("cond", "then", "said"),
    [
        ("k = 0", True, "line 4 sets `k` to 0 where it would test it"),
        ("k = 1", False, "line 4 sets `k` to 1 where it would test it"),
        ("0", True, "the condition of line 4 is never true"),
        ("2 > 1", False, "the condition of line 4 is always true"),
        ("2 > 1", True, ""),
        ("k == 0", True, ""),
        ("k = n", True, ""),
        ("k += 0", True, ""),
    ],
)
def test_a_condition_that_sets_what_it_would_test(cond: str, then: bool, said: str) -> None:
    send = "MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
    arms = f"{{ {send} }} else n = 3;" if then else f"n = 3; else {{ {send} }}"
    found = source(f"void f(double *b, int n, int k) {{\nif ({cond}) {arms}\n}}\nint main(void) {{ return 0; }}\n")
    function = found.program.functions["f"]
    (call,) = calls_of(function)
    assert told(never_true(function, call), function.span.file) == said
