"""Implementations of protocols other than stores: identity, encryption, logging, metrics."""
