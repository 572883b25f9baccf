"""Writes the generated modules of the Python client from `contracts/openapi-merged.json`."""
