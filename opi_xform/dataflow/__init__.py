"""Dataflow analysis: lattices, one solver, and the tables of analyses/automata, which it runs.

Nothing in here knows C, MPI or buffers; docs/book/automata.md explains the tables.
"""
