"""What a REST module of a subject needs: operations, parameters, bodies, pages, rendering, errors.

The server itself is `api/rest/`.
"""
