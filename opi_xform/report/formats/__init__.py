"""One file a form of the report, and what they share."""
