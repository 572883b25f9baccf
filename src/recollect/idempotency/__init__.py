"""Responses stored under an `Idempotency-Key`, so that a repeated request changes nothing."""
