"""opi-xform: turns copying MPI messages into buffers whose ownership passes.

The command line is :mod:`opi_xform.cli.main`; `docs/` explains how the parts fit together.
"""

__version__ = "0.1.0"
