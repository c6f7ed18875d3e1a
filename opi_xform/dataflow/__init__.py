"""Dataflow analysis: lattices, one solver, and the automata of analyses/automata as instances of both.

Nothing in here knows C, MPI or buffers; docs/book/automata.md explains the tables.
"""
