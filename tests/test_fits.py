"""What lets opi-xform fit into shells, editors and CI: completion, the manual page, the hook and the action."""

from __future__ import annotations

import os
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


def step(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step of the action that has this name, run as a workflow would; the command is that of this checkout."""
    action = loaded("action.yml")
    assert action["runs"]["using"] == "composite"
    (found,) = (s for s in action["runs"]["steps"] if s["name"] == name)
    assert found["shell"] == "bash"
    values = {key: value.get("default", "") for key, value in action["inputs"].items()} | inputs
    environment = dict(os.environ, RUNNER_TEMP=str(folder / "temp"))
    for key, value in found["env"].items():
        wanted = value.removeprefix("${{ ").removesuffix(" }}")
        environment[key] = str(CHECKOUT) if wanted == "github.action_path" else values[wanted.removeprefix("inputs.")]
    tool = folder / "temp" / "opi-xform" / "bin" / "opi-xform"
    tool.parent.mkdir(parents=True, exist_ok=True)
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m opi_xform.cli.main "$@"\n')
    tool.chmod(0o755)
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", found["run"]],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_the_action_annotates_and_fails(tmp_path: Path) -> None:
    folder = tmp_path
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
