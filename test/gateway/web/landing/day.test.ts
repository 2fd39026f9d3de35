import { describe, expect, it } from "vitest";
import { dayOf } from "../../../../gateway/web/landing/day.ts";
import type { EventList } from "../../../../src/gen/events-json.ts";
import type { DevicePresence, NetworkPresence } from "../../../../src/gen/presence-json.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const at = (hoursAgo: number): string => new Date(NOW - hoursAgo * 3_600_000).toISOString();
const TODAY = "2026-11-23T00:00:00.000Z";
const YESTERDAY = "2026-11-22T00:00:00.000Z";

const device = (
  name: string,
  ...changes: readonly [hoursAgo: number, state: "online" | "offline" | "gone"][]
): DevicePresence => ({
  id: name,
  name,
  state: changes.at(-1)?.[1] ?? "gone",
  changes: changes.map(([hours, state]) => ({ at: at(hours), state })),
});

const network = (more: Partial<NetworkPresence> = {}): NetworkPresence => ({
  name: "home",
  observed: [{ from: at(24), to: at(0) }],
  devices: [],
  truncated: false,
  hours: [],
  days: [],
  ...more,
});

const report = (
  networks: readonly NetworkPresence[],
  services: Parameters<typeof dayOf>[0]["services"] = { hours: [], days: [] },
) => ({ networks, services, start: at(24) });

describe("the last day", () => {
  it("knows who joined after the first list, and who left within it", () => {
    const devices = [
      device("old", [40, "online"]),
      device("first-list", [24, "online"]),
      device("new", [3, "online"]),
      device("short", [5, "online"], [2, "gone"]),
      device("left", [40, "online"], [1, "gone"]),
      device("left-long-ago", [30, "gone"]),
    ];
    const { came, left } = dayOf(report([network({ devices })]), undefined, NOW);
    expect(came).toEqual({ count: 1, names: ["new"] });
    expect(left).toEqual({ count: 2, names: ["short", "left"] });
  });

  it("calls nobody new in a network that is observed for the first time, and names five at most", () => {
    const observed = [{ from: at(2), to: at(0) }];
    const devices = Array.from({ length: 9 }, (_, index) => device(`d${index}`, [2, "online"]));
    expect(dayOf(report([network({ observed, devices })]), undefined, NOW).came.count).toBe(0);
    const later = devices.map(({ name }) => device(name, [1, "online"]));
    const { came } = dayOf(report([network({ observed, devices: later })]), undefined, NOW);
    expect([came.count, came.names.length]).toEqual([9, 5]);
  });

  it("adds up networks only in hours that all of them know, and compares with yesterday's last count", () => {
    const hour = (hours: number, devices: number, online: number) => ({
      at: at(hours),
      devices,
      online,
    });
    const days = [
      { at: YESTERDAY, devices: 8, online: 5 },
      { at: TODAY, devices: 9, online: 6 },
    ];
    const both = [
      network({ hours: [hour(2, 9, 6), hour(1, 9, 7)], days }),
      network({ name: "lab", hours: [hour(1, 3, 1)], days }),
    ];
    const { devices, online } = dayOf(report(both), undefined, NOW);
    expect(devices).toEqual({ points: [12], yesterday: 16 });
    expect(online).toEqual({ points: [8], yesterday: 10 });
  });

  it("has no trend of what was not counted, and none of yesterday when nobody looked", () => {
    const { documents, groups, leases, online } = dayOf(
      report([], {
        hours: [
          { at: at(2), documents: 10 },
          { at: at(1), documents: 12, leases: 1 },
        ],
        days: [{ at: TODAY, documents: 12 }],
      }),
      undefined,
      NOW,
    );
    expect(documents).toEqual({ points: [10, 12], yesterday: undefined });
    expect([groups, online]).toEqual([undefined, undefined]);
    expect(leases).toEqual({ points: [1], yesterday: undefined });
  });

  it("keeps five events of the last 24 hours, and knows when none are stored", () => {
    const rows = [0.5, 1, 2, 3, 4, 5, 30].map((hours, seq) => ({
      time: at(hours),
      source: "audit",
      severity: "info",
      seq,
    }));
    const list = { rows } as unknown as EventList;
    expect(dayOf(report([]), list, NOW).events?.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
    expect(
      dayOf(report([]), { ...list, rows: rows.slice(6) }, NOW).events?.map(({ seq }) => seq),
    ).toEqual([]);
    expect(dayOf(report([]), undefined, NOW).events).toBeUndefined();
  });
});
