import { describe, expect, it } from "vitest";
import { discover } from "../../../src/monitor/nodemetrics/discovery.ts";
import type { NodeMetricsOptions } from "../../../src/monitor/options.ts";
import type { Device } from "../../../src/monitor/providers/model.ts";
import { Targets, type TargetsDeps } from "../../../src/monitor/nodemetrics/targets.ts";
import { quietLog } from "../../kernel/state/fixtures/tables.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const options: NonNullable<NodeMetricsOptions["discovery"]> = {
  intervalMs: 300_000,
  maxTargets: 1_000,
  scheme: "http",
  port: 5252,
  path: "/metrics",
  onlineOnly: true,
  excludeExternal: true,
  includeHostLabels: true,
  includeTagsLabel: true,
  addressOrder: "ipv4",
  instanceSource: "name",
  includeTags: [],
  excludeTags: [],
};

function device(name: string, changes: Partial<Device> = {}): Device {
  return {
    id: `id-${name}`,
    name: `${name}.example.test`,
    hostname: name.toUpperCase(),
    addresses: ["100.64.0.1", "fd7a:115c:a1e0::1"],
    tags: [],
    external: false,
    online: true,
    ...changes,
  } as Device;
}

describe("Discovery of agents", () => {
  it("asks the overlay address of the family that comes first, else the other", () => {
    const both = device("a");
    expect(discover([both], options).targets[0]?.url).toBe("http://100.64.0.1:5252/metrics");
    expect(discover([both], { ...options, addressOrder: "ipv6" }).targets[0]?.url).toBe(
      "http://[fd7a:115c:a1e0::1]:5252/metrics",
    );
    expect(discover([device("b", { addresses: ["fd7a::2"] })], options).targets[0]?.url).toBe(
      "http://[fd7a::2]:5252/metrics",
    );
    expect(discover([device("c", { addresses: [] })], options).targets).toEqual([]);
  });

  it("leaves out what is offline, shared in, or not chosen by its tags", () => {
    const devices = [
      device("off", { online: false }),
      device("ext", { external: true }),
      device("x", { tags: ["tag:x"] }),
      device("y", { tags: ["tag:y"] }),
      device("none"),
    ];
    const names = (changes: Partial<typeof options>): string[] =>
      discover(devices, { ...options, ...changes }).targets.map(({ instance }) => instance);
    expect(names({})).toEqual(["x", "y", "none"]);
    expect(names({ onlineOnly: false, excludeExternal: false })).toEqual([
      "off",
      "ext",
      "x",
      "y",
      "none",
    ]);
    expect(names({ includeTags: ["tag:x", "tag:y"] })).toEqual(["x", "y"]);
    expect(names({ excludeTags: ["tag:x"] })).toEqual(["y", "none"]);
    expect(names({ includeTags: ["tag:x"], excludeTags: ["tag:x"] })).toEqual([]);
  });

  it("names instances by the first label, the host name with its address, or the address", () => {
    const instance = (instanceSource: "name" | "hostname" | "address"): string | undefined =>
      discover([device("a")], { ...options, instanceSource }).targets[0]?.instance;
    expect(instance("name")).toBe("a");
    expect(instance("hostname")).toBe("A@100.64.0.1");
    expect(instance("address")).toBe("100.64.0.1:5252");
  });

  describe("of devices that share a name", () => {
    const shared = { ...options, excludeExternal: false };
    const own = device("a", { id: "5", addresses: ["100.64.0.5"] });
    const other = device("a", { id: "6", addresses: ["100.64.0.6"] });
    const guest = device("a", { id: "1", addresses: ["100.64.0.1"], external: true });
    const instances = (devices: readonly Device[], changes: Partial<typeof options> = {}) =>
      discover(devices, { ...shared, ...changes }).targets.map(({ instance }) => instance);

    it("keeps the name of an own one whatever else appears, and says which names are shared", () => {
      expect(instances([own])).toEqual(["a"]);
      expect(instances([guest, other, own, device("b")])).toEqual([
        "a@100.64.0.1",
        "a@100.64.0.6",
        "a",
        "b",
      ]);
      expect(discover([guest, own, device("b")], shared).collisions).toEqual(["a"]);
    });

    it("chooses by the id among own ones as among those shared in, in any order", () => {
      const late = device("a", { id: "2", addresses: ["100.64.0.2"], external: true });
      expect(instances([own, other])).toEqual(["a", "a@100.64.0.6"]);
      expect(instances([other, own])).toEqual(["a@100.64.0.6", "a"]);
      expect(instances([late, guest])).toEqual(["a@100.64.0.2", "a"]);
    });

    it("gives the name to no other while its device is offline or beyond the limit", () => {
      expect(instances([{ ...own, online: false }, other])).toEqual(["a@100.64.0.6"]);
      expect(instances([other, own], { maxTargets: 1 })).toEqual(["a@100.64.0.6"]);
      expect(instances([{ ...own, tags: ["tag:x"] }, other], { excludeTags: ["tag:x"] })).toEqual([
        "a",
      ]);
    });

    it("has host names with their address always", () => {
      expect(instances([own, guest], { instanceSource: "hostname" })).toEqual([
        "A@100.64.0.5",
        "A@100.64.0.1",
      ]);
    });
  });

  it("carries host and tag labels as wanted, and counts what is beyond the limit", () => {
    const tagged = device("a", { tags: ["tag:a", "tag:b"] });
    expect(discover([tagged], options).targets[0]?.labels).toEqual({
      "host.name": "A",
      "host.id": "id-a",
      "vpn.tags": "tag:a,tag:b",
    });
    expect(
      discover([tagged], { ...options, includeHostLabels: false, includeTagsLabel: false })
        .targets[0]?.labels,
    ).toEqual({});
    expect(
      discover([device("a"), device("b", { addresses: ["100.64.0.2"] })], {
        ...options,
        maxTargets: 1,
      }),
    ).toMatchObject({ left: 1, targets: [{ instance: "a" }] });
  });
});

it("agents are discovered again after the interval, whatever becomes of the wall clock", async () => {
  const clock = createManualClock();
  const devices = [device("a")];
  let backMs = 0;
  const targets = new Targets(
    {
      devices: { size: 1, devices: () => devices } as unknown as TargetsDeps["devices"],
      provider: undefined as unknown as TargetsDeps["provider"],
      log: quietLog,
      clock: { ...clock, now: () => clock.now() - backMs },
      discoveryMs: 1_000,
    },
    { targets: [], discovery: options } as unknown as NodeMetricsOptions,
  );
  const found = async (): Promise<string[]> =>
    (await targets.round(new AbortController().signal)).map(({ instance }) => instance);
  expect(await found()).toEqual(["a"]);
  devices.push(device("b"));
  backMs = 9 * 3_600_000;
  await clock.advance(options.intervalMs - 1);
  expect(await found()).toEqual(["a"]);
  await clock.advance(1);
  expect(await found()).toEqual(["a", "b"]);
});
