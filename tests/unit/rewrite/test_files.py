"""From edits to files: headers, declarators, guards, text left out; what is written where, and what stays as it was."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from frontend_support import parse

from opi_xform.ir.span import Span
from opi_xform.ir.statics import Statics
from opi_xform.ownership.model.plan import Guard, LinkName, PointerDeclaration, StopOthers
from opi_xform.rewrite.declare import declaration_edits, guard_edits, link_edit
from opi_xform.rewrite.header import INSTEAD, OURS, header_edit, header_name, is_included, memory_edit, top
from opi_xform.rewrite.insert import Group, around, inside
from opi_xform.rewrite.left_out import LeftOut, stops
from opi_xform.rewrite.manifest import NAME, Program, digest_of, new_manifest, read_kept, refused, stale
from opi_xform.rewrite.mirror import lay_out, mirrored, mirrored_flags, original
from opi_xform.rewrite.other_headers import other_headers
from opi_xform.rewrite.write import OutputError, OutputFile, in_place, mirror, write_all, written_before
from opi_xform.text.edit import apply_edits
from opi_xform.text.errors import PlanError
from opi_xform.text.layout import layout_of
from opi_xform.text.lex import SourceText
from opi_xform.text.sources import Sources


def span(text: bytes, part: bytes, editable: bool = True) -> Span:
    begin = text.index(part)
    return Span("a.c", begin, begin + len(part), text.count(b"\n", 0, begin) + 1, 1, editable)


# --- the header -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#include <mpi.h>\nint a;\n", '#include <mpi.h>\n#include "opi.h"\nint a;\n'),
        ("#include <stdio.h>\nint a;\n", '#include <stdio.h>\n#include "opi.h"\nint a;\n'),
        ("// a\nint a;\n", '// a\n#include "opi.h"\nint a;\n'),
        ("#ifndef H\n#define H\nint a;\n#endif\n", '#ifndef H\n#define H\n#include "opi.h"\nint a;\n#endif\n'),
        ("#if X\n#include <mpi.h>\n#endif\nint a;\n", '#if X\n#include <mpi.h>\n#include "opi.h"\n#endif\nint a;\n'),
        (
            '#if X\n#include <mpi.h>\n#else\n#include "fake/mpi.h"\n#endif\nint a;\n',
            '#if X\n#include <mpi.h>\n#else\n#include "fake/mpi.h"\n#endif\n#include "opi.h"\nint a;\n',
        ),
        (
            "#ifndef H\n#define H\n#include <mpi.h>\n#include <a/mpi.h>\nint a;\n#endif\n",
            '#ifndef H\n#define H\n#include <mpi.h>\n#include <a/mpi.h>\n#include "opi.h"\nint a;\n#endif\n',
        ),
        ('#include "opi.h"\nint a;\n', '#include "opi.h"\nint a;\n'),
        ("#include <mpi.h>\r\nint a;\r\n", '#include <mpi.h>\r\n#include "opi.h"\r\nint a;\r\n'),
    ],
)
def test_where_the_header_goes(before: str, after: str) -> None:
    text = SourceText(before.encode())
    edit = header_edit(text)
    assert apply_edits(text.data, [] if edit is None else [edit]).decode() == after


@pytest.mark.parametrize(
    ("before", "names", "after"),
    [
        ("#include <mpi.h>\nint a;\n", ("free",), "#include <mpi.h>\nvoid free(void *);\nint a;\n"),
        (
            '#include "f2c.h"\n#include <stdlib.h>\nint a;\n',
            ("malloc", "free"),
            '#include "f2c.h"\n#include <stdlib.h>\nvoid *malloc(__SIZE_TYPE__); void free(void *);\nint a;\n',
        ),
        ("int a;\n", ("malloc",), "void *malloc(__SIZE_TYPE__);\nint a;\n"),
    ],
)
def test_where_malloc_and_free_are_declared(before: str, names: tuple[str, ...], after: str) -> None:
    """Where the header would go, and by themselves: no macro comes with them."""
    text = SourceText(before.encode())
    assert apply_edits(text.data, [memory_edit(text, names)]).decode() == after


def test_whether_a_header_is_there_in_each_configuration() -> None:
    text = SourceText(b"#include <string.h>\n#if X\n#include <stdlib.h>\n#endif\nint a;\n")
    assert is_included(text, "string.h", 60)
    assert not is_included(text, "stdlib.h", 60)
    assert not is_included(text, "string.h", 3), "it comes later"
    assert top(SourceText(b"/* a */ int b;\n")) == 0


def test_a_program_with_an_opi_h_of_its_own(tmp_path: Path) -> None:
    unit = parse(tmp_path, "int main(void) { return 0; }\n")
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    (runtime / OURS).write_text("")
    assert header_name([unit], [str(runtime)], runtime.resolve()) == OURS
    (tmp_path / OURS).write_text("")
    assert header_name([unit], [], runtime.resolve()) == INSTEAD


# --- declarators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "suffix", "init", "keep", "null", "after"),
    [
        ("static double b[N];", "[N]", None, 0, False, "static double *b;"),
        ("static double b[8][N];", "[8][N]", None, 0, False, "static double (*b)[N];"),
        ("static double b[8][N];", "[8][N]", None, 1, False, "static double *b[8];"),
        ("double b[N], c;", "[N]", None, 0, True, "double *b = NULL, c;"),
        ("double b[4] = { 1 }, c;", "[4]", "{ 1 }", 0, True, "double *b = NULL, c;"),
        ("register double b[4];", "[4]", None, 0, False, "double *b;"),
        ("double (b)[4];", "[4]", None, 0, False, "double (*b);"),
    ],
)
def test_an_array_becomes_a_pointer(
    text: str, suffix: str, init: str | None, keep: int, null: bool, after: str
) -> None:
    data = text.encode()
    at = re.search(rb"\bb\b", data).start()  # type: ignore[union-attr]
    name = Span("a.c", at, at + 1, 1, at + 1)
    edit = PointerDeclaration(
        name,
        span(data, suffix.encode()),
        None if init is None else span(data, init.encode()),
        span(data, data[at : data.index(suffix.encode()) + len(suffix)]),
        Span("a.c", 0, len(data), 1, 1),
        keep,
        null,
    )
    assert apply_edits(data, declaration_edits(SourceText(data), edit)).decode() == after


def test_declarations_that_cannot_be_edited() -> None:
    data = b"vector b; double c[4];"
    whole = Span("a.c", 0, len(data), 1, 1)
    without = PointerDeclaration(span(data, b"b"), None, None, whole, whole, 0, False)
    with pytest.raises(PlanError, match="no brackets of its own"):
        list(declaration_edits(SourceText(data), without))
    by_macro = PointerDeclaration(span(data, b"c", False), span(data, b"[4]"), None, whole, whole, 0, False)
    with pytest.raises(PlanError, match="written by a macro"):
        list(declaration_edits(SourceText(data), by_macro))


def test_another_name_for_the_linker_and_a_guard() -> None:
    data = b"double b[4]; // c\nint a;\n"
    edit = LinkName(span(data, b"b"), span(data, b"[4]"), "b_opi_12", Guard(Span("a.c", 0, 12, 1, 1), "b"))
    text = SourceText(data)
    after = apply_edits(data, [link_edit(text, edit), *guard_edits(text, edit)]).decode()
    first, second, *_ = after.split("\n")
    assert first == 'double b[4] __asm__("b_opi_12"); // c'
    assert second.startswith('__thread char b_opi_guard __asm__("b") = 0;')
    assert list(guard_edits(text, LinkName(span(data, b"b"), None, "x"))) == []


# --- statements -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "anchor", "wrap", "after"),
    [
        ("{\n    f();\n}\n", "f();", False, "{\n    before();\n    f();\n    after();\n}\n"),
        (
            "    if (a)\n        f();\n    g();\n",
            "f();",
            True,
            "    if (a) {\n        before();\n        f();\n        after();\n    }\n    g();\n",
        ),
        ("{\n    f(); // c\n}\n", "f();", False, "{\n    before();\n    f(); // c\n    after();\n}\n"),
    ],
)
def test_statements_around_a_statement(text: str, anchor: str, wrap: bool, after: str) -> None:
    source = SourceText(text.encode())
    group = Group(span(source.data, anchor.encode()), ("before();",), ("after();",), wrap)
    assert apply_edits(source.data, around(source, layout_of(source.data), group)).decode() == after


def test_statements_in_a_block() -> None:
    data = b"int f(void)\n{\n    g();\n}\n"
    source = SourceText(data)
    block = span(data, b"{\n    g();\n}")
    edits = inside(source, layout_of(data), block, ["first();"], ["last();"])
    assert apply_edits(data, edits).decode() == "int f(void)\n{\n    first();\n    g();\n    last();\n}\n"
    with pytest.raises(PlanError):
        list(inside(source, layout_of(data), span(data, b"g();"), ["first();"], []))


# --- text that is left out --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("#if X\nb = 1;\n#endif\n", 1),
        ("#if X\nb = 1;\n#elif Y\nb = 2;\n#else\nc = 1;\n#endif\n", 2),
        ("#if X\n/* b */\nUSE(c)\n#endif\n", 1),  # a macro may name it
    ],
)
def test_an_error_for_other_configurations(text: str, count: int) -> None:
    source = SourceText(text.encode())
    edit = StopOthers(Span("a.c", 0, len(text), 1, 1), "b")
    after = apply_edits(source.data, stops(source, edit)).decode()
    assert after.count("#error opi-xform did not see this text") == count
    assert after.split("\n")[1].startswith("#error")
    assert list(stops(SourceText(after.encode()), StopOthers(Span("a.c", 0, len(after), 1, 1), "b"))) == [], "once"


def test_text_that_names_a_variable_is_guarded(tmp_path: Path) -> None:
    text = "int b;\n#if OTHER\nvoid f(void) { b = 1; }\n#endif\nint main(void) { return b; }\n"
    unit = parse(tmp_path, text)
    statics = Statics(unit.path, {}, (), {}, (), {}, frozenset(), {}, unit.skipped, tuple(unit.files))
    left = LeftOut([statics], Sources())
    (piece,) = left.naming("b")
    assert left.naming("c") == ()
    assert left.guards("b", piece, ()) == (text.index("#if OTHER") + len("#if OTHER"),)
    assert left.guards("b", piece, {(piece.file, text.index("b = 1"))}) == (), "it is compiled elsewhere"


# --- a copy beside the program ----------------------------------------------------------------------------------------


def test_a_copy_of_a_program_with_other_contents(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "h.h").write_text("int a;\n")
    unit = parse(tmp_path, '#include "h.h"\nint main(void) { return a; }\n', [f"-I{tmp_path}/include"])
    there = str(tmp_path / "copy")
    header = str((tmp_path / "include" / "h.h").resolve())
    lay_out(there, [unit], {header: b"int b;\n"}, Sources())
    assert Path(mirrored(there, header)).read_text() == "int b;\n"
    assert Path(mirrored(there, unit.path)).read_text() == Path(unit.path).read_text()
    assert original(there, mirrored(there, header)) == header
    assert original(there, "/elsewhere/a.c") == "/elsewhere/a.c"
    flags = mirrored_flags(there, ["-O2", "-Iinc", "-isystem", "sys", "-include", header])
    assert flags[0] == "-O2"
    assert flags[1:5] == ("-I", mirrored(there, "inc"), "-I", "inc")
    assert flags[-2:] == ("-include", mirrored(there, header))


def test_headers_that_only_other_compilers_read(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#if OTHER\n#include "one.h"\n#endif\n#include <two.h>\n#include "../far.h"\n')
    (tmp_path / "one.h").write_text('#include "three.h"\n')
    (tmp_path / "three.h").write_text("")
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "two.h").write_text("")
    found = other_headers(
        [str(tmp_path / "a.c")], [str(tmp_path / "inc")], str(tmp_path), lambda name: Path(name).read_bytes()
    )
    assert [os.path.basename(path) for path in found] == ["two.h", "one.h", "three.h"]


# --- writing ----------------------------------------------------------------------------------------------------------


def test_all_files_are_written_or_none(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("old")
    files = [OutputFile(str(tmp_path / "a.c"), "", b"new"), OutputFile(str(tmp_path / "d" / "b.c"), "", b"b")]
    assert write_all(files) == (files[0].target, files[1].target)
    assert (tmp_path / "a.c").read_text() == "new"
    assert write_all(files) == (), "nothing differs"
    (tmp_path / "a.c").write_text("mine")
    blocked = [OutputFile(str(tmp_path / "a.c"), "", b"again"), OutputFile(str(tmp_path / "a.c" / "x.c"), "", b"")]
    with pytest.raises(OutputError):
        write_all(blocked)
    assert (tmp_path / "a.c").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.c", "d"], "nothing is left beside them"
    write_all([], [files[1].target])
    assert not (tmp_path / "d").exists(), "the empty folder goes, too"
    assert written_before(1) == "1 file was written before"
    assert written_before(2) == "2 files were written before"


def test_the_files_of_an_output_directory(tmp_path: Path) -> None:
    source = tmp_path / "src" / "a.c"
    source.parent.mkdir()
    source.write_text("int a;\n")
    (tmp_path / "far.h").write_text("")
    sources = Sources()
    root, name, far = str(source.parent), str(source), str(tmp_path / "far.h")
    (out,) = mirror(str(tmp_path / "out"), root, [name, far], {name: b"int b;\n"}, sources)
    assert out == OutputFile(str(tmp_path / "out" / "a.c"), name, b"int b;\n")
    with pytest.raises(OutputError, match="where the sources are"):
        mirror(root, root, [name], {}, sources)
    with pytest.raises(OutputError, match="lies outside"):
        mirror(str(tmp_path / "out"), root, [far], {far: b"x"}, sources)


def test_files_in_place(tmp_path: Path) -> None:
    file, link = tmp_path / "a.c", tmp_path / "link.c"
    file.write_text("int a;\n")
    link.symlink_to(file)
    sources = Sources()
    sources.data(str(file))
    sources.data(str(link))
    (one,) = in_place({str(link): b"int b;\n"}, sources)
    assert one.target == str(file)
    with pytest.raises(OutputError, match="same file"):
        in_place({str(link): b"int b;\n", str(file): b"int c;\n"}, sources)
    file.write_text("int z;\n")
    with pytest.raises(OutputError, match="changed while"):
        in_place({str(file): b"int b;\n"}, sources)


# --- what an earlier run wrote ----------------------------------------------------------------------------------------


def test_a_manifest_tells_what_may_be_overwritten_and_removed(tmp_path: Path) -> None:
    out, source = tmp_path / "out", tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    now = Program(frozenset({str(source)}), str(source))
    first = [OutputFile(str(out / name), "", b"1") for name in ("a.c", "old.c")]
    empty = read_kept(str(out))
    assert empty.files == {}
    write_all([*first, new_manifest(empty, first, (), now, "opi-xform")])
    kept = read_kept(str(out))
    assert set(kept.files) == {"a.c", "old.c"}
    assert kept.wrote(str(out / "a.c"))
    again = [OutputFile(str(out / "a.c"), "", b"2")]
    assert refused(kept, again, [str(source)], now, False) == []
    (gone,) = stale(kept, again, [str(source)], now)
    assert (gone.path, gone.edited) == (str(out / "old.c"), False)
    (out / "a.c").write_text("by hand")
    assert not kept.wrote(str(out / "a.c"))
    assert len(refused(kept, again, [str(source)], now, False)) == 1
    assert refused(kept, again, [str(source)], now, True) == [], "with leave"
    other = Program(frozenset({str(tmp_path / "b.c")}), str(tmp_path / "b.c"))
    assert kept.others(other) == list(kept.programs), "another program's"
    assert kept.others(now) == []
    assert digest_of(str(out / "a.c")) != digest_of(str(out / "old.c"))
    assert digest_of(str(out / "none")) is None
    (out / NAME).write_text("{}")
    with pytest.raises(OutputError, match="not what opi-xform wrote"):
        read_kept(str(out))
