"""--report says what is so: who allocates, packs, sends and frees which buffer, through calls and files too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from report_page import MAIN, page_of

from opi_xform.report.page import moments
from opi_xform.report.page.lives import written
from opi_xform.report.sizes import exactly, size

INIT = "MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);"
WRAPPED = f"""
static double a[N], b[N], c[N];
static void fill(double *p) {{ for (int i = 0; i < N; i++) p[i] = i; }}
static void hand_on(double *p, int to) {{ MPI_Send(p, N, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); }}
static void fetch(double *p, int from) {{ MPI_Recv(p, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }}
static double use(const double *p) {{ double s = 0; for (int i = 0; i < N; i++) s += p[i]; return s; }}
int main(int argc, char **argv)
{{
    int rank; double s = 0;
    {INIT}
    if (rank == 0) {{ fill(a); hand_on(a, 1); fill(b); hand_on(b, 1); }}
    if (rank == 1) {{ fetch(c, 0); s = use(c); fetch(c, 0); s += use(c); }}
    MPI_Finalize();
    return s < 0;
}}
"""


def test_one_call_that_is_for_two_buffers_is_told_of_both(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": WRAPPED})
    roles = page.roles()
    assert roles["hand_on"] == ("sends a, b", "")
    assert roles["fill"] == ("packs a, b", "")
    assert roles["fetch"] == ("receives c", "")
    assert roles["use"] == ("unpacks c", "")
    assert roles["main"] == ("", "packs a, b; sends a, b; receives c; unpacks c")
    assert sorted(page.buffer_labels()) == ["a", "b", "c"]


ELSEWHERE = {
    "a.c": f"""
double *make(int n);
void pack(double *p);
void release(double **p);
void hand_on(double *p);
int main(int argc, char **argv)
{{
    int rank; double *p;
    {INIT}
    p = make(N);
    pack(p);
    hand_on(p);
    release(&p);
    MPI_Finalize();
    return 0;
}}
""",
    "b.c": """
void hand_on(double *p) { MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }
void pack(double *p) { for (int i = 0; i < N; i++) p[i] = 2.0 * i; }
""",
    "c.c": """
double *make(int n) { return malloc(n * sizeof(double)); }
void release(double **p) { free(*p); *p = NULL; }
""",
}


def test_allocated_sent_and_freed_in_three_files(tmp_path: Path) -> None:
    page = page_of(tmp_path, ELSEWHERE)
    assert page.roles() == {
        "hand_on": ("sends p", ""),
        "make": ("allocates p", ""),
        "pack": ("packs p", ""),
        "release": ("frees p", ""),
        "main": ("", "allocates p; packs p; sends p; frees p"),
    }
    life = page.lives()["p"]
    order = [
        life.index(words) for words in ("allocated in make", "written in pack", "sent in hand_on", "freed in release")
    ]
    assert order == sorted(order)


NAMESAKES = f"""
static void first(int n)
{{
    double *b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++) b[i] = i;
    MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    free(b);
}}
static double second(int n)
{{
    double s = 0, *b = malloc(n * sizeof *b);
    MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) s += b[i];
    free(b);
    return s;
}}
int main(int argc, char **argv)
{{
    int rank; double s = 0;
    {INIT}
    if (rank == 0) first(N); else s = second(N);
    MPI_Finalize();
    return s < 0;
}}
"""


def test_what_is_put_in_for_a_buffer_is_not_told_of_another_of_its_name(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": NAMESAKES})
    assert page.buffer_labels() == ["b in first", "b in second"]
    lives = page.lives()
    put = {label: set(map(int, re.findall(r"a\.c:(\d+) OPI_", life))) for label, life in lives.items()}
    text = (MAIN.lstrip("\n") + NAMESAKES).splitlines()
    begin = next(number for number, line in enumerate(text, 1) if "second(int n)" in line)
    assert put["b in first"]
    assert put["b in second"]
    assert max(put["b in first"]) < begin <= min(put["b in second"])


CHOSEN = f"""
int main(int argc, char **argv)
{{
    int rank; double *first, *second, *p;
    {INIT}
    first = malloc(N * sizeof *first);
    second = malloc(N * sizeof *second);
    memset(first, 0, N * sizeof *first); memset(second, 0, N * sizeof *second);
    p = argc > 1 ? first : second;
    MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    free(argc > 2 ? first : second);
    MPI_Finalize();
    return 0;
}}
"""


def test_a_pointer_to_one_of_two_buffers_stays_and_is_told_of_as_far_as_it_is_known(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": CHOSEN})
    assert page.buffer_labels() == ["p"]
    life = page.lives()["p"]
    assert life.startswith("p stays ")
    memory = "memory allocated at line 10 of a.c, memory allocated at line 11 of a.c"
    assert f"It may be {memory}: this is what may happen to all of it." in life
    assert page.roles()["main"][0].startswith("allocates p; ")
    assert "sends p" in page.roles()["main"][0]
    assert "frees p" in page.roles()["main"][0]


TESTED = f"""
int main(int argc, char **argv)
{{
    int rank, none = 0;
    {INIT}
    double *out = malloc(N * sizeof *out);
    if (!out) {{ none = 1; MPI_Abort(MPI_COMM_WORLD, 3); }}
    for (int t = 0; t < 3; t++) {{
        for (int i = 0; i < N; i++) out[i] = i + t;
        MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    }}
    free(out);
    MPI_Finalize();
    return none;
}}
"""


def test_where_memory_is_allocated_in_place_the_pointer_holds_it_from_there(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": TESTED})
    assert page.report["summary"]["send"] == {"convert": 1, "keep": 0}
    life = page.lives()["out"]
    assert "allocated in main End then Held" in life
    assert "sent in main Open then None" in life


def test_a_flow_that_is_too_large_leaves_out_what_follows_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "MOST_STEPS", 0)
    page = page_of(tmp_path, {"a.c": WRAPPED})
    life = page.lives()["a"]
    assert "What follows what is too much to be told here, and so are the states." in life
    assert "written in fill" in life
    assert "sent in hand_on" in life
    assert "arrows lead" not in life
    assert page.roles()["fill"] == ("writes a, b", "")


OUTSIDE = f"""
double *borrowed(void);
static void hand_on(double *q) {{ MPI_Send(q, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }}
int main(int argc, char **argv)
{{
    int rank;
    {INIT}
    hand_on(borrowed());
    MPI_Finalize();
    return 0;
}}
"""


def test_memory_of_others_is_said_to_be_unknown_and_its_calls_are_told(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": OUTSIDE})
    assert page.roles() == {"hand_on": ("sends q", ""), "main": ("", "sends q")}
    assert "Which memory this is could not be shown: these are its calls." in page.lives()["q"]


UNREACHED = f"""
static double grid[N];
void spare(double *row) {{ MPI_Send(row, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }}
int main(int argc, char **argv)
{{
    int rank;
    {INIT}
    MPI_Bcast(grid, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}}
"""


def test_what_is_not_reached_sends_all_the_same(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": UNREACHED})
    assert page.roles() == {"spare": ("sends row", "")}
    assert "The analysis does not reach these calls" in page.lives()["row"]


TANGLED = f"""
static double a[N];
static void hand_on(void) {{ MPI_Send(a, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }}
int main(int argc, char **argv)
{{
    int rank, i = 0;
    {INIT}
    if (argc > 1) goto inside;
again:
    a[i % N] = i;
inside:
    i++;
    if (i < argc) goto again;
    hand_on();
    if (i < 9) goto inside;
    MPI_Finalize();
    return 0;
}}
"""


def test_of_loops_with_two_entries_it_is_told_who_writes_and_sends(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": TANGLED})
    assert page.roles()["hand_on"] == ("sends a", "")
    assert page.roles()["main"] == ("writes a", "sends a")
    assert "written" in page.lives()["a"]


IN_PLACE = f"""
static double u[N];
static void relax(void) {{ for (int i = 1; i < N; i++) u[i] = 0.5 * (u[i] + u[i - 1]); }}
static void share(void) {{ MPI_Send(u, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }}
int main(int argc, char **argv)
{{
    int rank;
    {INIT}
    for (int t = 0; t < 9; t++) {{ relax(); share(); }}
    MPI_Finalize();
    return u[3] > 1;
}}
"""


def test_an_array_that_is_sent_in_place_is_not_packed(tmp_path: Path) -> None:
    roles = page_of(tmp_path, {"a.c": IN_PLACE}).roles()
    assert roles["relax"] == ("writes u; reads u", "")
    assert roles["share"] == ("sends u", "")


COUNTED = f"""
static void tell(int *left) {{ *left = 3; }}
int main(int argc, char **argv)
{{
    int rank, n;
    {INIT}
    tell(&n);
    MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return n;
}}
"""


def test_a_number_that_is_sent_and_read_by_its_name(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": COUNTED})
    assert page.roles()["main"] == ("sends n; reads n", "packs n")
    assert [words for words in ("written in tell", "sent in main", "read in main") if words in page.lives()["n"]]
    assert page.lives()["n"].index("sent in main") < page.lives()["n"].index("read in main")


ALIKE = f"""
static void east(int to) {{ double out[N]; for (int i = 0; i < N; i++) out[i] = i;
    MPI_Send(out, N, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); }}
static void west(int to) {{ double out[N]; for (int i = 0; i < N; i++) out[i] = -i;
    MPI_Send(out, N, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); }}
#define BOTH(p, q) do {{ MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); \\
    MPI_Send(q, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); }} while (0)
static double a[N], b[N], c[N];
int main(int argc, char **argv)
{{
    int rank;
    {INIT}
    for (int i = 0; i < N; i++) a[i] = b[i] = i;
    east(1); west(1);
    MPI_Send(a, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); MPI_Send(b, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    MPI_Sendrecv(a, N, MPI_DOUBLE, 1, 2, c, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    BOTH(a, b);
    MPI_Finalize();
    return c[1] > 0;
}}
"""


def test_no_two_sites_and_no_two_buffers_are_called_the_same(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"a.c": ALIKE})
    labels = page.site_labels()
    assert len(labels) == len(page.report["sites"]) == 8
    assert len(set(labels)) == len(labels)
    ends = [label.rsplit("/", 1)[-1] for label in labels]
    assert ends[:6] == ["a.c:7", "a.c:9", "a.c:19:5", "a.c:19:55", "a.c:20 send", "a.c:20 recv"]
    buffers = page.buffer_labels()
    assert len(set(buffers)) == len(buffers)
    assert {"out in east", "out in west"} <= set(buffers)


def test_text_of_the_program_does_nothing_in_the_page(tmp_path: Path) -> None:
    evil = '</td></table><script>document.title="no"</script>'
    source = WRAPPED.replace(
        "int rank;", f"/* {evil} \u202e\u2066 \x1b */ const char *x = {evil.replace(chr(34), '')!r};"
    )
    source = source.replace("double s = 0;\n", "int rank; double s = x[0];\n").replace("'<", '"<').replace(">'", '>"')
    text = page_of(tmp_path, {"a.c": source}).text
    assert "<script>document" not in text
    assert "&lt;script&gt;document" in text
    assert not {"\u202e", "\u2066", "\x1b"} & set(text)
    assert "\u2329U+202E\u232a" in text


@pytest.mark.parametrize(
    ("buffer", "name"),
    [
        ("b", "b"),
        ("&b[i * n]", "b"),
        ("(void *)&p->data[k]", "p->data"),
        ("p->rows[i].v + 3", "p->rows[i].v"),
        ("(char*)(x.y)", "x.y"),
        ("*q", "q"),
        ("a [ n [ 1 ] ]", "a"),
        ("0", "0"),
        ("", ""),
    ],
)
def test_what_an_expression_is_about(buffer: str, name: str) -> None:
    assert written(buffer) == name


def test_bytes_are_written_alike_everywhere() -> None:
    given = (0, 1023, 1024, 8000, 102400, 20 << 20, 3 << 30, 5 << 40)
    assert [size(count) for count in given] == [
        "0 B", "1023 B", "1 KiB", "7.81 KiB", "100 KiB", "20 MiB", "3 GiB", "5 TiB",
    ]  # fmt: skip
    assert (exactly(1000), exactly(8000)) == ("", "8,000")
