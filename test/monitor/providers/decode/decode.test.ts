import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  count,
  type Fields,
  flag,
  inner,
  list,
  members,
  text,
  texts,
  wholeText,
} from "../../../../src/monitor/providers/decode/fields.ts";
import { isZeroTime, timeMs, wholeSeconds } from "../../../../src/monitor/providers/decode/time.ts";
import * as headscale from "../../../../src/monitor/providers/headscale/decode.ts";
import type { ControlPlane } from "../../../../src/monitor/providers/tailscale/control-plane.ts";
import { deviceCalls } from "../../../../src/monitor/providers/tailscale/device.ts";
import { networkCalls } from "../../../../src/monitor/providers/tailscale/network.ts";
import { peopleCalls } from "../../../../src/monitor/providers/tailscale/people.ts";
import { policyCalls } from "../../../../src/monitor/providers/tailscale/policy.ts";

/** When objects are read. */
const READ_MS = Date.UTC(2026, 10, 27);

/** A control plane whose every response is this object, or the list of it. */
function planeOf(object: Fields): ControlPlane {
  const client = {
    call: async () => ({ value: object }),
    async *items() {
      yield [object];
    },
  };
  const clock = { now: () => READ_MS };
  return { client, clock, path: (rest: string) => rest } as unknown as ControlPlane;
}

type Call = (plane: ControlPlane, ...args: unknown[]) => Promise<unknown>;

describe("times", () => {
  it.each([
    ["2026-11-21T08:57:00.534085417+05:30", Date.UTC(2026, 10, 21, 3, 27, 0, 534)],
    ["2026-11-21T03:27:00Z", Date.UTC(2026, 10, 21, 3, 27)],
    ["2026-11-21T03:27:00.5-02:00", Date.UTC(2026, 10, 21, 5, 27, 0, 500)],
    ["", undefined],
    ["0001-01-01T00:00:00Z", undefined],
    ["0001-01-01T05:53:00+05:53", undefined],
    ["2026-13-45T99:00:00Z", undefined],
    ["yesterday", undefined],
    [null, undefined],
    [17, undefined],
  ])("reads %j", (told, ms) => expect(timeMs(told)).toBe(ms));

  it("tells the zero time from no time", () => {
    expect([
      isZeroTime("0001-01-01T00:00:00Z"),
      isZeroTime(null),
      isZeroTime(""),
      isZeroTime("2026-11-21T03:27:00Z"),
    ]).toEqual([true, false, false, false]);
  });

  it("writes whole seconds that any reader gives back", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e12 }),
        (ms) => timeMs(wholeSeconds(ms)) === ms - (ms % 1_000),
      ),
    );
  });
});

describe("readers of fields", () => {
  it("take numbers as texts and texts as numbers", () => {
    expect([
      text(17),
      text("17"),
      count("17"),
      count(1.5),
      count("x"),
      count(Number.NaN),
      flag("true"),
      flag(true),
    ]).toEqual(["17", "17", 17, 1.5, undefined, undefined, undefined, true]);
  });

  it("take texts as names of bounded length, unless they are asked for the whole", () => {
    const long = "x".repeat(100_000);
    const bounded = /^x{1004}…~[0-9a-f]{16}$/;
    for (const name of [text(long), texts([long])[0], members({ [long]: 1 })[0]?.[0]])
      expect(name).toMatch(bounded);
    expect(text(`${long}1`)).not.toBe(text(`${long}2`));
    expect(wholeText(long)).toBe(long);
  });

  it("never throw, whatever they get", () => {
    const readers = [wholeText, members, text, flag, count, list, texts, inner, timeMs, isZeroTime];
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withNullPrototype: true,
          withSparseArray: true,
        }),
        (value) => {
          for (const read of readers) read(value);
        },
      ),
    );
  });
});

const names = [
  "id",
  "tags",
  "lastSeen",
  "expires",
  "clientConnectivity",
  "latency",
  "clientSupports",
  "postureIdentity",
  "distro",
  "attributes",
  "expiries",
  "capabilities",
  "devices",
  "create",
  "keyType",
  "status",
  "nameservers",
  "splitDNS",
  "preferences",
  "account",
  "data",
  "message",
  "lastActivity",
  "expiration",
  "user",
  "preAuthKey",
  "approvedRoutes",
  "availableRoutes",
  "online",
  "expiry",
  "aclTags",
  "acceptedBy",
  "redirectURIs",
  "name",
  "hostname",
  "loginName",
];
const told: fc.Arbitrary<Fields> = fc.letrec<{ object: Fields; value: unknown }>((tie) => ({
  object: fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 12 }),
  value: fc.oneof(
    { depthSize: "small" },
    fc.jsonValue(),
    tie("object"),
    fc.array(tie("value"), { maxLength: 3 }),
  ),
})).object;

/** Whether a text of more than 1,024 bytes is anywhere in it. */
function holdsLongText(value: unknown): boolean {
  if (typeof value === "string") return Buffer.byteLength(value) > 1_024;
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)].some(holdsLongText);
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(([name, member]) => holdsLongText(name) || holdsLongText(member))
  );
}

describe("decoders", () => {
  const { userOf, ...rest } = headscale;
  const { validatePolicy } = policyCalls;
  const calls = { ...deviceCalls, ...networkCalls, ...peopleCalls, validatePolicy };
  const decoders: (readonly [name: string, decode: (fields: Fields) => Promise<unknown>])[] = [
    ...Object.entries(calls as Record<string, Call>).map(
      ([name, call]) => [name, (fields: Fields) => call(planeOf(fields), "id")] as const,
    ),
    ["userOf of Headscale", async (fields) => userOf(fields)],
    ...Object.entries(rest as Record<string, (fields: Fields, nowMs: number) => unknown>).map(
      ([name, decode]) =>
        [`${name} of Headscale`, async (fields: Fields) => decode(fields, 0)] as const,
    ),
  ];

  it.each(decoders)("%s never throws", async (_, decode) => {
    await fc.assert(
      fc.asyncProperty(told, async (object) => {
        await decode(object);
      }),
    );
  });

  it.each(decoders)("%s bounds every text", async (_, decode) => {
    const long = "x".repeat(2_000);
    await fc.assert(
      fc.asyncProperty(told, async (object) => {
        expect(
          holdsLongText(
            await decode(
              JSON.parse(JSON.stringify(object), (_, value: unknown) =>
                typeof value === "string" ? long : value,
              ) as Fields,
            ),
          ),
        ).toBe(false);
      }),
    );
  });

  it.each([
    ["was seen when it was read while it is connected", { connectedToControl: true }, READ_MS],
    ["was never seen", { connectedToControl: false }, undefined],
    [
      "was seen when the control plane says",
      { connectedToControl: true, lastSeen: "2026-11-26T00:00:00Z" },
      READ_MS - 86_400_000,
    ],
  ])("say of a hosted device that it %s", async (_, object, lastSeenMs) => {
    const { signal } = new AbortController();
    expect((await deviceCalls.devices(planeOf(object), signal))[0]?.lastSeenMs).toBe(lastSeenMs);
  });

  it("let a field of a wrong type cost that field only", async () => {
    const [device] = await deviceCalls.devices(
      planeOf({
        id: 12,
        name: "a",
        tags: "tag:x",
        lastSeen: 4,
        authorized: "yes",
        online: 1,
        addresses: [1, null, "100.64.0.1"],
        clientConnectivity: {
          latency: { Paris: { latencyMs: "19.8" }, Rome: {} },
          clientSupports: { udp: "no" },
        },
      }),
      new AbortController().signal,
    );
    expect(device).toMatchObject({
      id: "12",
      name: "a",
      tags: [],
      lastSeenMs: undefined,
      authorized: false,
      addresses: ["1", "100.64.0.1"],
      connectivity: {
        latency: [{ region: "Paris", seconds: 0.0198, preferred: false }],
        supports: { udp: undefined },
      },
    });
  });
});
