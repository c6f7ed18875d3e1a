"""What a conversion requires: one row of ``table.TABLE`` a condition."""
