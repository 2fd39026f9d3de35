import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import { networkName } from "../../../src/monitor/network/network-name.ts";
import { networkScope, type ScopeFacts } from "../../../src/monitor/network/network-scope.ts";
import type { NetworkOptions, PrivacyOptions } from "../../../src/monitor/options.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { createFakeProvider } from "../collectors/fake-provider.ts";
import { networkOptions } from "../collectors/harness.ts";

const log = createLog({ level: "error", format: "text", write: () => {}, now: () => 0 });
const shown = new Proxy({} as PrivacyOptions, { get: () => true, ownKeys: () => [] });

describe("the name of a network", () => {
  it("is the configured one, and is asked for only as -", async () => {
    const provider = createFakeProvider({ networkName: "told.test" });
    const deps = { clock: createManualClock(), log, signal: new AbortController().signal };
    expect([
      await networkName("home", provider, deps),
      await networkName("-", provider, deps),
    ]).toEqual(["home", "told.test"]);
    expect(provider.calls).toEqual(["networkName"]);
    expect(await networkName("-", createFakeProvider({}), deps)).toBe("-");
    expect(await networkName("-", createFakeProvider({ networkName: " " }), deps)).toBe("-");
  });

  it("is not waited for longer than ten seconds", async () => {
    const clock = createManualClock();
    const asked = networkName(
      "-",
      createFakeProvider({ networkName: () => new Promise<string>(() => undefined) }),
      { clock, log, signal: new AbortController().signal },
    );
    await clock.advance(10_000);
    expect(await asked).toBe("-");
  });

  it("is given up with the network", async () => {
    const stop = new AbortController();
    const asked = networkName(
      "-",
      createFakeProvider({ networkName: () => new Promise<string>(() => undefined) }),
      { clock: createManualClock(), log, signal: stop.signal },
    );
    stop.abort(new Error("stops"));
    await expect(asked).rejects.toThrow("stops");
  });
});

describe("the scope of a network", () => {
  const facts: ScopeFacts = {
    privacy: shown,
    resource: { "service.name": "steward", "service.instance.id": "here" },
    several: false,
    selfObservability: { enabled: true, instanceId: "" },
  };

  it("has the resource of the process, and an instance of its own among several", () => {
    expect(networkScope(facts, networkOptions(), "told.test")).toEqual({
      name: "network/example.test",
      limits: { perMetric: 10_000, labelValues: 100 },
      logResource: { "process.pid": process.pid },
      resource: facts.resource,
      constants: { "vpn.network": "told.test", "svc.provider": "headscale" },
    });
    expect(
      networkScope({ ...facts, several: true }, networkOptions(), "told.test").resource[
        "service.instance.id"
      ],
    ).toBe("here/told.test");
  });

  it("has no name when that is only the `-` of the other control plane", () => {
    const own = { ...networkOptions(), name: "-" };
    expect(networkScope(facts, own, "-").constants).toEqual({ "svc.provider": "headscale" });
    const auth = { method: "apikey", key: { sentSecret: "unused", origin: "test" } } as const;
    const { url, http, maxResponseBytes } = own.provider;
    const hosted: NetworkOptions = {
      ...own,
      provider: {
        kind: "tailscale",
        network: "-",
        auth,
        url,
        http,
        maxResponseBytes,
        maxLogResponseBytes: maxResponseBytes,
      },
    };
    expect(networkScope(facts, hosted, "-").constants).toEqual({
      "vpn.network": "-",
      "svc.provider": "tailscale",
    });
  });

  it("keeps a name of one's own for Headscale, alone and among several", () => {
    for (const several of [false, true])
      expect(
        networkScope({ ...facts, several }, { ...networkOptions(), name: "home" }, "home")
          .constants,
      ).toEqual({ "vpn.network": "home", "svc.provider": "headscale" });
  });

  it("does not show a name that privacy hides", () => {
    const hidden = networkScope(
      { ...facts, several: true, privacy: { ...shown, network_name: false } },
      networkOptions(),
      "told.test",
    );
    expect(hidden.constants).toEqual({ "svc.provider": "headscale" });
    expect(JSON.stringify(hidden.resource)).not.toContain("told.test");
    expect(hidden.redact).toBeDefined();
  });
});
