import { credentials, Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { EtcdClient } from "../../../../src/monitor/coordination/etcd/client.ts";
import { endsWatch } from "../../../../src/monitor/coordination/etcd/messages.ts";

const WATCH = "/etcdserverpb.Watch/Watch";

/** A server whose watch answers with these bytes. */
async function answering(answer: Buffer): Promise<{ readonly endpoint: string } & Disposable> {
  const server = new Server();
  const asIs = (bytes: Buffer): Buffer => bytes;
  server.addService(
    {
      watch: {
        path: WATCH,
        requestStream: true,
        responseStream: true,
        requestSerialize: asIs,
        requestDeserialize: asIs,
        responseSerialize: asIs,
        responseDeserialize: asIs,
      },
    },
    {
      watch: (call: ServerDuplexStream<Buffer, Buffer>) =>
        call.on("error", () => undefined).on("data", () => call.write(answer)),
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { endpoint: `127.0.0.1:${port}`, [Symbol.dispose]: () => server.forceShutdown() };
}

it("an answer on a stream that is no valid message fails the call, not the process", async () => {
  using server = await answering(Buffer.from([0xff, 0xff]));
  using client = new EtcdClient([server.endpoint], () => credentials.createInsecure());
  await expect(
    client.stream(WATCH, new Uint8Array(), new AbortController().signal, endsWatch),
  ).rejects.toThrow(/refused .*Watch: its answer is no valid message/);
});
