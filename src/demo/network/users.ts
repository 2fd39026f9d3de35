/**
 * The people of the network: their roles, and the one whose account is suspended and restored in
 * turns.
 */
import { turnAt, type Cycle } from "./cycle.ts";
import type { Identities } from "./identity.ts";
import { PEOPLE } from "./names.ts";

/** Roles as the vendor spells them. */
export type Role =
  | "owner"
  | "member"
  | "admin"
  | "it-admin"
  | "network-admin"
  | "billing-admin"
  | "auditor";

/** States of an account as the vendor spells them. */
type UserStatus = "active" | "idle" | "suspended" | "needs-approval";

/** A person, as far as it never changes. */
export interface Person {
  readonly index: number;
  readonly id: string;
  readonly displayName: string;
  readonly loginName: string;
  readonly createdMs: number;
  /** `shared`: of another network, and only here because a device of theirs is shared in. */
  readonly type: "member" | "shared";
}

/** What changes. */
export interface Standing {
  readonly role: Role;
  readonly status: UserStatus;
}

/** The second person's role changes with each turn. */
export const ROLE_CYCLE: Cycle = { periodMs: 6 * 3_600_000, phaseMs: 11 * 60_000 };
/** The fifth person is suspended in odd turns. */
export const SUSPENSION_CYCLE: Cycle = { periodMs: 4 * 3_600_000, phaseMs: 47 * 60_000 };
/** Whose role changes. */
export const ROLE_INDEX = 1;
/** Who is suspended at times. */
export const SUSPENDED_INDEX = 4;

const FOUNDED_MS = Date.UTC(2025, 4, 1);
const DAY_MS = 86_400_000;
const ROLES: readonly Role[] = [
  "owner",
  "admin",
  "it-admin",
  "network-admin",
  "member",
  "billing-admin",
  "auditor",
];

/** One person for about three devices; at least six. The last is of another network. */
export function createPeople(
  devices: number,
  domain: string,
  identities: Identities,
): readonly Person[] {
  const count = Math.max(6, Math.ceil(devices / 3));
  return Array.from({ length: count + 1 }, (_, index) => {
    const [given, family] = PEOPLE[index % PEOPLE.length] as readonly [string, string];
    const round = Math.floor(index / PEOPLE.length);
    const login = `${given.toLowerCase()}${round === 0 ? "" : round}`;
    const shared = index === count;
    return {
      index,
      id: identities.stable("u", `user/${index}`),
      displayName: `${given} ${family}`,
      loginName: shared ? `${login}@else.test` : `${login}@${domain}`,
      createdMs: FOUNDED_MS + (index % 400) * DAY_MS,
      type: shared ? "shared" : "member",
    };
  });
}

/** Role and state of a person at an instant. */
export function standingOf({ index, type }: Person, atMs: number): Standing {
  return {
    role: type === "shared" ? "member" : roleOf(index, atMs),
    status: statusOf(index, type, atMs),
  };
}

/** The role of the changing person in a turn. */
export function roleInTurn(turn: number): Role {
  return turn % 2 === 0 ? "admin" : "network-admin";
}

function roleOf(index: number, atMs: number): Role {
  if (index === ROLE_INDEX) return roleInTurn(turnAt(ROLE_CYCLE, atMs));
  return ROLES[index] ?? "member";
}

function statusOf(index: number, type: Person["type"], atMs: number): UserStatus {
  if (type === "shared") return "active";
  if (index === SUSPENDED_INDEX)
    return turnAt(SUSPENSION_CYCLE, atMs) % 2 === 0 ? "active" : "suspended";
  if (index % 40 === 5) return "needs-approval";
  return index % 11 === 6 ? "idle" : "active";
}
