/** The windows of the logs: what they must say, what falls in them, and what is not there yet. */
import { describe, expect, it } from "vitest";
import { benchTailscale, NOW_MS } from "../control-plane/support.ts";

const iso = (atMs: number): string => new Date(atMs).toISOString();
const flows = (fromMs: number, toMs: number): string =>
  `/tailnet/-/logging/network?start=${iso(fromMs)}&end=${iso(toMs)}`;
const audit = (fromMs: number, toMs: number): string =>
  `/tailnet/-/logging/configuration?start=${iso(fromMs)}&end=${iso(toMs)}`;
const MINUTE_MS = 60_000;

interface Record {
  readonly logged: string;
  readonly start: string;
  readonly end: string;
  readonly nodeId: string;
}

describe("a window", () => {
  it.each([
    ["", "start"],
    ["start=2026-11-21T10:00:00Z", "end"],
    ["start=yesterday&end=2026-11-21T10:00:00Z", "start"],
    ["start=2026-11-21&end=2026-11-21T10:00:00Z", "start"],
    ["start=2026-11-21T10:00:00Z&end=2026-11-21T09:00:00Z", "before"],
    ["start=2026-01-21T10:00:00Z&end=2026-11-21T09:00:00Z", "too long"],
  ])("of %j is refused", async (query, why) => {
    const { get } = await benchTailscale();
    for (const kind of ["network", "configuration"])
      expect(await get(`/tailnet/-/logging/${kind}?${query}`)).toMatchObject({
        status: 400,
        json: { message: expect.stringContaining(why) as string },
      });
  });

  it("that holds too many records is refused", async () => {
    const { get } = await benchTailscale({ devices: 1000, talkers: 1000 });
    expect(await get(flows(NOW_MS - 7 * 24 * 60 * MINUTE_MS, NOW_MS))).toMatchObject({
      status: 400,
      json: { message: "too many records in the time range" },
    });
  });

  it("may be empty and may lie in the future", async () => {
    const { get } = await benchTailscale();
    expect((await get(flows(NOW_MS, NOW_MS))).json).toEqual({ logs: [] });
    expect((await get(flows(NOW_MS + MINUTE_MS, NOW_MS + 10 * MINUTE_MS))).json).toEqual({
      logs: [],
    });
    expect((await get(audit(NOW_MS + MINUTE_MS, NOW_MS + 10 * MINUTE_MS))).json.logs).toEqual([]);
  });
});

describe("flow records", () => {
  it("are in order, within the window and logged in the past", async () => {
    const { get } = await benchTailscale();
    const { logs } = (await get(flows(NOW_MS - 20 * MINUTE_MS, NOW_MS))).json as { logs: Record[] };
    expect(logs.length).toBeGreaterThan(100);
    expect(logs.map(({ start }) => start)).toEqual(logs.map(({ start }) => start).toSorted());
    for (const { start, end, logged } of logs) {
      expect(Date.parse(start)).toBeGreaterThanOrEqual(NOW_MS - 20 * MINUTE_MS);
      expect([
        Date.parse(end) - Date.parse(start),
        Date.parse(logged) > Date.parse(end),
        Date.parse(logged) <= NOW_MS,
      ]).toEqual([MINUTE_MS, true, true]);
    }
  });

  it("of neighbouring windows make the whole, without doubles", async () => {
    const { get } = await benchTailscale();
    const read = async (fromMs: number, toMs: number): Promise<unknown[]> =>
      (await get(flows(fromMs, toMs))).json.logs as unknown[];
    const middleMs = NOW_MS - 33 * MINUTE_MS - 1234;
    const [whole, first, second] = [
      await read(NOW_MS - 60 * MINUTE_MS, NOW_MS - 20 * MINUTE_MS),
      await read(NOW_MS - 60 * MINUTE_MS, middleMs),
      await read(middleMs, NOW_MS - 20 * MINUTE_MS),
    ];
    expect([...first, ...second]).toEqual(whole);
  });

  it("appear late, some minutes late, and then stay", async () => {
    const { clock, get } = await benchTailscale({ devices: 200 });
    const path = flows(NOW_MS - 30 * MINUTE_MS, NOW_MS);
    const early = (await get(path)).json.logs as Record[];
    clock.advance(15 * MINUTE_MS);
    const late = (await get(path)).json.logs as Record[];
    const added = late.filter(({ logged }) => Date.parse(logged) > NOW_MS);
    expect(late.length).toBe(early.length + added.length);
    expect(
      added.some(({ end, logged }) => Date.parse(logged) - Date.parse(end) > 5 * MINUTE_MS),
    ).toBe(true);
    clock.advance(15 * MINUTE_MS);
    expect((await get(path)).json.logs).toEqual(late);
  });

  it("are the same from another simulator of the same seed, and others from another seed", async () => {
    const path = flows(NOW_MS - 5 * MINUTE_MS, NOW_MS);
    const [one, same, other] = [
      await benchTailscale({ seed: 7 }),
      await benchTailscale({ seed: 7 }),
      await benchTailscale({ seed: 8 }),
    ];
    const text = (await one.get(path)).text;
    expect((await same.get(path)).text).toBe(text);
    expect((await other.get(path)).text).not.toBe(text);
  });

  it("can be added, with a time from which they can be read, and go without nodes", async () => {
    const { sim, clock, get } = await benchTailscale({ devices: 0, embedNodes: false });
    sim.estate.flow(
      { nodeId: "nAdded", start: "odd" },
      { startMs: NOW_MS - MINUTE_MS, loggedMs: NOW_MS + 1000 },
    );
    expect((await get(flows(NOW_MS - 5 * MINUTE_MS, NOW_MS))).json.logs).toEqual([]);
    clock.advance(1000);
    expect((await get(flows(NOW_MS - 5 * MINUTE_MS, NOW_MS))).json.logs).toEqual([
      { nodeId: "nAdded", start: "odd" },
    ]);
  });

  it("name the nodes they tell of unless told not to", async () => {
    const [named, bare] = [await benchTailscale(), await benchTailscale({ embedNodes: false })];
    const path = flows(NOW_MS - 10 * MINUTE_MS, NOW_MS);
    expect((await named.get(path)).json.logs[0]).toMatchObject({
      srcNode: { nodeId: expect.any(String) as string },
      dstNodes: expect.arrayContaining([expect.objectContaining({ os: "linux" })]) as unknown,
    });
    expect((await bare.get(path)).json.logs[0]).not.toHaveProperty("srcNode");
  });
});

describe("audit events", () => {
  it("are in order, of the window, and name the network", async () => {
    const { sim, get } = await benchTailscale();
    const { json } = await get(audit(NOW_MS - 3 * 60 * MINUTE_MS, NOW_MS));
    const times = (json.logs as { eventTime: string }[]).map(({ eventTime }) =>
      Date.parse(eventTime),
    );
    expect(json).toMatchObject({
      version: "1.1",
      tailnet: "corp.test",
      tailnetId: sim.estate.network.tailnetId,
    });
    expect(times.length).toBeGreaterThan(15);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.every((at) => at >= NOW_MS - 3 * 60 * MINUTE_MS && at < NOW_MS)).toBe(true);
  });

  it("can be added", async () => {
    const { sim, get } = await benchTailscale({ devices: 0 });
    sim.estate.audit({
      atMs: NOW_MS - 1000,
      groupId: "g",
      origin: "SUPPORT_REQUEST",
      actor: { id: "a", type: "SUPPORT" },
      target: { id: "t", type: "BILLING" },
      action: "MIGRATE",
      new: { deep: [1] },
    });
    expect((await get(audit(NOW_MS - MINUTE_MS, NOW_MS))).json.logs).toEqual([
      expect.objectContaining({ origin: "SUPPORT_REQUEST", new: { deep: [1] } }),
    ]);
  });
});
