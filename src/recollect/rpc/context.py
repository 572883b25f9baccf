"""The context of a gRPC call, as grpcio hands it to a method."""

from typing import TYPE_CHECKING, Any

import grpc

if TYPE_CHECKING:
    GrpcContext = grpc.aio.ServicerContext[Any, Any]
else:
    GrpcContext = grpc.aio.ServicerContext
