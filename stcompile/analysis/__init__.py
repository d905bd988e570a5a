"""Analyses of a program: its regions, the lifetimes of values, and the aliases among arrays."""
