/**
 * The credentials that the network has handed out: auth keys that come and go, API keys, OAuth and
 * federated clients.
 */
import { startOf, turnAt, type Cycle } from "./cycle.ts";
import type { Identities } from "./identity.ts";
import type { Person } from "./users.ts";

/** One credential as the control plane lists it. */
export interface Credential {
  readonly id: string;
  readonly kind: "auth" | "client" | "api" | "federated";
  readonly description: string;
  readonly createdMs: number;
  readonly expiresMs?: number;
  readonly revokedMs?: number;
  readonly owner?: Person;
  readonly reusable?: boolean;
  readonly ephemeral?: boolean;
  readonly used?: boolean;
  readonly scopes?: readonly string[];
  readonly tags?: readonly string[];
}

/**
 * An auth key is made with each turn; it lives for four of them, and every third is revoked early.
 */
export const AUTH_KEY_CYCLE: Cycle = { periodMs: 90 * 60_000, phaseMs: 17 * 60_000 };
/** How many turns ago a revoked key was made when it is revoked. */
export const REVOKED_AFTER_TURNS = 2;

const DAY_MS = 86_400_000;
const LISTED_TURNS = 6;
const LIFE_TURNS = 4;
const FOUNDED_MS = Date.UTC(2026, 0, 6, 9);

/** Whether the auth key of a turn is revoked before it runs out. */
export function isRevoked(turn: number): boolean {
  return turn % 3 === 0;
}

/** The auth key made in a turn, as known at an instant. */
export function authKeyOf(
  turn: number,
  atMs: number,
  people: readonly Person[],
  identities: Identities,
): Credential {
  const createdMs = startOf(AUTH_KEY_CYCLE, turn);
  const revokedMs = isRevoked(turn)
    ? startOf(AUTH_KEY_CYCLE, turn + REVOKED_AFTER_TURNS)
    : undefined;
  const ephemeral = turn % 2 === 0;
  return {
    id: identities.stable("k", `auth-key/${turn}`),
    kind: "auth",
    description: ephemeral ? "ci runners" : "provisioning",
    createdMs,
    expiresMs: startOf(AUTH_KEY_CYCLE, turn + LIFE_TURNS),
    ...(revokedMs === undefined || revokedMs > atMs ? {} : { revokedMs }),
    ...(people[0] === undefined ? {} : { owner: people[0] }),
    reusable: ephemeral,
    ephemeral,
    used: !ephemeral && turn % 5 === 1,
    tags: ephemeral ? ["tag:ci"] : [],
  };
}

/** All credentials of an instant: the auth keys of the last turns first. */
export function credentialsAt(
  atMs: number,
  people: readonly Person[],
  identities: Identities,
): readonly Credential[] {
  const turn = turnAt(AUTH_KEY_CYCLE, atMs);
  const auth = Array.from({ length: LISTED_TURNS }, (_, back) =>
    authKeyOf(turn - back, atMs, people, identities),
  );
  return [...auth, ...lasting(atMs, people, identities)];
}

function lasting(atMs: number, people: readonly Person[], identities: Identities): Credential[] {
  // Renewed in time, again and again, so that one is always close to its end.
  const renewal = { periodMs: 6 * DAY_MS, phaseMs: FOUNDED_MS };
  const turn = turnAt(renewal, atMs);
  return [
    {
      id: identities.stable("k", `api-key/${turn}`),
      kind: "api",
      description: "dashboard",
      createdMs: startOf(renewal, turn),
      expiresMs: startOf(renewal, turn + 1),
      scopes: ["all"],
      ...(people[1] === undefined ? {} : { owner: people[1] }),
    },
    {
      id: identities.stable("k", "client/infra"),
      kind: "client",
      description: "infrastructure",
      createdMs: FOUNDED_MS,
      scopes: ["devices:core", "auth_keys"],
      tags: ["tag:ci"],
    },
    {
      id: identities.stable("k", "client/monitor"),
      kind: "client",
      description: "monitoring",
      createdMs: FOUNDED_MS + DAY_MS,
      scopes: ["all:read"],
      tags: [],
    },
    {
      id: identities.stable("k", "federated/deploy"),
      kind: "federated",
      description: "deployments",
      createdMs: FOUNDED_MS + 2 * DAY_MS,
      scopes: ["policy_file"],
      tags: ["tag:ci"],
    },
  ];
}
