"""From a plan to files: its edits applied, the self-check of the result, and writing it.

Sources are ``bytes`` from read to write; nothing outside an edit changes.
"""
