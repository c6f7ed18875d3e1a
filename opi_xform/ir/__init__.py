"""The intermediate representation: C as immutable Python values, with byte spans into the sources.

``types`` and ``ast`` are what the front end produces for one translation unit, ``instr`` and ``cfg`` what lowering
makes of a function.  Nothing in here knows libclang, MPI or the analyses.
"""
