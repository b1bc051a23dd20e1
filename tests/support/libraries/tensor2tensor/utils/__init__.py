"""What the program imports."""
