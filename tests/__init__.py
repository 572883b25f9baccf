"""The test suites: a folder for each package, and suites that cross packages."""
