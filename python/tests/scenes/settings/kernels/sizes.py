"""Imported by the test through the search path, as tests with tables of their own do it."""

SIDE = 16
