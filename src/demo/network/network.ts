/**
 * A private network that changes over time: one model behind the simulators of both control planes.
 * It is a function of seed and time, so the past is always reproduced exactly, in any process.
 */
import { auditIn, type AuditEvent } from "./audit.ts";
import type { Window } from "./cycle.ts";
import { createDevices, type Devices } from "./devices.ts";
import { createFlows, type Flows } from "./flows.ts";
import { createIdentities, type Identities } from "./identity.ts";
import { credentialsAt, type Credential } from "./keys.ts";
import { policyAt } from "./policy.ts";
import { createRoster, withConditions, type Conditions, type Machine } from "./roster.ts";
import { createPeople, type Person } from "./users.ts";

/** What kind of network. */
export interface NetworkOptions {
  readonly seed: number;
  /** Machines, including those that come and go; default 25, at most 50,000. */
  readonly devices?: number;
  /** The organisation's domain; default `corp.test`. */
  readonly domain?: string;
  /** Machines that begin conversations; default 250. Bounds the flow log of large networks. */
  readonly talkers?: number;
  /** Machines, by their place in the roster, that are in this condition at every instant. */
  readonly conditions?: Conditions;
}

/** The network. Instants are milliseconds since 1970. */
export interface Network {
  readonly domain: string;
  /** The DNS suffix of device names, e.g. `tail1a2b3c.ts.net`. */
  readonly suffix: string;
  readonly tailnetId: string;
  readonly people: readonly Person[];
  readonly roster: readonly Machine[];
  readonly identities: Identities;
  readonly devices: Devices;
  readonly flows: Flows;
  credentials(atMs: number): readonly Credential[];
  policy(atMs: number): string;
  audit(window: Window): readonly AuditEvent[];
}

const DEFAULT_DEVICES = 25;
const MAX_DEVICES = 50_000;
const DEFAULT_TALKERS = 250;

/** Throws a RangeError for a number of devices that is none. */
export function createNetwork({
  seed,
  devices: count = DEFAULT_DEVICES,
  domain = "corp.test",
  talkers = DEFAULT_TALKERS,
  conditions = {},
}: NetworkOptions): Network {
  if (!Number.isInteger(count) || count < 0 || count > MAX_DEVICES)
    throw new RangeError(`a simulated network has 0 to ${MAX_DEVICES} devices, not ${count}`);
  const identities = createIdentities(seed);
  const people = createPeople(count, domain, identities);
  const roster = withConditions(createRoster(count, seed, people, identities), conditions);
  const devices = createDevices(roster, identities);
  const tailnetId = identities.stable("T", "tailnet");
  return {
    domain,
    suffix: `tail${identities.hex("suffix").slice(0, 6)}.ts.net`,
    tailnetId,
    people,
    roster,
    identities,
    devices,
    flows: createFlows(roster, devices, seed, talkers),
    credentials: (atMs) => credentialsAt(atMs, people, identities),
    policy: (atMs) => policyAt(people, atMs),
    audit: (window) =>
      auditIn({ people, devices, identities, tailnet: { id: tailnetId, name: domain } }, window),
  };
}
