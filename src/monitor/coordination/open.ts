/** Tries for the lease where the configuration says that replicas share it. */
import { hostname } from "node:os";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { type Election, type ElectionContext, startElection } from "./election.ts";
import type { CoordinationOptions } from "./options.ts";

/** Characters after the host's name: replicas on one machine, and lives of one replica, differ. */
const SUFFIX = 6;

export interface ReplicaFacts {
  readonly ids: Ids;
  /** Steward's. */
  readonly version: string;
  /** Of the process; tells a pod the address of its cluster. */
  readonly environment: Environment;
}

/** Loads the client of the mode only when it is used. */
export async function openElection(
  context: Omit<ElectionContext, "ttlMs">,
  { ids, version, environment }: ReplicaFacts,
  options: CoordinationOptions,
): Promise<Election> {
  const holder = `${hostname()}/${ids.base62(SUFFIX)}`;
  const { ttlMs } = options;
  const { clock } = context;
  if (options.mode === "etcd") {
    const { createEtcdStore } = await import("./etcd/store.ts");
    const { etcdConnection } = await import("./etcd/connection.ts");
    return startElection(
      { ...context, ttlMs },
      createEtcdStore({ ...etcdConnection(options), holder, ttlMs, clock }),
    );
  }
  const { createKubernetesStore } = await import("./kubernetes/store.ts");
  const { createLeaseApi } = await import("./kubernetes/api.ts");
  return startElection(
    { ...context, ttlMs },
    createKubernetesStore(createLeaseApi({ clock, ids, version, environment }, options), {
      holder,
      ttlMs,
      monotonic: () => clock.monotonic(),
      now: () => clock.now(),
    }),
  );
}
