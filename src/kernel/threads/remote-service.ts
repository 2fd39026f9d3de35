/** A service on this side of a thread's border: the same descriptors and routes, each call sent over. */
import { fromBinary, toBinary, type DescMessage, type DescMethod, type DescService, type MessageShape } from "@bufbuild/protobuf";
import type { BoundService, Call, PlainRoute, Service, StreamHandler, UnaryHandler } from "../service.ts";
import { plainMethod, writePlainRequest } from "./answers.ts";
import type { PlainRow } from "./messages.ts";
import type { ThreadHost } from "./placed.ts";

type Caller = Pick<ThreadHost, "call">;

/** What the gateway serves for a service that runs elsewhere. */
export function createRemoteService(name: string, descriptors: readonly DescService[], plain: readonly PlainRow[], host: Caller): Service {
  return { name, rpc: descriptors.map((desc) => remoteRpc(desc, host)), plain: plain.map((row, index) => remoteRoute(row, index, host)) };
}

function remoteRpc(desc: DescService, host: Caller): BoundService {
  const handlers = new Map(desc.methods.map((method) => [method.name, remoteHandler(`${desc.typeName}/${method.name}`, method, host)]));
  return { desc, handler: (method) => handlers.get(method.name) ?? remoteHandler(`${desc.typeName}/${method.name}`, method, host) };
}

function remoteHandler(name: string, method: DescMethod, host: Caller): UnaryHandler<DescMessage, DescMessage> | StreamHandler<DescMessage, DescMessage> {
  const call = (request: MessageShape<DescMessage>, { signal, requestId }: Call): ReturnType<Caller["call"]> =>
    host.call(name, toBinary(method.input, request), { signal, requestId, encoding: "proto" });
  if (method.methodKind !== "server_streaming") {
    return async (request, context) => fromBinary(method.output, (await call(request, context)).body);
  }
  return async function* stream(request, context) {
    const { chunks } = await call(request, context);
    for await (const chunk of chunks ?? []) yield fromBinary(method.output, chunk);
  } satisfies StreamHandler<DescMessage, DescMessage>;
}

function remoteRoute(row: PlainRow, index: number, host: Caller): PlainRoute {
  return {
    ...row,
    async handle(request, { signal, requestId }) {
      const { meta, body, chunks } = await host.call(plainMethod(index), writePlainRequest(request), { signal, requestId, encoding: "proto" });
      return { status: meta.status ?? 200, headers: meta.headers ?? {}, body: chunks ?? body };
    },
  };
}
