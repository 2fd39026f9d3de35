/**
 * The lease as a Lease object of Kubernetes, taken and renewed as client-go's leader election does:
 * whoever sees no renewal for the lease's length, by its own clock, may take it over. The number of
 * transitions is the epoch.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Attempt, Grant, LeaseStore } from "../types.ts";
import type { LeaseApi } from "./api.ts";
import type { LeaseChange, LeaseObject } from "./lease-object.ts";

/** Where positions are kept in the object. */
const ANNOTATION = "steward/positions";
/** The lease of a released object, as client-go writes it. */
const RELEASED_MS = 1_000;

export interface KubernetesOptions {
  /** Name of this replica, shown by the others. */
  readonly holder: string;
  readonly ttlMs: number;
  readonly monotonic: () => number;
  readonly now: () => number;
}

export function createKubernetesStore(
  api: LeaseApi,
  { holder, ttlMs, monotonic, now }: KubernetesOptions,
): LeaseStore {
  /** The object as this replica wrote it last. */
  let ours: LeaseObject | undefined;
  /** The last renewal of another holder, and when it was first seen. */
  let seen: { readonly renewal: string; readonly atMs: number; readonly ttlMs: number } | undefined;

  function watched(lease: LeaseObject): void {
    if (seen?.renewal !== lease.renewal)
      seen = { renewal: lease.renewal, atMs: monotonic(), ttlMs: lease.ttlMs };
  }

  const leftMs = (): number =>
    seen === undefined ? 0 : Math.max(0, seen.atMs + seen.ttlMs - monotonic());

  const change = (transitions: number, more: Partial<LeaseChange> = {}): LeaseChange => ({
    holder,
    ttlMs,
    transitions,
    nowMs: now(),
    acquired: false,
    ...more,
  });

  async function acquire(signal: AbortSignal): Promise<Attempt<Grant>> {
    const lease = await api.read(signal);
    if (lease !== undefined && lease.holder !== "" && lease.holder !== holder) {
      watched(lease);
      if (leftMs() > 0) return { holder: lease.holder, revision: lease.resourceVersion };
    }
    const transitions = (lease?.transitions ?? 0) + 1;
    const written = await api.write(lease, change(transitions, { acquired: true }), signal);
    // Another replica was faster: the next try sees it.
    if (written === undefined)
      return { holder: "", revision: lease === undefined ? "" : lease.resourceVersion };
    ours = written;
    seen = undefined;
    return { grant: { epoch: BigInt(transitions), ttlMs } };
  }

  /** Writes a change if the lease is still that of the grant; false if not. */
  async function writeOurs(
    { epoch }: Grant,
    made: LeaseChange,
    signal: AbortSignal,
  ): Promise<boolean> {
    const isOurs = (lease: LeaseObject | undefined): lease is LeaseObject =>
      lease?.holder === holder && BigInt(lease.transitions) === epoch;
    if (!isOurs(ours)) ours = await api.read(signal);
    if (!isOurs(ours)) return false;
    const written = await api.write(ours, made, signal);
    if (written !== undefined) {
      ours = written;
      return true;
    }
    // Somebody else wrote to it, e.g. a label: what counts is whether it is still ours.
    const current = await api.read(signal);
    if (!isOurs(current)) return false;
    ours = await api.write(current, made, signal);
    if (ours === undefined)
      throw new StewardError("conflict", "the Lease in Kubernetes is changed all the time", {
        remedy: "find out what writes to it beside Steward",
      });
    return true;
  }

  return {
    acquire,
    renew: (grant, signal) => writeOurs(grant, change(Number(grant.epoch)), signal),
    async release(grant, signal) {
      const released = { holder: "", ttlMs: RELEASED_MS };
      await writeOurs(grant, change(Number(grant.epoch), released), signal);
      ours = undefined;
    },
    async untilFree(revision, signal) {
      const endsMs = monotonic() + leftMs();
      await api.watch({ revision, forMs: endsMs - monotonic() }, signal, (lease) => {
        if (lease === undefined || lease.holder === "" || lease.holder === holder) return true;
        watched(lease);
        // A renewal: the wait starts anew, in a new attempt.
        return monotonic() >= endsMs;
      });
    },
    async positions(signal) {
      return (await api.read(signal))?.annotations[ANNOTATION];
    },
    keepPositions: (grant, text, signal) =>
      writeOurs(
        grant,
        change(Number(grant.epoch), { annotations: { [ANNOTATION]: text } }),
        signal,
      ),
    [Symbol.dispose]: () => api.close(),
  };
}
