"""A result for people and for machines: HTML, JUnit, TensorBoard.

All of them are written from a result's JSON form (``migrate-mgpu parity show N --json``).
"""
