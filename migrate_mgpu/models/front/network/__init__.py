"""What a network is: its layers, its weights, the functions and classes that hold parts of it."""
