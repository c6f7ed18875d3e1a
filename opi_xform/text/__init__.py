"""Bytes of source files: edits, tokens, layout, places in rewritten text."""
