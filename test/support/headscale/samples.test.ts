/**
 * Answers of both flavours against answers of real servers: members, their order, their types, and
 * where null may stand.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { benchHeadscale } from "../../demo/control-plane/support.ts";
import { beyond, shapeOf } from "./shape.ts";

const sample = (name: string): string =>
  readFileSync(new URL(`samples/${name}`, import.meta.url), "utf8");
const samples = (...names: readonly string[]): unknown[] =>
  names.map((name) => JSON.parse(sample(name)));

interface Held {
  readonly path: string;
  readonly development: readonly string[];
  readonly release: readonly string[];
}

const LISTS: readonly Held[] = [
  { path: "/api/v1/node", development: ["node.json"], release: ["rel0292-node.json"] },
  { path: "/api/v1/user", development: ["user.json"], release: ["rel0292-user.json"] },
  {
    path: "/api/v1/preauthkey",
    development: ["preauthkey.json"],
    release: ["rel0292-preauthkey.json", "rel0292-preauthkey-null-expiry.json"],
  },
  { path: "/api/v1/apikey", development: ["apikey.json"], release: ["rel0292-apikey.json"] },
  { path: "/api/v1/policy", development: ["policy.json"], release: ["rel0292-policy.json"] },
  { path: "/api/v1/health", development: ["health-api.json"], release: ["health-api.json"] },
  { path: "/version", development: ["version.json"], release: ["version.json"] },
  { path: "/health", development: ["health-public.json"], release: ["health-public.json"] },
];

/**
 * The release's sample has no node that joined without a key, and none with a key that never runs
 * out.
 */
const NOT_SEEN = ["$.nodes[].preAuthKey null", "$.nodes[].preAuthKey.expiration null"];

/** Every two members in the order they stand in. */
const pairs = (names: readonly string[]): (readonly [before: string, after: string])[] =>
  names.flatMap((before, index) => names.slice(index + 1).map((after) => [before, after] as const));

describe.each(["development", "release"] as const)("answers of the %s flavour", (flavour) => {
  it.each(LISTS)("$path has the shape that was measured", async (held) => {
    const { get } = await benchHeadscale({ flavour, devices: 60 });
    const { status, json } = await get(held.path);
    const real = shapeOf(...samples(...held[flavour]));
    expect(status).toBe(200);
    expect(beyond(shapeOf(json), real).filter((each) => !NOT_SEEN.includes(each))).toEqual([]);
    expect(beyond(real, shapeOf(json))).toEqual([]);
  });

  it("shows null or the zero time for a policy that is kept in a file", async () => {
    const { get } = await benchHeadscale({ flavour, policy: "file" });
    const [real] = samples(
      flavour === "release" ? "rel0292-policy-file-mode.json" : "policy-file-mode.json",
    ) as [{ updatedAt: unknown }];
    expect((await get("/api/v1/policy")).json.updatedAt).toEqual(real.updatedAt);
  });

  it("writes times as the flavour does", async () => {
    const { get } = await benchHeadscale({ flavour, devices: 60, zoneMinutes: 330 });
    const { nodes } = (await get("/api/v1/node")).json as {
      nodes: { lastSeen: string; createdAt: string }[];
    };
    const release = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.(\d{3}|\d{6}|\d{9}))?Z$/;
    const zoned = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{0,8}[1-9])?\+05:30$/;
    for (const { lastSeen, createdAt } of nodes) {
      expect(lastSeen).toMatch(flavour === "release" ? release : zoned);
      expect(createdAt).toMatch(/Z$/);
    }
  });

  it("sends the headers that were measured", async () => {
    const { get } = await benchHeadscale({ flavour });
    const real = sample(
      flavour === "release" ? "rel0292-headers-node-200.txt" : "headers-node-200.txt",
    );
    const { headers } = await get("/api/v1/apikey");
    for (const [, name = "", value = ""] of real.matchAll(/^([\w-]+): (.*?)\r?$/gm)) {
      if (["date", "content-length"].includes(name.toLowerCase()))
        expect(headers).toHaveProperty(name.toLowerCase());
      else expect(headers[name.toLowerCase()]).toBe(value);
    }
    expect(headers).not.toHaveProperty("etag");
  });
});

describe("single nodes of the development flavour", () => {
  it("belong to nobody when tagged, and serve nothing", async () => {
    const { get } = await benchHeadscale({ flavour: "development" });
    const [tagged, owned] = [await get("/api/v1/node/1"), await get("/api/v1/node/8")];
    const [list] = samples("node.json") as [{ nodes: object[] }];
    const real = shapeOf(
      ...samples("node-get-tagged.json", "node-get-user.json"),
      ...list.nodes.map((node) => ({ node })),
    );
    expect(beyond(shapeOf(tagged.json, owned.json), real)).toEqual([]);
    expect([tagged.json.node.user, tagged.json.node.subnetRoutes]).toEqual([null, []]);
  });
});

describe("v2 of the development flavour", () => {
  const V2: readonly (readonly [path: string, name: string])[] = [
    ["/api/v2/tailnet/-/users", "v2-users.json"],
    ["/api/v2/tailnet/-/keys", "v2-keys.json"],
    ["/api/v2/tailnet/-/settings", "v2-settings.json"],
    ["/api/v2/device/1/routes", "v2-device-routes.json"],
  ];

  it.each(V2)("%s has the shape that was measured", async (path, name) => {
    const { get } = await benchHeadscale({ flavour: "development" });
    const { status, json } = await get(path);
    expect(status).toBe(200);
    expect(beyond(shapeOf(json), shapeOf(...samples(name)))).toEqual([]);
  });

  it("lists devices with the members of real ones, in their order, absent when empty", async () => {
    const { get } = await benchHeadscale({ flavour: "development" });
    const { devices } = (await get("/api/v2/tailnet/-/devices?fields=all")).json as {
      devices: object[];
    };
    const [{ devices: devicesOfSample }] = samples("v2-devices.json") as [{ devices: object[] }];
    const real = devicesOfSample.flatMap((each) => pairs(Object.keys(each)));
    const names = new Set(real.flat());
    for (const device of devices) {
      expect(Object.keys(device).filter((name) => !names.has(name))).toEqual([]);
      expect(
        pairs(Object.keys(device)).filter(([before, after]) =>
          real.some(([one, other]) => one === after && other === before),
        ),
      ).toEqual([]);
    }
    expect(devices.some((device) => !("lastSeen" in device))).toBe(true);
  });
});
