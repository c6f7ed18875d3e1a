"""The MPI's names in libopi: read from mpi.h, written as C, and checked against it.

`table.toml` says of every function of MPI that concerns point-to-point communication, requests, messages or the making
of communicators whose it is: a generated entry point of libopi, one written by hand, or the MPI's own and why. A
function of an installed mpi.h that the table does not mention is an error, so that none goes unnoticed.

`python -m opi_xform.bindings` writes `names.c` and `names_windows.c` of `runtime/process/mpi`. They are part of the
sources: building libopi takes a C compiler and nothing else.
"""
