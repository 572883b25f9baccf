"""The servers: REST application, gRPC server, OpenAPI documents, the table of operations."""
