"""Locators of recordings: in this process, or in a Redis that all nodes share."""
