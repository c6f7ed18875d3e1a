"""Compile flags, header search, the cache, several files at once."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_tools import run_tool
from frontend_support import calls, parse

from opi_xform.frontend import FrontendError, flags, parse_unit, pickling
from opi_xform.frontend.cache import Entry
from opi_xform.frontend.flags import CompilationDatabase, clean, links_otherwise


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("OPI_CACHE", str(folder))
    return folder


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-O2", "-c", "t.c", "-o", "t.o"], ["-O2"]),
        (["-ot.o", "-MD", "-MF", "x.d", "-MT", "y", "-MMD", "-MP", "-DA=1", "-D", "B"], ["-DA=1", "-D", "B"]),
        (["-Iinc", "-I", "inc2", "-isystem", "sys"], ["-I/b/inc", "-I", "/b/inc2", "-isystem", "/b/sys"]),
        (["-I/abs", "-L/lib", "-lm", "-Wl,-rpath,/x", "-shared", "foo.o", "libx.a"], ["-I/abs"]),
        (["-std=c99", "-fopenmp", "-Wall", "-Werror", "-pthread"], ["-std=c99", "-fopenmp", "-Wall", "-pthread"]),
        (["-include", "config.h", "-UX"], ["-include", "config.h", "-UX"]),
        (["../b/t.c"], []),
    ],
)
def test_clean(arguments: list[str], expected: list[str]) -> None:
    assert clean(arguments, "/b/t.c", "/b") == expected


class TestDatabase:
    def write(self, tmp_path: Path, entries: object) -> CompilationDatabase:
        (tmp_path / "build").mkdir(exist_ok=True)
        (tmp_path / "build" / "compile_commands.json").write_text(json.dumps(entries))
        return CompilationDatabase(str(tmp_path / "build"))

    def test_arguments_and_command(self, tmp_path: Path) -> None:
        (tmp_path / "a.c").touch()
        found = self.write(
            tmp_path,
            [
                {
                    "directory": str(tmp_path),
                    "file": "a.c",
                    "arguments": ["mpicc", "-DA", "-Iinc", "-c", "a.c", "-o", "a.o"],
                },
                {"directory": str(tmp_path), "file": str(tmp_path / "b.c"), "command": "cc -D'S=\"x y\"' -c b.c"},
            ],
        )
        assert found.flags(str(tmp_path / "a.c")) == ["-DA", f"-I{tmp_path}/inc"]
        assert found.flags(str(tmp_path / "b.c")) == ['-DS="x y"']
        assert found.files == [str(tmp_path / "a.c"), str(tmp_path / "b.c")]

    def test_a_file_that_is_not_listed_is_an_error(self, tmp_path: Path) -> None:
        found = self.write(tmp_path, [{"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", "a.c"]}])
        with pytest.raises(FrontendError, match=r"a2\.c: is not listed"):
            found.flags(str(tmp_path / "a2.c"))

    def test_relative_directory_and_links(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / "a.c").touch()
        (tmp_path / "s").symlink_to("src")
        found = self.write(tmp_path, [{"directory": "..", "file": "s/a.c", "arguments": ["cc", "-DX", "s/a.c"]}])
        monkeypatch.chdir(tmp_path)
        assert found.flags("src/a.c") == ["-DX"]

    @pytest.mark.parametrize(
        ("first", "second", "told"),
        [
            (["-DFN=run2", "-DSTEP=1"], ["-DFN=run3", "-DSTEP=2"], ("-DFN=run2 -DSTEP=1", "-DFN=run3 -DSTEP=2")),
            ([], ["-DFAST"], ("without these", "-DFAST")),
            (["-Ia", "-Ib"], ["-Ib", "-Ia"], ("/a -I", "/b -I")),
            (["-DA", "-UA"], ["-UA", "-DA"], ("-DA -UA", "-UA -DA")),
            (["-fopenmp"], [], ("-fopenmp", "without these")),
            (["-D", "A=1"], ["-D", "A=2"], ("A=1", "A=2")),
            (["-include", "a.h"], ["-include", "b.h"], ("a.h", "b.h")),
            (["-std=c99"], ["-std=gnu11"], ("-std=c99", "-std=gnu11")),
            (["-Wp,-DA"], ["-Wp,-DB"], ("-Wp,-DA", "-Wp,-DB")),
        ],
    )
    def test_one_file_with_other_flags(
        self, tmp_path: Path, first: list[str], second: list[str], told: tuple[str, str]
    ) -> None:
        (tmp_path / "build").mkdir()
        path = tmp_path / "build" / "compile_commands.json"
        entries = [
            {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", *flags, "-c", "a.c", "-o", f"{i}.o"]}
            for i, flags in enumerate(([], first, second))
        ]
        entries[0]["file"] = "b.c"
        path.write_text(json.dumps(entries, indent=1))
        found = CompilationDatabase(str(path))
        assert found.flags(str(tmp_path / "b.c")) == []
        with pytest.raises(FrontendError) as raised:
            found.flags(str(tmp_path / "a.c"))
        message = str(raised.value)
        text = path.read_text().split("\n")
        lines = [i + 1 for i, line in enumerate(text) if line == " {"]
        assert f"compile_commands.json:{lines[1]}: `" in message
        assert f"compile_commands.json:{lines[2]}: `" in message
        assert all(flags in message for flags in told)

    def test_one_file_twice_with_the_same_flags(self, tmp_path: Path) -> None:
        entries = [
            {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", *flags, "-c", "a.c", "-o", f"{i}.o"]}
            for i, flags in enumerate((["-g", "-DA", "-O2", "-Wall"], ["-O2", "-DA", "-MD", "-MF", "x.d", "-w"]))
        ]
        assert "-DA" in self.write(tmp_path, entries).flags(str(tmp_path / "a.c"))

    @pytest.mark.parametrize("text", ["", "{}", "[{}]", "[1]"])
    def test_malformed(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "compile_commands.json").write_text(text)
        with pytest.raises(FrontendError):
            CompilationDatabase(str(tmp_path))

    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(FrontendError, match="cannot be read"):
            CompilationDatabase(str(tmp_path))


class TestHeaders:
    def test_mpi_and_opi_headers_are_found(self, tmp_path: Path) -> None:
        header = Path(__file__).parents[3] / "runtime" / "include" / "opi.h"
        if not header.exists():
            pytest.skip("opi.h is not written yet")
        unit = parse(
            tmp_path, "#include <mpi.h>\n#include <opi.h>\nvoid f(double *b) { OPI_Alloc(&b, 8); OPI_Free(&b); }\n"
        )
        assert len(calls(unit, "OPI_Alloc")) == 1
        assert unit.declared["OPI_Alloc"].params is not None

    def test_standard_headers(self, tmp_path: Path) -> None:
        names = [
            "stddef",
            "stdarg",
            "stdint",
            "limits",
            "float",
            "stdbool",
            "stdlib",
            "string",
            "math",
            "stdio",
            "errno",
            "time",
        ]
        parse(tmp_path, "".join(f"#include <{n}.h>\n" for n in names))

    def test_a_projects_own_mpi_h_wins(self, tmp_path: Path) -> None:
        (tmp_path / "mpi.h").write_text('#define MPI_OWN 42\n#define MPI_NAME "x"\n#define MPI_CALC (MPI_OWN * 2)\n')
        unit = parse(tmp_path, "#include <mpi.h>\nint x = MPI_OWN;\n", [f"-I{tmp_path}"])
        assert unit.int_macros == {"MPI_OWN": 42, "MPI_CALC": 84}

    def test_flags_that_clang_does_not_know_are_left_out_and_told(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "int a[N];\n", ["-fno-such-flag-here", "-DN=3", "-mno-such"])
        assert unit.globals["a"].type.size == 12
        assert [(d.severity, d.message.split(";")[0]) for d in unit.diagnostics] == [
            ("warning", "clang does not know the flag -fno-such-flag-here"),
            ("warning", "clang does not know the flag -mno-such"),
        ]

    def test_flags_that_make_no_sense(self, tmp_path: Path) -> None:
        with pytest.raises(FrontendError, match="flags"):
            parse(tmp_path, "int a;\n", ["-std=gnu3"])

    def test_flags_of_the_mpicc_named_in_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        mpicc = tmp_path / "mpicc"
        mpicc.write_text("#!/bin/sh\necho cc -I/some/where -DFROM_MPI -L/lib -lmpi\n")
        mpicc.chmod(0o755)
        monkeypatch.setenv("OPI_MPICC", str(mpicc))
        found = flags.headers()
        assert "/some/where" in found.system
        assert "-DFROM_MPI" in found.flags
        assert not any(f.startswith("-l") for f in found.flags)


class TestCache:
    def test_read_again_unless_something_changed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
    ) -> None:
        (tmp_path / "h.h").write_text("#define N 4\n")
        unit = parse(tmp_path, '#include "h.h"\nint a[N];\n')
        assert any(p.is_file() for p in cache.rglob("*"))

        def never(*_: object) -> None:
            raise AssertionError("parsed again")

        with monkeypatch.context() as patch:
            patch.setattr("opi_xform.frontend.parse._parse_unit", never)
            assert parse_unit(str(tmp_path / "t.c"), []) == unit
            with pytest.raises(AssertionError, match="parsed again"):
                parse_unit(str(tmp_path / "t.c"), ["-DX"])
        (tmp_path / "h.h").write_text("#define N 400\n")
        assert parse_unit(str(tmp_path / "t.c"), []).globals["a"].type.size == 1600
        (tmp_path / "h.h").unlink()
        with pytest.raises(FrontendError, match="not found"):
            parse_unit(str(tmp_path / "t.c"), [])

    @pytest.mark.parametrize(
        "junk", [b"", b"{", b"[]\n", b"{}\n", b"{}\nnot a pickle", b"{}\n" + pickle.dumps(3), b"\xff\xfe\n"]
    )
    def test_corrupt_entries_are_as_good_as_none(self, tmp_path: Path, cache: Path, junk: bytes) -> None:
        unit = parse(tmp_path, "int a;\n")
        (entry,) = [p for p in cache.rglob("*") if p.is_file()]
        entry.write_bytes(junk)
        assert parse_unit(str(tmp_path / "t.c"), []) == unit
        assert entry.read_bytes() != junk

    def test_a_cache_that_cannot_be_written_is_no_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        parse(tmp_path, "int a;\n")
        monkeypatch.setenv("OPI_CACHE", str(tmp_path / "t.c"))
        parse(tmp_path, "int b;\n")

    def test_old_entries_are_thrown_away(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
        unit = parse(tmp_path, "int a;\n")
        monkeypatch.setattr("opi_xform.kept._PER_FOLDER", 1)
        for i in range(600):
            Entry(str(tmp_path / f"{i}.c"), []).write(unit, unit.files)
        entries = [p for p in cache.rglob("*") if p.is_file()]
        assert len(entries) <= 256
        assert Entry(str(tmp_path / "599.c"), []).read() == unit

    def test_entry_of_another_file_is_not_taken(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "int a;\n")
        other = Entry(str(tmp_path / "other.c"), [])
        assert other.read() is None
        other.write(unit, unit.files)
        assert other.read() == unit


class TestUnits:
    def test_units_survive_pickling(self, tmp_path: Path) -> None:
        unit = parse(tmp_path, "struct s { int a; } s = {1};\nint f(int n) { return n ? s.a : sizeof(struct s); }\n")
        assert pickling.loads(pickling.dumps(unit)) == unit
        assert pickle.loads(pickle.dumps(unit)) == unit
        with pytest.raises(ValueError, match="not a pickled unit"):
            pickling.loads(b"junk")

    def test_a_unit_under_other_names_is_that_of_a_copy(self, tmp_path: Path) -> None:
        text = (
            '#include "h.h"\n'
            "static int n;\n"
            "static int twice(struct s *p) { static int k; return k++ + p->a + own(n); }\n"
            "int f(int (*g)(struct s *)) {\n"
            "  struct s local = {1}; g = twice; { int n = 2; local.a = n; } return g(&local);\n}\n"
            "#if 0\nint never;\n#endif\n"
        )
        header = (
            "struct s { int a; union { int x; float y; } u; };\n"
            "extern struct s s;\nstatic inline int own(int i) { return i; }\n"
        )
        units = []
        for name in ("one", "another"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "h.h").write_text(header)
            units.append(parse(folder, text))
        one, another = units
        names = dict(zip(sorted(one.files), sorted(another.files), strict=True))
        assert one != another
        assert pickling.renamed(one, names) == another


class TestBuiltinHeaders:
    """stddef.h and kin: clang's own where a clang-tidy package brings them, with GCC's behind; else GCC's alone."""

    @pytest.fixture
    def package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        """A clang_tidy package that can be imported, with a header of its own."""
        include = tmp_path / "clang_tidy" / "data" / "lib" / "clang" / "18" / "include"
        include.mkdir(parents=True)
        (include / "stddef.h").write_text("typedef __SIZE_TYPE__ size_t;\n#define CLANGS_OWN 1\n")
        (tmp_path / "clang_tidy" / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
        flags.builtin_headers.cache_clear()
        yield include
        flags.builtin_headers.cache_clear()

    def test_a_package_brings_clangs(self, package: Path, tmp_path: Path) -> None:
        if shutil.which("clang") or shutil.which("clang-18"):
            pytest.skip("clang's own come first here")
        found = flags.builtin_headers()
        assert found[:2] == ("-resource-dir", str(package.parent))
        assert str(package) in flags.headers().system
        unit = parse(tmp_path, "#include <stddef.h>\nint f(void) { return CLANGS_OWN; }\n")
        assert "f" in unit.functions

    def test_those_of_gcc_stand_behind(self, package: Path, tmp_path: Path) -> None:
        unit = parse(tmp_path, "#include <omp.h>\nint f(void) { return omp_get_num_threads(); }\n")
        assert len(calls(unit, "omp_get_num_threads")) == 1

    @pytest.fixture
    def no_package(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """As if GCC's headers were the only ones."""
        if shutil.which("clang") or shutil.which("clang-18"):
            pytest.skip("clang's own are here")
        monkeypatch.setattr(flags, "find_spec", lambda name: None)
        flags.builtin_headers.cache_clear()
        yield
        flags.builtin_headers.cache_clear()

    @pytest.mark.usefixtures("no_package")
    def test_intrinsics_without_them_are_told(self, tmp_path: Path) -> None:
        (tmp_path / "t.c").write_text("#include <tgmath.h>\nint main(void) { return 0; }\n")
        code, _, said = run_tool([str(tmp_path / "t.c"), "-j", "1"])
        assert code == 2
        assert "pip install 'opi_xform[headers]'" in said


def test_macros_of_flags() -> None:
    given = ["-O2", "-DN", "-D", "M=3", "-DATTR(x)=__attribute__((x))", "-DNONE="]
    assert flags.definitions(given) == [("N", "1"), ("M", "3"), ("ATTR", "__attribute__((x))"), ("NONE", "")]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (["-Wl,-fini=f", "-Wl,-rpath,/lib", "-Wl,--as-needed"], ["-Wl,-fini=f"]),
        (["-Xlinker", "--wrap=f", "-Xlinker", "--gc-sections"], ["-Wl,--wrap=f"]),
        (["-e", "start", "-T", "all.ld"], ["-estart", "-Tall.ld"]),
        (["-T", "text.ld", "-Wl,-Tdata.ld"], ["-Ttext.ld", "-Wl,-Tdata.ld"]),
        (["-Wl,-Ttext=0x400000", "-Wl,-export-dynamic", "-Wl,-rpath,@loader_path"], []),
        (["-Wl,-z,muldefs", "-Wl,-T,all.ld", "-Wl,@more"], ["-Wl,-z,muldefs", "-Wl,-T,all.ld", "-Wl,@more"]),
    ],
)
def test_what_has_the_linker_make_another_program_is_kept(given: list[str], left: list[str]) -> None:
    assert clean(given) == left
    assert links_otherwise(left) == left
