import { describe, expect, it } from "vitest";
import { devices } from "../../../../src/monitor/collectors/devices.ts";
import type { PostureAttributes } from "../../../../src/monitor/providers/model.ts";
import { aDevice, DAY_MS, START_MS } from "../entities.ts";
import { createFakeProvider, failing } from "../fake-provider.ts";
import type { Answers } from "../fake-provider.ts";
import { deviceDefaults, openCollector } from "../harness.ts";

const posture = (
  attributes: Readonly<Record<string, string | number | boolean>>,
  expiresMs: Readonly<Record<string, number>> = {},
): PostureAttributes => ({
  attributes: new Map(Object.entries(attributes)),
  expiresMs: new Map(Object.entries(expiresMs)),
});

function open(answers: Answers, section: Partial<typeof deviceDefaults> = {}) {
  const provider = createFakeProvider({ deviceInvites: [], ...answers });
  const harness = openCollector(devices, provider, {
    collectors: { devices: { ...deviceDefaults, collectPosture: true, ...section } },
  });
  return { ...harness, provider };
}

const node = {
  "node:os": "linux",
  "node:osVersion": "6.12",
  "node:tsVersion": "1.86.2",
  "node:tsAutoUpdate": true,
  "node:tsStateEncrypted": false,
  "node:tsReleaseTrack": "stable",
};

describe("The posture of devices", () => {
  it("is shown as labels of the client, and as values of the namespaces that are wanted", async () => {
    const { run, series } = open({
      devices: [aDevice("a")],
      devicePosture: posture(
        {
          ...node,
          "intune:complianceState": "compliant",
          "kolide:score": 87,
          "ip:trusted": true,
          "custom:score": 1,
          plain: "x",
        },
        { "kolide:score": START_MS + DAY_MS, "custom:score": START_MS },
      ),
    });
    await run();
    expect([...series("vpn.device.posture"), ...series("vpn.device.attribute")]).toEqual([
      'vpn.device.posture{host.name="a",host.id="a",os="linux",os_version="6.12",ts_version="1.86.2",auto_update="true",encrypted="false",track="stable"} 1',
      `vpn.device.attribute.expiry{host.name="a",host.id="a",attribute="kolide:score"} ${(START_MS + DAY_MS) / 1_000}`,
      'vpn.device.attribute.info{host.name="a",host.id="a",attribute="intune:complianceState",value="compliant"} 1',
      'vpn.device.attribute{host.name="a",host.id="a",attribute="ip:trusted"} 1',
      'vpn.device.attribute{host.name="a",host.id="a",attribute="kolide:score"} 87',
    ]);
  });

  it("is shown whole for the namespace *", async () => {
    const { run, series } = open(
      { devices: [aDevice("a")], devicePosture: posture({ "custom:score": 1, plain: "x" }) },
      { attributeNamespaces: ["*"] },
    );
    await run();
    expect(series("vpn.device.attribute")).toEqual([
      'vpn.device.attribute.info{host.name="a",host.id="a",attribute="plain",value="x"} 1',
      'vpn.device.attribute{host.name="a",host.id="a",attribute="custom:score"} 1',
    ]);
    expect(series("vpn.device.posture")).toEqual([]);
  });

  it("warns of an attribute that expires within 14 days", async () => {
    const { run, records } = open(
      {
        devices: [aDevice("a")],
        devicePosture: posture(
          {},
          { "ip:a": START_MS + 14 * DAY_MS, "ip:b": START_MS, "ip:c": START_MS + 14.01 * DAY_MS },
        ),
      },
      { postureLogMode: "off" },
    );
    await run();
    expect(records()).toEqual([
      'warn vpn.device.attribute.expiring {"host.name":"a","host.id":"a","attribute":"ip:a","vpn.device.attribute_expires_in_days":"14.00"} the posture attribute ip:a of device a expires in 14.00 days',
    ]);
  });

  it("is written down at first sight and when it changed, whatever the order of its attributes, and a device that left is new again", async () => {
    const { run, records, provider } = open({
      devices: [aDevice("a")],
      devicePosture: posture({ b: 1, a: "x" }),
    });
    const line =
      'info vpn.device.posture {"host.name":"a","host.id":"a","vpn.device.posture.details":"{\\"a\\":\\"x\\",\\"b\\":1}"} posture attributes of device a: 2';
    await run();
    expect(records()).toEqual([line]);
    provider.answers.devicePosture = posture({ a: "x", b: 1 });
    await run();
    expect(records()).toEqual([]);
    provider.answers.devicePosture = posture({ a: "x", b: "1" });
    await run();
    expect(records()).toEqual([line.replace('\\"b\\":1', '\\"b\\":\\"1\\"')]);
    provider.answers.devices = [];
    await run();
    provider.answers.devices = [aDevice("a")];
    await run();
    expect(records()).toHaveLength(1);
  });

  it.each([
    ["always", 2],
    ["off", 0],
  ] as const)(
    "is written down in the mode %s %i times in two runs",
    async (postureLogMode, times) => {
      const { run, records } = open(
        { devices: [aDevice("a")], devicePosture: posture(node) },
        { postureLogMode },
      );
      await run();
      await run();
      expect(records()).toHaveLength(times);
    },
  );

  it("is missed where a device does not answer: the others are shown, the failures counted, the run succeeds", async () => {
    const { run, series, covered, states } = open({
      devices: ["a", "b", "c"].map((id) => aDevice(id)),
      devicePosture: (id) => {
        if (id === "a") throw failing(503);
        if (id === "c") throw failing(404);
        return posture(node);
      },
    });
    await run();
    expect(series("vpn.device.posture")).toHaveLength(1);
    expect(covered.get("device_posture")).toEqual({
      tried: 3,
      failures: ["transient_failure", "disabled"],
    });
    expect(states.get("device_posture")).toBe("transient_failure");
  });

  it("ends with the run's signal, and leaves no call behind", async () => {
    const stop = new AbortController();
    const { run, covered, provider } = open({
      devices: Array.from({ length: 40 }, (_, at) => aDevice(String(at))),
      devicePosture: (id) => {
        if (id === "6") stop.abort(new Error("enough"));
        return posture(node);
      },
    });
    await expect(run({ signal: stop.signal })).rejects.toThrow("enough");
    expect(covered.has("device_posture")).toBe(false);
    expect(provider.calls.length).toBeLessThan(15);
  });

  it("asks four devices at once and learns in their order", async () => {
    let now = 0;
    let most = 0;
    const { run, records } = open({
      devices: Array.from({ length: 12 }, (_, at) => aDevice(String(at))),
      devicePosture: async (id) => {
        now += 1;
        most = Math.max(most, now);
        for (let turn = Number(id); turn < 12; turn += 1) await Promise.resolve();
        now -= 1;
        return posture({ "ip:a": id });
      },
    });
    await run();
    expect(most).toBe(4);
    expect(records().map((line) => /"host.id":"(\d+)"/.exec(line)?.[1])).toEqual(
      Array.from({ length: 12 }, (_, at) => String(at)),
    );
  });

  it("is no longer asked for when the credential is refused for each own device", async () => {
    const { run, covered, provider } = open({
      devices: [
        ...Array.from({ length: 30 }, (_, at) => aDevice(`guest${at}`, { external: true })),
        ...Array.from({ length: 100 }, (_, at) => aDevice(String(at))),
      ],
      devicePosture: () => {
        throw failing(403);
      },
    });
    await run();
    expect(covered.get("device_posture")?.tried).toBeGreaterThanOrEqual(55);
    expect(covered.get("device_posture")?.tried).toBeLessThan(60);
    expect(provider.calls.filter((call) => call.startsWith("devicePosture")).length).toBe(
      covered.get("device_posture")?.tried,
    );
    provider.answers.devicePosture = (id) => {
      if (id !== "0") throw failing(403);
      return posture({});
    };
    await run();
    expect(covered.get("device_posture")?.tried).toBe(130);
  });
});
