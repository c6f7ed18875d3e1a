"""Before and after: what each kind of edit makes of a file."""

from __future__ import annotations

import pytest

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Edit, InsertStatement, Plan, PointerDeclaration, ReplaceCall, ReplaceText
from opi_xform.rewrite.apply import rewrite
from opi_xform.text.edit import ByteEdit, EditConflict, apply_edits
from opi_xform.text.errors import PlanError
from opi_xform.text.sources import Sources

FILE = "/p/a.c"


def span(source: bytes, text: str, nth: int = 0, editable: bool = True, file: str = FILE) -> Span:
    """The span of the nth occurrence of ``text``."""
    needle = text.encode()
    at = -1
    for _ in range(nth + 1):
        at = source.index(needle, at + 1)
    line = source.count(b"\n", 0, at) + 1
    return Span(file, at, at + len(needle), line, at - source.rfind(b"\n", 0, at), editable)


def result(source: bytes, *edits: Edit, header: bool = False, file: str = FILE) -> bytes:
    plan = Plan((), tuple(edits), (file,) if header else ())
    return rewrite(plan, Sources(lambda name: source)).changed.get(file, source)


def insert(source: bytes, anchor: str, where: str, text: str, nth: int = 0, wrap: bool = False) -> InsertStatement:
    return InsertStatement(span(source, anchor, nth), where, text, wrap)


# --- byte edits -------------------


def test_edits_apply_in_order_of_place_and_rank() -> None:
    edits = [ByteEdit(2, 2, (1,), b"B"), ByteEdit(2, 2, (0,), b"A"), ByteEdit(2, 4, (), b"-"), ByteEdit(4, 4, (), b"C")]
    assert apply_edits(b"012345", edits) == b"01AB-C45"


def test_equal_edits_count_once_and_different_ones_conflict() -> None:
    assert apply_edits(b"abc", [ByteEdit(0, 2, (), b"x"), ByteEdit(0, 2, (), b"x")]) == b"xc"
    with pytest.raises(EditConflict):
        apply_edits(b"abc", [ByteEdit(0, 2, (), b"x"), ByteEdit(0, 2, (), b"y")])
    with pytest.raises(EditConflict):
        apply_edits(b"abcd", [ByteEdit(0, 3, (), b"x"), ByteEdit(1, 1, (), b"y")])
    with pytest.raises(EditConflict):
        apply_edits(b"abc", [ByteEdit(2, 9, (), b"x")])


# --- calls -------------------


def test_a_call_changes_its_name_and_buffers_and_keeps_its_layout() -> None:
    source = b"  MPI_Irecv(rbuf /* in */,  n, MPI_DOUBLE, peer, 7,\n            comm, &rq[0]);\n"
    edit = ReplaceCall(span(source, "MPI_Irecv"), "OPI_Itake", ((span(source, "rbuf"), "&rbuf"),))
    expected = b"  OPI_Itake(&rbuf /* in */,  n, MPI_DOUBLE, peer, 7,\n            comm, &rq[0]);\n"
    assert result(source, edit) == expected


def test_a_call_inside_a_macro_argument_is_edited_one_from_a_macro_body_is_not() -> None:
    source = b"CHECK(MPI_Send(b, n, t, d, 0, c));\n"
    args = ((span(source, "b"), "&b"),)
    assert result(source, ReplaceCall(span(source, "MPI_Send"), "OPI_Give", args)).startswith(b"CHECK(OPI_Give(&b, ")
    with pytest.raises(PlanError):
        result(source, ReplaceCall(span(source, "MPI_Send", editable=False), "OPI_Give", args))


def test_the_body_of_a_define_is_never_edited() -> None:
    source = b"#define SEND(b) \\\n  MPI_Send(b)\n"
    with pytest.raises(PlanError):
        result(source, ReplaceCall(span(source, "MPI_Send"), "OPI_Give", ()))


def test_bytes_that_are_no_utf8_and_crlf_survive() -> None:
    source = b"/* gr\xfc\xdfe */\r\nMPI_Send(b\xe9, n);\r\n"
    at = source.index(b"b\xe9")
    buffer = Span(FILE, at, at + 2, 2, 10)
    edit = ReplaceCall(span(source, "MPI_Send"), "OPI_Give", ((buffer, "&b\udce9"),))
    assert result(source, edit) == b"/* gr\xfc\xdfe */\r\nOPI_Give(&b\xe9, n);\r\n"


# --- declarations -------------------


def declaration(
    source: bytes, name: str, suffix: str, init: str | None = None, keep: int = 0, null: bool = False, nth: int = 0
) -> PointerDeclaration:
    at = span(source, name, nth)
    begin = source.index(suffix.encode(), at.end)
    init_span = None
    if init is not None:
        init_at = source.index(init.encode(), begin + len(suffix))
        init_span = Span(FILE, init_at, init_at + len(init), at.line, 1)
    end = init_span.end if init_span else begin + len(suffix)
    statement = Span(FILE, source.rfind(b"\n", 0, at.begin) + 1, source.index(b";", end) + 1, at.line, 1)
    whole = Span(FILE, at.begin, end, at.line, 1)
    suffix_span = Span(FILE, begin, begin + len(suffix), at.line, 1)
    return PointerDeclaration(at, suffix_span, init_span, whole, statement, keep, null)


@pytest.mark.parametrize(
    ("before", "suffix", "keep", "after"),
    [
        ("double buf[N];", "[N]", 0, "double *buf;"),
        ("static double buf [ N ] ;", "[ N ]", 0, "static double *buf  ;"),
        ("extern double buf[];", "[]", 0, "extern double *buf;"),
        ("double buf[8][N];", "[8][N]", 0, "double (*buf)[N];"),
        ("double buf[8] [N];", "[8] [N]", 0, "double (*buf) [N];"),
        ("double buf /* rows */ [8][N];", "[8][N]", 0, "double (*buf) /* rows */ [N];"),
        ("double buf[8][N];", "[8][N]", 1, "double *buf[8];"),
        ("double buf[8][4][N];", "[8][4][N]", 1, "double (*buf[8])[N];"),
        ("double buf[8][4][N];", "[8][4][N]", 2, "double *buf[8][4];"),
        ("double buf[8][4][N];", "[8][4][N]", 0, "double (*buf)[4][N];"),
        ("double *buf[8];", "[8]", 0, "double **buf;"),
        ("double (buf)[N];", ")[N]", 0, "double (*buf);"),
        ("double (buf)[8][N];", ")[8][N]", 0, "double ((*buf))[N];"),
        ("double (*buf[8])[N];", "[8])[N]", 0, "double (**buf)[N];"),
        ("char buf[sizeof(int[4])][N];", "[sizeof(int[4])][N]", 0, "char (*buf)[N];"),
        ("struct p buf[MAX(8, 9)];", "[MAX(8, 9)]", 0, "struct p *buf;"),
        ("register double buf[N];", "[N]", 0, "double *buf;"),
        ("double buf[N] __attribute__((aligned(64)));", "[N]", 0, "double *buf __attribute__((aligned(64)));"),
        ("double buf[N /* ] */];", "[N /* ] */]", 0, "double *buf;"),
    ],
)
def test_an_array_becomes_a_pointer(before: str, suffix: str, keep: int, after: str) -> None:
    source = before.encode() + b"\n"
    assert result(source, declaration(source, "buf", suffix, keep=keep)) == after.encode() + b"\n"


@pytest.mark.parametrize(
    ("before", "init", "keep", "null", "after"),
    [
        ("double buf[N];", None, 0, True, "double *buf = NULL;"),
        ("double buf[N], x;", None, 0, True, "double *buf = NULL, x;"),
        ("double buf[N] = {0};", "{0}", 0, False, "double *buf;"),
        ("double buf[N]= { 1, 2 } ;", "{ 1, 2 }", 0, True, "double *buf = NULL ;"),
        ("double buf[N] /* n */ = {0};", "{0}", 0, True, "double *buf /* n */ = NULL;"),
    ],
)
def test_initialisers_go_and_null_comes(before: str, init: str | None, keep: int, null: bool, after: str) -> None:
    source = before.encode() + b"\n"
    edit = declaration(source, "buf", "[N]", init, keep, null)
    assert result(source, edit) == after.encode() + b"\n"


def test_an_array_of_pointers_starts_with_null() -> None:
    source = b"    double buf[8][N];\n"
    assert result(source, declaration(source, "buf", "[8][N]", keep=1, null=True)) == b"    double *buf[8] = {NULL};\n"


def test_several_declarators_of_one_statement() -> None:
    source = b"static double a[N], b[N][2], c;\n"
    edits = (declaration(source, "a", "[N]", nth=1), declaration(source, "b", "[N][2]", nth=1))
    assert source[edits[0].declarator_name.begin :].startswith(b"a[N]") is True
    assert result(source, *edits) == b"static double *a, (*b)[2], c;\n"


def test_an_array_type_from_a_typedef_is_refused() -> None:
    source = b"row_t buf;\n"
    at = span(source, "buf")
    empty = Span(FILE, at.end, at.end, 1, 10)
    with pytest.raises(PlanError, match="typedef"):
        result(source, PointerDeclaration(at, empty, None, at, at, 0, False))
    with pytest.raises(PlanError):
        result(b"double buf[4];", declaration(b"double buf[4];", "buf", "[4]", keep=1))


def test_register_goes_once_for_two_declarators() -> None:
    source = b"register double aa[N], bb[N];\n"
    assert result(source, declaration(source, "aa", "[N]"), declaration(source, "bb", "[N]")) == b"double *aa, *bb;\n"


# --- deletions and replacements -------------------


@pytest.mark.parametrize(
    ("before", "gone", "after"),
    [
        ("a();\n    free(b);\nc();\n", "free(b);", "a();\nc();\n"),
        ("a();\n    free(b); /* done */\nc();\n", "free(b);", "a();\n    /* done */\nc();\n"),
        ("a(); free(b); c();\n", "free(b);", "a(); c();\n"),
        ("if (x)\n    free(b);\nc();\n", "free(b);", "if (x)\n    ;\nc();\n"),
        ("else free(b);\n", "free(b);", "else ;\n"),
        ("out:\n    free(b);\n}\n", "free(b);", "out:\n    ;\n}\n"),
        ("a();\n    b = malloc(\n        n);\nc();\n", "b = malloc(\n        n);", "a();\nc();\n"),
        ("a();\r\n  free(b);\r\nc();\r\n", "free(b);", "a();\r\nc();\r\n"),
        ("{ free(b); }\n", "free(b);", "{ }\n"),
    ],
)
def test_a_deleted_statement_takes_its_lines_along(before: str, gone: str, after: str) -> None:
    source = before.encode()
    assert result(source, ReplaceText(span(source, gone), "")) == after.encode()


def test_text_is_replaced_and_the_rest_stays() -> None:
    source = b"n = sizeof buf / 2;\n"
    edit = ReplaceText(span(source, "sizeof buf"), "sizeof(double[N])")
    assert result(source, edit) == b"n = sizeof(double[N]) / 2;\n"


# --- the header -------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#include <mpi.h>\nint x;\n", '#include <mpi.h>\n#include "opi.h"\nint x;\n'),
        (
            '#include <mpi.h>\n#include "a.h"\n#include <mpi.h>\nint x;\n',
            '#include <mpi.h>\n#include "a.h"\n#include <mpi.h>\n#include "opi.h"\nint x;\n',
        ),
        (
            '#define _GNU\n#include <stdio.h>\n#include "halo.h"\n\nint x;\n#include "late.h"\n',
            '#define _GNU\n#include <stdio.h>\n#include "halo.h"\n#include "opi.h"\n\nint x;\n#include "late.h"\n',
        ),
        ("/* Halo. */\nint x;\n", '/* Halo. */\n#include "opi.h"\nint x;\n'),
        ("int x;\n", '#include "opi.h"\nint x;\n'),
        ('#include <mpi.h>\n#include "opi.h"\n', '#include <mpi.h>\n#include "opi.h"\n'),
        ("#include <mpi.h>\r\nint x;\r\n", '#include <mpi.h>\r\n#include "opi.h"\r\nint x;\r\n'),
        ("#include <mpi.h>", '#include <mpi.h>\n#include "opi.h"'),
        (
            "#ifdef USE_MPI\n#include <mpi.h> /* here */\n#endif\nint x;\n",
            '#ifdef USE_MPI\n#include <mpi.h> /* here */\n#include "opi.h"\n#endif\nint x;\n',
        ),
        (
            "#ifndef A_H\n#define A_H\nint x;\n#endif\n",
            '#ifndef A_H\n#define A_H\n#include "opi.h"\nint x;\n#endif\n',
        ),
        (
            "#ifndef A_H\n#define A_H\n#include <stdio.h>\nint x;\n#endif\n",
            '#ifndef A_H\n#define A_H\n#include <stdio.h>\n#include "opi.h"\nint x;\n#endif\n',
        ),
        ('/* #include <mpi.h> */\n#include "x.h"\n', '/* #include <mpi.h> */\n#include "x.h"\n#include "opi.h"\n'),
        (
            '#if 0\n#include "dead.h"\n#endif\n#include "x.h"\n#ifdef Y\n#include "y.h"\n#endif\n',
            '#if 0\n#include "dead.h"\n#endif\n#include "x.h"\n#include "opi.h"\n#ifdef Y\n#include "y.h"\n#endif\n',
        ),
    ],
)
def test_where_the_header_goes(before: str, after: str) -> None:
    assert result(before.encode(), header=True) == after.encode()


# --- whole plans -------------------


def test_a_header_seen_by_two_units_is_edited_once() -> None:
    source = b"extern double buf[N];\n"
    edit = declaration(source, "buf", "[N]")
    assert result(source, edit, edit) == b"extern double *buf;\n"


def test_contradicting_edits_are_refused() -> None:
    source = b"n = sizeof buf;\n"
    at = span(source, "sizeof buf")
    with pytest.raises(PlanError, match="contradict"):
        result(source, ReplaceText(at, "1"), ReplaceText(at, "2"))


def test_two_spellings_of_one_file_are_one_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "d").mkdir()
    (tmp_path / "a.h").write_bytes(b"extern double buf[N];\n")
    edit = declaration(b"extern double buf[N];\n", "buf", "[N]")
    edits = []
    for name in ("a.h", "d/../a.h"):
        moved = {f: Span(str(tmp_path / name), s.begin, s.end, s.line, s.column) for f in ("declarator_name", "suffix")
                 for s in [getattr(edit, f)]}  # fmt: skip
        edits.append(PointerDeclaration(**moved, init=None, declarator=edit.declarator, statement=edit.statement,
                                        keep_dims=0, null_init=False))  # fmt: skip
    changed = rewrite(Plan((), tuple(edits)), Sources()).changed
    assert changed == {str(tmp_path / "a.h"): b"extern double *buf;\n"}


def test_an_edit_beyond_the_end_is_refused() -> None:
    with pytest.raises(PlanError, match="shorter"):
        result(b"x", ReplaceText(Span(FILE, 5, 9, 1, 6), "y"))


def test_no_edit_no_change() -> None:
    assert rewrite(Plan(()), Sources(lambda name: b"")).changed == {}


def test_the_example_of_the_design() -> None:
    before = b"""\
#include <mpi.h>

static double sbuf[MAXN], rbuf[MAXN];

void exchange(double *u, int n, int peer) {
  MPI_Request rq[2];
  MPI_Irecv(rbuf, n, MPI_DOUBLE, peer, 7,
            comm, &rq[0]);
  for (int i = 0; i < n; i++)
    sbuf[i] = u[i * STRIDE];
  MPI_Isend(sbuf, n, MPI_DOUBLE, peer, 7,
            comm, &rq[1]);
  MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; i++)
    u[i * STRIDE + n] = rbuf[i];
}
"""
    after = b"""\
#include <mpi.h>
#include "opi.h"

static double *sbuf, *rbuf;

void exchange(double *u, int n, int peer) {
  MPI_Request rq[2];
  OPI_Itake(&rbuf, n, MPI_DOUBLE, peer, 7,
            comm, &rq[0]);
  OPI_Alloc(&sbuf, sizeof(double[MAXN]));
  for (int i = 0; i < n; i++)
    sbuf[i] = u[i * STRIDE];
  OPI_Igive(&sbuf, n, MPI_DOUBLE, peer, 7,
            comm, &rq[1]);
  MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; i++)
    u[i * STRIDE + n] = rbuf[i];
  OPI_Free(&rbuf);
}
"""
    pack = "for (int i = 0; i < n; i++)\n    sbuf[i] = u[i * STRIDE];"
    unpack = "for (int i = 0; i < n; i++)\n    u[i * STRIDE + n] = rbuf[i];"
    assert (
        result(
            before,
            declaration(before, "sbuf", "[MAXN]"),
            declaration(before, "rbuf", "[MAXN]"),
            ReplaceCall(span(before, "MPI_Irecv"), "OPI_Itake", ((span(before, "rbuf", 1), "&rbuf"),)),
            ReplaceCall(span(before, "MPI_Isend"), "OPI_Igive", ((span(before, "sbuf", 2), "&sbuf"),)),
            insert(before, pack, "before", "OPI_Alloc(&sbuf, sizeof(double[MAXN]));"),
            insert(before, unpack, "after", "OPI_Free(&rbuf);"),
            header=True,
        )
        == after
    )
