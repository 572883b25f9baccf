"""The test suites; one folder a layer."""
