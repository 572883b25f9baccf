"""Embedders: a small model in the process, or an endpoint that speaks OpenAI's protocol."""
