"""Variables made private: each case of privatize_cases/ says what becomes of its variables, in both forms, and runs as
several ranks of one process: as threads, as fibers, and as a process that is a rank."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from opi_xform.cli.main import main
from opi_xform.report.codes import CODES, page
from opi_xform.resources import runtime_include_dir

FOLDER = Path(__file__).resolve().parents[2] / "privatize_cases"
CASES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*.c")) + sorted(
    path.name for path in FOLDER.iterdir() if path.is_dir()
)
FORMS = ("tls", "struct")
ALL = os.environ.get("OPI_TEST_PRIVATIZE") == "all"  # `make privatize`: every case runs in both forms
_SAID = re.compile(r"//~ (.*?)\s*(?:\*/)?$", re.M)
_ONE = re.compile(r"(?:(tls|struct) )?(?:(\w+): (private|shared|refused)|note)(?: (OPI\d+))?$")
CC = os.environ.get("CC", "gcc")


def files_of(case: str) -> list[Path]:
    path = FOLDER / case
    return sorted(path.glob("*.[ch]")) if path.is_dir() else [path]


def expectations(files: list[Path], form: str) -> Iterator[tuple[str, int, str, str, str]]:
    """(file, line, name or '', decision or 'note', code)."""
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").split("\n"), 1):
            for said in _SAID.findall(line):
                for one in said.split("; "):
                    match = _ONE.match(one)
                    assert match, f"{file.name}:{number}: not understood: {one}"
                    if match[1] in (None, form):
                        yield file.name, number, match[2] or "", match[3] or "note", match[4] or ""


def transform(case: str, form: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Writes ``folder/in`` and the private program in ``folder/out``; the report."""
    given = folder / "in"
    given.mkdir()
    for file in [*files_of(case), FOLDER / "ranks.h"]:
        shutil.copy(file, given)
    sources = [str(path) for path in sorted(given.glob("*.c"))]
    code = main([*sources, "-o", str(folder / "out"), f"--privatize={form}", "--output-format", "json"])
    out, err = capfd.readouterr()
    assert code == 0, err
    report: dict[str, object] = json.loads(out)
    return report


@lru_cache(maxsize=1)
def carrier() -> Path:
    """What runs the programs, compiled once."""
    made = Path(tempfile.mkdtemp(prefix="opi-carrier-")) / "carrier.o"
    atexit.register(shutil.rmtree, made.parent, ignore_errors=True)
    command = [CC, "-std=gnu11", "-O1", "-w", "-I", str(runtime_include_dir()), "-x", "c", "-c"]
    subprocess.run([*command, str(FOLDER / "carrier.inc"), "-o", str(made)], check=True, timeout=60)
    return made


def build(folder: Path) -> Path:
    """The program of ``folder/out`` with its carrier.  ``main`` is renamed on the command line."""
    program = folder / "program"
    sources = sorted(str(path) for path in (folder / "out").rglob("*.c"))
    command = [CC, "-std=gnu11", "-O1", "-w", "-pthread", "-Dmain=program_main", *sources, str(carrier()), "-lm"]
    subprocess.run([*command, "-o", str(program)], check=True, timeout=60)
    return program


def run(program: Path, how: str) -> str:
    done = subprocess.run([str(program), how], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


def wanted(case: str) -> bool:
    """Whether the case is a program that runs as several ranks."""
    return any("all_here()" in path.read_text("utf-8") for path in files_of(case))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES)
def test_case(case: str, form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = transform(case, form, tmp_path, capfd)
    expected = sorted(expectations(files_of(case), form))
    found = []
    for variable in report["globals"]:  # type: ignore[attr-defined]
        found.append(
            (Path(variable["file"]).name, variable["line"], variable["name"], variable["decision"], variable["code"])
        )
        assert variable["message"] or variable["decision"] == "private"
    for remark in report["diagnostics"]:  # type: ignore[attr-defined]
        if remark["code"].startswith("OPI5"):
            found.append((Path(remark["file"]).name, remark["line"], "", "note", remark["code"]))
    assert sorted(found) == expected
    if not (ALL or form == "struct" or case.startswith(("address", "guard", "header"))):
        return
    _again(tmp_path, form, capfd)
    if not wanted(case):
        return
    program = build(tmp_path)
    assert run(program, "process") == "0 0 0\n"
    if any(decision == "refused" for _, _, _, decision, _ in expected):
        return
    assert run(program, "threads") == "0 0 0\n"
    if form == "struct":
        assert run(program, "fibers") == "0 0 0\n"


def _again(folder: Path, form: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The tool on its own output changes nothing."""
    before = {path: path.read_bytes() for path in sorted((folder / "out").iterdir())}
    sources = [str(path) for path in before if path.suffix == ".c"]
    assert main([*sources, "-i", f"--privatize={form}"]) == 0, capfd.readouterr().err
    capfd.readouterr()
    assert {path: path.read_bytes() for path in sorted((folder / "out").iterdir())} == before


@pytest.mark.parametrize("case", ["scalar.c", "addresses.c", "guard.c"])
def test_ranks_of_the_original_disturb_each_other(case: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for name in (case, "ranks.h"):
        shutil.copy(FOLDER / name, tmp_path / "out")
    assert run(build(tmp_path), "threads") != "0 0 0\n"


@pytest.mark.parametrize(
    ("case", "define"),
    [
        ("other_configuration.c", "TRACE"),
        ("other_configuration.c", "TRACE=2"),
        ("other_configuration_declares.c", "WIDE"),
        ("configured_twice", "TRACE"),
    ],
)
def test_another_configuration_does_not_compile(
    case: str, define: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its text names the one variable that all ranks share: it says so rather than compile."""
    transform(case, "struct", tmp_path, capfd)
    source = next((tmp_path / "out").glob("*.c"))
    for flags, code in (((), 0), ((f"-D{define}",), 1)):
        command = [CC, "-std=gnu11", "-w", "-fsyntax-only", "-Wno-implicit-function-declaration", *flags, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, done.stderr
        assert ("private for each rank in another configuration only" in done.stderr) == (code != 0)


EXAMPLES = sorted(code for code in CODES if code.startswith("OPI5"))


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_of_a_page_shows_its_code(code: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```c\n(.*?)```", page(code) or "", re.DOTALL)
    assert found is not None
    source = tmp_path / "example.c"
    source.write_text(found.group(1), encoding="utf-8")
    form = "struct" if code == "OPI503" else "tls"
    assert main([str(source), f"--privatize={form}", "--output-format", "json"]) == 0
    report = json.loads(capfd.readouterr().out)
    codes = {entry["code"] for entry in (*report["globals"], *report["diagnostics"])}
    assert code in codes
