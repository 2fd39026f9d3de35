/** `pb.Backend`: sets engines up for the host's mounts and passes their requests on. */
import type { Client, Server } from "@grpc/grpc-js";
import { assert, errorWithRemedy, toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { Backend as BackendService, type Request } from "../../gen/vault/backend_pb.ts";
import type { Backend, LogicalRequest, LogicalResponse } from "../logical/types.ts";
import type { Broker, ListenerAddress } from "./broker.ts";
import { addService, type CallContext } from "./grpc.ts";
import { type Instances, multiplexId, SEAL_WRAPPED } from "./instances.ts";
import { failureReply, protoError, toReply } from "./replies.ts";
import { headOf, toLogicalRequest } from "./requests.ts";

/** A secrets engine; the host also knows auth methods. */
const LOGICAL = 1;

export interface BackendDeps {
  readonly instances: Instances;
  readonly broker: Broker;
  readonly connect: (listener: ListenerAddress) => Client;
  readonly log: Log;
}

export function addBackendService(
  server: Server,
  { instances, broker, connect, log }: BackendDeps,
): void {
  addService(server, BackendService, {
    async setup({ brokerId }, { metadata }) {
      const id = multiplexId(metadata);
      try {
        await instances.open(id, connect(await broker.find(brokerId)));
        return {};
      } catch (thrown) {
        const error = toStewardError(thrown);
        log.error("setting up a mount failed", { error });
        return { err: errorWithRemedy(error) };
      }
    },
    async initialize(_, { metadata }) {
      await instances.initialize(multiplexId(metadata));
      return {};
    },
    type: () => Promise.resolve({ type: LOGICAL }),
    specialPaths(_, { metadata }) {
      const { paths } = instances.backend(multiplexId(metadata));
      return Promise.resolve({
        paths: { unauthenticated: unauthenticated(paths), sealWrapStorage: [...SEAL_WRAPPED] },
      });
    },
    async handleExistenceCheck({ request }, call) {
      const backend = instances.backend(multiplexId(call.metadata));
      try {
        const exists = await backend.exists(headOf(given(request), call.signal));
        return exists === undefined ? {} : { checkFound: true, exists };
      } catch (thrown) {
        return { err: protoError(reported(thrown, log)) };
      }
    },
    async handleRequest({ request }, call) {
      const backend = instances.backend(multiplexId(call.metadata));
      try {
        return toReply(await handle(backend, given(request), call, log));
      } catch (thrown) {
        return failureReply(reported(thrown, log));
      }
    },
    invalidateKey({ key }, { metadata }) {
      instances.backend(multiplexId(metadata)).invalidate(key);
      return Promise.resolve({});
    },
    async cleanup(_, { metadata }) {
      await instances.close(multiplexId(metadata));
      return {};
    },
  });
}

async function handle(
  backend: Backend,
  request: Request,
  { signal }: CallContext,
  log: Log,
): Promise<LogicalResponse | undefined> {
  const asked = await toLogicalRequest(request, signal);
  const response = await backend.handle(asked);
  if (signal.aborted && response?.secret !== undefined)
    await revokeUndelivered(backend, asked, response, log);
  return response;
}

/** A host that gave the call up makes no lease: nobody else would end the token. */
async function revokeUndelivered(
  backend: Backend,
  asked: LogicalRequest,
  { data = {}, secret }: LogicalResponse,
  log: Log,
): Promise<void> {
  try {
    await backend.handle({
      ...asked,
      operation: "revoke",
      data,
      secret: { internalData: secret?.internalData ?? {}, leaseId: "" },
      signal: new AbortController().signal,
    });
  } catch (error) {
    log.error("the host gave a request up, and revoking its token failed; it expires at its TTL", {
      request_id: asked.id,
      error: toStewardError(error),
    });
  }
}

function given(request: Request | undefined): Request {
  assert(request !== undefined, "the host's call has a request");
  return request;
}

/** The host's operator sees of our mistakes only that there was one; the log has the rest. */
function reported(thrown: unknown, log: Log) {
  const error = toStewardError(thrown);
  if (error.code === "internal" || error.code === "corrupt")
    log.error("a request failed", { error });
  return error;
}

function unauthenticated(paths: Backend["paths"]): string[] {
  return paths
    .filter((path) => path.unauthenticated === true)
    .flatMap(({ pattern, also = [] }) => [pattern, ...also]);
}
