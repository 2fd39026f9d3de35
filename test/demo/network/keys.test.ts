import { describe, expect, it } from "vitest";
import {
  AUTH_KEY_CYCLE,
  authKeyOf,
  credentialsAt,
  isRevoked,
} from "../../../src/demo/network/keys.ts";
import { startOf, turnAt } from "../../../src/demo/network/cycle.ts";
import { createIdentities } from "../../../src/demo/network/identity.ts";
import { createPeople, standingOf } from "../../../src/demo/network/users.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 10, 20, 30);
const identities = createIdentities(4);
const people = createPeople(30, "corp.test", identities);

describe("credentials", () => {
  it("are of every kind, with ids of their own", () => {
    const credentials = credentialsAt(NOW_MS, people, identities);
    expect(new Set(credentials.map(({ kind }) => kind))).toEqual(
      new Set(["auth", "api", "client", "federated"]),
    );
    expect(new Set(credentials.map(({ id }) => id)).size).toBe(credentials.length);
    expect(credentials.every(({ createdMs }) => createdMs <= NOW_MS)).toBe(true);
  });

  it("include some that have run out and some that were revoked", () => {
    const hours = Array.from({ length: 12 }, (_, hour) => NOW_MS + hour * 3_600_000);
    expect(
      hours.some((atMs) =>
        credentialsAt(atMs, people, identities).some(
          ({ expiresMs = Infinity }) => expiresMs <= atMs,
        ),
      ),
    ).toBe(true);
    expect(
      hours.some((atMs) =>
        credentialsAt(atMs, people, identities).some(({ revokedMs }) => revokedMs !== undefined),
      ),
    ).toBe(true);
  });

  it("are revoked from a moment on, not before", () => {
    const turn = turnAt(AUTH_KEY_CYCLE, NOW_MS);
    const revoked = [turn, turn - 1, turn - 2].find(isRevoked) ?? 0;
    const atMs = startOf(AUTH_KEY_CYCLE, revoked + 2);
    expect([
      authKeyOf(revoked, atMs - 1, people, identities).revokedMs,
      authKeyOf(revoked, atMs, people, identities).revokedMs,
    ]).toEqual([undefined, atMs]);
  });
});

describe("people", () => {
  it("have logins and ids of their own, and one comes from elsewhere", () => {
    const many = createPeople(3000, "corp.test", identities);
    expect(new Set(many.map(({ loginName }) => loginName)).size).toBe(many.length);
    expect(many.filter(({ type }) => type === "shared")).toHaveLength(1);
    expect(many.slice(0, 1).map((person) => standingOf(person, NOW_MS))).toEqual([
      { role: "owner", status: "active" },
    ]);
    expect(new Set(many.map((person) => standingOf(person, NOW_MS).status))).toContain(
      "needs-approval",
    );
  });
});
