"""The traps of reading C through libclang, each on its own."""
# ruff: noqa: E501 - tables of C text

from __future__ import annotations

from pathlib import Path

import pytest
from frontend_support import body, calls, local, nodes, parse, show, source

from opi_xform.frontend import FrontendError
from opi_xform.ir.ast import Binary, For, VarRef

SEND = "MPI_Send(b, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD)"
HEAD = "#include <mpi.h>\nint log_it(const char *, int);\nvoid give_up(int);\n"


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path_factory.mktemp("cache")))


class TestErrors:
    """Trap 1: an error deletes statements, so a file with one is refused."""

    def test_unknown_name(self, tmp_path: Path) -> None:
        with pytest.raises(FrontendError) as caught:
            parse(tmp_path, "int f(void) {\n  return undeclared;\n}\n")
        assert caught.value.file.endswith("t.c")
        assert (caught.value.line, caught.value.column) == (2, 10)
        assert "undeclared" in caught.value.message

    def test_missing_header(self, tmp_path: Path) -> None:
        with pytest.raises(FrontendError, match=r"t\.c:1:10: .*no_such\.h.*not found"):
            parse(tmp_path, '#include "no_such.h"\nint x;\n')

    def test_error_in_a_header_names_the_header(self, tmp_path: Path) -> None:
        (tmp_path / "h.h").write_text("int a;\nint 3b;\n")
        with pytest.raises(FrontendError) as caught:
            parse(tmp_path, '#include "h.h"\n')
        assert caught.value.file.endswith("h.h")
        assert caught.value.line == 2

    def test_missing_file_and_directory(self, tmp_path: Path) -> None:
        from opi_xform.frontend import parse_unit

        with pytest.raises(FrontendError, match="No such file"):
            parse_unit(str(tmp_path / "none.c"), [])
        with pytest.raises(FrontendError, match="directory"):
            parse_unit(str(tmp_path), [])

    def test_what_c_compilers_accept_is_accepted(self, tmp_path: Path) -> None:
        text = (
            "int takes(int *);\nint g(int);\ntypedef int (*fn)(double);\n"
            "void f(void) { int i = 3; takes(i); implicit(i, 2); fn h = g; long *l = &i; (void)h; (void)l; }\n"
        )
        unit = parse(tmp_path, text)
        assert len(calls(unit, "implicit")) == 1
        assert unit.declared["implicit"].params is None

    def test_error_survives_pickling(self) -> None:
        import pickle

        error = pickle.loads(pickle.dumps(FrontendError("a.c", 3, 4, "bad")))
        assert str(error) == "a.c:3:4: bad"


class TestForSlots:
    """Trap 2: empty slots of ``for (;;)`` leave nothing among the children."""

    @pytest.mark.parametrize("init", ["", "i = 0", "int i = 0", "/* ; */", "i = ';'"])
    @pytest.mark.parametrize("cond", ["", "i < n", "/* ; ; */"])
    @pytest.mark.parametrize("step", ["", "i++", "i++, n--"])
    def test_every_combination(self, tmp_path: Path, init: str, cond: str, step: str) -> None:
        unit = parse(tmp_path, f"void f(int n, int i) {{ for ({init}; {cond}; {step}) {{ break; }} }}\n")
        (loop,) = nodes(unit.functions["f"], For)

        def written(node: object) -> str:
            return "" if node is None else source(node.span).rstrip("; ")  # type: ignore[attr-defined]

        expected = ["" if "/*" in s else s for s in (init, cond, step)]
        assert [written(loop.init), written(loop.cond), written(loop.step)] == expected
        assert unit.functions["f"].refused == ""

    def test_loops_made_by_macros(self, tmp_path: Path) -> None:
        text = (
            "#define FOREVER for (;;)\n#define LOOP(i, n) for (i = 0; i < n; i++)\n#define WHEN(c) for (; c; )\n"
            "void f(int n, int i) { FOREVER break; LOOP(i, n) ; WHEN(i < n) i++; }\n"
        )
        assert body(tmp_path, text) == [
            "(For - - - (Break))",
            "(For (ExprStmt (Assign (VarRef i) (IntLit 0))) (Binary < (VarRef i) (VarRef n))"
            " (IncDec ++ False (VarRef i)) (Null))",
            "(For - (Binary < (VarRef i) (VarRef n)) - (ExprStmt (IncDec ++ False (VarRef i))))",
        ]

    def test_a_slot_that_cannot_be_told_refuses_the_function(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "#define NOTHING\nvoid f(int i) { for (NOTHING; ; i++) break; }\n")
        assert unit.functions["f"].refused != ""
        assert nodes(unit.functions["f"], For) == []


class TestConstantsInMacros:
    """Trap 3: tokens of macro-made cursors are junk; values come from evaluation."""

    def test_values(self, tmp_path: Path) -> None:
        text = "#define N 0x10\n#define M (N * 3)\n#define NEG -N\nvoid f(int *a) { a[0] = N; a[1] = M; a[2] = NEG; a[3] = 'a'; }"
        got = [s.rpartition("(IntLit ")[2].rstrip(")") for s in body(tmp_path, text)]
        assert got == ["16 N", "48 M", "-16 NEG", "97"]


class TestWrittenPlaces:
    """Trap 4: where a call is written, and whether it may be edited there."""

    def one(self, tmp_path: Path, macros: str, statement: str, count: int = 1) -> tuple[str, bool, str | None]:
        unit = parse(tmp_path, f"{HEAD}{macros}\nvoid f(double *b, int rc, int n) {{\n  {statement}\n}}\n")
        found = calls(unit, "MPI_Send")
        assert len(found) == count
        assert len({(c.span.begin, c.span.end, c.span.editable) for c in found}) == 1
        return source(found[0].span), found[0].span.editable, found[0].span.macro

    def test_plain(self, tmp_path: Path) -> None:
        assert self.one(tmp_path, "", f"rc = {SEND};") == (SEND, True, None)

    def test_in_an_argument_expanded_once(self, tmp_path: Path) -> None:
        assert self.one(tmp_path, "#define CHECK(x) do { if (x) give_up(1); } while (0)", f"CHECK({SEND});") == (
            SEND,
            True,
            None,
        )

    def test_in_an_argument_passed_on(self, tmp_path: Path) -> None:
        macros = "#define INNER(x, l) if (x) give_up(l)\n#define CHECK(x) INNER(x, __LINE__)"
        assert self.one(tmp_path, macros, f"CHECK( {SEND} );") == (SEND, True, None)

    def test_in_variadic_arguments(self, tmp_path: Path) -> None:
        macros = "#define CHECK(...) do { if (__VA_ARGS__) give_up(1); } while (0)"
        assert self.one(tmp_path, macros, f"CHECK({SEND});") == (SEND, True, None)

    def test_in_an_argument_expanded_twice(self, tmp_path: Path) -> None:
        text, editable, _ = self.one(tmp_path, "#define TWICE(x) ((x) + (x))", f"rc = TWICE({SEND});", count=2)
        assert (text, editable) == (SEND, False)

    def test_in_an_argument_stringified(self, tmp_path: Path) -> None:
        assert self.one(tmp_path, "#define LOG(x) log_it(#x, x)", f"LOG({SEND});")[:2] == (SEND, False)

    def test_in_an_argument_stringified_further_in(self, tmp_path: Path) -> None:
        macros = "#define LOG(x) log_it(#x, x)\n#define CHECK(x) LOG(x)"
        assert self.one(tmp_path, macros, f"CHECK({SEND});")[:2] == (SEND, False)

    def test_pasted(self, tmp_path: Path) -> None:
        macros = "#define V(x) x ## 1\n#define CALL(x, y) x; V(y)"
        unit = parse(tmp_path, f"{HEAD}{macros}\nvoid f(double *b, int b1) {{ CALL({SEND}, b); }}\n")
        assert calls(unit, "MPI_Send")[0].span.editable

    def test_made_by_a_macro_body(self, tmp_path: Path) -> None:
        macros = "#define SHIP(b, n) MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD)"
        assert self.one(tmp_path, macros, "SHIP(b, 4);") == ("SHIP(b, 4)", False, "SHIP")

    def test_made_by_a_macro_body_inside_an_argument(self, tmp_path: Path) -> None:
        macros = (
            "#define SHIP(b, n) MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD)\n#define CHECK(x) if (x) give_up(1)"
        )
        assert self.one(tmp_path, macros, "CHECK(SHIP(b, 4));") == ("SHIP(b, 4)", False, "SHIP")

    def test_object_like_macro_that_is_a_whole_call(self, tmp_path: Path) -> None:
        assert self.one(tmp_path, f"#define DOIT {SEND}", "DOIT;") == ("DOIT", False, "DOIT")

    def test_callee_renamed_by_a_macro(self, tmp_path: Path) -> None:
        unit = parse(
            tmp_path, f"{HEAD}#define ship MPI_Send\nvoid f(double *b) {{ {SEND.replace('MPI_Send', 'ship')}; }}\n"
        )
        (call,) = calls(unit, "MPI_Send")
        assert call.span.editable
        assert call.callee_span.editable
        assert source(call.callee_span) == "ship"
        assert source(call.span) == SEND.replace("MPI_Send", "ship")

    def test_callee_and_arguments(self, tmp_path: Path) -> None:
        text = "#define TAG 7\n#define ID(x) x\nvoid f(double *b) { MPI_Send ((b + 1), ID(2) + 2, MPI_DOUBLE, /* to */ 1, TAG, MPI_COMM_WORLD); }"
        (call,) = calls(parse(tmp_path, HEAD + text), "MPI_Send")
        assert source(call.callee_span) == "MPI_Send"
        assert [source(a.span).strip("()") for a in call.args] == [
            "b + 1",
            "ID(2) + 2",
            "MPI_DOUBLE",
            "1",
            "TAG",
            "MPI_COMM_WORLD",
        ]
        assert all(a.span.editable for a in call.args)

    def test_two_arguments_from_one_macro(self, tmp_path: Path) -> None:
        text = "#define DT_TO MPI_DOUBLE, 1\nvoid f(double *b) { MPI_Send(b, 4, DT_TO, 7, MPI_COMM_WORLD); }"
        (call,) = calls(parse(tmp_path, HEAD + text), "MPI_Send")
        assert [(source(a.span), a.span.editable) for a in call.args[2:4]] == [("DT_TO", False), ("DT_TO", False)]

    def test_statement_made_by_a_macro_includes_its_semicolon(self, tmp_path: Path) -> None:
        unit = parse(
            tmp_path,
            f"{HEAD}#define CHECK(x) do {{ if (x) give_up(1); }} while (0)\nvoid f(double *b) {{ CHECK({SEND}); }}\n",
        )
        (statement,) = unit.functions["f"].body.body
        assert source(statement.span) == f"CHECK({SEND});"
        assert (statement.span.macro, statement.span.editable) == ("CHECK", False)

    @pytest.mark.parametrize(
        ("macros", "written", "editable"),
        [
            ("#define N 8", "n * N", True),
            ("#define N (n)", "N * 8", True),
            ("#define N n * 8", "N + 1", True),
            ("#define CAST (int)", "CAST n * 8", True),
            ("#define M 8 + n", "n * M", False),  # n * 8 is the operand of +
            ("#define M - n", "n M * 8", False),  # n * 8 is what is taken away
            ("#define M g(n", "M * 8)", False),  # the call's beginning comes with it
            ("#define M 8)", "g(n * M", False),
            ("#define M = n", "n M * 8", False),
            ("#define M n, n", "g((M * 8))", False),  # the other operand of the comma
            ("#define MAX(a, b) ((a) > (b) ? (a) : (b))", "MAX(n, 3) * 8", True),
            ("#define OF(a) a", "OF(n) * 8", True),
            ("#define OF(a) 8 + a", "OF(n) * 8", False),  # n * 8 is the operand of +
            ("#define OF(a) - a", "n OF(n) * 8", False),  # n * 8 is what is taken away
            ("#define OF(a) (a) - 3, (a)", "g((OF(n) * 8))", False),  # the other operand of the comma
            ("#define OPEN(a) g((a)", "OPEN(n) * 8)", False),  # the call's beginning comes with it
            ("#define SELF(f) f", "SELF(g)(n) * 8", True),
        ],
    )
    def test_a_product_that_begins_or_ends_in_a_macro(
        self, tmp_path: Path, macros: str, written: str, editable: bool
    ) -> None:
        unit = parse(tmp_path, f"{macros}\nint g(int x);\nvoid f(int n) {{\n  {written};\n}}\n")
        (product,) = (e for e in nodes(unit.functions["f"], Binary) if e.op == "*")
        assert product.span.editable is editable


class TestSkipped:
    """Trap 5: what another configuration would compile."""

    def test_names_in_skipped_text(self, tmp_path: Path) -> None:
        text = 'int a;\n#ifdef FEATURE\nvoid g(void) { a = other; /* comment */ puts("string"); }\n#else\nint used;\n#endif\n'
        (skipped,) = parse(tmp_path, text).skipped
        assert {"a", "other", "puts", "g"} <= skipped.identifiers
        assert not {"comment", "string", "used"} & skipped.identifiers
        assert "other" in source(skipped.span)
        assert skipped.span.line in (2, 3)

    def test_defined_feature_skips_the_other_branch(self, tmp_path: Path) -> None:
        (skipped,) = parse(tmp_path, "#ifdef FEATURE\nint one;\n#else\nint two;\n#endif\n", ["-DFEATURE"]).skipped
        assert "two" in skipped.identifiers
        assert "one" not in skipped.identifiers

    def test_headers_of_the_project_count_and_if_0_does_not(self, tmp_path: Path) -> None:
        (tmp_path / "h.h").write_text("#ifndef H\n#define H\n#ifdef WIDE\nextern long wide;\n#endif\n#endif\n")
        unit = parse(tmp_path, '#include "h.h"\n#include "h.h"\n#include <stdio.h>\n#if 0\nint dead;\n#endif\n')
        names = {n for s in unit.skipped for n in s.identifiers}
        assert "wide" in names
        assert "dead" not in names
        assert all(s.span.file.startswith(str(tmp_path)) for s in unit.skipped)

    def test_if_0_with_another_branch_counts(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "#if 0\nint dead;\n#elif defined(FEATURE)\nint alive;\n#endif\n")
        assert "alive" in {n for s in unit.skipped for n in s.identifiers}


class TestBytes:
    """Trap 6: offsets are bytes, whatever the encoding."""

    def test_non_ascii_before_a_call(self, tmp_path: Path) -> None:
        text = f'{HEAD}/* größe → */ static const char *s = "ü"; void f(double *b) {{ {SEND}; }}\n'
        (call,) = calls(parse(tmp_path, text), "MPI_Send")
        assert source(call.span) == SEND
        assert call.span.begin == text.encode().index(SEND.encode())
        assert call.span.column == text.encode().splitlines()[3].index(SEND.encode()) + 1

    def test_invalid_utf8_in_comment_and_string(self, tmp_path: Path) -> None:
        text = (
            HEAD.encode()
            + b'/* \xff\xfe */ static const char *s = "\xe4"; // \xc3\nvoid f(double *b) { '
            + SEND.encode()
            + b"; }\n"
        )
        (call,) = calls(parse(tmp_path, text), "MPI_Send")
        assert text[call.span.begin : call.span.end] == SEND.encode()

    def test_invalid_utf8_in_code_is_refused_with_its_place(self, tmp_path: Path) -> None:
        with pytest.raises(FrontendError) as caught:
            parse(tmp_path, b"int a;\nint b\xff;\n")
        assert caught.value.line == 2

    def test_carriage_returns_and_byte_order_mark(self, tmp_path: Path) -> None:
        text = b"\xef\xbb\xbf" + (HEAD + f"void f(double *b)\n{{\n  {SEND};\n}}\n").replace("\n", "\r\n").encode()
        (call,) = calls(parse(tmp_path, text), "MPI_Send")
        assert text[call.span.begin : call.span.end] == SEND.encode()


class TestOpenMP:
    """Trap 7: pragmas vanish without -fopenmp."""

    TEXT = "void f(double *b, int n) {\n#pragma omp parallel for\n  for (int i = 0; i < n; i++) b[i] = 0;\n}\nvoid g(void) { }\n"

    @pytest.mark.parametrize("flags", [(), ("-fopenmp",)])
    def test_a_loop_that_threads_share(self, tmp_path: Path, flags: tuple[str, ...]) -> None:
        unit = parse(tmp_path, self.TEXT, [*flags])
        assert unit.functions["f"].refused == ""
        assert [self.TEXT[s.begin : s.begin + 5] for s in unit.functions["f"].threads] == ["for ("]
        assert unit.functions["g"].threads == ()

    @pytest.mark.parametrize(
        ("directive", "reason"),
        [
            ("critical", "OpenMP `critical` in line 2 is not followed"),
            ("parallel sections", "OpenMP `parallel sections` in line 2 is not followed"),
            ("parallel for ordered", "OpenMP `parallel for` in line 2 has the clause `ordered`, which is not followed"),
            ("parallel for num_threads(h())", "OpenMP `parallel for` in line 2 calls `h`"),
            ("parallel for collapse(2)", "OpenMP `parallel for` in line 2 stands before another form of loop"),
            (
                "parallel for firstprivate(n)",
                "OpenMP `parallel for` in line 2 changes `n`, of which each thread has one",
            ),
            (
                "parallel for reduction(+ : n)",
                "OpenMP `parallel for` in line 2 reads `n`, of which each thread has a part",
            ),
        ],
    )
    def test_what_is_not_followed(self, tmp_path: Path, directive: str, reason: str) -> None:
        loop = "  for (int i = 0; i < 9; i++) { n = n + i; b[n % 9] = 0; }\n"
        unit = parse(tmp_path, f"void f(double *b, int n) {{\n#pragma omp {directive}\n{loop}}}\n")
        assert unit.functions["f"].refused == reason

    @pytest.mark.parametrize("directive", ["parallel for num_threads(*n)", "parallel for ordered", "for ordered"])
    def test_a_call_of_mpi_in_a_shared_loop_goes_before_what_the_directive_says(
        self, tmp_path: Path, directive: str
    ) -> None:
        """Without the clause the call would still keep the region."""
        loop = f"  for (int i = 0; i < 9; i++) {{ b[i] = 0; {SEND}; }}\n"
        unit = parse(tmp_path, f"{HEAD}void f(double *b, int *n) {{\n#pragma omp {directive}\n{loop}}}\n")
        line = HEAD.count("\n") + 2
        assert (
            unit.functions["f"].refused
            == f"OpenMP `{directive.partition(' num')[0].partition(' ord')[0]}` in line {line} calls `MPI_Send`"
        )

    def test_a_private_variable_may_have_its_old_value_behind_the_loop(self, tmp_path: Path) -> None:
        text = (
            "int f(double *b, int n) {\n  int i = 5;\n#pragma omp parallel for\n  for (i = 0; i < n; i++) b[i] = 0;\n"
        )
        function = parse(tmp_path, text + "  return i;\n}\n").functions["f"]
        assert [type(s).__name__ for s in function.body.body] == ["DeclStmt", "DeclStmt", "For", "If", "Return"]
        assert {e.var for e in nodes(function, VarRef)} <= set(function.variables)

    def test_a_variable_that_only_its_loop_uses_needs_none(self, tmp_path: Path) -> None:
        text = "void f(double *b, int n) {\n  int i;\n#pragma omp parallel for\n  for (i = 0; i < n; i++) b[i] = 0;\n"
        function = parse(tmp_path, text + "}\n").functions["f"]
        assert [type(s).__name__ for s in function.body.body] == ["DeclStmt", "For"]

    def test_what_each_thread_has_is_its_own(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "static int a, b;\n#pragma omp threadprivate(a)\nint f(void) { return a + b; }\n")
        assert [v.thread_local for v in unit.globals.values()] == [True, False]

    def test_its_header_is_found(self, tmp_path: Path) -> None:
        """It is GCC's, whose attributes clang does not know."""
        unit = parse(tmp_path, "#include <omp.h>\nint f(void) { return omp_get_max_threads(); }\n", ["-fopenmp"])
        assert len(calls(unit, "omp_get_max_threads")) == 1

    def test_pragma_operator(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, 'void f(void) { _Pragma("omp barrier") }\n')
        assert unit.functions["f"].refused == "OpenMP or another _Pragma in line 1 is not followed"

    def test_other_pragmas_and_comments_do_not_count(self, tmp_path: Path) -> None:
        unit = parse(
            tmp_path,
            "void f(double *b) {\n#pragma unroll\n  /* pragma omp */ for (int i = 0; i < 3; i++) b[i] = 0;\n}\n",
        )
        assert unit.functions["f"].refused == ""


class TestRefused:
    """Trap 8: constructs that are not analysed refuse their function, and only it."""

    @pytest.mark.parametrize(
        ("statement", "reason"),
        [
            ("void *p = &&out; goto *p; out: ;", "computed goto"),
            ('__asm__ volatile("nop");', "inline asm"),
            ("n = setjmp(env);", "setjmp or longjmp"),
            ("longjmp(env, 1);", "setjmp or longjmp"),
            ("n = va_arg(ap, int);", "va_arg"),
            ("n = _Generic(n, int: 1, default: 2);", "_Generic"),
        ],
    )
    def test_reason(self, tmp_path: Path, statement: str, reason: str) -> None:
        text = f"#include <setjmp.h>\n#include <stdarg.h>\nstatic jmp_buf env;\nvoid f(int n, va_list ap) {{ {statement} }}\nvoid g(int n) {{ n++; }}\n"
        unit = parse(tmp_path, text)
        assert unit.functions["f"].refused == f"{reason} in line 4"
        assert unit.functions["g"].refused == ""

    def test_a_statement_expression_is_shown(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "int f(int n) {\n  return ({ while (n > 3) n--;\n n; });\n}\n")
        expected = "`({ while (n > 3) n--; n; })` in line 2 is a statement expression with more than scalars, values and branches"
        assert unit.functions["f"].refused == expected

    def test_an_unknown_expression_is_shown(self, tmp_path: Path) -> None:
        text = "_Atomic int x;\nvoid f(void) {\n  __c11_atomic_fetch_add(&x,\n    1, 5);\n}\n"
        unit = parse(tmp_path, text)
        assert unit.functions["f"].refused == "`__c11_atomic_fetch_add(&x, 1, 5)` in line 3 is an unknown expression"

    def test_what_stands_in_another_file_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "part.h").write_text('\n__asm__ volatile("nop");\n')
        unit = parse(tmp_path, 'void f(void) {\n#include "part.h"\n}\n')
        assert unit.functions["f"].refused == "inline asm in line 2 of part.h"

    def test_opaque_keeps_the_expressions_in_it(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "int g(int *);\nvoid f(int *p) { int n = ({ g(p); 3; }); (void)n; }\n")
        init = local(unit, "n").init
        assert init is not None
        assert "(Call (FuncRef g)" in show(init)

    def test_a_statement_expression_without_reader_is_a_block(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "#include <assert.h>\nvoid f(int *p) { assert(p); ({ *p = 1; }); }\n")
        assert unit.functions["f"].refused == ""
        assert "__assert_fail" in unit.declared

    def test_variable_length_arrays_are_marked(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "void f(int n) { double v[n], w[2][n], x[n][2]; (void)v; (void)w; (void)x; }\n")
        for name in "vwx":
            type_ = local(unit, name).type
            assert type_.vla
            assert type_.size is None
