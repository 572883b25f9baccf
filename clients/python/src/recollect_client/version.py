"""The version of this client and of the server that it is released with."""

__version__ = "0.1.0"
