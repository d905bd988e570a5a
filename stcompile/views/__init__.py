"""What users look at: lists after each stage, traces, explanations."""
