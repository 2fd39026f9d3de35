/** Proxy of a service in another thread: the same descriptors and routes, each call forwarded. */
import {
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type DescService,
  type MessageShape,
} from "@bufbuild/protobuf";
import type {
  BoundService,
  Call,
  JsonHandler,
  PlainRoute,
  Service,
  StreamHandler,
  UnaryHandler,
} from "../../service.ts";
import { jsonOf, plainMethod, writePlainRequest } from "./answers.ts";
import type { PlainRow } from "./messages.ts";
import type { CallOptions, ThreadHost } from "../hosted-service.ts";

type Host = Pick<ThreadHost, "call">;

export function createRemoteService(
  name: string,
  descriptors: readonly DescService[],
  plain: readonly PlainRow[],
  host: Host,
): Service {
  return {
    name,
    rpc: descriptors.map((desc) => remoteRpc(desc, host)),
    plain: plain.map((row, index) => remoteRoute(row, index, host)),
  };
}

function remoteRpc(desc: DescService, host: Host): BoundService {
  const handlers = new Map(
    desc.methods.map((method) => [
      method.name,
      remoteHandler(`${desc.typeName}/${method.name}`, method, host),
    ]),
  );
  return {
    desc,
    handler: (method) =>
      handlers.get(method.name) ?? remoteHandler(`${desc.typeName}/${method.name}`, method, host),
    json: (method) =>
      method.methodKind === "unary"
        ? remoteJson(`${desc.typeName}/${method.name}`, method, host)
        : undefined,
  };
}

function remoteJson(name: string, method: DescMethod, host: Host): JsonHandler {
  return async (request, call) =>
    jsonOf(
      await host.call(name, toBinary(method.input, request), {
        ...factsOf(call),
        encoding: "json",
      }),
    );
}

function remoteHandler(
  name: string,
  method: DescMethod,
  host: Host,
): UnaryHandler<DescMessage, DescMessage> | StreamHandler<DescMessage, DescMessage> {
  const call = (request: MessageShape<DescMessage>, context: Call): ReturnType<Host["call"]> =>
    host.call(name, toBinary(method.input, request), { ...factsOf(context), encoding: "proto" });
  if (method.methodKind !== "server_streaming") {
    return async (request, context) =>
      fromBinary(method.output, (await call(request, context)).body);
  }
  return async function* stream(request, context) {
    const { chunks } = await call(request, context);
    for await (const chunk of chunks ?? []) yield fromBinary(method.output, chunk);
  } satisfies StreamHandler<DescMessage, DescMessage>;
}

function remoteRoute(row: PlainRow, index: number, host: Host): PlainRoute {
  return {
    ...row,
    async handle(request, call) {
      const { meta, body, chunks } = await host.call(
        plainMethod(index),
        await writePlainRequest(request),
        { ...factsOf(call), encoding: "proto" },
      );
      return { status: meta.status ?? 200, headers: meta.headers ?? {}, body: chunks ?? body };
    },
  };
}

function factsOf({ signal, requestId, remote, headers }: Call): Omit<CallOptions, "encoding"> {
  return { signal, requestId, caller: { remote, headers } };
}
