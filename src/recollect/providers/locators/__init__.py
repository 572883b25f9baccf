"""Where recordings are found: in this process, or in a Redis that all nodes share."""
