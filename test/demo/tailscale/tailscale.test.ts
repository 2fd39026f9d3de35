/**
 * The control plane as a whole: the policy, streams, what tests may change, determinism, and the
 * size it bears.
 */
import { describe, expect, it } from "vitest";
import { createDeviceList } from "../../../src/demo/tailscale/device-list.ts";
import { benchTailscale, NOW_MS } from "../control-plane/support.ts";

const HOUR_MS = 3_600_000;

describe("the policy", () => {
  it("is HuJSON with comments and the hash of its text, or plain JSON for who asks for it", async () => {
    const { sim, get } = await benchTailscale();
    const text = await get("/tailnet/-/acl");
    const plain = await get("/tailnet/-/acl", { headers: { accept: "application/json" } });
    expect(text).toMatchObject({
      headers: {
        "content-type": "application/hujson",
        etag: expect.stringMatching(/^"[0-9a-f]{64}"$/) as string,
      },
      json: undefined,
    });
    expect(text.text).toContain("// Who may reach what");
    expect(plain.headers.etag).toBe(text.headers.etag);
    expect(plain.json.acls.length).toBeGreaterThan(2);
    sim.estate.policy("{}");
    expect((await get("/tailnet/-/acl")).text).toBe("{}");
  });

  it("changes with its hash every three quarters of an hour, and the audit log says so", async () => {
    const { clock, get } = await benchTailscale();
    const before = await get("/tailnet/-/acl");
    clock.advance(0.75 * HOUR_MS);
    const after = await get("/tailnet/-/acl");
    const { json } = await get(
      `/tailnet/-/logging/configuration?start=${new Date(NOW_MS).toISOString()}&end=${new Date(NOW_MS + HOUR_MS).toISOString()}`,
    );
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect(
      (json.logs as { target: { property?: string }; old?: unknown; new?: unknown }[]).filter(
        ({ target }) => target.property === "ACL",
      )[0],
    ).toMatchObject({ old: before.text, new: after.text });
  });

  it("holds its own tests, and validation says which do not", async () => {
    const { get } = await benchTailscale();
    const validate = async (body: unknown): Promise<unknown> =>
      (
        await get("/tailnet/-/acl/validate", {
          method: "POST",
          body: typeof body === "string" ? body : JSON.stringify(body),
        })
      ).json;
    expect(await validate((await get("/tailnet/-/acl")).text)).toEqual({});
    expect(
      await validate([{ src: "ada@corp.test", accept: ["tag:ci:22"], deny: ["tag:server:443"] }]),
    ).toEqual({
      message: "test(s) failed",
      data: [
        {
          user: "ada@corp.test",
          errors: [
            'address "tag:ci:22": want: Accept, got: Drop',
            'address "tag:server:443": want: Drop, got: Accept',
          ],
        },
      ],
    });
    expect(
      await validate({ acls: [{ action: "accept", src: ["group:x"], dst: ["*:*"] }] }),
    ).toMatchObject({ message: "warning(s) found", data: [{ user: "group:x" }] });
    expect(await validate("{ broken")).toEqual({ message: "invalid policy file" });
  });
});

describe("log streams", () => {
  it("are absent until they are set up, and then count", async () => {
    const { clock, get } = await benchTailscale();
    const path = "/tailnet/-/logging/network/stream";
    expect((await get(`${path}/status`)).status).toBe(404);
    expect((await get(path, { method: "PUT", body: JSON.stringify({ url: "x" }) })).status).toBe(
      400,
    );
    expect(
      (
        await get(path, {
          method: "PUT",
          body: JSON.stringify({
            destinationType: "splunk",
            url: "https://logs.example",
            token: "t",
          }),
        })
      ).status,
    ).toBe(200);
    const before = (await get(`${path}/status`)).json.numEntriesSent as number;
    clock.advance(60_000);
    expect((await get(`${path}/status`)).json.numEntriesSent).toBeGreaterThan(before);
    expect((await get("/tailnet/-/logging/other/stream/status")).status).toBe(404);
  });
});

describe("changes that tests make", () => {
  it("stand between the network and the wire until they are taken back", async () => {
    const { sim, get } = await benchTailscale();
    sim.estate.change("users", (body) => ({
      users: (body as { users: unknown[] }).users.slice(0, 1),
    }));
    expect((await get("/tailnet/-/users")).json.users).toHaveLength(1);
    sim.estate.change("users", undefined);
    expect((await get("/tailnet/-/users")).json.users.length).toBeGreaterThan(5);
  });

  it("do not hide who asked", async () => {
    const { sim, get } = await benchTailscale();
    await get("/tailnet/-/users?x=1", { headers: { "user-agent": "steward/1" } });
    await get("/nowhere");
    expect(sim.requests()).toEqual({ users: 1, unknown: 1 });
    expect(sim.seen()[0]).toMatchObject({
      operation: "users",
      query: "x=1",
      headers: { "user-agent": "steward/1" },
      atMs: NOW_MS,
    });
  });
});

describe("the network", () => {
  it("is the same for the same seed and instant, and moves on", async () => {
    const [one, same] = [await benchTailscale({ seed: 3 }), await benchTailscale({ seed: 3 })];
    const path = "/tailnet/-/devices?fields=all";
    const before = (await one.get(path)).text;
    expect((await same.get(path)).text).toBe(before);
    one.clock.advance(HOUR_MS);
    expect((await one.get(path)).text).not.toBe(before);
  });

  it("shows fewer members when not all are asked for", async () => {
    const { get } = await benchTailscale();
    const [few, all] = [
      await get("/tailnet/-/devices"),
      await get("/tailnet/-/devices?fields=all"),
    ];
    expect(few.json.devices[0]).not.toHaveProperty("clientConnectivity");
    expect(all.json.devices[0]).toHaveProperty("clientConnectivity");
    expect((await get("/tailnet/-/devices?fields=some")).status).toBe(400);
  });

  it("may have ten thousand devices, whose list is written once a second", async () => {
    const { get, sim } = await benchTailscale({ devices: 10_000 });
    const list = createDeviceList(sim.estate.network);
    expect(list.body("all", NOW_MS + 100)).toBe(list.body("all", NOW_MS));
    expect(list.body("all", NOW_MS + 1000)).not.toBe(list.body("all", NOW_MS));
    const first = await get("/tailnet/-/devices?fields=all");
    expect(first.json.devices.length).toBeGreaterThan(9000);
    const id = (first.json.devices as { nodeId: string }[]).at(-1)?.nodeId ?? "";
    expect((await get(`/device/${id}/attributes`)).status).toBe(200);
  });

  it("sends compressed what is large, to who takes it", async () => {
    const { get } = await benchTailscale();
    const zipped = await get("/tailnet/-/devices", { headers: { "accept-encoding": "gzip" } });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect((await get("/tailnet/-/devices")).headers).not.toHaveProperty("content-encoding");
  });
});
