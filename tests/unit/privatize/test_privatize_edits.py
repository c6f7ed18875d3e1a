"""Private variables as text: declarations, initialisers and uses, and the result read once more."""

from __future__ import annotations

from pathlib import Path

import pytest
from private_programs import Private

from opi_xform.privatize.edits.identifiers import words_of
from opi_xform.privatize.edits.prologue import form_of, prologue
from opi_xform.text.edit import apply_edits
from opi_xform.text.lex import SourceText

MAIN = "int main(void) { return 0; }\n"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("static int a = 3;\nvoid f(void) { a++; }", "static _Thread_local int a = 3;\nvoid f(void) { a++; }"),
        ("int a;\nvoid f(void) { a++; }", "_Thread_local int a;\nvoid f(void) { a++; }"),
        (
            "void f(void) { static int a; a++; }",
            "void f(void) { static _Thread_local int a; a++; }",
        ),
        (
            "static int a;\nstatic int *p = &a;\nvoid f(void) { (*p)++; }",
            "static _Thread_local int a;\nstatic _Thread_local int *p;\nOPI_RANK_INIT(p)\n{\n    p = &a;\n}\n"
            "void f(void) { (*p)++; }",
        ),
        (  # the array keeps the bound that its initialiser gave it
            "static int a;\nstatic int *p[] = {&a, 0};\nvoid f(void) { p[1] = p[0]; }",
            "static _Thread_local int a;\nstatic _Thread_local int *p[2];\nOPI_RANK_INIT(p)\n{\n"
            "    __builtin_memcpy(&p, &(__typeof__(p)){&a, 0}, sizeof p);\n}\nvoid f(void) { p[1] = p[0]; }",
        ),
        (  # it is written once, and by the program then
            "static int a;\nstatic int *const p = &a;\nvoid f(void) { *p = 1; }",
            "static _Thread_local int a;\nstatic _Thread_local int *p;\nOPI_RANK_INIT(p)\n{\n    p = &a;\n}\n"
            "void f(void) { *p = 1; }",
        ),
    ],
)
def test_thread_local_text(text: str, after: str, tmp_path: Path) -> None:
    made = Private(tmp_path, (f"{text}\n{MAIN}",), "tls")
    assert after in made.text_after()
    assert made.rewritten() == []


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "static int a = 3;\nvoid f(void) { a++; }",
            "static int a = 3;\nstatic OPI_RANK_VAR(a, 0);\nvoid f(void) { OPI_MINE(a)++; }",
        ),
        (  # without an initialiser it is zero
            "static int a;\nvoid f(int b) { a = sizeof a + b; }",
            "static int a;\nstatic OPI_RANK_VAR(a, 1);\nvoid f(int b) { OPI_MINE(a) = sizeof a + b; }",
        ),
        (  # the name in a macro's body
            "static int a;\n#define NEXT (a + 1)\nvoid f(void) { a = NEXT; }",
            "#define NEXT (OPI_MINE(a) + 1)\nvoid f(void) { OPI_MINE(a) = NEXT; }",
        ),
        (  # where its bytes hold the address of what is private
            "static int a;\nstatic int *p[2] = {0, &a};\nvoid f(void) { (*p[1])++; }",
            "static const struct opi_rank_ref opi_mine_refs_p[] = {\n    {8, &opi_mine_of_a}};\n"
            "static OPI_RANK_REFS(p);\nvoid f(void) { (*OPI_MINE(p)[1])++; }",
        ),
        (  # no linker finds it by its old name
            "int a;\nvoid f(void) { a++; }",
            'int a __asm__("opi_mine_at_a");\nOPI_RANK_VAR(a, 1);\nvoid f(void) { OPI_MINE(a)++; }',
        ),
        (
            "static int a;\nvoid f(void) { a++; }\n#ifdef OTHER\nvoid g(void) { a--; }\n#endif",
            "#ifdef OTHER\n#error a: private for each rank in another configuration only; "
            "opi-xform --privatize has to see the flags of this one\n",
        ),
    ],
)
def test_text_with_descriptors(text: str, after: str, tmp_path: Path) -> None:
    made = Private(tmp_path, (f"{text}\n{MAIN}",), "struct")
    assert after in made.text_after()
    assert made.rewritten() == []


@pytest.mark.parametrize(
    ("text", "form", "why"),
    [
        (
            "#define SHOW(x) show(#x, x)\nvoid show(const char *, int);\nstatic int a;\nvoid f(void) { a++; SHOW(a); }",
            "struct",
            "a macro turns its name into text, or pastes it (line 4)",
        ),
        (
            "static int a;\n#define NEXT (a + 1)\nint g(int a) { return a; }\nvoid f(void) { a = NEXT; }",
            "struct",
            "a macro's body names it, and the same name stands for something else elsewhere",
        ),
        (
            "static int a;\n#define NEXT (a + 1)\n#define OF(a) (a)\nvoid f(void) { a = NEXT; }",
            "struct",
            "a macro's body names it, and another macro has a parameter of that name",
        ),
        (
            "static int a;\nstatic int *p[] = {[0 ... 2] = &a};\nvoid f(void) { p[0] = 0; a++; }",
            "struct",
            "its initialiser has a range of elements, or a macro writes it",
        ),
        (
            "static int b;\ntypedef int *const fixed;\nstatic fixed a = &b;\nvoid f(void) { *a = 1; }",
            "tls",
            "it is const through a typedef, a macro or together with others, and each rank must write it once",
        ),
        (
            "typedef int *row[2];\nstatic int b;\nstatic row a = {&b};\nvoid f(void) { *a[0] = 1; a[1] = 0; }",
            "tls",
            "its size is hidden in a typedef, and its initialiser takes addresses",
        ),
        (
            "static int b;\nvoid f(int n) { if (n) goto out; static int *a = &b; out: a = 0; b++; }",
            "tls",
            "its function has labels: a jump could pass its initialisation",
        ),
    ],
)
def test_text_that_cannot_be_edited(text: str, form: str, why: str, tmp_path: Path) -> None:
    made = Private(tmp_path, (f"{text}\n{MAIN}",), form)
    name = "p" if "[0 ... 2]" in text else "a"
    assert made.verdicts()[name].startswith("refused")
    assert made.message(name) == why


def test_what_was_left_as_it_was_is_found(tmp_path: Path) -> None:
    """The result is read once more: here somebody puts the old text back."""
    for form in ("tls", "struct"):
        folder = tmp_path / form
        folder.mkdir()
        made = Private(folder, (f"static int a;\nvoid f(void) {{ a++; }}\n{MAIN}",), form)
        assert made.rewritten() == []
        path = folder / "f0.c"
        good = path.read_text()
        path.write_text(good.replace("_Thread_local int a", "int a").replace("{ OPI_MINE(a)++; }", "{ a++; }"))
        (rejected,) = made.again()
        wanted = "`a` did not become private everywhere" if form == "tls" else "a use of `a` was left as it was"
        assert rejected.message == wanted
        path.write_text(good.replace("int a;", "int b;").replace("(a", "(b").replace("a++", "b++"))
        assert [r.message for r in made.again()] == ["`a` is gone"]


def test_where_a_word_stands_in_code_and_in_macros() -> None:
    text = b'int a; /* a */ char *s = "a";\n#define F(x, a) ((x) + a + b) // a\n#define G "a" a\n'
    text += b"#if a\n#endif\nint b = a;\n"
    words = words_of(SourceText(text))
    assert [text[at : at + 1] for at in words.code["a"]] == [b"a", b"a"]
    assert [text.count(b"\n", 0, at) for at in words.code["a"]] == [0, 5]  # no comment, no string, no directive
    assert [(text.count(b"\n", 0, at), parameter) for at, parameter in words.defined["a"]] == [(1, True), (2, False)]
    assert [parameter for _, parameter in words.defined["b"]] == [False]


@pytest.mark.parametrize("form", ["tls", "struct"])
@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_the_text_at_the_top_of_a_file_is_there_once(form: str, eol: bytes) -> None:
    data = eol.join([b"/* mine */", b"#include <stdio.h>", b"int a;", b""])
    head = prologue(SourceText(data), form)
    assert head is not None
    after = apply_edits(data, [head])
    assert form_of(after) == form
    assert form_of(data) == ""
    assert after.count(b"\n") == after.count(eol)
    assert prologue(SourceText(after), form) is None
    assert prologue(SourceText(after), "struct" if form == "tls" else "tls") is not None
