"""The OpenAPI documents, made from the table of operations."""
