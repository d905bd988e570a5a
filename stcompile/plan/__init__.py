"""Where values live: which buffers a function has, and which values use them."""
