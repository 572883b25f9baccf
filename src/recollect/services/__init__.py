"""Services: the use cases, one module for each resource."""
