"""The parts that every stage needs: errors, locations in the user's files, options, trees of
arguments."""
