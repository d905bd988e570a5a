"""What is true of a program: its regions, what lives where, what shares storage."""
