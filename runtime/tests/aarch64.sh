#!/bin/sh
# The runtime for aarch64, and its tests, on a machine with another processor:   runtime/tests/aarch64.sh [FOLDER]
# Needs a compiler and an emulator (Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user), and takes MPICH for aarch64 from PyPI.
set -eu
cd "$(dirname "$0")/.."
to=$(mkdir -p "${1:-build/aarch64}" && cd "${1:-build/aarch64}" && pwd)
python=${PYTHON:-python3}
root=${AARCH64_ROOT:-/usr/aarch64-linux-gnu} # where the emulator finds the C library
for tool in gcc ar objcopy; do
    command -v "aarch64-linux-gnu-$tool" >/dev/null || { echo "no aarch64-linux-gnu-$tool: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross" >&2; exit 2; }
done
command -v qemu-aarch64 >/dev/null || { echo "no qemu-aarch64: apt-get install qemu-user" >&2; exit 2; }

if [ ! -d "$to/mpi" ]; then
    "$python" -m pip download --quiet --no-deps --only-binary=:all: --platform manylinux_2_28_aarch64 --dest "$to" mpich
    "$python" -m zipfile -e "$to"/mpich-*.whl "$to/wheel"
    mv "$to"/wheel/mpich-*.data/data "$to/mpi"
fi
cat > "$to/mpicc" <<END
#!/bin/sh
for word; do case \$word in -c | -E | -S) exec aarch64-linux-gnu-gcc -I$to/mpi/include "\$@" ;; esac; done
exec aarch64-linux-gnu-gcc -I$to/mpi/include "\$@" -L$to/mpi/lib -Wl,-rpath,$to/mpi/lib -Wl,-rpath-link,$to/mpi/lib/mpich -lmpi
END
chmod +x "$to/mpicc"
make MPICC="$to/mpicc" CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar OBJCOPY=aarch64-linux-gnu-objcopy BUILD="$to/build" PYTHON="$python" \
    RUN="qemu-aarch64 -L $root" ${MAKE_ARGS:-} all check check-ranks
