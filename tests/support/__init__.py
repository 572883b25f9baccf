"""What tests of several layers share: engines, a running server, and builders to talk to it."""
