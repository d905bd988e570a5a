"""Passes on products and sums, which make them fewer or smaller."""
