"""Memory that a GPU's library says is the device's: libopi leaves it to the MPI, by CUDA's call and by HIP's."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CHECKOUT, MpiUser

FAULTS = CHECKOUT / "runtime" / "tests" / "faults"
WARNINGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")
WRAPPED = ("-Wl,--wrap=PMPI_Sendrecv", "-Wl,--wrap=PMPI_Sendrecv_c")
"""The calls with which libopi has the MPI copy. In them the memory can be touched, elsewhere it cannot."""
LIBRARIES = {"libcuda.so.1": (), "libamdhip64.so.6": ("-DHIP",)}

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("linked", [False, True], ids=["loaded later", "linked"])
def test_only_the_mpi_touches_it(mpi_user: MpiUser, tmp_path: Path, name: str, linked: bool) -> None:
    """By every form, to and from host memory and device memory, takes included."""
    library, program = tmp_path / name, tmp_path / "device"
    mpi_user.mpicc(*WARNINGS, *LIBRARIES[name], "-shared", "-fPIC", FAULTS / "gpu.c", "-o", library)
    with_it = ("-Wl,--no-as-needed", library, f"-Wl,-rpath,{tmp_path}") if linked else ()
    mpi_user.opicc(*WARNINGS, FAULTS / "device.c", *WRAPPED, *with_it, "-o", program)
    result = mpi_user.run(2, program, "linked" if linked else str(library))
    assert "device: ok, 0 failures" in result.out
