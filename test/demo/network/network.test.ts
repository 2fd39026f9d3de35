/**
 * The model behind both simulators: who is there, who comes and goes, and that everything that
 * changes leaves an event.
 */
import { describe, expect, it } from "vitest";
import { startOf, turnAt, turnsIn } from "../../../src/demo/network/cycle.ts";
import { createNetwork, type Network } from "../../../src/demo/network/network.ts";
import { standingOf } from "../../../src/demo/network/users.ts";
import type { Connection, Traffic } from "../../../src/demo/network/flows.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 10, 20, 30);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

describe("cycles", () => {
  it("count turns that begin within a window", () => {
    const cycle = { periodMs: 10, phaseMs: 3 };
    expect([turnAt(cycle, 2), turnAt(cycle, 3), turnAt(cycle, 12.9), startOf(cycle, 4)]).toEqual([
      -1, 0, 0, 43,
    ]);
    expect(turnsIn(cycle, { fromMs: 3, toMs: 23 })).toEqual([0, 1]);
    expect(turnsIn(cycle, { fromMs: 4, toMs: 13 })).toEqual([]);
  });
});

describe("a network with conditions", () => {
  const network = createNetwork({ seed: 1, conditions: { offline: [14], expiring: [12] } });
  const days = Array.from(
    { length: 400 },
    (_, day) => NOW_MS + day * DAY_MS + day * 17 * MINUTE_MS,
  );

  it("has the device that is offline and the key that expires within three days at every instant", () => {
    for (const atMs of days) {
      const find = (index: number) =>
        network.devices.at(atMs).find(({ machine }) => machine.index === index);
      const [offline, expiring] = [find(14), find(12)];
      expect(offline).toMatchObject({ online: false });
      expect(atMs - (offline?.lastSeenMs ?? 0)).toBeLessThanOrEqual(3 * DAY_MS);
      const leftMs = (expiring?.expiresMs ?? 0) - atMs;
      expect([leftMs > DAY_MS, leftMs <= 3 * DAY_MS]).toEqual([true, true]);
    }
  });

  it("is the same network apart from that", () => {
    const plain = createNetwork({ seed: 1 });
    const differ = network.roster
      .filter((machine, index) => JSON.stringify(machine) !== JSON.stringify(plain.roster[index]))
      .map(({ index }) => index);
    expect(differ).toEqual([12, 14]);
  });
});

describe("a network of twenty-five devices", () => {
  const network = createNetwork({ seed: 1 });

  it("has an exit, routers, servers, people's machines, ephemeral ones and one of another network", () => {
    const kinds = new Set(network.roster.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual([
      "ephemeral",
      "exit",
      "external",
      "laptop",
      "phone",
      "router",
      "server",
    ]);
    expect(network.roster.filter(({ kind }) => kind === "external")).toHaveLength(1);
  });

  it("has devices that come and go within the hour", () => {
    const states = Array.from({ length: 60 }, (_, minute) =>
      network.devices.at(NOW_MS + minute * MINUTE_MS),
    );
    const online = new Set(
      states.map((devices) => devices.filter((device) => device.online).length),
    );
    const hosts = new Set(states.flatMap((devices) => devices.map(({ nodeId }) => nodeId)));
    expect(online.size).toBeGreaterThan(2);
    expect(hosts.size).toBeGreaterThan(25);
  });

  it("finds each of its devices by both ids, and none that has gone", () => {
    const devices = network.devices.at(NOW_MS);
    for (const device of devices)
      expect([
        network.devices.find(device.nodeId, NOW_MS),
        network.devices.find(device.legacyId, NOW_MS),
      ]).toEqual([device, device]);
    const runner = devices.find(({ machine }) => machine.kind === "ephemeral");
    expect(network.devices.find(runner?.nodeId ?? "", NOW_MS + HOUR_MS)).toBeUndefined();
  });

  it("always has keys that run out within a week, and now and then one that has", () => {
    const days = Array.from({ length: 28 }, (_, quarter) => NOW_MS + (quarter * DAY_MS) / 4);
    const left = days.flatMap((atMs) =>
      network.devices
        .at(atMs)
        .flatMap(({ expiresMs }) => (expiresMs === undefined ? [] : [expiresMs - atMs])),
    );
    for (const atMs of days)
      expect(
        network.devices.at(atMs).some(({ expiresMs = Infinity }) => expiresMs - atMs < 7 * DAY_MS),
      ).toBe(true);
    expect(left.some((ms) => ms < 0)).toBe(true);
  });

  it("turns devices away whose key has run out", () => {
    const lapsed = Array.from({ length: 56 }, (_, quarter) =>
      network.devices
        .at(NOW_MS + (quarter * DAY_MS) / 8)
        .filter(
          ({ expiresMs }) =>
            expiresMs !== undefined && expiresMs <= NOW_MS + (quarter * DAY_MS) / 8,
        ),
    ).flat();
    expect(lapsed.length).toBeGreaterThan(0);
    expect(
      lapsed.every(({ online, lastSeenMs, expiresMs = 0 }) => !online && lastSeenMs <= expiresMs),
    ).toBe(true);
  });

  it("suspends somebody at times, and never sees a device after it has gone", () => {
    const statuses = Array.from({ length: 4 }, (_, turn) =>
      network.people.map((person) => standingOf(person, NOW_MS + turn * 4 * HOUR_MS).status),
    );
    expect(statuses.flat()).toContain("suspended");
    expect(
      network.devices
        .at(NOW_MS)
        .every(
          ({ online, lastSeenMs, connectedMs }) =>
            connectedMs <= NOW_MS && lastSeenMs <= NOW_MS && (online || lastSeenMs < NOW_MS),
        ),
    ).toBe(true);
  });
});

describe("audit events", () => {
  const network = createNetwork({ seed: 5 });

  it("tell of every change that a day brings", () => {
    const events = network.audit({ fromMs: NOW_MS - DAY_MS, toMs: NOW_MS });
    const told = new Set(
      events.map(({ action, target }) =>
        `${action} ${target.type} ${target.property ?? ""}`.trim(),
      ),
    );
    for (const each of [
      "UPDATE TAILNET ACL",
      "UPDATE TAILNET DNS_CONFIG",
      "UPDATE USER USER_ROLE",
      "SUSPEND USER",
      "RESTORE USER",
      "CREATE NODE",
      "DELETE NODE",
      "CREATE API_KEY",
      "REVOKE API_KEY",
      "UPDATE NODE ALLOWED_IPS",
      "ENABLE NODE KEY_EXPIRY",
      "LOGIN ADMIN_CONSOLE",
      "PUSH_USER USER",
    ]) {
      expect(told).toContain(each);
    }
    expect(events.some(({ error }) => error !== undefined)).toBe(true);
  });

  it("of neighbouring windows make the whole", () => {
    const middleMs = NOW_MS - 5 * HOUR_MS;
    const whole = network.audit({ fromMs: NOW_MS - DAY_MS, toMs: NOW_MS });
    expect([
      ...network.audit({ fromMs: NOW_MS - DAY_MS, toMs: middleMs }),
      ...network.audit({ fromMs: middleMs, toMs: NOW_MS }),
    ]).toEqual(whole);
    expect(new Set(whole.map(({ groupId }) => groupId)).size).toBe(whole.length);
  });

  it("say what is so afterwards", () => {
    const at = (event: { atMs: number }): number => event.atMs + 1000;
    for (const event of network.audit({ fromMs: NOW_MS - DAY_MS, toMs: NOW_MS })) {
      const device = network.devices.find(event.target.id, at(event));
      if (event.action === "CREATE" && event.target.type === "NODE")
        expect(device?.host).toBe(event.target.name);
      if (event.action === "DELETE") expect(device).toBeUndefined();
      if (event.target.property === "ALLOWED_IPS") expect(device?.enabledRoutes).toEqual(event.new);
      if (event.target.property === "KEY_EXPIRY")
        expect(device?.expiresMs !== undefined).toBe(event.new);
      if (event.target.property === "ACL" && event.error === undefined)
        expect(network.policy(at(event))).toBe(event.new);
      if (event.action === "REVOKE")
        expect(
          network.credentials(at(event)).find(({ id }) => id === event.target.id)?.revokedMs,
        ).toBeDefined();
    }
  });
});

describe("flows", () => {
  const network = createNetwork({ seed: 2, devices: 120 });
  const reports = Array.from({ length: 60 }, (_, minute) =>
    network.flows.inMinute(Math.floor(NOW_MS / MINUTE_MS) - minute),
  ).flat();
  const all = (kind: Traffic): readonly Connection[] =>
    reports.flatMap(({ traffic }) => traffic[kind]);
  const bytes = (list: readonly Connection[]): number =>
    list.reduce((sum, { txBytes = 0, rxBytes = 0 }) => sum + txBytes + rxBytes, 0);

  it("name each pair of ends once in a report: a node counts together what went the same way", () => {
    const pairs = reports.flatMap(({ traffic }, report) =>
      Object.entries(traffic).flatMap(([kind, connections]) =>
        connections.map(({ proto, src, dst }) => JSON.stringify([report, kind, proto, src, dst])),
      ),
    );
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  it("have the shares that were measured", () => {
    const [physical, others] = [
      all("physical"),
      [...all("virtual"), ...all("subnet"), ...all("exit")],
    ];
    const total = physical.length + others.length;
    const relayed = physical.filter(({ dst }) => dst?.startsWith("127.3.3.40:"));
    expect(physical.length / total).toBeCloseTo(0.43, 1);
    expect(relayed.length / total).toBeGreaterThan(0.06);
    expect(relayed.length / total).toBeLessThan(0.18);
    expect(bytes(relayed) / bytes([...physical, ...others])).toBeLessThan(0.02);
    expect(physical.every(({ proto }) => proto === undefined)).toBe(true);
    expect(others.every(({ proto }) => proto !== undefined)).toBe(true);
  });

  it("are of every kind, by devices that were there and connected", () => {
    for (const kind of ["virtual", "subnet", "exit", "physical"] as const)
      expect(all(kind).length).toBeGreaterThan(0);
    expect(all("exit").every(({ dst }) => dst === undefined)).toBe(true);
    expect(
      reports.every(
        ({ reporter, peers }) => reporter.online && peers.every(({ online }) => online),
      ),
    ).toBe(true);
  });

  it("carry addresses and ports that parse, IPv6 in brackets, and no zeros", () => {
    const endpoint = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:]+\]):\d{1,5}$/;
    const every = [...all("virtual"), ...all("subnet"), ...all("physical")];
    expect(every.filter(({ src, dst = "" }) => !endpoint.test(src) || !endpoint.test(dst))).toEqual(
      [],
    );
    expect(every.some(({ src }) => src.startsWith("["))).toBe(true);
    expect(every.every((each) => each.txBytes !== 0 && each.rxBytes !== 0)).toBe(true);
  });

  it("stay bounded in a large network", () => {
    const large = createNetwork({ seed: 2, devices: 5000, talkers: 50 });
    expect(large.flows.inMinute(Math.floor(NOW_MS / MINUTE_MS)).length).toBeLessThan(250);
  });
});

describe("sizes", () => {
  it("that are none are refused", () => {
    for (const devices of [-1, 0.5, 50_001])
      expect(() => createNetwork({ seed: 1, devices })).toThrow(RangeError);
    const empty: Network = createNetwork({ seed: 1, devices: 0 });
    expect([empty.devices.at(NOW_MS), empty.flows.inMinute(1)]).toEqual([[], []]);
  });

  it("up to ten thousand give every device ids and addresses of its own", () => {
    const devices = createNetwork({ seed: 9, devices: 10_000 }).devices.at(NOW_MS);
    expect(new Set(devices.map(({ nodeId }) => nodeId)).size).toBe(devices.length);
    expect(new Set(devices.map(({ legacyId }) => legacyId)).size).toBe(devices.length);
    expect(new Set(devices.flatMap(({ machine }) => machine.addresses)).size).toBe(
      2 * devices.length,
    );
    expect(
      devices.every(({ machine }) =>
        /^(100\.80\.\d{1,3}\.\d{1,3}|203\.0\.113\.\d{1,3}|198\.51\.100\.\d{1,3})$/.test(
          machine.publicAddress,
        ),
      ),
    ).toBe(true);
  });
});
