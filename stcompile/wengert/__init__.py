"""The Wengert list: its types, grammar, text, primitives, verifier and evaluator."""
