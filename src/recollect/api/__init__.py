"""The REST and gRPC APIs. They parse a request, call a service and render its result."""
