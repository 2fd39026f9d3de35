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

  it("tells those that share a name apart by their address, and says which", () => {
    const found = discover([device("a"), device("a", { addresses: ["100.64.0.2"] })], options);
    expect(found.targets.map(({ instance }) => instance)).toEqual(["a@100.64.0.1", "a@100.64.0.2"]);
    expect(found.collisions).toEqual(["a"]);
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
