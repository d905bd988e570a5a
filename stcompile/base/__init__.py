"""What every stage needs: errors, places in the user's files, options, trees of arguments."""
