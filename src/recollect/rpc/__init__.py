"""What a gRPC module of a subject needs: methods, messages, values.

The server itself is `api/grpc/`.
"""
