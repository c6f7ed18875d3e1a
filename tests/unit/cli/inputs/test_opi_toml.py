"""opi.toml: options, the usual run, and what people say of a program where no comment can stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.cli.config import NO_EFFECT, Configuration, load_configuration
from opi_xform.cli.inputs.usual import with_configuration, within
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Failure
from opi_xform.frontend import parse_unit
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.rewrite.manifest import NAME as MANIFEST


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded(text: str, name: str = "opi.toml") -> Configuration:
    Path(name).write_text(text)
    return load_configuration()


def test_without_a_file_nothing_is_said() -> None:
    assert load_configuration() == Configuration()
    assert loaded("[tool.other]\na = 1\n", "pyproject.toml") == Configuration()


@pytest.mark.parametrize(("name", "before"), [("opi.toml", ""), ("pyproject.toml", "[tool.opi-xform]\n")])
def test_the_nearest_file_at_or_above(name: str, before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(name).write_text(f'{before}strict = true\nmin-bytes = "4K"\nselect = ["OPI1"]\nbaseline = "known.json"\n')
    Path("src/deep").mkdir(parents=True)
    monkeypatch.chdir("src/deep")
    found = load_configuration()
    assert (found.strict, found.min_bytes, found.select) == (True, 4096, ("OPI1",))
    assert found.baseline == "../../known.json"  # relative to the file
    assert found.folder == "../.."


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("strickt = true", 1, "strict"),
        ("\nstrict = 1", 2, "`strict` has to be true or false"),
        ('privatize = "all"', 1, '`privatize` has to be "tls" or "struct"'),
        ('select = ["OPI999"]', 1, "OPI999"),
        ('min-bytes = "much"', 1, "`min-bytes` has to be a number of bytes"),
        ('[[keep]]\nfile = "a.c"\n[[keep]]\nwhere = "b.c"', 3, "unknown key `where` in [[keep]]"),
        ("[[keep]]", 1, "[[keep]] needs `file` or `function`"),
        ('[[allow]]\nfile = "a.c"', 1, "[[allow]] needs `code`"),
        ('[[assume]]\nfile = "a.c"', 1, "[[assume]] needs `packed` or `disjoint`"),
        ('[[assume]]\nfile = "a.c"\ndisjoint = "a"', 1, "`a` is not two names"),
        ('sources = "src"', 1, "`sources` has to be a list"),
        ('flags = "-D \'"', 1, "`flags` has to be a list of compiler flags"),
        ("output = 3", 1, "`output` has to be the name of a directory"),
        ("strict = ", 0, "it has to be TOML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(Failure) as failure:
        loaded(text + "\n")
    (problem,) = failure.value.problems
    assert why in problem.message
    assert (problem.file, problem.line) == ("opi.toml", line)


def test_two_files_in_one_place() -> None:
    Path("pyproject.toml").write_text("[tool.opi-xform]\nstrict = true\n")
    with pytest.raises(Failure, match="keep one of them"):
        loaded("strict = true\n")


# --- entries ----------------------------------------------------------------------------------------------------------

ENTRIES = """[[keep]]
function = "send_*"
[[assume]]
file = "a.c"
packed = "buf"
[[allow]]
code = "OPI101"
function = "main"
buffer = "b"
"""


def test_entries_are_about_the_functions_that_they_cover() -> None:
    Path("a.c").write_text("void send_it(void) {}\nvoid other(void) {}\n")
    known = loaded(ENTRIES)
    said = known.told([parse_unit(str(Path("a.c").resolve()))])
    assert [(entry.kind, told.what, told.name, told.end > 1 << 60) for entry, told in said] == [
        ("keep", "keep", "", False),  # one function
        ("assume", "packed", "buf", True),  # the whole file
    ]
    assert [told.span.line for _, told in said] == [1, 3]


def kept(code: str = "OPI101", function: str = "main", buffer: str = "b") -> Decision:
    return Decision(Span("a.c", 5, 9, 7, 1), function, "MPI_Send", "send", buffer, buffer, "keep", code, "why")


@pytest.mark.parametrize(
    ("decision", "allowed"),
    [(kept(), True), (kept("OPI103"), False), (kept(function="f"), False), (kept(buffer="c"), False)],
)
def test_a_site_that_may_stay(decision: Decision, allowed: bool) -> None:
    assert [entry.line for entry in loaded(ENTRIES).allows(decision)] == ([6] if allowed else [])


def test_entries_without_effect_are_told() -> None:
    Path("a.c").write_text("void send_it(void) {}\n")
    known = loaded(ENTRIES)
    told = known.told([parse_unit(str(Path("a.c").resolve()))])
    plan = known.judged(Plan((kept("OPI103"),)), told)
    (remark,) = plan.diagnostics
    assert (remark.code, remark.span.line) == (NO_EFFECT, 6)
    assert remark.message.endswith("no site there stays for that reason; remove the entry")
    nobody = known.judged(Plan((kept(),)), [])
    assert [(d.span.line, d.message.rpartition(": ")[2]) for d in nobody.diagnostics] == [
        (1, "no function of the program is meant"),
        (3, "no function of the program is meant"),
    ]


# --- the usual run ----------------------------------------------------------------------------------------------------

USUAL = 'sources = ["src/*.c", "main.c"]\nflags = ["-Iinclude"]\noutput = "out"\nbuild-dir = "build"\n'


def test_the_usual_run() -> None:
    for name in ("src/b.c", "src/a.c", "src/h.h"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("")
    found = with_configuration(Options(()), loaded(USUAL))
    assert found.paths == ("src/a.c", "src/b.c", "main.c")
    assert found.flags == (f"-I{Path('include').resolve()}",)
    assert (found.output, found.build_dir) == ("out", "build")


@pytest.mark.parametrize(
    ("options", "output", "build"),
    [
        (Options(("x.c",)), None, None),  # another program: its result does not go there
        (Options((), check=True), "out", "build"),
        (Options((), output="else"), "else", "build"),
        (Options((), in_place=True), None, "build"),
        (Options((), diff=True), None, "build"),
        (Options((), build_dir="mine"), "out", "mine"),
    ],
)
def test_the_command_line_wins(options: Options, output: str | None, build: str | None) -> None:
    found = with_configuration(options, loaded(USUAL.replace('"src/*.c", ', "")))
    assert (found.output, found.build_dir) == (output, build)


def test_a_pattern_leaves_out_what_runs_wrote() -> None:
    for name in ("src/a.c", "src/out/a.c"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("")
    Path("src/out", MANIFEST).write_text("{}")
    usual = loaded('sources = ["src/**/*.c"]\n').usual
    assert usual is not None
    assert usual.paths() == ("src/a.c",)
    none = loaded('sources = ["lib/*.c"]\n').usual
    assert none is not None
    with pytest.raises(Failure, match=r"no .c file is like `lib/\*.c`"):
        none.paths()


@pytest.mark.parametrize(
    ("folder", "name", "seen"), [(".", "a", "a"), ("..", "a", "../a"), ("..", "/a", "/a"), ("../x", "../a", "../a")]
)
def test_names_in_a_file_as_seen_from_here(folder: str, name: str, seen: str) -> None:
    assert within(folder, name) == seen
