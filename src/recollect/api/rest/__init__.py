"""The REST surface: the only code that knows the web framework. One module a noun."""
