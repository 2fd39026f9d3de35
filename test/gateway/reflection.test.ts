import { create, createFileRegistry, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, type FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  ServerReflection,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import {
  ServerReflection as Alpha,
  ServerReflectionRequestSchema as AlphaRequestSchema,
} from "../../src/gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import { grpcClient, startGateway } from "./start-gateway.ts";

type Question = NonNullable<
  MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]
>;

/** Ends a talk from our side; resolves when the server has said that all went well. */
async function ended(talk: {
  end(): unknown;
  once(event: "status", seen: (status: { code: number }) => void): unknown;
}): Promise<void> {
  const status = new Promise<{ code: number }>((resolve) => talk.once("status", resolve));
  talk.end();
  expect((await status).code).toBe(0);
}

async function ask(
  host: string,
  messageRequest: Question,
): Promise<ServerReflectionResponse["messageResponse"]> {
  const talk = grpcClient(host).talk(ServerReflection.method.serverReflectionInfo);
  talk.write(create(ServerReflectionRequestSchema, { messageRequest }));
  const answer = await new Promise<ServerReflectionResponse>((resolve, reject) =>
    talk.once("data", resolve).once("error", reject),
  );
  await ended(talk);
  return answer.messageResponse;
}

function files(answer: ServerReflectionResponse["messageResponse"]): FileDescriptorProto[] {
  if (answer.case !== "fileDescriptorResponse") throw new Error(`got ${answer.case}`);
  return answer.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

describe("reflection", () => {
  it("lists every service, itself and health included", async () => {
    const { host } = await startGateway();
    const answer = await ask(host, { case: "listServices", value: "" });
    expect(
      answer.case === "listServicesResponse" && answer.value.service.map((service) => service.name),
    ).toEqual([
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "steward.dedup.v1.JobService",
      "steward.dedup.v1.SystemService",
    ]);
  });

  it.each([
    ["a service", "steward.dedup.v1.JobService"],
    ["a method", "steward.dedup.v1.JobService.WatchJob"],
    ["a message", "steward.dedup.v1.Job"],
    ["a field", "steward.dedup.v1.Job.progress_message"],
    ["an enum", "steward.dedup.v1.JobStatus"],
    ["an enum's value", "steward.dedup.v1.JOB_STATUS_RUNNING"],
  ])("gives the file of %s with all that a client needs to understand it", async (_name, value) => {
    const { host } = await startGateway();
    const found = files(await ask(host, { case: "fileContainingSymbol", value }));
    expect(found[0]?.name).toBe("steward/dedup/v1/jobs.proto");
    const registry = createFileRegistry(found[0] ?? create(FileDescriptorProtoSchema), (name) =>
      found.find((file) => file.name === name),
    );
    expect(registry.getService("steward.dedup.v1.JobService")?.method["watchJob"]?.methodKind).toBe(
      "server_streaming",
    );
    expect(registry.getMessage("buf.validate.FieldRules")).toBeDefined();
  });

  it("gives a file by its name", async () => {
    const { host } = await startGateway();
    expect(
      files(await ask(host, { case: "fileByFilename", value: "google/api/annotations.proto" })).map(
        (file) => file.name,
      ),
    ).toContain("google/api/http.proto");
  });

  it("finds extensions by number and tells which there are", async () => {
    const { host } = await startGateway();
    const extended = "google.protobuf.MethodOptions";
    const numbers = await ask(host, { case: "allExtensionNumbersOfType", value: extended });
    expect(numbers.case === "allExtensionNumbersResponse" && numbers.value.extensionNumber).toEqual(
      expect.arrayContaining([50403, 72295728]),
    );
    const found = files(
      await ask(host, {
        case: "fileContainingExtension",
        value: { containingType: extended, extensionNumber: 50403 },
      }),
    );
    expect(found[0]?.name).toBe("steward/options/v1/options.proto");
  });

  it.each<Question>([
    { case: "fileByFilename", value: "nothing.proto" },
    { case: "fileContainingSymbol", value: "no.Symbol" },
    {
      case: "fileContainingExtension",
      value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 1 },
    },
    { case: "allExtensionNumbersOfType", value: "no.Type" },
  ])("answers %o with not found", async (question) => {
    const { host } = await startGateway();
    expect(await ask(host, question)).toMatchObject({
      case: "errorResponse",
      value: { errorCode: 5 },
    });
  });

  it("answers a request that asks for nothing, and goes on", async () => {
    const { host } = await startGateway();
    const talk = grpcClient(host).talk(ServerReflection.method.serverReflectionInfo);
    talk.write(create(ServerReflectionRequestSchema, { host: "me" }));
    expect(await new Promise((resolve) => talk.once("data", resolve))).toMatchObject({
      validHost: "me",
      originalRequest: { host: "me" },
      messageResponse: { case: "errorResponse", value: { errorCode: 3 } },
    });
    talk.write(
      create(ServerReflectionRequestSchema, {
        messageRequest: { case: "listServices", value: "" },
      }),
    );
    expect(await new Promise((resolve) => talk.once("data", resolve))).toMatchObject({
      messageResponse: { case: "listServicesResponse" },
    });
    await ended(talk);
  });

  it("answers v1alpha alike", async () => {
    const { host } = await startGateway();
    const talk = grpcClient(host).talk(Alpha.method.serverReflectionInfo);
    talk.write(
      create(AlphaRequestSchema, {
        messageRequest: { case: "fileContainingSymbol", value: "steward.dedup.v1.SystemService" },
      }),
    );
    expect(await new Promise((resolve) => talk.once("data", resolve))).toMatchObject({
      $typeName: "grpc.reflection.v1alpha.ServerReflectionResponse",
      messageResponse: { case: "fileDescriptorResponse" },
    });
    await ended(talk);
  });

  it("needs the operator's token where one is set", async () => {
    const { host } = await startGateway({
      auth: { token: Secret.of("word", "test"), allowedHosts: [] },
    });
    await expect(ask(host, { case: "listServices", value: "" })).rejects.toMatchObject({
      code: 16,
    });
  });

  it("may go on for longer than a body may take", async () => {
    const { host } = await startGateway({}, { owner: { bodyMs: 30 } });
    const talk = grpcClient(host).talk(ServerReflection.method.serverReflectionInfo);
    const answers: unknown[] = [];
    talk
      .on("data", (answer) => void answers.push(answer))
      .on("error", (error) => void answers.push(error));
    const timer = setInterval(() => talk.write(create(ServerReflectionRequestSchema, {})), 20);
    await expect.poll(() => answers.length).toBeGreaterThan(8);
    clearInterval(timer);
    expect(answers.filter((answer) => answer instanceof Error)).toEqual([]);
    await ended(talk);
  });

  it("does not hold up a process that stops", async () => {
    const { host, gateway } = await startGateway();
    const talk = grpcClient(host).talk(ServerReflection.method.serverReflectionInfo);
    talk.write(create(ServerReflectionRequestSchema, {}));
    await new Promise((resolve) => talk.once("data", resolve));
    const failed = new Promise((resolve) => talk.once("error", resolve));
    await gateway.stop(10_000);
    expect(await failed).toMatchObject({ code: 14 });
  });
});
