"""The dynamic access oracle."""
