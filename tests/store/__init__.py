"""The conformance suite of the storage engines: every test runs on every engine."""
