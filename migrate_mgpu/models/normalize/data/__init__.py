"""Passes over what a graph is fed, draws and gives: placeholders, queues, iterators, fetches."""
