"""Programs that are started with libopi, as ranks of several kinds; the runtime that is built for them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from opi_xform.launch import check, executable, opirun, runtime
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.ranks import MARK, Carrier, Shape, job, link_flags, nodes_of, shape_of
from opi_xform.resources import runtime_dir

MPICH = Mpi(Path("/a/bin/mpicc"), "mpich", "5.0", Path("/a/mpi.h"))
OPENMPI = Mpi(Path("/b/bin/mpicc"), "openmpi", "5.0", Path("/b/mpi.h"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("OPI_MPICC", "LD_PRELOAD", "OPI_CACHE", "OPI_RUNTIME_CFLAGS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("app", "other"):
        Path(name).write_text("#!/bin/sh\n")
        Path(name).chmod(0o755)
    return tmp_path


# --- opirun -----------------------------------------------------------------------------------------------------------


def test_a_command_line_taken_apart() -> None:
    found = opirun.parse(["-n", "4", "--show", "./app", "--help", "x"])
    assert (found.launcher, found.program, found.show, found.help) == (
        ("-n", "4"),
        ("./app", "--help", "x"),
        True,
        False,
    )
    assert opirun.parse(["-n", "4", "--", "none", "x"]).program == ("none", "x")  # whatever it is
    assert opirun.parse(["-n", "4", "none"]).program == ()
    fibers = opirun.parse(["--fibers", "--stack", "64k", "--scheduler", "rr", "--per-process", "3,5", "./app"])
    assert fibers.carrier == Carrier("fibers", "64k", "rr", (3, 5))
    assert opirun.parse(["--stack", "64k", "./app"]).launcher == ("--stack", "64k")  # not opirun's then


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--threads", "--fibers"], "the one or the other"),
        (["--fibers", "--stack", "much"], "a size is wanted"),
        (["--threads", "--scheduler", "rr"], "threads none"),
        (["--fibers", "--per-process", "3,0"], "numbers of ranks are wanted"),
    ],
)
def test_options_of_carriers_that_contradict_each_other(arguments: list[str], why: str) -> None:
    with pytest.raises(LaunchError, match=why):
        opirun.parse([*arguments, "./app"])


def test_parts_of_a_job() -> None:
    found = opirun.parse(["-n", "2", "./app", "x", ":", "-n", "3", "./other"])
    assert opirun.contexts(found) == [(["-n", "2"], ["./app", "x"]), (["-n", "3"], ["./other"])]


def test_only_the_ranks_get_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mpi, "mpiexec", property(lambda mpi: mpi.mpicc.with_name("mpiexec")))
    request = opirun.parse(["-n", "2", "./app", ":", "-n", "3", "./other"])
    words = ["-n", "2", "./app", ":", "-n", "3", "./other"]
    assert opirun.command_line(MPICH, request, "lib.so") == ["/a/bin/mpiexec", "-genv", "LD_PRELOAD", "lib.so", *words]
    assert opirun.command_line(OPENMPI, request, "lib.so") == ["/b/bin/mpiexec", "-x", "LD_PRELOAD=lib.so", *words]
    assert opirun.command_line(MPICH, request, None) == ["/a/bin/mpiexec", *words]
    other = Mpi(MPICH.mpicc, "mpi", "1", MPICH.header)  # no launcher's own option is known: each part by `env`
    env = ["env", "LD_PRELOAD=lib.so"]
    assert opirun.command_line(other, request, "lib.so") == [
        "/a/bin/mpiexec", *words[:2], *env, "./app", ":", *words[4:6], *env, "./other",
    ]  # fmt: skip


def test_what_is_preloaded_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    built = runtime.Runtime(Path("/c/libopi.a"), Path("/c/include"), Path("/c/libopi.so"))
    assert opirun.preload(built, False) == "/c/libopi.so"
    monkeypatch.setenv("LD_PRELOAD", "x.so y.so:z.so")
    assert opirun.preload(built, True) == "/c/libopi_malloc.so:/c/libopi.so:x.so:y.so:z.so"


def test_the_mpi_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opirun, "find_mpi", lambda: MPICH)
    monkeypatch.setattr(opirun, "beside", lambda library: OPENMPI)
    found = executable.Executable(Path("app"), Path("/b/lib/libmpi.so.40"), "openmpi")
    assert opirun.mpi_of(found) is OPENMPI
    assert opirun.mpi_of(None) is MPICH
    assert opirun.mpi_of(executable.Executable(Path("app"))) is MPICH
    monkeypatch.setenv("OPI_MPICC", "mpicc")
    with pytest.raises(LaunchError, match="belongs to mpich; set OPI_MPICC"):
        opirun.mpi_of(found)


@pytest.mark.parametrize(
    ("arguments", "why"), [([], "no program given"), (["-n", "4", "none"], "none: no such program")]
)
def test_no_program(arguments: list[str], why: str) -> None:
    with pytest.raises(LaunchError, match=why):
        opirun.run(arguments)


# --- programs ---------------------------------------------------------------------------------------------------------


def test_words_that_stand_for_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("text").write_text("")
    assert executable.resolve("./app") == Path("./app")
    assert executable.resolve("./text") is None
    assert executable.resolve("app") == Path("app")  # launchers look into the working directory, too
    assert executable.resolve("none-such") is None
    found = executable.resolve("sh")
    assert found is not None
    assert found.is_absolute()


def test_what_a_program_tells_of_its_mpi() -> None:
    script = executable.inspect_executable("./app")
    assert (script.tells, script.mpi_library, script.has_libopi) == (False, None, False)
    with pytest.raises(LaunchError, match="none: no such program"):
        executable.inspect_executable("none")
    source = 'const char mark[] = "libopi: rank %d: "; int main(void) { return mark[0]; }\n'
    Path("m.c").write_text(source)
    subprocess.run(["cc", "m.c", "-o", "marked"], check=True)
    assert executable.inspect_executable("./marked").has_libopi
    assert opirun.program_of(["./app", "--args", "./marked"]).has_libopi  # a debugger's argument
    Path("m.c").write_text(source.replace("libopi: rank %d: ", "MPI_Init"))
    subprocess.run(["cc", "m.c", "-o", "inside"], check=True)
    with pytest.raises(LaunchError, match="has its MPI linked in statically"):
        executable.inspect_executable("./inside")


# --- ranks that share processes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "environment", "nodes"),
    [
        (["-host", "a,b:4,a:2"], {}, 2),
        (["-f", "hosts"], {}, 2),
        ([], {"SLURM_NNODES": "3"}, 3),
        (["-host", "a"], {"SLURM_NNODES": "3"}, 1),
        ([], {}, 0),
    ],
)
def test_nodes_that_options_name(words: list[str], environment: dict[str, str], nodes: int) -> None:
    Path("hosts").write_text("a:4\n# c\nb slots=2\n\n")
    assert nodes_of(words, environment) == nodes


@pytest.mark.parametrize(
    ("words", "carrier", "shape"),
    [
        (["-n", "8"], Carrier("threads"), Shape(8, 1, None, True)),
        (["-n", "8", "-p", "2"], Carrier("threads"), Shape(8, 2, None, True)),
        (["-n", "8", "-host", "a,b"], Carrier("threads"), Shape(8, 2, 1, False)),
        (["-n", "1", "-host", "a,b"], Carrier("threads"), Shape(1, 1, 1, False)),  # never more than ranks
        ([], Carrier("fibers", per_process=(3, 5)), Shape(8, 2, None, True)),
    ],
)
def test_ranks_and_processes(words: list[str], carrier: Carrier, shape: Shape) -> None:
    found, rest = shape_of([*words, "-x", "A=1"], carrier, {})
    assert found == shape
    assert rest == [*words[words.index("-host") :], "-x", "A=1"] if "-host" in words else ["-x", "A=1"]


@pytest.mark.parametrize(
    ("words", "carrier", "why"),
    [
        (["-n", "0"], Carrier("threads"), "a number is wanted"),
        (["-n", "2", "-p", "3"], Carrier("threads"), "more processes than the 2 ranks"),
        (["-n", "7"], Carrier("threads", per_process=(3, 5)), "2 processes, 8 ranks"),
    ],
)
def test_ranks_that_do_not_fit_their_processes(words: list[str], carrier: Carrier, why: str) -> None:
    with pytest.raises(LaunchError, match=why):
        shape_of(words, carrier, {})


def test_the_command_for_ranks_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mpi, "mpiexec", property(lambda mpi: mpi.mpicc.with_name("mpiexec")))
    carrier = Carrier("fibers", "64k", "rr", (3, 5))
    with pytest.raises(LaunchError, match="link it with `opicc --ranks`"):
        job(MPICH, [], ["./app"], carrier)
    Path("app").write_bytes(b"\x7fELF" + MARK)
    told = {"OPI_RANKS": "8", "OPI_RANKS_CARRIER": "fibers", "OPI_RANKS_PER_PROCESS": "3,5"}
    told |= {"OPI_RANKS_STACK": "64k", "OPI_RANKS_SCHEDULER": "rr"}
    assert carrier.environment(8) == told
    line = job(MPICH, [], ["./app", "x"], carrier)
    assert line[:3] == ["/a/bin/mpiexec", "-n", "2"]
    assert line[3:] == [*(w for k, v in told.items() for w in ("-genv", k, v)), "./app", "x"]
    line = job(OPENMPI, [], ["./app"], carrier)
    assert line[3:6] == ["--bind-to", "none", "--oversubscribe"]
    with pytest.raises(LaunchError, match="one program only"):
        job(MPICH, [], ["./app", ":", "./other"], carrier)


# --- the runtime ------------------------------------------------------------------------------------------------------


def test_where_libopi_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert runtime.cache_dir() == Path("/x/opi-xform")
    monkeypatch.setenv("OPI_CACHE", "mine")
    assert runtime.cache_dir() == Path("mine").absolute()
    monkeypatch.setenv("OPI_RUNTIME_CFLAGS", "-g '-DA=1 2'")
    assert runtime.runtime_flags() == (*runtime.BASE_FLAGS, "-g", "-DA=1 2")


def test_a_library_is_made_of_all_sources_below_its_folders() -> None:
    files = [*runtime.sources(), *runtime.malloc_sources()]
    assert {f.relative_to(runtime_dir()).parts[0] for f in files} == {"process", "shared", "malloc"}
    objects = [runtime.object_name(f) for f in files]
    assert len(set(objects)) == len(files)  # none overwrites another
    assert "process-engine-match.o" in objects
    assert runtime.object_name(Path("/tmp/opir_names.c")) == "opir_names.o"


def test_what_is_built_again(tmp_path: Path) -> None:
    """When the compiler, its place, the flags, the header or a source is another; not for what Python leaves beside
    them."""
    for name, text in (("mpi.h", "1"), ("src/a.c", "2"), ("mpicc", "#!/bin/sh\necho 1.0\n")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / "mpicc").chmod(0o755)

    def key(*flags: str) -> str:
        mpi = Mpi(tmp_path / "mpicc", "mpich", "5.0", tmp_path / "mpi.h")
        return runtime.content_hash(mpi, flags, [tmp_path / "src"])

    keys = [key(), key("-g")]
    (tmp_path / "src" / "x.pyc").write_text("")
    assert key() == keys[0]
    for name, text in (("mpi.h", "2"), ("src/a.c", "3"), ("mpicc", "#!/bin/sh\necho 1.1\n")):
        (tmp_path / name).write_text(text)
        keys.append(key())
    copy = tmp_path / "copy"  # another environment's: the one before may be gone, and its libraries with it
    shutil.copy(tmp_path / "mpicc", copy)
    keys.append(runtime.content_hash(Mpi(copy, "mpich", "5.0", tmp_path / "mpi.h"), [], [tmp_path / "src"]))
    assert len(set(keys)) == 6
    (tmp_path / "mpicc").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(LaunchError, match="--version failed"):
        key()


def test_a_build_that_fails_is_one_line_and_a_log() -> None:
    good, bad = (subprocess.CompletedProcess(["cc", name], code, "", said) for name, code, said in (
        ("a.c", 0, ""), ("b.c", 1, "note: x\nb.c:3: error: what\nmore\n"),
    ))  # fmt: skip
    runtime.require_built("libopi", [good], Path("log"))
    assert not Path("log").exists()
    with pytest.raises(LaunchError, match=r"building libopi failed: b\.c:3: error: what; the whole log is in log"):
        runtime.require_built("libopi", [good, bad], Path("log"))
    assert Path("log").read_text().startswith("$ cc a.c\n$ cc b.c\n")
    assert runtime.first_error("") == "it said nothing"


def test_libopi_ranks_takes_the_place_of_libopi() -> None:
    flags = link_flags(Path("/c/libopi_ranks.a"))
    assert flags[1] == "-Wl,@/c/libopi_ranks.link"
    assert flags[2:] == ["-Wl,--whole-archive", "/c/libopi_ranks.a", "-Wl,--no-whole-archive"]


def test_a_warning_of_the_runtime_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("good.c").write_text("int f(void) { return 1; }\n")
    Path("bad.c").write_text("int f(void) { int unused; return 1; }\n")
    monkeypatch.setattr(check, "find_mpi", lambda: Mpi(Path("cc"), "mpich", "5.0", Path("mpi.h")))
    monkeypatch.setattr(check, "sources", lambda: [Path("good.c"), Path("bad.c")])
    monkeypatch.setattr(check, "malloc_sources", list)
    monkeypatch.setattr(check.ranks, "ranks_sources", list)
    monkeypatch.setattr(check.ranks, "generate", lambda mpi, to: [])
    assert check.main() == 1
    assert capsys.readouterr().out == "runtime check: 2 files, 1 with warnings or errors\n"
    monkeypatch.setattr(check, "sources", lambda: [Path("good.c")])
    assert check.main() == 0
