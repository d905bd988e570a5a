"""Views for users: programs after each stage, traces, explanations."""
