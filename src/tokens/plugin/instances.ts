/**
 * One engine per mount of the host. A process serves all mounts of the plugin; the host names the
 * mount of each call in the call's metadata.
 */
import type { Client, Metadata } from "@grpc/grpc-js";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import { CONFIG_KEY } from "../engine/store.ts";
import type { Backend, BackendFactory, Host } from "../logical/types.ts";
import { createHostStorage, fetchLeaseLimits } from "./storage.ts";

/** Name of the metadata. */
const MULTIPLEX_ID = "multiplex_id";

/** Mounts in one process. */
const MAX_INSTANCES = 1_024;

/** Until the host has said what the mount's are: Vault's own, 32 days. */
const USUAL_LIMITS = { defaultLeaseTtlMs: 2_764_800_000, maxLeaseTtlMs: 2_764_800_000 };

/** Keys that a host with seal wrap encrypts once more: the app's private key is in one. */
export const SEAL_WRAPPED: ReadonlySet<string> = new Set([CONFIG_KEY]);

export interface InstancesDeps {
  readonly factory: BackendFactory;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Instances {
  /**
   * Takes the connection over; replaces an earlier engine of the same mount. Asks nothing of the host's storage: while a plugin is
   * registered the host has none. Throws `exhausted` at the limit.
   */
  open(id: string, client: Client): Promise<void>;
  /** Throws `not_found` when the mount was not set up, e.g. since the process is a new one. */
  backend(id: string): Backend;
  /** Asks the host for the mount's lease times; keeps the usual ones when it does not say. */
  initialize(id: string): Promise<void>;
  /** Ends requests in progress. Does nothing for an unknown mount. */
  close(id: string): Promise<void>;
  closeAll(): Promise<void>;
}

interface Instance {
  readonly backend: Backend;
  readonly client: Client;
  limits: ReturnType<Host["limits"]>;
}

/** The mount that a call is for. Throws `invalid` unless there is exactly one id. */
export function multiplexId(metadata: Metadata): string {
  const [id] = metadata.get(MULTIPLEX_ID);
  if (typeof id !== "string" || id === "")
    throw new StewardError("invalid", `the call has no ${MULTIPLEX_ID} in its metadata`, {
      rule: "multiplex_id",
    });
  // HTTP/2 joins several values of a name.
  if (id.includes(","))
    throw new StewardError("invalid", `the call has more than one ${MULTIPLEX_ID}`, {
      rule: "multiplex_id",
    });
  return id;
}

export function createInstances({ factory, clock, log }: InstancesDeps): Instances {
  const open = new Map<string, Instance>();

  function find(id: string): Instance {
    const instance = open.get(id);
    if (instance !== undefined) return instance;
    throw new StewardError("not_found", "the host has not set up this mount in this process", {
      rule: "multiplex_id",
    });
  }

  async function close(id: string): Promise<void> {
    const instance = open.get(id);
    if (instance === undefined) return;
    open.delete(id);
    await instance.backend.close();
    instance.client.close();
  }

  async function start(id: string, client: Client): Promise<Instance> {
    if (open.size >= MAX_INSTANCES)
      throw new StewardError("exhausted", `this process serves ${MAX_INSTANCES} mounts already`, {
        rule: "instances",
      });
    const backend = await factory({
      storage: createHostStorage(client, { clock, sealWrapped: SEAL_WRAPPED }),
      limits: () => open.get(id)?.limits ?? USUAL_LIMITS,
      clock,
      log,
    });
    return { backend, client, limits: USUAL_LIMITS };
  }

  return {
    async open(id, client) {
      try {
        await close(id);
        open.set(id, await start(id, client));
      } catch (error) {
        client.close();
        throw error;
      }
    },
    backend: (id) => find(id).backend,
    async initialize(id) {
      const instance = find(id);
      try {
        instance.limits = await fetchLeaseLimits(instance.client, clock);
      } catch (error) {
        log.debug("the host did not say the mount's lease times; the usual ones are assumed", {
          error,
        });
      }
    },
    close,
    async closeAll() {
      await Promise.all([...open.keys()].map(close));
    },
  };
}
