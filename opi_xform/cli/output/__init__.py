"""What a run gives: tables, pages, findings, private variables, fixes."""
