/** The storage and the lease limits of one mount, which the host keeps. */
import { type Client, type ServiceError, status } from "@grpc/grpc-js";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { Storage, SystemView } from "../../gen/vault/host_pb.ts";
import type { Host, StorageView } from "../logical/types.ts";
import { callUnary } from "./grpc.ts";

/** Half of the time that Vault gives a request. */
const CALL_MS = 45_000;

/** The text of the host's error when it is a standby or a replica. */
const READ_ONLY = "cannot write to readonly storage";

/** Rule of an error whose message is the host's own text, which the host may look for. */
export const HOST_ERROR = "host_error";

/** Keys of the mount that a host with seal wrap encrypts once more. */
export function createHostStorage(
  client: Client,
  { clock, sealWrapped }: { readonly clock: Clock; readonly sealWrapped: ReadonlySet<string> },
): StorageView {
  const call = caller(client, clock);
  return {
    async get(key) {
      const { entry, err } = await call(Storage.method.get, { key });
      throwHostError(err);
      return entry?.value;
    },
    async put(key, value) {
      const entry = { key, value, sealWrap: sealWrapped.has(key) };
      throwHostError((await call(Storage.method.put, { entry })).err);
    },
    async delete(key) {
      throwHostError((await call(Storage.method.delete, { key })).err);
    },
    async list(prefix, { after, limit } = { after: "", limit: Number.POSITIVE_INFINITY }) {
      const { keys, err } = await call(Storage.method.list, { prefix });
      throwHostError(err);
      const behind = keys.filter((key) => after === "" || bytewise(key, after) > 0);
      return behind.toSorted(bytewise).slice(0, limit);
    },
  };
}

function bytewise(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Asks the host for the mount's lease times. */
export async function fetchLeaseLimits(
  client: Client,
  clock: Clock,
): Promise<ReturnType<Host["limits"]>> {
  const call = caller(client, clock);
  const [usual, most] = await Promise.all([
    call(SystemView.method.defaultLeaseTTL, {}),
    call(SystemView.method.maxLeaseTTL, {}),
  ]);
  return {
    defaultLeaseTtlMs: Number(usual.TTL / 1_000_000n),
    maxLeaseTtlMs: Number(most.TTL / 1_000_000n),
  };
}

function caller(client: Client, clock: Clock) {
  return async <M extends Parameters<typeof callUnary>[1]>(
    method: M,
    request: Parameters<typeof callUnary<M>>[2],
  ): ReturnType<typeof callUnary<M>> => {
    try {
      return await callUnary(client, method, request, { deadlineMs: clock.now() + CALL_MS });
    } catch (thrown) {
      throw lost(thrown as ServiceError);
    }
  };
}

function throwHostError(text: string): void {
  if (text === "") return;
  throw new StewardError(text === READ_ONLY ? "denied" : "internal", text, { rule: HOST_ERROR });
}

/** The call itself failed. gRPC's details may name paths of the host, which its operator may see. */
function lost(error: ServiceError): StewardError {
  const late = error.code === status.DEADLINE_EXCEEDED;
  return new StewardError(
    late ? "deadline" : "not_ready",
    `the host's storage ${late ? "did not answer in time" : "cannot be reached"}: ${error.details}`,
    { rule: HOST_ERROR, cause: error },
  );
}
