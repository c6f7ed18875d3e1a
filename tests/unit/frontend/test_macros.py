"""Macros as they are written: what they stand for, whether they quote, who decides about them, what they become."""

from __future__ import annotations

from pathlib import Path

import pytest
from frontend_support import macros_of, parse

from opi_xform.frontend.clang.source import tokens
from opi_xform.frontend.macros import skipped
from opi_xform.frontend.macros.deciding import Deciding
from opi_xform.frontend.macros.expansions import Definition, Expansion, Macros
from opi_xform.frontend.macros.one_meaning import steadiness
from opi_xform.frontend.macros.quoted import Quoted
from opi_xform.frontend.macros.wanted_text import WantedText
from opi_xform.frontend.macros.written_out import written_out


def use(macros: Macros, name: str) -> Expansion:
    """The first use of a macro."""
    return next(e for _, e in macros.written() if e.name == name)


# --- uses and what they stand for -------------------------------------------------------------------------------------


def test_where_a_macro_is_used(tmp_path: Path) -> None:
    text = "#define N 4\n#define ADD(a, b) ((a) + (b))\nint f(void) { return ADD(N, ADD(1, 2)); }\n"
    with macros_of(tmp_path, text) as (file, macros):
        begin = text.index("ADD(N")
        found = macros.at(file.path, begin)
        assert found is not None
        assert text[found.begin : found.end] == "ADD(N, ADD(1, 2))"
        assert macros.at(file.path, begin + 1) is None
        inner = text.index("ADD(1")
        assert [text[e.begin : e.end] for e in macros.around(file.path, inner + 5)] == [
            "ADD(1, 2)",
            "ADD(N, ADD(1, 2))",
        ]
        assert [e.name for e in macros.within(file.path, begin, found.end)] == ["ADD", "N", "ADD"]
        assert [e.begin for e in macros.ending(file.path, begin, found.end - 1)] == [inner]
        assert macros.argument(file, found, inner, inner + 3) == 1
        assert macros.in_one_argument(file, found, text.index("N, ADD"), text.index("N, ADD") + 1)
        assert not macros.in_one_argument(file, found, text.index("N, ADD"), inner)


def test_what_a_macro_stands_for(tmp_path: Path) -> None:
    text = (
        "#define TYPE KIND\n#define KIND real\n#define N (4)\n#define M N\n#define CALL(x) x\n#define TWO 1, 2\n"
        "typedef double real;\nTYPE a; int b = N, c = M, d = CALL(1); int t[] = { TWO };\n"
    )
    with macros_of(tmp_path, text) as (_, macros):
        assert macros.resolved(use(macros, "TYPE")) == ("KIND", False)
        assert macros.renames(use(macros, "TYPE"), "real")
        assert not macros.renames(use(macros, "N"), "real")
        assert macros.is_number("N", False) is True
        assert macros.is_number("M", False) is False, "another macro"
        assert macros.is_number("CALL", False) is None, "without parentheses it is none"
        assert macros.is_number("CALL", True) is False
        assert macros.words("TYPE") == ("KIND",)
        assert macros.words("CALL") is None
        assert macros.constant("M") == ("N", False)
        assert macros.constant("CALL") is None
        assert "real" in macros.reached(use(macros, "TYPE"))
        assert use(macros, "N").object_like
        assert not use(macros, "CALL").object_like
        assert use(macros, "N").single
        assert not use(macros, "TWO").single


@pytest.mark.parametrize(
    ("definitions", "closed"),
    [
        ("#define P 1", True),
        ("#define P a", True),
        ("#define P (a + 1)", True),
        ("#define P a + 1", False),
        ("#define P (a) + (1)", False),
        ("#define Q a + 1\n#define P Q", False),  # through another macro
        ("#define Q (a + 1)\n#define P Q", True),
        ("#define Q(x) (x + 1)\n#define P Q(a)", True),
        ("#define Q(x) x\n#define P Q(a + 1)", False),
        ("#define Q(x) (x)\n#define P Q(a) + 1", False),
        ("#define Q a\n#undef Q\n#define Q a + 1\n#define P Q", False),
    ],
)
def test_a_macro_of_which_an_operator_beside_it_takes_all(tmp_path: Path, definitions: str, closed: bool) -> None:
    with macros_of(tmp_path, f"{definitions}\nint a; int f(void) {{ return P; }}\n") as (_, macros):
        assert macros.closed(use(macros, "P")) is closed


def test_a_macro_of_a_name_that_is_defined_twice_is_not_known_to_be_closed(tmp_path: Path) -> None:
    """Which of the two is meant depends on the place."""
    text = "#define Q a + 1\n#define P Q\nint a; int f(void) { return P; }\n#undef Q\n#define Q a\n"
    with macros_of(tmp_path, text) as (_, macros):
        assert not macros.closed(use(macros, "P"))


@pytest.mark.parametrize(
    ("body", "free"), [("g(x)", True), ("g(x) + x", False), ("g(#x)", False), ("g(1)", False), ("INNER(x)", True)]
)
def test_arguments_that_can_be_edited(tmp_path: Path, body: str, free: bool) -> None:
    text = f"#define INNER(y) g(y)\n#define OUTER(x) {body}\nint g(); int a; int f(void) {{ return OUTER(a); }}\n"
    with macros_of(tmp_path, text) as (file, macros):
        at = text.index("(a)") + 1
        assert macros.argument_is_free(file, at, at + 1, macros.around(file.path, at)) is free


@pytest.mark.parametrize(
    ("body", "expected"), [('_Pragma("omp parallel")', True), ('_Pragma("once")', False), ("omp", False)]
)
def test_macros_that_make_openmp(tmp_path: Path, body: str, expected: bool) -> None:
    text = f"#define P {body}\nint omp; void f(void) {{ P ; }}\n"
    with macros_of(tmp_path, text) as (file, macros):
        assert macros.makes_openmp(file, 0, len(text)) is expected
        if expected:
            assert macros.maker(file, 0, len(text)).name == "P"


# --- macros that quote ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("g(x)", False),
        ("g(#x)", True),
        ("g(x ## 1)", True),
        ("g(1 ## x)", True),
        ("SHOW(x)", True),
        ("KEEP(x)", False),
        ("KEEP(SHOW(x))", True),
    ],
)
def test_macros_that_turn_an_argument_into_text(tmp_path: Path, body: str, expected: bool) -> None:
    text = (
        f"#define SHOW(y) #y\n#define KEEP(y) (y)\n#define M(x) {body}\nint g(); int a, a1;\nvoid f(void) {{ M(a); }}\n"
    )
    with macros_of(tmp_path, text) as (file, macros):
        quoted = Quoted(macros)
        definition = macros.definition("M")
        assert isinstance(definition, Definition)
        assert quoted.quotes(definition, 0) is expected
        assert quoted.quotes(definition, 3), "it has no such parameter"
        at = text.index("M(a)") + 2
        assert quoted.at(file, at, at + 1, "a", None) is expected


def test_a_name_in_a_macros_body(tmp_path: Path) -> None:
    macro = '#define PLAIN buf[0]\n#define TEXT "x" SHOW(buf)\n#define SHOW(y) #y\n'
    text = f"{macro}int buf[4]; void f(void) {{ PLAIN = 1; }}\n"
    with macros_of(tmp_path, text) as (file, macros):
        at = text.index("PLAIN = 1")
        quoted = Quoted(macros)
        assert not quoted.at(file, at, at + 5, "buf", "PLAIN")
        assert quoted.at(file, at, at + 5, "buf", "TEXT")
        assert quoted.at(file, at, at + 5, "buf", "UNKNOWN")


# --- who decides ------------------------------------------------------------------------------------------------------


def decided(text: str, at: str = "#if") -> tuple[bool, bool]:
    """Whether the program alone decides about a directive's text, and whether OpenMP alone does."""
    data = text.encode()
    deciding = Deciding({"/a.c": data})
    return deciding.own(data, text.index(at)), deciding.by_flags(data, text.index(at))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#if DEBUG\n#endif\n", (True, False)),
        ("#ifdef MPICH_VERSION\n#endif\n", (False, False)),
        ("#ifdef MPI\n#endif\n", (True, False)),
        ("#ifdef __GNUC__\n#endif\n", (False, False)),
        ("#if defined(DEBUG) && defined(_WIN32)\n#endif\n", (False, False)),
        ("#define DEBUG __GNUC__\n#if DEBUG\n#endif\n", (False, False)),
        ("#define DEBUG LEVEL\n#if DEBUG\n#endif\n", (True, False)),
        ("#ifdef __x86_64__\n#define FAST 1\n#endif\n#if FAST\n#endif\n", (False, False)),
        ("#ifdef _OPENMP\n#endif\n", (False, True)),
        ("#if _OPENMP >= 201511\n#endif\n", (False, False)),  # its number counts
        ("#define _OPENMP 1\n#ifdef _OPENMP\n#endif\n", (False, False)),
    ],
)
def test_who_decides_which_text_is_compiled(text: str, expected: tuple[bool, bool]) -> None:
    at = "#if FAST" if "FAST\n#endif" in text else "#if"
    assert decided(text, at) == expected


def test_words_with_those_of_their_macros() -> None:
    deciding = Deciding({"/a.c": b"#define A B\n#define B (C + 1)\n#define D 3\n"})
    assert deciding.meant(["A"]) >= {"A", "B", "C"}
    assert "D" not in deciding.meant(["A"])
    assert deciding.is_foreign("MPI_VERSION")
    assert not deciding.is_foreign("A")


def test_what_decides_about_a_header_decides_about_its_macros() -> None:
    main = b'#ifdef __APPLE__\n#include "h.h"\n#endif\n#if FAST\n#endif\n'
    deciding = Deciding({"/p/a.c": main, "/p/h.h": b"#define FAST 1\n"})
    assert not deciding.own(main, main.index(b"#if FAST"))


@pytest.mark.parametrize(
    ("text", "single", "changing"),
    [
        ("#define A 1\n", {"A"}, set()),
        ("#define A 1\n#define A 1\n", set(), {"A"}),
        ("#define A 1\n#undef A\n", set(), {"A"}),
        ("#if X\n#define A 1\n#endif\n", set(), set()),
        ("#ifndef H\n#define H\n#define A 1\n#endif\n", {"A"}, set()),  # a header's guard; itself it is defined in it
        ('#pragma push_macro("A")\n#define A 1\n', set(), {"A"}),
    ],
)
def test_macros_with_one_meaning(text: str, single: set[str], changing: set[str]) -> None:
    found = steadiness({"/a.h": text.encode()})
    assert found.single - {"H"} == single
    assert {word for word in found.changing if word.isupper()} == changing


def test_what_is_included_under_a_condition_is_all_under_that() -> None:
    files = {
        "/a.c": b'#if X\n#include "h.h"\n#endif\n',
        "/h.h": b'#include "i.h"\n#define A 1\n',
        "/i.h": b"#define B 1\n",
    }
    assert steadiness(files).single == set()
    assert steadiness({**files, "/a.c": b'#include "h.h"\n'}).single == {"A", "B"}


# --- text that is left out: opi_xform.frontend.macros.skipped ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#if DEBUG\nint a;\n#endif\n", [("a", True, False)]),
        ("#ifdef __NEVER__\nint a;\n#endif\n", [("a", False, False)]),
        ("#if 0\nint a;\n#endif\n", []),
        ("#if 0\nint b;\n#else\nint c;\n#endif\n", [("b", True, False)]),
        ("#ifdef _OPENMP\nint a;\n#endif\n", [("a", False, True)]),
    ],
)
def test_text_under_a_false_condition(tmp_path: Path, text: str, expected: list[tuple[str, bool, bool]]) -> None:
    unit = parse(tmp_path, f"{text}int main(void) {{ return 0; }}\n")
    assert [(one.own, one.certain) for one in unit.skipped] == [(own, certain) for _, own, certain in expected]
    assert all(name in one.identifiers for one, (name, _, _) in zip(unit.skipped, expected, strict=True))


def test_names_in_bodies_of_macros_that_are_left_out(tmp_path: Path) -> None:
    (one,) = parse(
        tmp_path, "#if DEBUG\n#define LOG(x) show(x, buf)\nint a;\n#endif\nint main(void) { return 0; }\n"
    ).skipped
    assert {"show", "buf"} <= one.bodies
    assert "a" not in one.bodies
    assert "x" not in one.bodies, "a parameter"


def test_a_header_that_is_included_again_is_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From the second time on all of it is left out, from guard to guard."""
    (tmp_path / "h.h").write_text("extern int again;\n#ifndef H\n#define H\nint only_once;\n#endif\n")
    read: list[bytes] = []

    def noted(data: bytes, begin: int, end: int) -> list[tuple[int, int, str]]:
        read.append(data[begin:end])
        return tokens(data, begin, end)

    monkeypatch.setattr(skipped, "tokens", noted)
    (one,) = parse(tmp_path, '#include "h.h"\n' * 9 + "int main(void) { return 0; }\n").skipped
    assert "only_once" in one.identifiers
    assert sum(b"only_once" in text for text in read) == 1


# --- written out ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("macro", "call", "expected"),
    [
        ("M(x) g(x, 1)", "M(a)", "g(a, 1)"),
        ("M(x) g(x + x)", "M(a)", "g(a + a)"),
        ("M a", "M", "a"),
        ("M(x, y) y x", "M(a, -)", "- a"),
        ("M(x) #x", "M(a)", '"a"'),
        ("M(x) M", "M(a)", None),  # it leads to itself
        ("M(x) __LINE__ + x", "M(a)", "__LINE__ + a"),
        ("M(x) __COUNTER__", "M(a)", None),
    ],
)
def test_a_use_written_out(tmp_path: Path, macro: str, call: str, expected: str | None) -> None:
    text = f"#define {macro}\nint g(); int a;\nvoid f(void) {{ int v = {call}; }}\n"
    with macros_of(tmp_path, text) as (file, macros):
        found = written_out(file, use(macros, "M"), macros, Quoted(macros))
        if found is None or expected is None:
            assert found is expected
            return
        made = b"".join(p.text if p.begin < 0 else file.data[p.begin : p.end] for p in found)
        assert made.decode().split() == expected.split()


# --- what the text alone tells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define N 100\nint a[N];", False),
        ("#define PLACE extern\nPLACE int a;", False),
        ("#define SEND MPI_Send\nSEND(1);", True),
        ("#define PUT SEND\n#define SEND MPI_Send\nPUT(1);", True),
        ("#define SEND MPI_Send\n#ifdef SEND\n#endif\n#if defined(SEND)\n#endif\n#undef SEND\n", False),
        ("#define SAME(a) (a)\nint x = SAME(3);", True),
        ("#define SAME(a) (a)\nint same;", False),
        ("#  define\\\n SEND \\\n MPI_Send\nSEND(1);", True),
        ("#define/* why */SEND MPI_Send\nSEND(1);", True),
        ("#define SEND MPI_\\\nSend\nSEND(1);", True),
        ("#define buf 3\nint x = buf;", True),
        ("#define REAL double\nREAL x;", True),
        ("#define const\n#define PLACE const\nPLACE int a;", True),
        ("#define $SEND MPI_Send\n$SEND(1);", True),
    ],
)
def test_uses_that_the_text_tells_of(text: str, expected: bool) -> None:
    """The words of what is wanted are those of a call, of a buffer, and of a cast in its name."""
    assert WantedText({"a.c": text.encode()}, {"MPI_Send", "buf", "double"}).may_be_in(["a.c"]) == expected


def test_a_use_in_one_file_of_a_macro_of_another() -> None:
    files = {"h": b"#define SEND MPI_Send\n", "a.c": b"SEND(1);", "b.c": b"int SENDER;", "c.c": b"SEND(1);"}
    found = WantedText(files, {"MPI_Send"})
    assert found.may_be_in(["a.c", "h"])
    assert not found.may_be_in(["b.c", "h"])
    assert not found.may_be_in(["c.c"]), "a macro of nobody's there"
