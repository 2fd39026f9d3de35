/**
 * Users and keys on Headscale's wire. Ids are decimal text; what is absent is empty text or null.
 */
import type { Ids } from "../../../src/kernel/base/ids.ts";
import type { Network } from "../../../src/demo/network/network.ts";
import type { Person } from "../../../src/demo/network/users.ts";
import type { Machine } from "../../../src/demo/network/roster.ts";
import type { Times } from "./times.ts";
import { ZERO_TIME } from "./times.ts";
import type { Flavour, HeadscaleKey } from "./types.ts";

/** What the objects of one server are made with. */
export interface Wire {
  readonly network: Network;
  readonly times: Times;
  readonly flavour: Flavour;
}

/** The pseudo user that a list shows for tagged nodes. */
export const TAGGED_USER: object = {
  id: "2147455555",
  name: "tagged-devices",
  createdAt: ZERO_TIME,
  displayName: "Tagged Devices",
  email: "",
  providerId: "",
  provider: "",
  profilePicUrl: "",
};

const DAY_MS = 86_400_000;
const FOUNDED_MS = Date.UTC(2026, 0, 4, 9, 12, 7, 142);
const PREFIX_LENGTH = 12;
const NEVER_ENDING_KEY = 9;
const FIRST_OWN_KEY = 20;

/** A person; every third came by way of an identity provider. */
export function userObject({ times }: Wire, person: Person): object {
  const oidc = person.index % 3 === 2;
  return {
    id: userId(person),
    name: person.loginName.split("@")[0] ?? "",
    createdAt: times.local(person.createdMs + person.index, `user/${person.index}`),
    displayName: person.index % 2 === 0 ? person.displayName : "",
    email: person.index % 2 === 0 || oidc ? person.loginName : "",
    providerId: oidc ? `https://idp.test/oidc/sub-${person.index}` : "",
    provider: oidc ? "oidc" : "",
    profilePicUrl: "",
  };
}

/** Decimal. */
export function userId({ index }: Person): string {
  return String(index + 1);
}

/** Those with an account here. */
export function membersOf({ people }: Network): readonly Person[] {
  return people.filter(({ type }) => type === "member");
}

/**
 * A key that nodes join with. `undefined` expiry: never, which the development flavour shows as the
 * zero time.
 */
export interface PreAuthKey {
  readonly id: number;
  readonly owner: Person | undefined;
  readonly reusable: boolean;
  readonly ephemeral: boolean;
  readonly used: boolean;
  readonly expiresMs: number | "zero" | undefined;
  readonly createdMs: number;
  readonly tags: readonly string[];
}

/** All of them, ascending by id: shared ones first, then those that one machine has used. */
export function preAuthKeys(network: Network, nowMs: number): readonly PreAuthKey[] {
  const [ada, bob] = membersOf(network);
  const monthMs = 30 * DAY_MS;
  const createdMs = FOUNDED_MS + Math.floor((nowMs - FOUNDED_MS) / monthMs) * monthMs;
  const base = {
    owner: undefined,
    reusable: false,
    ephemeral: false,
    used: false,
    expiresMs: createdMs + monthMs,
    createdMs,
    tags: [],
  } as const;
  const shared: PreAuthKey[] = [
    { ...base, id: 1, owner: ada, reusable: true },
    { ...base, id: 2, owner: ada, ephemeral: true, used: true },
    { ...base, id: 3, owner: bob, used: true },
    { ...base, id: 4, owner: bob, expiresMs: "zero" },
    { ...base, id: 5, reusable: true, tags: ["tag:server"] },
    { ...base, id: 6, owner: ada, expiresMs: createdMs - DAY_MS },
    { ...base, id: 7, reusable: true, tags: ["tag:router", "tag:exit"] },
    { ...base, id: 8, reusable: true, ephemeral: true, tags: ["tag:ci"] },
    { ...base, id: NEVER_ENDING_KEY, owner: ada, reusable: true, expiresMs: undefined },
  ];
  const own = network.roster.filter((machine) => hasOwnKey(machine));
  return [
    ...shared,
    ...own.map((machine) => ({
      ...base,
      id: FIRST_OWN_KEY + machine.index,
      owner: machine.owner,
      used: true,
      createdMs: machine.createdMs - 60_000,
      expiresMs: machine.createdMs + monthMs,
    })),
  ];
}

/** The key that a machine joined with; undefined for other ways in. */
export function keyIdOf(machine: Machine): number | undefined {
  if (methodOf(machine) !== "REGISTER_METHOD_AUTH_KEY") return undefined;
  switch (machine.kind) {
    case "server":
      return 5;
    case "exit":
    case "router":
      return 7;
    case "ephemeral":
      return 8;
    default:
      return hasOwnKey(machine) ? FIRST_OWN_KEY + machine.index : NEVER_ENDING_KEY;
  }
}

// The first person's machines share a key that never runs out.
function hasOwnKey(machine: Machine): boolean {
  return (
    methodOf(machine) === "REGISTER_METHOD_AUTH_KEY" &&
    machine.owner !== undefined &&
    machine.owner.index > 0 &&
    machine.kind !== "external"
  );
}

/** How a machine joined. */
export function methodOf({ kind, index }: Machine): string {
  if (kind === "phone") return "REGISTER_METHOD_OIDC";
  return kind === "laptop" && index % 3 === 0 ? "REGISTER_METHOD_CLI" : "REGISTER_METHOD_AUTH_KEY";
}

/**
 * A key on the wire; the secret half is masked. Within a node both flavours write null for one that
 * never runs out.
 */
export function preAuthKeyObject(
  wire: Wire,
  key: PreAuthKey,
  { within = false }: { readonly within?: boolean } = {},
): object {
  const { times } = wire;
  const label = `preauth/${key.id}`;
  return {
    user: key.owner === undefined ? null : userObject(wire, key.owner),
    id: String(key.id),
    key: `hskey-auth-${prefixOf(wire, label)}-***`,
    reusable: key.reusable,
    ephemeral: key.ephemeral,
    used: key.used,
    expiration:
      key.expiresMs === undefined
        ? within
          ? null
          : never(wire)
        : key.expiresMs === "zero"
          ? ZERO_TIME
          : times.utc(Math.floor(key.expiresMs / 1000) * 1000),
    createdAt: times.utc(key.createdMs, label),
    aclTags: key.tags,
  };
}

// The development flavour cannot tell never from zero.
function never({ flavour }: Wire): string | null {
  return flavour === "release" ? null : ZERO_TIME;
}

/** The API keys on the wire: those given and two dead ones. `lastSeen` is never written. */
export function apiKeyObjects(wire: Wire, keys: readonly HeadscaleKey[]): readonly object[] {
  const { times } = wire;
  const object = (id: number, prefix: string, expiration: string | null): object => ({
    id: String(id),
    prefix: `hskey-api-${prefix}-***`,
    expiration,
    createdAt: times.local(FOUNDED_MS + id, `api/${id}`),
    lastSeen: null,
  });
  const given = keys.map(({ key, expiresAtMs }, index) => {
    const expiration =
      expiresAtMs === undefined
        ? never(wire)
        : expiresAtMs === "zero"
          ? ZERO_TIME
          : times.utc(expiresAtMs, `api-expiry/${index}`);
    return object(index + 1, key.replace(/^hskey-api-/, "").slice(0, PREFIX_LENGTH), expiration);
  });
  const next = keys.length + 1;
  return [
    ...given,
    object(next, prefixOf(wire, "api/zero"), ZERO_TIME),
    object(next + 1, prefixOf(wire, "api/expired"), times.utc(FOUNDED_MS + DAY_MS)),
  ];
}

/** A new API key in the flavour's alphabet. */
export function newApiKey(flavour: Flavour, ids: Ids): string {
  const text = (bytes: number, length: number): string =>
    Buffer.from(ids.bytes(bytes))
      .toString(flavour === "development" ? "hex" : "base64url")
      .slice(0, length);
  return `hskey-api-${text(9, PREFIX_LENGTH)}-${text(48, 64)}`;
}

function prefixOf({ network, flavour }: Wire, label: string): string {
  const hex = network.identities.hex(label);
  return flavour === "development"
    ? hex.slice(0, PREFIX_LENGTH)
    : Buffer.from(hex, "hex").toString("base64url").slice(0, PREFIX_LENGTH);
}
