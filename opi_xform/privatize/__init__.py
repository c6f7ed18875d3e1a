"""Variables of static storage made private to each rank (docs/privatising.md)."""
