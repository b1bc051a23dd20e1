"""Input functions: what they return, and how much of it."""
