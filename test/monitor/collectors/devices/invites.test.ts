import { describe, expect, it } from "vitest";
import { devices } from "../../../../src/monitor/collectors/devices.ts";
import { aDevice, anInvite, START_MS } from "../entities.ts";
import { createFakeProvider, failing } from "../fake-provider.ts";
import { deviceDefaults, openCollector } from "../harness.ts";

describe("Invitations to share devices", () => {
  it("are counted by what they allow and how they were delivered, and those with a name are written down", async () => {
    const provider = createFakeProvider({
      devices: [aDevice("a"), aDevice("b")],
      deviceInvites: (id) =>
        id === "a"
          ? [
              anInvite({ email: "guest@else.test", createdMs: START_MS - 60_000 }),
              anInvite({ lastEmailSentMs: 1 }),
              anInvite({ createdMs: START_MS + 1 }),
              anInvite(),
            ]
          : [
              anInvite({
                accepted: true,
                acceptedBy: "bob@else.test",
                multiUse: true,
                allowExitNode: true,
                createdMs: 1,
              }),
            ],
    });
    const { run, series, records } = openCollector(devices, provider);
    await run();
    const open =
      "vpn.device_invite.accepted=false,vpn.device_invite.allow_exit_node=false,vpn.device_invite.multi_use=false";
    expect(series("vpn.device_invites")).toEqual([
      `vpn.device_invites.count{${open},vpn.device_invite.delivery="emailed"} 2`,
      `vpn.device_invites.count{${open},vpn.device_invite.delivery="manual_link"} 1`,
      `vpn.device_invites.count{${open},vpn.device_invite.delivery="unknown"} 1`,
      'vpn.device_invites.count{vpn.device_invite.accepted=true,vpn.device_invite.allow_exit_node=true,vpn.device_invite.multi_use=true,vpn.device_invite.delivery="manual_link"} 1',
      "vpn.device_invites.pending_age n=2 sum=60",
    ]);
    expect(records()).toEqual([
      'info vpn.device_invite {"host.name":"a","host.id":"a","vpn.user":"guest@else.test","vpn.device_invite.delivery":"emailed"} invitation (emailed) to share device a with guest@else.test: pending',
      'info vpn.device_invite {"host.name":"b","host.id":"b","user.name":"bob@else.test","vpn.device_invite.delivery":"manual_link"} invitation (manual_link) to share device b: accepted by bob@else.test',
    ]);
  });

  it("are passed over where they cannot be read, and the failures are counted", async () => {
    const provider = createFakeProvider({
      devices: [aDevice("a"), aDevice("b")],
      deviceInvites: (id) => {
        if (id === "a") throw failing(403);
        return [anInvite()];
      },
    });
    const { run, covered, series } = openCollector(devices, provider);
    await run();
    expect(covered.get("device_invites")).toEqual({ tried: 2, failures: ["scope_denied"] });
    expect(series("vpn.device_invites.count")).toHaveLength(1);
  });

  it("are not asked for when they are not wanted", async () => {
    const provider = createFakeProvider({ devices: [aDevice("a")] });
    const { run, covered } = openCollector(devices, provider, {
      collectors: { devices: { ...deviceDefaults, collectDeviceInvites: false } },
    });
    await run();
    expect(provider.calls).toEqual(["devices"]);
    expect(covered.size).toBe(0);
  });

  it("of more devices than the interval has time for are read over several runs", async () => {
    const many = Array.from({ length: 100 }, (_, at) => aDevice(`d${at}`));
    const provider = createFakeProvider({ devices: many });
    const { run, clock, covered, series } = openCollector(devices, provider);
    provider.answers.deviceInvites = async (id) => {
      await clock.advance(5_000);
      const times = provider.calls.filter((call) => call === "deviceInvites d0").length;
      return id === "d0" && times === 2 ? [] : [anInvite()];
    };
    const counted = (): string[] =>
      series("vpn.device_invites.count").map((line) => line.split(" ").at(-1) ?? "");
    const tried: number[] = [];
    for (const expected of ["first", "second", "third"]) {
      const [beganMs, called] = [clock.monotonic(), provider.calls.length];
      await run();
      expect([expected, clock.monotonic() - beganMs < 60_000]).toEqual([expected, true]);
      tried.push(covered.get("device_invites")?.tried ?? 0);
      expect(provider.calls.length - called).toBe(1 + (tried.at(-1) ?? 0));
    }
    const asked = provider.calls.filter((call) => call.startsWith("deviceInvites"));
    expect(asked.slice(0, 101)).toEqual([
      ...many.map(({ id }) => `deviceInvites ${id}`),
      "deviceInvites d0",
    ]);
    expect(counted()).toEqual(["99"]);
    provider.answers.devices = many.slice(50);
    await run();
    expect(counted()).toEqual(["50"]);
  });

  it("are no longer counted once the credential may not read them", async () => {
    const many = Array.from({ length: 100 }, (_, at) => aDevice(`d${at}`));
    const provider = createFakeProvider({ devices: many, deviceInvites: [anInvite()] });
    const { run, series } = openCollector(devices, provider);
    await run();
    expect(series("vpn.device_invites.count")).toHaveLength(1);
    provider.answers.deviceInvites = () => {
      throw failing(403);
    };
    await run();
    expect(series("vpn.device_invites.count")).toEqual([]);
  });

  it("of a network without devices are all known", async () => {
    const { run, covered } = openCollector(devices, createFakeProvider({ devices: [] }));
    await run();
    expect(covered.get("device_invites")).toEqual({ tried: 0, failures: [] });
  });
});
