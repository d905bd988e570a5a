"""Where values live: which buffers a function has, and who takes which."""
