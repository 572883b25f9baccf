"""The gRPC API: the same services as REST, for generated clients."""
