"""Implementations of ports that are no stores: identity, encryption, observation."""
