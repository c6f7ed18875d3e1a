"""The page of ``--report``."""
