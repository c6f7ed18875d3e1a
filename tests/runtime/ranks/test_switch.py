"""How fibers change from one stack to another on other processors than this one, and what else is aarch64's."""

from __future__ import annotations

import importlib.util
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser
from test_ranks import DEEP, ENDS, MANY, PROGRAMS, enough, run

from opi_xform.bindings.ranks import ranks_source_dir
from opi_xform.launch.ranks import compile_command, ensure_ranks, link_flags
from opi_xform.launch.runtime import object_name, runtime_flags, sources_below
from opi_xform.resources import runtime_dir, runtime_include_dir

pytestmark = pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")


def with_member(user: MpiUser, cache: Path, folder: Path, source: str, *options: str) -> list[str]:
    """The flags that link libopi_ranks with one of its files compiled otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPI_CACHE", str(cache))
        archive = ensure_ranks(user.mpi)
    for file in archive.parent.iterdir():
        shutil.copy(file, folder)
    obj = folder / object_name(ranks_source_dir() / source)
    flags = [*runtime_flags(), *options, "-Wall", "-Wextra", "-Werror"]
    user.mpicc(*compile_command(user.mpi, ranks_source_dir() / source, obj, flags, folder)[1:])
    subprocess.run(["objcopy", f"--redefine-syms={folder / 'opir_symbols'}", obj], check=True)
    subprocess.run(["ar", "r", folder / archive.name, obj], check=True)
    return link_flags(folder / archive.name)


@pytest.fixture(scope="session")
def without_assembly(mpi_user: MpiUser, opi_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """libopi_ranks as it is on a processor whose switch nobody wrote."""
    enough(mpi_user)
    return with_member(mpi_user, opi_cache, tmp_path_factory.mktemp("ucontext"), "carrier/fiber.c", "-DOPIR_UCONTEXT")


@pytest.mark.parametrize("name", ["colls", "messages", "p2p", "streams"])
def test_fibers_switch_by_ucontext_too(
    mpi_user: MpiUser, without_assembly: list[str], name: str, tmp_path: Path
) -> None:
    program = tmp_path / name
    mpi_user.mpicc("-O1", f"-I{runtime_include_dir()}", PROGRAMS / f"{name}.c", *without_assembly, "-o", program)
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    assert "swapcontext" in symbols
    for ranks, scheduler in ((1, "block"), (5, "block"), (5, "rr"), (16, "block")):
        result = run(mpi_user, program, ranks, "fibers", OPI_RANKS_SCHEDULER=scheduler)
        assert (result.code, result.out) == (0, f"ok {ranks}\n"), result.err
    result = run(mpi_user, program, 5, "fibers", processes=2)
    assert (result.code, result.out) == (0, "ok 5\n"), result.err


@pytest.mark.parametrize(
    ("text", "arguments", "ranks", "code", "said"),
    [
        (ENDS, ["a", "stuck"], 3, 1, "rank 0 waits in MPI_Recv for a message from rank 1 with tag 42"),
        (DEEP, [], 4, 1, "rank 2: its stack of 64 KiB is full; opirun --stack SIZE gives more"),
        (MANY, [], 20_000, 0, ""),
    ],
)
def test_fibers_by_ucontext_end_as_others_do(
    mpi_user: MpiUser,
    without_assembly: list[str],
    tmp_path: Path,
    text: str,
    arguments: list[str],
    ranks: int,
    code: int,
    said: str,
) -> None:
    source = tmp_path / "program.c"
    source.write_text(text)
    mpi_user.mpicc("-O1", source, *without_assembly, "-o", tmp_path / "program")
    result = run(mpi_user, tmp_path / "program", ranks, "fibers", *arguments, OPI_RANKS_STACK="64k")
    assert (result.code, said in result.err) == (code, True), result.err


SWITCH = CHECKOUT / "runtime" / "tests" / "switch" / "switch.c"


@pytest.mark.parametrize("options", [[], ["-DOPIR_UCONTEXT"]])
def test_the_switch_keeps_what_a_function_keeps(mpi_user: MpiUser, options: list[str], tmp_path: Path) -> None:
    enough(mpi_user)
    mpi_user.mpicc("-O2", f"-I{runtime_dir()}", *options, SWITCH, "-o", tmp_path / "switch")
    subprocess.run([tmp_path / "switch"], check=True, timeout=60)


def for_aarch64(tmp_path: Path, *arguments: str | Path) -> None:
    """Compiles for a processor that need not be this one."""
    if importlib.util.find_spec("ziglang"):
        command = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-gnu"]
    elif gcc := shutil.which("aarch64-linux-gnu-gcc"):
        command = [gcc]
    else:
        pytest.skip("no compiler for aarch64: the package ziglang, or aarch64-linux-gnu-gcc")
    caches = {name: str(tmp_path / "zig") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    done = subprocess.run(
        [*command, *arguments], cwd=tmp_path, env={**os.environ, **caches}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def emulated(image: bytes) -> int:
    """Runs a static program of aarch64 until its first call of the system, which has to be exit; its code."""
    unicorn, registers = importlib.import_module("unicorn"), importlib.import_module("unicorn.arm64_const")
    entry, headers = struct.unpack_from("<QQ", image, 24)
    size, count = struct.unpack_from("<HH", image, 54)
    machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
    machine.mem_map(0, 64 << 20)
    for at in range(headers, headers + count * size, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", image, at)
        if kind == 1:
            machine.mem_write(address, image[offset : offset + length])
    machine.reg_write(registers.UC_ARM64_REG_SP, 48 << 20)
    machine.reg_write(registers.UC_ARM64_REG_CPACR_EL1, 3 << 20)  # the floating-point unit is on
    with pytest.raises(unicorn.UcError) as stopped:
        machine.emu_start(entry, 0, timeout=60_000_000)
    assert stopped.value.errno == unicorn.UC_ERR_EXCEPTION
    assert machine.reg_read(registers.UC_ARM64_REG_X8) == 93
    return int(machine.reg_read(registers.UC_ARM64_REG_X0))


def test_the_switch_of_aarch64(tmp_path: Path) -> None:
    warnings = ("-Wall", "-Wextra", "-Werror")
    flags = ("-std=c11", "-O2", "-fno-builtin", "-DALONE", f"-I{runtime_dir()}")
    for_aarch64(tmp_path, *flags, *warnings, "-c", SWITCH, "-o", "switch.o")
    for_aarch64(tmp_path, "-nostdlib", "-static", "-Wl,-e,begin", "switch.o", "-o", "switch")
    if importlib.util.find_spec("unicorn"):
        assert emulated((tmp_path / "switch").read_bytes()) == 0
    elif qemu := shutil.which("qemu-aarch64"):
        subprocess.run([qemu, tmp_path / "switch"], check=True, timeout=60)
    else:
        pytest.skip("no emulator of aarch64: the package unicorn, or qemu-aarch64")


def test_all_of_the_runtime_compiles_for_aarch64(mpi_user: MpiUser, opi_cache: Path, tmp_path: Path) -> None:
    enough(mpi_user)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPI_CACHE", str(opi_cache))
        generated = ensure_ranks(mpi_user.mpi).parent
    includes = (runtime_include_dir(), runtime_dir(), generated, mpi_user.mpi.header.parent)
    flags = ("-std=c11", "-O0", "-fPIC", "-Wall", "-Wextra", "-Werror", *(f"-I{folder}" for folder in includes))
    for folder in ("process", "malloc", "shared", "ranks"):
        for_aarch64(tmp_path, *flags, "-c", *sources_below(folder))
