"""Lists all of whose items are in arrays: kinds of `stcompile.frontend.state.rests.ListArray`."""
