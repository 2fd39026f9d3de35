import type { DescMethod } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import type { GetPresenceResponse } from "../../../src/gen/steward/monitor/v1/presence_service_pb.ts";
import { PresenceState } from "../../../src/gen/steward/monitor/v1/presence_pb.ts";
import { createCall, type Call } from "../../../src/kernel/service.ts";
import { createPresenceApi } from "../../../src/monitor/presence/presence-api.ts";
import type { DevicePresence, PresenceChange } from "../../../src/monitor/presence/types.ts";

const NOW_MS = Date.parse("2026-05-04T12:00:00Z");
const changes: PresenceChange[] = Array.from({ length: 200 }, (_, at) => ({
  atMs: NOW_MS - (200 - at) * 60_000,
  state: at % 2 === 0 ? "online" : "offline",
}));
const large: DevicePresence[] = Array.from({ length: 5_000 }, (_, at) => ({
  id: `n${at}`,
  name: `d${at}`,
  changes,
}));

async function asked(device: string, devices = large): Promise<GetPresenceResponse> {
  const view = { observed: [], truncated: false, hours: [], days: [] };
  const source = {
    name: "home",
    view: () => ({ ...view, devices: devices.filter(({ id }) => device === "" || id === device) }),
  };
  const api = createPresenceApi(
    { now: () => NOW_MS },
    () => [source, { ...source, name: "office" }],
    () => Promise.resolve({ hours: [], days: [] }),
  );
  const handler = api.handler({ localName: "getPresence" } as DescMethod) as (
    request: unknown,
    call: Call,
  ) => Promise<GetPresenceResponse>;
  const { signal } = new AbortController();
  return await handler(
    { window: "720h", network: "", device },
    createCall({ requestId: "1", signal }),
  );
}

const networksOf = ({ presence }: GetPresenceResponse) => presence?.networks ?? [];

describe("The presence of large networks", () => {
  it("has the newest changes of each device, and says that there are more", async () => {
    const networks = networksOf(await asked(""));
    expect(networks.map(({ truncated }) => truncated)).toEqual([true, true]);
    const devices = networks.flatMap((network) => network.devices);
    expect(devices.length).toBe(10_000);
    expect(new Set(devices.map((device) => device.changes.length))).toEqual(new Set([10]));
    expect(devices[0]?.state).toBe(PresenceState.OFFLINE);
    expect(devices[0]?.changes.at(-1)?.at?.seconds).toBe(BigInt(NOW_MS / 1_000 - 60));
  });

  it("is whole for one device, and for fewer changes", async () => {
    for (const answer of [await asked("n7"), await asked("", large.slice(0, 250))])
      for (const { truncated, devices } of networksOf(answer)) {
        expect(truncated).toBe(false);
        expect(devices.every((device) => device.changes.length === 200)).toBe(true);
      }
  });

  it("is put together in slices", async () => {
    let [turns, isDone] = [0, false];
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    await asked("");
    isDone = true;
    expect(turns).toBeGreaterThan(1);
  });
});
