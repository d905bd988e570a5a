"""Batching: a program of one item becomes that of a batch of them, without a loop."""
