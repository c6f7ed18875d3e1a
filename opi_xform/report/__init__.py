"""What people and programs read: the table of sites, JSON, unified diffs, and the pages that explain codes."""
