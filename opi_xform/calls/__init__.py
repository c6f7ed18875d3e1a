"""What calls do that the program graph does not follow."""
