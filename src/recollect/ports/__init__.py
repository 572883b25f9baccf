"""What the inside asks of the outside."""
