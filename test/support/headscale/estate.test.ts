/** What happens to nodes over time, as it was observed on real servers. */
import { describe, expect, it } from "vitest";
import { benchHeadscale, type HeadscaleBench } from "../../demo/control-plane/support.ts";

interface NodeObject {
  readonly id: string;
  readonly name: string;
  readonly givenName: string;
  readonly online: boolean;
  readonly lastSeen: string;
  readonly expiry: string | null;
  readonly user: { readonly name: string } | null;
  readonly approvedRoutes: readonly string[];
  readonly availableRoutes: readonly string[];
  readonly subnetRoutes: readonly string[];
}

const nodesOf = async ({ get }: HeadscaleBench): Promise<readonly NodeObject[]> =>
  (await get("/api/v1/node")).json.nodes as NodeObject[];
const nodeOf = async (bench: HeadscaleBench, id: string): Promise<NodeObject | undefined> =>
  (await nodesOf(bench)).find((node) => node.id === id);

describe("a server's restart", () => {
  it("shows every node offline at once with the old time, and all back within nine seconds", async () => {
    const bench = await benchHeadscale({ flavour: "release" });
    const before = await nodesOf(bench);
    bench.sim.estate.restart();
    const during = await nodesOf(bench);
    bench.clock.advance(9000);
    const after = await nodesOf(bench);
    expect(before.filter(({ online }) => online).length).toBeGreaterThan(10);
    expect(during.filter(({ online }) => online)).toEqual([]);
    expect(during.map(({ lastSeen }) => lastSeen)).toEqual(before.map(({ lastSeen }) => lastSeen));
    expect(after.filter(({ online }) => online).length).toBe(
      before.filter(({ online }) => online).length,
    );
    expect(after.find(({ id }) => id === "1")?.lastSeen).not.toBe(
      before.find(({ id }) => id === "1")?.lastSeen,
    );
  });
});

describe("nodes", () => {
  it("keep the moment they connected as last seen while they are online", async () => {
    const bench = await benchHeadscale({ flavour: "development" });
    const seen = (await nodeOf(bench, "1"))?.lastSeen;
    bench.clock.advance(180_000);
    expect(await nodeOf(bench, "1")).toMatchObject({ online: true, lastSeen: seen });
  });

  it("stay online when their key runs out", async () => {
    const bench = await benchHeadscale({ flavour: "development" });
    bench.sim.estate.expire("5");
    expect(await nodeOf(bench, "5")).toMatchObject({
      online: true,
      expiry: expect.stringContaining("2026-11-21T10:20:30") as string,
    });
  });

  it("are noticed to be gone after ten seconds", async () => {
    const bench = await benchHeadscale({ flavour: "release" });
    bench.sim.estate.disconnect("5");
    bench.clock.advance(9999);
    expect((await nodeOf(bench, "5"))?.online).toBe(true);
    bench.clock.advance(1);
    expect(await nodeOf(bench, "5")).toMatchObject({
      online: false,
      lastSeen: expect.stringContaining("10:20:40") as string,
    });
  });

  it("vanish when they log out and are ephemeral; others stay, expired", async () => {
    const bench = await benchHeadscale({ flavour: "release" });
    const ephemeral = (await nodesOf(bench)).find(({ name }) => name.startsWith("runner"));
    bench.sim.estate.logOut(ephemeral?.id ?? "");
    bench.sim.estate.logOut("5");
    bench.clock.advance(10_000);
    expect(await nodeOf(bench, ephemeral?.id ?? "")).toBeUndefined();
    expect((await nodeOf(bench, "5"))?.online).toBe(false);
  });

  it("change their given name alone when renamed, belong to nobody when tagged", async () => {
    const bench = await benchHeadscale({ flavour: "development" });
    bench.sim.estate.rename("8", "renamed");
    bench.sim.estate.tag("11", ["tag:ci"]);
    expect(await nodeOf(bench, "8")).toMatchObject({
      givenName: "renamed",
      name: expect.stringMatching(/^Hedy-/) as string,
    });
    expect((await nodeOf(bench, "11"))?.user?.name).toBe("tagged-devices");
  });

  it("that are removed leave the list, and unknown ones are not found", async () => {
    const bench = await benchHeadscale({ flavour: "development" });
    bench.sim.estate.remove("5");
    expect(await nodeOf(bench, "5")).toBeUndefined();
    expect((await bench.get("/api/v1/node/5")).status).toBe(404);
    expect(() => bench.sim.estate.expire("9999")).toThrow(
      expect.objectContaining({ code: "not_found" }),
    );
  });
});

describe("routes", () => {
  it("are served by the first router that is online", async () => {
    const bench = await benchHeadscale({ flavour: "release" });
    bench.sim.estate.approveRoutes("3", ["10.20.0.0/16"]);
    expect([
      (await nodeOf(bench, "2"))?.subnetRoutes,
      (await nodeOf(bench, "3"))?.subnetRoutes,
    ]).toEqual([["10.20.0.0/16"], []]);
    bench.sim.estate.disconnect("2");
    bench.clock.advance(10_000);
    expect([
      (await nodeOf(bench, "2"))?.subnetRoutes,
      (await nodeOf(bench, "3"))?.subnetRoutes,
    ]).toEqual([[], ["10.20.0.0/16"]]);
  });

  it("of an exit stay when it is offline, and come for both families", async () => {
    const bench = await benchHeadscale({ flavour: "release" });
    bench.sim.estate.approveRoutes("1", ["10.9.0.0/16", "0.0.0.0/0"]);
    bench.sim.estate.disconnect("1");
    bench.clock.advance(10_000);
    expect(await nodeOf(bench, "1")).toMatchObject({
      approvedRoutes: ["0.0.0.0/0", "10.9.0.0/16", "::/0"],
      subnetRoutes: ["0.0.0.0/0", "::/0"],
      online: false,
    });
  });

  it("that a client withdraws stay approved", async () => {
    const bench = await benchHeadscale({ flavour: "release" });
    bench.sim.estate.advertiseRoutes("2", []);
    expect(await nodeOf(bench, "2")).toMatchObject({
      approvedRoutes: ["10.20.0.0/16"],
      availableRoutes: [],
      subnetRoutes: [],
    });
  });
});

describe("the policy", () => {
  it("moves the time of its change even when the text is the same", async () => {
    const { sim, clock, get } = await benchHeadscale({ flavour: "release" });
    sim.estate.policy("{}");
    const first = (await get("/api/v1/policy")).json.updatedAt as string;
    clock.advance(1000);
    sim.estate.policy("{}");
    expect((await get("/api/v1/policy")).json).toEqual({
      policy: "{}",
      updatedAt: expect.not.stringContaining(first) as string,
    });
  });

  it("is a failure of the server when none was ever stored", async () => {
    const { sim, get } = await benchHeadscale({ flavour: "release" });
    sim.estate.policyMode("none");
    expect(await get("/api/v1/policy")).toMatchObject({ status: 500, json: { code: 2 } });
  });

  it("is served by v2 with the hash of its text, and as allow-all when none is set", async () => {
    const { sim, get } = await benchHeadscale({ flavour: "development" });
    sim.estate.policy("{}");
    expect((await get("/api/v2/tailnet/-/acl")).headers.etag).toBe(
      '"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"',
    );
    sim.estate.policyMode("none");
    expect((await get("/api/v2/tailnet/-/acl")).text).toContain('"*:*"');
  });
});
