import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { monitorMetrics } from "../../../src/monitor/catalogue/monitor-catalogue.ts";
import { devices } from "../../../src/monitor/collectors/devices.ts";
import type { Place } from "../../../src/monitor/geoip/types.ts";
import type { Device } from "../../../src/monitor/providers/model.ts";
import { aDevice, connectivity, DAY_MS, START_MS } from "./entities.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import type { Answers } from "./fake-provider.ts";
import { deviceDefaults, openCollector } from "./harness.ts";
import type { HarnessOptions } from "./harness.ts";

const everything = {
  collectRoutes: true,
  collectPosture: true,
  attributeNamespaces: ["*"],
  postureLogMode: "always",
} as const;

function open(
  answers: Answers,
  {
    section = {},
    ...more
  }: HarnessOptions & { readonly section?: Partial<typeof deviceDefaults> } = {},
) {
  const provider = createFakeProvider({
    devicePosture: { attributes: new Map(), expiresMs: new Map() },
    deviceInvites: [],
    ...answers,
  });
  const harness = openCollector(devices, provider, {
    ...more,
    collectors: { devices: { ...deviceDefaults, ...section } },
  });
  return { ...harness, provider };
}

const laptop = aDevice("laptop", {
  os: "linux",
  user: "ada@example.test",
  clientVersion: "1.86.2-t1a2b3c4d5",
  tags: [],
  online: true,
  createdMs: START_MS - 2 * DAY_MS,
  lastSeenMs: START_MS - 1_500,
  expiresMs: START_MS + 3.25 * DAY_MS,
  keyExpiryDisabled: false,
  updateAvailable: true,
  multipleConnections: false,
  blocksIncomingConnections: true,
  sshEnabled: true,
  ephemeral: false,
  postureIdentityDisabled: false,
  distro: { name: " Debian", codeName: "Trixie", version: "13.1" },
});
const router = aDevice("router", {
  os: "linux",
  tags: ["tag:net", "tag:ci"],
  keyExpiryDisabled: true,
  expiresMs: START_MS + DAY_MS,
  sshEnabled: false,
  ephemeral: true,
  clientVersion: "v1.90.0",
  createdMs: START_MS + DAY_MS,
  advertisedRoutes: ["10.0.0.0/8", "10.0.0.0/8", "0.0.0.0/0", "::/0"],
  enabledRoutes: ["10.0.0.0/8", "0.0.0.0/0"],
  lockError: "signature is missing",
});
/** Shared in: the control plane gives empty times and no tags. */
const guest = aDevice("guest", {
  os: "windows",
  external: true,
  authorized: false,
  advertisedRoutes: ["192.168.1.0/24"],
});

describe("The collector of devices", () => {
  it("says of each device what it tells, and nothing of what it does not tell", async () => {
    const { run, series } = open(
      { devices: [laptop, router, guest] },
      { section: { collectRoutes: true } },
    );
    await run();
    const ada =
      '{host.name="laptop",host.id="laptop",os.type="linux",os.version="13.1",vpn.user="ada@example.test"}';
    const net = '{host.name="router",host.id="router",os.type="linux",vpn.tags="tag:net,tag:ci"}';
    const other = '{host.name="guest",host.id="guest",os.type="windows"}';
    expect(series("vpn.device.")).toEqual([
      `vpn.device.blocks_incoming_connections${ada} 1`,
      'vpn.device.distro{host.name="laptop",host.id="laptop",vpn.distro.name="debian",vpn.distro.codename="trixie"} 1',
      'vpn.device.exit_node{host.name="router",host.id="router",vpn.exit_node.enabled=true} 1',
      `vpn.device.key.expiry${ada} ${(START_MS + 3.25 * DAY_MS) / 1_000}`,
      `vpn.device.key_expiry_disabled${ada} 0`,
      `vpn.device.key_expiry_disabled${net} 1`,
      `vpn.device.last_seen${ada} ${Math.floor((START_MS - 1_500) / 1_000)}`,
      `vpn.device.multiple_connections${ada} 0`,
      `vpn.device.online${other} 0`,
      `vpn.device.online${ada} 1`,
      `vpn.device.online${net} 0`,
      `vpn.device.posture_identity.disabled${ada} 0`,
      'vpn.device.routes.advertised{host.name="guest",host.id="guest"} 1',
      'vpn.device.routes.advertised{host.name="laptop",host.id="laptop"} 0',
      'vpn.device.routes.advertised{host.name="router",host.id="router"} 4',
      'vpn.device.routes.enabled{host.name="guest",host.id="guest"} 0',
      'vpn.device.routes.enabled{host.name="laptop",host.id="laptop"} 0',
      'vpn.device.routes.enabled{host.name="router",host.id="router"} 2',
      `vpn.device.ssh_enabled${ada} 1`,
      `vpn.device.ssh_enabled${net} 0`,
      `vpn.device.update_available${ada} 1`,
    ]);
  });

  it("counts the fleet, its ages and its routes", async () => {
    const { run, series } = open({ devices: [laptop, router, guest] });
    await run();
    expect([
      ...series("vpn.devices"),
      ...series("vpn.exit"),
      ...series("vpn.subnet"),
      ...series("vpn.network_lock"),
      ...series("svc."),
    ]).toEqual([
      `vpn.devices.age n=2 sum=${2 * 86_400}`,
      'vpn.devices.by_distro{vpn.distro.name="debian",vpn.distro.codename="trixie"} 1',
      'vpn.devices.by_tag{vpn.tag="tag:ci"} 1',
      'vpn.devices.by_tag{vpn.tag="tag:net"} 1',
      'vpn.devices.by_version{vpn.client_version="1.86.2"} 1',
      'vpn.devices.by_version{vpn.client_version="1.90.0"} 1',
      'vpn.devices.count{os.type="linux",vpn.authorized=true,vpn.external=false} 2',
      'vpn.devices.count{os.type="windows",vpn.authorized=false,vpn.external=true} 1',
      "vpn.devices.ephemeral 1",
      "vpn.devices.key_expiry n=1 sum=3.25",
      "vpn.devices.key_expiry_disabled 1",
      "vpn.devices.ssh_enabled 1",
      "vpn.devices.untagged 1",
      'vpn.exit_nodes.count{vpn.exit_node.state="advertised"} 1',
      'vpn.exit_nodes.count{vpn.exit_node.state="enabled"} 1',
      "vpn.subnet_routes.advertised 2",
      "vpn.subnet_routes.enabled 1",
      'vpn.subnet_routes.routers{vpn.route.cidr="10.0.0.0/8"} 1',
      'vpn.subnet_routes.routers{vpn.route.cidr="192.168.1.0/24"} 1',
      "vpn.subnet_routes.unapproved 1",
      "vpn.network_lock.errors 1",
      "svc.enrich.cache_size 3",
    ]);
  });

  it("warns of keys that expire within 14 days and repeats the network lock's complaint, in every run", async () => {
    const { run, records, annotations } = open({
      devices: [
        laptop,
        router,
        aDevice("late", { expiresMs: START_MS + 15 * DAY_MS }),
        aDevice("past", { expiresMs: START_MS }),
      ],
    });
    const expected = [
      'warn vpn.device.key_expiring {"host.name":"laptop","host.id":"laptop","vpn.device.key_expires_in_days":"3.25"} the key of device laptop expires in 3.25 days',
      'error vpn.device.network_lock_error {"host.name":"router","host.id":"router"} signature is missing',
    ];
    await run();
    expect(records()).toEqual(expected);
    await run();
    expect(records()).toEqual(expected);
    expect(annotations.map(({ identity }) => identity)).toEqual(
      Array.from({ length: 2 }, () => `example.test/device/laptop/${START_MS + 3.25 * DAY_MS}`),
    );
    expect(annotations[0]).toMatchObject({
      category: "expiry",
      timeMs: START_MS,
      text: "The key of device laptop expires on 2023-11-18.",
    });
  });

  it("says no count of a field that no device told", async () => {
    const { run, series } = open({
      devices: [aDevice("a"), aDevice("b", { clientVersion: "odd" })],
    });
    await run();
    expect(series("vpn.devices")).toEqual([
      'vpn.devices.by_version{vpn.client_version="unknown"} 1',
      "vpn.devices.count{vpn.authorized=true,vpn.external=false} 2",
      "vpn.devices.untagged 2",
    ]);
  });

  it("says how devices can connect", async () => {
    const near = { region: "Paris", preferred: true, seconds: 0.01 };
    const far = { region: "Tokyo", preferred: false, seconds: 0.2 };
    const { run, series } = open({
      devices: [
        aDevice("hard", {
          connectivity: connectivity({
            latency: [{ ...near, preferred: false, seconds: 0.005 }],
            hardNat: true,
            supports: { udp: true, pcp: false },
          }),
        }),
        aDevice("easy", {
          connectivity: connectivity({
            latency: [near, far],
            endpoints: ["203.0.113.9:41641", "10.0.0.1:41641"],
            supports: { udp: true, ipv6: true },
          }),
        }),
        aDevice("mute", { connectivity: connectivity() }),
        aDevice("none"),
      ],
    });
    await run();
    expect(
      [
        ...series("vpn.device.connectivity"),
        ...series("vpn.device.derp"),
        ...series("vpn.derp"),
        ...series("vpn.devices.client"),
        ...series("vpn.devices.direct"),
        ...series("vpn.devices.hard"),
      ].map((line) => line.replace(/host\.name="\w+",/, "")),
    ).toEqual([
      'vpn.device.connectivity.direct_capable{host.id="easy"} 1',
      'vpn.device.connectivity.direct_capable{host.id="hard"} 0',
      'vpn.device.connectivity.endpoints{host.id="easy"} 2',
      'vpn.device.connectivity.endpoints{host.id="hard"} 0',
      'vpn.device.connectivity.endpoints{host.id="mute"} 0',
      'vpn.device.connectivity.hard_nat{host.id="easy"} 0',
      'vpn.device.connectivity.hard_nat{host.id="hard"} 1',
      'vpn.device.connectivity.hard_nat{host.id="mute"} 0',
      'vpn.device.connectivity.ipv6{host.id="easy"} 1',
      'vpn.device.connectivity.udp{host.id="easy"} 1',
      'vpn.device.connectivity.udp{host.id="hard"} 1',
      'vpn.device.derp.latency{host.id="easy",vpn.derp.region="Paris",vpn.derp.preferred=true} 0.01',
      'vpn.device.derp.latency{host.id="easy",vpn.derp.region="Tokyo",vpn.derp.preferred=false} 0.2',
      'vpn.device.derp.latency{host.id="hard",vpn.derp.region="Paris",vpn.derp.preferred=false} 0.005',
      'vpn.derp.region.devices{vpn.derp.region="Paris"} 2',
      'vpn.derp.region.devices{vpn.derp.region="Tokyo"} 1',
      'vpn.derp.region.latency_min{vpn.derp.region="Paris"} 0.005',
      'vpn.derp.region.latency_min{vpn.derp.region="Tokyo"} 0.2',
      'vpn.derp.region.preferred{vpn.derp.region="Paris"} 1',
      'vpn.derp.region.preferred{vpn.derp.region="Tokyo"} 0',
      'vpn.devices.client_supports{vpn.connectivity.capability="ipv6"} 1',
      'vpn.devices.client_supports{vpn.connectivity.capability="pcp"} 0',
      'vpn.devices.client_supports{vpn.connectivity.capability="udp"} 2',
      "vpn.devices.direct_capable 1",
      "vpn.devices.hard_nat 1",
    ]);
  });

  it("compares clients with the latest version while that is known", async () => {
    const told = ["1.86.2-t1", "v1.80.0", "1.92.1", "0.100.0", "unstable", ""].map(
      (clientVersion, at) => aDevice(`d${at}`, { clientVersion }),
    );
    const { run, series, known } = open({ devices: told }, { outdatedMinorThreshold: 3 });
    await run();
    expect(
      series("vpn.fleet").concat(series("vpn.device.version"), series("vpn.devices.outdated")),
    ).toEqual([]);
    known.latestVersion = "1.90.3";
    await run();
    expect(
      series("vpn.fleet").concat(series("vpn.device.version"), series("vpn.devices.outdated")),
    ).toEqual([
      'vpn.fleet.latest_version{vpn.client_version="1.90.3"} 1',
      'vpn.device.version_skew{host.name="d0",host.id="d0"} 4',
      'vpn.device.version_skew{host.name="d1",host.id="d1"} 10',
      'vpn.device.version_skew{host.name="d2",host.id="d2"} 0',
      "vpn.devices.outdated 2",
    ]);
  });

  it("puts rare tags and distributions together, ties in the order of their names", async () => {
    const list = ["b", "a", "c", "c"]
      .map((tag, at) => aDevice(String(at), { tags: [`tag:${tag}`, `tag:${tag}`] }))
      .concat(
        Array.from({ length: 52 }, (_, at) =>
          aDevice(`x${at}`, { distro: { name: `d${10 + at}`, codeName: "", version: "" } }),
        ),
      );
    const { run, series } = open({ devices: list }, { section: { tagRollupLimit: 2 } });
    await run();
    expect(series("vpn.devices.by_tag")).toEqual([
      'vpn.devices.by_tag{vpn.tag="__other__"} 1',
      'vpn.devices.by_tag{vpn.tag="tag:a"} 1',
      'vpn.devices.by_tag{vpn.tag="tag:c"} 2',
    ]);
    expect(series("vpn.devices.by_distro")).toHaveLength(51);
    expect(series("vpn.devices.by_distro")[0]).toBe(
      'vpn.devices.by_distro{vpn.distro.name="__other__",vpn.distro.codename="__other__"} 2',
    );
    expect(
      series('vpn.devices.by_distro{vpn.distro.name="d59",vpn.distro.codename="unknown"}'),
    ).toHaveLength(1);
  });

  it("has no limit of tags when that is 0, and leaves the tags alone when they are not wanted", async () => {
    const list = Array.from({ length: 60 }, (_, at) =>
      aDevice(String(at), { tags: [`tag:${at}`] }),
    );
    const unlimited = open({ devices: list }, { section: { tagRollupLimit: 0 } });
    await unlimited.run();
    expect(unlimited.series("vpn.devices.by_tag")).toHaveLength(60);
    const off = open({ devices: list }, { section: { collectTagRollup: false } });
    await off.run();
    expect(off.series("vpn.devices.by_tag")).toEqual([]);
  });

  it("says nothing of single devices, regions, subnets and connectivity where that is switched off", async () => {
    const list = [
      {
        ...laptop,
        connectivity: connectivity({
          latency: [{ region: "Paris", preferred: true, seconds: 1 }],
          supports: { udp: true },
        }),
      },
      router,
    ];
    const { run, series, known, records } = open(
      { devices: list },
      {
        section: { collectConnectivity: false },
        cardinality: {
          derpRegionRollup: false,
          subnetRouteRollup: false,
          perEntity: { device: false, user: true, key: true, webhook: true, service: true },
        },
      },
    );
    known.latestVersion = "1.90.0";
    await run();
    expect([
      ...series("vpn.device."),
      ...series("vpn.derp"),
      ...series("vpn.subnet_routes.routers"),
      ...series("vpn.devices.direct"),
      ...series("vpn.devices.hard"),
      ...series("vpn.devices.client"),
    ]).toEqual([]);
    expect(series("vpn.devices.outdated")).toHaveLength(1);
    expect(records()).toHaveLength(2);
  });

  it("ends what belongs to a device that is gone, and tells the cache of devices", async () => {
    const { run, series, known, provider } = open({ devices: [laptop, router] });
    await run();
    provider.answers.devices = [laptop];
    await run();
    expect(known.devices).toEqual([laptop]);
    expect(series().filter((line) => line.includes("router") || line.includes("tag:"))).toEqual([]);
    expect(series("svc.enrich")).toEqual(["svc.enrich.cache_size 1"]);
  });

  it("keeps series and cache of the last run when devices are not to be had", async () => {
    const { run, series, known, provider, states } = open({ devices: [laptop, router, guest] });
    await run();
    const before = series();
    provider.answers.devices = () => {
      throw failing(503);
    };
    await expect(run()).rejects.toMatchObject({ code: "upstream" });
    expect(series()).toEqual(before);
    expect(known.devices).toHaveLength(3);
    expect(states.get("listTailnetDevices")).toBe("transient_failure");
  });

  it("can emit all rows of devices", () => {
    const missing = monitorMetrics
      .filter(({ group }) => group === "Devices")
      .filter((row) => !devices.emits.includes(row))
      .map(({ name }) => name);
    expect(missing).toEqual([]);
  });

  it("counts devices by the country of their first public endpoint, where a database has it", async () => {
    const at = (id: string, ...endpoints: string[]): Device =>
      aDevice(id, { connectivity: { ...connectivity(), endpoints } });
    const place = (country: string, continent?: string): Place => ({
      country,
      continent,
      locality: undefined,
      region: undefined,
      latitude: undefined,
      longitude: undefined,
      asNumber: undefined,
      asOrganization: undefined,
    });
    const places: Readonly<Record<string, Place>> = {
      "203.0.113.7": place("NL", "EU"),
      "2001:db8::7": place("NL", "EU"),
      "198.51.100.9": place("AQ"),
    };
    const { run, series } = openCollector(
      devices,
      createFakeProvider({
        devices: [
          at("1", "192.168.1.4:41641", "203.0.113.7:41641", "198.51.100.9:1"),
          at("2", "[2001:db8::7]:41641"),
          at("3", "192.0.2.1:41641", "203.0.113.7:41641"),
          at("4", "10.0.0.1:41641"),
          at("5", "198.51.100.9:41641"),
        ],
      }),
      {
        collectors: { devices: deviceDefaults },
        deps: {
          places: { placeOf: (address) => places[address] },
        },
      },
    );
    await run();
    expect(series("vpn.devices.by_country")).toEqual([
      'vpn.devices.by_country{geo.country.iso_code="AQ"} 1',
      'vpn.devices.by_country{geo.country.iso_code="NL",geo.continent.code="EU"} 2',
    ]);
  });

  it("asks nobody for posture and invitations where the control plane has none", async () => {
    const provider = createFakeProvider(
      { devices: [laptop] },
      { kind: "headscale", unsupported: ["devicePosture", "deviceInvites"] },
    );
    const { run, covered } = openCollector(devices, provider, {
      collectors: { devices: { ...deviceDefaults, ...everything } },
    });
    await run();
    expect(provider.calls).toEqual(["devices"]);
    expect(covered.size).toBe(0);
  });

  it("ends a run over a large fleet soon after it is aborted, and lets others work in between", async () => {
    const stop = new AbortController();
    const { run, series } = open({
      devices: Array.from({ length: 3_000 }, (_, at) => aDevice(String(at))),
    });
    setImmediate(() => setImmediate(() => stop.abort(new Error("enough"))));
    await expect(run({ signal: stop.signal })).rejects.toThrow("enough");
    expect(series("vpn.device.online").length).toBeLessThan(3_000);
  });

  it("takes any list of devices", async () => {
    const text = fc.string({ maxLength: 12 });
    const time = fc.option(fc.double({ noNaN: true }), { nil: undefined });
    const flag = fc.option(fc.boolean(), { nil: undefined });
    const any: fc.Arbitrary<Device> = fc.record({
      id: text,
      nodeId: text,
      name: text,
      hostname: text,
      os: text,
      user: text,
      clientVersion: fc.oneof(text, fc.stringMatching(/^v?\d+\.\d+\.\d+/)),
      addresses: fc.array(text),
      tags: fc.array(text),
      external: fc.boolean(),
      authorized: fc.boolean(),
      online: fc.boolean(),
      createdMs: time,
      lastSeenMs: time,
      expiresMs: time,
      keyExpiryDisabled: flag,
      updateAvailable: flag,
      multipleConnections: flag,
      blocksIncomingConnections: flag,
      sshEnabled: flag,
      ephemeral: flag,
      distro: fc.option(fc.record({ name: text, codeName: text, version: text }), {
        nil: undefined,
      }),
      postureIdentityDisabled: flag,
      connectivity: fc.option(
        fc.record({
          latency: fc.array(
            fc.record({ region: text, preferred: fc.boolean(), seconds: fc.double() }),
          ),
          hardNat: fc.boolean(),
          endpoints: fc.array(text),
          supports: fc.record({ udp: flag, ipv6: flag, pcp: flag, pmp: flag, upnp: flag }),
        }),
        { nil: undefined },
      ),
      advertisedRoutes: fc.array(fc.oneof(text, fc.constant("0.0.0.0/0"))),
      enabledRoutes: fc.array(text),
      lockError: text,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(any, { maxLength: 6 }),
        fc.oneof(text, fc.constant("1.90.0")),
        async (list, latest) => {
          const { run, known, series } = open({ devices: list }, { section: everything });
          known.latestVersion = latest;
          await run();
          expect(
            series("vpn.devices.count").reduce(
              (sum, line) => sum + Number(line.split(" ").at(-1)),
              0,
            ),
          ).toBe(list.length);
        },
      ),
      { numRuns: 100 },
    );
  });
});
