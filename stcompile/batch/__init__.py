"""Batching: turn a program of an item into a program of a batch of items, without a loop."""
