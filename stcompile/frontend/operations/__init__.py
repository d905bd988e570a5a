"""What operators, subscripts, attributes and iteration do to staged values."""
