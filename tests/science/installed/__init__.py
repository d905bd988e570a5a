"""Functions that others wrote, as they are installed, with a judge of their derivatives."""
