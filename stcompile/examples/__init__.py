"""Programs that are installed with stcompile: networks that learn to read images."""
