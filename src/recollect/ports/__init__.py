"""Protocols: what services need from storage and other systems."""
