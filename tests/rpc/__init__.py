"""Between JSON and the messages of gRPC."""
