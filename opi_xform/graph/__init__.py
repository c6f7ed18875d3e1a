"""The program as one control-flow graph: every call of an analysed function replaced by a copy of its body."""
