"""What a caller sees, on every engine. One module a noun; scenario numbers are the contract's."""
