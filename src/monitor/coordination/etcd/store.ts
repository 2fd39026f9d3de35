/**
 * The lease as one key in etcd, attached to an etcd lease. The key's create revision is the epoch:
 * revisions of a cluster only grow, so a later holder has a greater one.
 */
import type { ChannelCredentials } from "@grpc/grpc-js";
import { withDeadline } from "../../../kernel/async/deadline.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { EtcdClient } from "./client.ts";
import {
  checkKey,
  createKey,
  endsWatch,
  leaseGrant,
  leaseOf,
  putIf,
  rangeOf,
  readLease,
  readPairs,
  readTxn,
  watchDeletion,
} from "./messages.ts";
import type { Attempt, Grant, LeaseStore } from "../types.ts";

const GRANT = "/etcdserverpb.Lease/LeaseGrant";
const REVOKE = "/etcdserverpb.Lease/LeaseRevoke";
const KEEP_ALIVE = "/etcdserverpb.Lease/LeaseKeepAlive";
const RANGE = "/etcdserverpb.KV/Range";
const TXN = "/etcdserverpb.KV/Txn";
const WATCH = "/etcdserverpb.Watch/Watch";
/** For giving back a lease of no use when the caller's signal has fired already. */
const REVOKE_TIMEOUT_MS = 1_000;

export interface EtcdOptions {
  /** `host:port` each, at least one. */
  readonly endpoints: readonly string[];
  /** Called for each connection. */
  readonly credentials: () => ChannelCredentials;
  readonly clock: Clock;
  readonly key: string;
  /** Name of this replica, shown by the others. */
  readonly holder: string;
  /** Whole seconds in milliseconds; etcd counts in seconds and may grant more. */
  readonly ttlMs: number;
}

/** A grant with etcd's own id of the lease. */
export interface EtcdGrant extends Grant {
  readonly lease: bigint;
}

export function createEtcdStore(options: EtcdOptions): LeaseStore<EtcdGrant> {
  const { key } = options;
  const positionsKey = `${key}/positions`;
  const client = new EtcdClient(options.endpoints, options.credentials);

  const revoke = async (lease: bigint, signal: AbortSignal): Promise<void> => {
    await client.call(REVOKE, leaseOf(lease), signal);
  };

  /** Ends the wait by itself: the caller's signal may have fired already. */
  async function giveBack(lease: bigint): Promise<void> {
    const signal = new AbortController().signal;
    const reason = (): StewardError =>
      new StewardError("deadline", `etcd did not answer within ${REVOKE_TIMEOUT_MS} ms`);
    const limits = { clock: options.clock, timeoutMs: REVOKE_TIMEOUT_MS, signal, reason };
    await withDeadline(limits, (ending) => revoke(lease, ending)).catch(() => undefined);
  }

  async function acquire(signal: AbortSignal): Promise<Attempt<EtcdGrant>> {
    const seconds = Math.ceil(options.ttlMs / 1_000);
    const { id, ttlSeconds } = readLease(await client.call(GRANT, leaseGrant(seconds), signal));
    let ours = false;
    try {
      const create = createKey(key, options.holder, id);
      const answer = readTxn(await client.call(TXN, create, signal));
      ours = answer.succeeded;
      return ours
        ? { grant: { epoch: answer.revision, ttlMs: ttlSeconds * 1_000, lease: id } }
        : { holder: answer.value, revision: String(answer.revision) };
    } finally {
      // Ends the key too if the outcome of its creation is unknown; else the TTL does both.
      if (!ours) await giveBack(id);
    }
  }

  async function renew(grant: EtcdGrant, signal: AbortSignal): Promise<boolean> {
    const kept = await client.stream(KEEP_ALIVE, leaseOf(grant.lease), signal, () => true);
    if (readLease(kept).ttlSeconds <= 0) return false;
    // Somebody may have deleted the key while the lease went on.
    return readTxn(await client.call(TXN, checkKey(key, grant.epoch), signal)).succeeded;
  }

  return {
    acquire,
    renew,
    release: (grant, signal) => revoke(grant.lease, signal),
    async untilFree(revision, signal) {
      await client.stream(WATCH, watchDeletion(key, BigInt(revision) + 1n), signal, endsWatch);
    },
    async positions(signal) {
      return readPairs(await client.call(RANGE, rangeOf(positionsKey), signal))[0];
    },
    async keepPositions(grant, text, signal) {
      const put = putIf(key, grant.epoch, { key: positionsKey, value: text });
      return readTxn(await client.call(TXN, put, signal)).succeeded;
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}
