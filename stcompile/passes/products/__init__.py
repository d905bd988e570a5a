"""Passes on products and sums: fewer of them, and smaller ones."""
