"""What is in deploy/ fits the program: no container engine is needed to know that."""
