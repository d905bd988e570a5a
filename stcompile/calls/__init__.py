"""From a call to compiled code: arguments, signatures, specialisations, linking."""
