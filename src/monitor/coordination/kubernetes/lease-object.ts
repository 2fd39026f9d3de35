/**
 * The Lease object of Kubernetes, group `coordination.k8s.io/v1`: what of it Steward reads, and how
 * a change of it is written so that everything else in it stays.
 */
import { StewardError } from "../../../kernel/base/errors.ts";

/** As other clients of the API take turns with it (client-go's leader election). */
export interface LeaseObject {
  /** Changes with each write; a write with an older one is refused. */
  readonly resourceVersion: string;
  /** Empty when nobody holds it. */
  readonly holder: string;
  readonly ttlMs: number;
  /** Grows with each change of the holder. */
  readonly transitions: number;
  readonly annotations: Readonly<Record<string, string>>;
  /** Changes whenever the holder renews. */
  readonly renewal: string;
  /** The whole object. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface LeaseChange {
  readonly holder: string;
  readonly ttlMs: number;
  readonly transitions: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Whether the holder is a new one. */
  readonly acquired: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
}

type Members = Readonly<Record<string, unknown>>;

/** Throws `upstream` for what is no Lease. */
export function readLease(value: unknown): LeaseObject {
  const raw = membersOf(value);
  const [metadata, spec] = [membersOf(raw["metadata"]), membersOf(raw["spec"])];
  const resourceVersion = metadata["resourceVersion"];
  if (raw["kind"] !== "Lease" || typeof resourceVersion !== "string")
    throw new StewardError("upstream", "the API of Kubernetes answered with no Lease", {
      remedy: "check coordination.endpoints",
    });
  const text = (name: string): string => (typeof spec[name] === "string" ? spec[name] : "");
  const number = (name: string): number => (typeof spec[name] === "number" ? spec[name] : 0);
  const annotations = Object.entries(membersOf(metadata["annotations"]));
  return {
    resourceVersion,
    holder: text("holderIdentity"),
    ttlMs: number("leaseDurationSeconds") * 1_000,
    transitions: number("leaseTransitions"),
    annotations: Object.fromEntries(
      annotations.flatMap(([name, given]) => (typeof given === "string" ? [[name, given]] : [])),
    ),
    renewal: `${text("holderIdentity")} ${text("renewTime")} ${number("leaseTransitions")}`,
    raw,
  };
}

/** The object to write over `from`, or a new one of this name. */
export function writeLease(from: LeaseObject | string, change: LeaseChange): string {
  const { holder, ttlMs, transitions, acquired } = change;
  // Kubernetes writes times with microseconds.
  const now = new Date(change.nowMs).toISOString().replace("Z", "000Z");
  const before = typeof from === "string" ? {} : from.raw;
  const metadata = typeof from === "string" ? { name: from } : membersOf(before["metadata"]);
  const annotations = { ...membersOf(metadata["annotations"]), ...change.annotations };
  return JSON.stringify({
    ...before,
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: {
      ...membersOf(before["spec"]),
      holderIdentity: holder,
      leaseDurationSeconds: Math.ceil(ttlMs / 1_000),
      leaseTransitions: transitions,
      renewTime: now,
      ...(acquired ? { acquireTime: now } : {}),
    },
  });
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Members)
    : {};
}
