"""What a Python user does: asks health, discovers the services by reflection, calls one without generated code."""
import sys

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

channel = grpc.insecure_channel(sys.argv[1])
health = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10)
print("health", health_pb2.HealthCheckResponse.ServingStatus.Name(health.status))

reflection = ProtoReflectionDescriptorDatabase(channel)
services = sorted(reflection.get_services())
print("services", " ".join(services))

pool = DescriptorPool(reflection)
service = pool.FindServiceByName("steward.dedup.v1.DuplicateService")
method = service.methods_by_name["ListGroups"]
Request = message_factory.GetMessageClass(method.input_type)
Response = message_factory.GetMessageClass(method.output_type)
call = channel.unary_unary(
    f"/{service.full_name}/{method.name}", request_serializer=Request.SerializeToString, response_deserializer=Response.FromString
)
answer = call(Request(limit=10), timeout=10)
print("groups", answer.meta.total)
try:
    call(Request(limit=1000), timeout=10)
except grpc.RpcError as error:
    print("refused", error.code().name, error.details())
