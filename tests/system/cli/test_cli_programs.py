"""The programs of testdata/ through the command: what comes out compiles, is stable, and --check agrees with it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import MPIS

from opi_xform.cli.main import main
from opi_xform.resources import resource, runtime_include_dir
from opi_xform.rewrite.manifest import NAME as MANIFEST

PROGRAMS = ("opbench", "halo2d", "fft2d", "particles")


@pytest.mark.skipif(not MPIS, reason="needs an MPI")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_through_the_command(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source, out, again = str(resource("testdata", name)), tmp_path / "out", tmp_path / "again"
    assert main([source, "-o", str(out), "--output-format", "json"]) == 0
    first = json.loads(capfd.readouterr().out)
    assert sum(counts["convert"] for counts in first["summary"].values()) > 0

    for file in sorted(out.glob("*.c")):
        flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{runtime_include_dir()}"]
        done = subprocess.run([str(MPIS[0].mpicc), *flags, str(file)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    assert main([str(out), "-o", str(again), "--output-format", "json"]) == 0
    second = json.loads(capfd.readouterr().out)
    assert sum(counts["convert"] for counts in second["summary"].values()) == 0
    texts = [{f.name: f.read_bytes() for f in folder.iterdir() if f.name != MANIFEST} for folder in (again, out)]
    assert texts[0] == texts[1]

    assert main([source, "-o", str(out), "--check"]) == 0
    victim = sorted(out.glob("*.c"))[0]
    victim.write_bytes(victim.read_bytes().replace(b"\n", b"\n\n", 1))
    assert main([source, "-o", str(out), "--check"]) == 1
    assert f"{victim.name}:2: finding: out of date" in capfd.readouterr().out
