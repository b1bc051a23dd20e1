"""What is made where, what it is given, and what is done with it."""
