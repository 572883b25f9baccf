"""The REST API. Only this package uses the web framework."""
