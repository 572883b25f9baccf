"""Every way in. Adapters parse, call a service and render."""
