"""The composition root: settings in, running application out.

`application.App` is the server, `embedded.EmbeddedApp` the memory services in another process. Both
are built from the same parts, in this order: `context` (what all share), `services` (one module for
each family), `jobs`.
"""
