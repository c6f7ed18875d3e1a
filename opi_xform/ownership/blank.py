"""Receives into memory that has no contents yet: nothing can have been written there since its life began.

C says nothing of the bytes of a local, or of ``malloc``'s memory, that nobody has written (6.2.4p6, 7.22.3.4).  So such
a receive replaces nothing: what it does not bring, from ``MPI_PROC_NULL`` or behind a short message, is unknown before
and after.  It is a new life of the object, as its birth is, and rests on no assumption.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from opi_xform.program.graph import Graph


def blank(graph: Graph, births: Mapping[int, bool], writes: Collection[int], asked: Collection[int]) -> frozenset[int]:
    """Of the nodes asked for, those before which no way leads from a write to it without a birth in between.

    births: nodes where the object begins a life, and whether it then has contents.  writes: all nodes that may write
    some of it.  Before the first birth it has no contents.
    """
    after: dict[int, bool] = {}  # by block: whether the object may have contents behind it
    entered: dict[int, bool] = {0: False}
    work = [0]
    found: dict[int, bool] = {}
    while work:
        block = work.pop()
        filled = entered[block]
        for n in graph.blocks[block]:
            if n in asked:
                found[n] = filled
            if n in writes:
                filled = True
            elif n in births:
                filled = births[n]
        if after.get(block) == filled:
            continue
        after[block] = filled
        for succ in graph.succs[block]:
            known = entered.get(succ)
            if known is None or (filled and not known):
                entered[succ] = filled
                work.append(succ)
    return frozenset(n for n, filled in found.items() if not filled)
