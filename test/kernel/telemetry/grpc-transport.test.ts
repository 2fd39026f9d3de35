import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { credentials, Metadata, status } from "@grpc/grpc-js";
import { ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import { expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { GrpcTransport } from "../../../src/kernel/telemetry/thread/grpc-transport.ts";
import type { Receiver } from "../../support/otlp/receiver.ts";
import { startReceiver } from "../../support/otlp/receiver.ts";

const method = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
const PATIENCE_MS = 30_000;

function transport(port: number): GrpcTransport {
  const made = new GrpcTransport({
    clock: systemClock,
    address: `127.0.0.1:${port}`,
    method,
    metadata: new Metadata(),
    credentials: credentials.createInsecure(),
    compression: "none",
  });
  onTestFinished(() => made.shutdown());
  return made;
}

async function receiving(): Promise<Receiver> {
  const receiver = await startReceiver({ protocol: "grpc" });
  onTestFinished(() => receiver.close());
  return receiver;
}

/** A request without records. */
function request(): Uint8Array<ArrayBuffer> {
  const bytes = ProtobufLogsSerializer.serializeRequest([]) ?? new Uint8Array();
  return new Uint8Array([...bytes, 0x0a, 0x00]);
}

it("gives back the bytes of a request that was answered, and keeps those of one that failed", async () => {
  const receiver = await receiving();
  const sender = transport(receiver.port);
  const [first, second] = [request(), request()];
  const { length } = first;
  expect(await sender.send(first, PATIENCE_MS)).toMatchObject({ status: "success" });
  expect(receiver.headers["user-agent"]).toMatch(/^steward /);
  expect([receiver.sizes, first.length, first.buffer.detached]).toEqual([[length], 0, true]);
  receiver.answer = { kind: "refuse", grpc: status.UNAVAILABLE, http: 503 };
  expect(await sender.send(second, PATIENCE_MS)).toMatchObject({
    status: "failure",
    error: { code: status.UNAVAILABLE },
  });
  expect([second.length, second.buffer.detached]).toEqual([length, false]);
});

it("hands out what the receiver answered", async () => {
  const receiver = await receiving();
  receiver.answer = { kind: "partial", rejected: 3 };
  const answer = await transport(receiver.port).send(request(), PATIENCE_MS);
  expect(
    ProtobufLogsSerializer.deserializeResponse((answer as { readonly data: Uint8Array }).data),
  ).toMatchObject({ partialSuccess: { rejectedLogRecords: 3 } });
});

it("leaves a connection on which six requests in a row were too late, and not before", async () => {
  const server = createServer();
  let sessions = 0;
  server.on("session", () => (sessions += 1));
  server.on("stream", (stream) => stream.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const sender = transport((server.address() as AddressInfo).port);
  for (let late = 0; late < 6; late += 1)
    expect(await sender.send(request(), 200)).toMatchObject({
      status: "failure",
      error: { code: status.DEADLINE_EXCEEDED },
    });
  expect(sessions).toBe(1);
  void sender.send(request(), PATIENCE_MS);
  await vi.waitFor(() => expect(sessions).toBe(2), { timeout: 30_000 });
});
