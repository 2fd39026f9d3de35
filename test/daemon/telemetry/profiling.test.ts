import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { configureDaemon, loadDaemonConfig } from "../../../src/daemon/configuration.ts";
import { profilerNetwork } from "../../../src/daemon/telemetry/profiler-network.ts";
import {
  configureProfiling,
  type ProcessProfiling,
} from "../../../src/daemon/telemetry/profiling.ts";
import { configureUpdateCheck } from "../../../src/daemon/updates.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { Config } from "../../../src/kernel/config/config.ts";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import { startIngest } from "../../profiling/ingest.ts";
import { testFolder } from "../../kernel/listen/test-certificates.ts";
import { createManualClock, type ManualClock } from "../../kernel/supervisor/manual-clock.ts";

const never = new AbortController().signal;
const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
const scope = { add: () => undefined, gauge: () => undefined, record: () => undefined };

function configOf(environment: Record<string, string>): Config {
  const { config, findings } = loadDaemonConfig(undefined, { HOME: "/nowhere", ...environment });
  if (config === undefined) throw new Error(findings.map(formatFinding).join("\n"));
  return config;
}

function profilingOf(
  environment: Record<string, string>,
  clock: ManualClock = createManualClock(),
): ProcessProfiling {
  return configureProfiling({
    config: configOf(environment),
    clock,
    ids: systemIds,
    log,
    version: "1.2.3",
    environment: {},
    scope,
  });
}

describe("Profiling in the daemon", () => {
  it("is nothing unless it is asked for", () => {
    const { components, routes, status } = profilingOf({});
    expect([components, routes]).toEqual([[], []]);
    expect(status()).toEqual({
      profileEndpointEnabled: false,
      profilerEnabled: false,
      profilerServer: "",
      profilerHeaderNames: [],
      profilerTlsClientCert: false,
      profilerTlsCustomCa: false,
      profilerTlsInsecureSkipVerify: false,
      profilerAuthSet: false,
      profilerUpload: undefined,
    });
  });

  it("serves profiles with the endpoint alone, and samples heaps for them", () => {
    const { components, routes, status } = profilingOf({
      STEWARD_PROFILING__PROFILE_ENDPOINT__ENABLED: "true",
      STEWARD_ADMIN__AUTH__TOKEN: "abcdefghijklmnopqrstuvwxyz",
    });
    expect(components.map(({ name, readiness }) => [name, readiness])).toEqual([
      ["heap-sampler", "none"],
    ]);
    expect(routes.map(({ template }) => template)).toEqual([
      "/debug/pprof",
      "/debug/pprof/",
      "/debug/pprof/cmdline",
      "/debug/pprof/profile",
      "/debug/pprof/heap",
    ]);
    expect(status()).toMatchObject({
      profileEndpointEnabled: true,
      profilerEnabled: false,
      profilerUpload: undefined,
    });
  });

  it("sends them with who this is and all credentials, tells of neither's value, and decides over nothing", async () => {
    await using ingest = await startIngest();
    const folder = testFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "password"), "canary-password\n");
    const clock = createManualClock();
    const { components, routes, status } = profilingOf(
      {
        STEWARD_PROFILING__PROFILER__ENABLED: "true",
        STEWARD_PROFILING__PROFILER__SERVER_ADDRESS: ingest.url,
        STEWARD_PROFILING__PROFILER__BASIC_AUTH_USER: "me",
        STEWARD_PROFILING__PROFILER__BASIC_AUTH_PASSWORD_FILE: join(folder, "password"),
        STEWARD_PROFILING__PROFILER__TENANT_ID: "t-1",
        STEWARD_PROFILING__PROFILER__HEADERS__X_ORG: "canary-header",
        STEWARD_PROFILING__PROFILER__TAGS__REGION: "eu",
        STEWARD_PROFILING__PROFILER__NETWORK_LABEL: "name",
        STEWARD_VPN__NETWORK: "example.org",
        STEWARD_SELF_OBSERVABILITY__INSTANCE_ID: "a,b",
        STEWARD_PROFILING__PROFILER__CREDENTIAL_RELOAD__ENABLED: "true",
      },
      clock,
    );
    expect(routes).toEqual([]);
    expect(components.map(({ name, needs, readiness }) => [name, needs, readiness])).toEqual([
      ["heap-sampler", [], "none"],
      ["profiler", ["heap-sampler"], "none"],
    ]);
    expect(status()).toMatchObject({
      profilerEnabled: true,
      profilerServer: ingest.url,
      profilerAuthSet: true,
      profilerUpload: { attempts: 0, healthy: true },
    });
    expect(status().profilerHeaderNames).toEqual(["Authorization", "X-Scope-Orgid", "X_org"]);
    for (const component of components) await component.start(never, () => undefined);
    while (clock.timers() < 2) await setImmediate();
    await clock.advance(60_000);
    while ((status().profilerUpload?.attempts ?? 0) < 2) await setImmediate();
    const [upload] = ingest.uploads;
    expect(upload?.query["name"]).toBe(
      "steward{network=example.org,region=eu,service_instance_id=a_b,service_version=1.2.3}",
    );
    expect(upload?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from("me:canary-password").toString("base64")}`,
      "x-scope-orgid": "t-1",
    });
    expect(Object.values(upload?.headers ?? {})).toContain("canary-header");
    expect(JSON.stringify(status())).not.toContain("canary");
    for (const component of components.toReversed()) await component.stop(0);
  });

  it.each([
    [{ STEWARD_VPN__NETWORK: "example.org" }, undefined],
    [
      { STEWARD_VPN__NETWORK: "example.org", STEWARD_PROFILING__PROFILER__NETWORK_LABEL: "hashed" },
      createHash("sha256").update("example.org").digest("hex").slice(0, 12),
    ],
    [
      {
        STEWARD_VPN__NETWORK: "example.org",
        STEWARD_PROFILING__PROFILER__NETWORK_LABEL: "name",
        STEWARD_PII_FILTER__NETWORK_NAME: "false",
      },
      createHash("sha256").update("example.org").digest("hex").slice(0, 12),
    ],
    [
      { STEWARD_VPN__NETWORK: "a=b", STEWARD_PROFILING__PROFILER__NETWORK_LABEL: "name" },
      createHash("sha256").update("a=b").digest("hex").slice(0, 12),
    ],
    [{ STEWARD_PROFILING__PROFILER__NETWORK_LABEL: "name" }, undefined],
  ])("tells the network as far as it may: %j", (environment, expected) => {
    expect(profilerNetwork(configOf(environment))).toBe(expected);
  });

  it("says that a label has no network to tell", () => {
    const { findings } = loadDaemonConfig(undefined, {
      HOME: "/nowhere",
      STEWARD_PROFILING__PROFILER__ENABLED: "true",
      STEWARD_PROFILING__PROFILER__SERVER_ADDRESS: "http://localhost:1",
      STEWARD_PROFILING__PROFILER__NETWORK_LABEL: "name",
    });
    expect(findings.map(formatFinding)).toEqual([
      expect.stringContaining("WARNING profiling.profiler.network_label: is ignored"),
    ]);
  });
});

describe("The look for newer releases in the daemon", () => {
  const check = (
    environment: Record<string, string>,
    demo: boolean,
  ): ReturnType<typeof configureUpdateCheck> => {
    const configuration = configureDaemon(
      { config: undefined, demo },
      { HOME: "/nowhere", STEWARD_DEMO: String(demo), ...environment },
    );
    const observed = {
      ...scope,
      observe: () => ({ [Symbol.dispose]: () => undefined }),
      end: () => true,
    };
    return configureUpdateCheck({
      configuration,
      clock: createManualClock(),
      ids: systemIds,
      log,
      version: "1.2.3",
      scope: observed,
    });
  };
  const url = { STEWARD_VERSION_CHECKS__SELF__URL: "http://127.0.0.1:9/repos/o/n/releases/latest" };

  it("asks where it is told to, never without an address, and never in a demo", () => {
    expect(check(url, false).status()).toMatchObject({
      enabled: true,
      state: "checking",
      releaseUrl: "http://127.0.0.1:9/o/n/releases",
    });
    expect(check({}, false).status()).toMatchObject({
      enabled: false,
      state: "disabled",
      releaseUrl: "",
    });
    expect(
      check({ ...url, STEWARD_VERSION_CHECKS__SELF__ENABLED: "false" }, false).status().state,
    ).toBe("disabled");
    expect(check(url, true).status()).toMatchObject({ enabled: false, state: "disabled" });
  });
});
