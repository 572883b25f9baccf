"""gRPC: the same services as REST, for clients that are generated."""
