import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import { capabilityMatrix } from "../../../src/monitor/capability/matrix.ts";
import { defineOperation } from "../../../src/monitor/capability/operation.ts";
import { reportCapabilities, warnOfScopes } from "../../../src/monitor/capability/report.ts";
import { coversScope, compareScopes } from "../../../src/monitor/capability/scopes.ts";
import { createCapabilityTracker, worstState } from "../../../src/monitor/capability/tracker.ts";
import {
  apiAvailability,
  capabilityScopeSatisfied,
  capabilityStatus,
  subrequestFailures,
} from "../../../src/monitor/catalogue/api.ts";
import { allCollectors } from "../../../src/monitor/collectors/all.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { createFakeProvider } from "../collectors/fake-provider.ts";
import { networkOptions } from "../collectors/harness.ts";

describe("scopes", () => {
  it.each([
    [["all"], "users:read", true],
    [["all:read"], "users:read", true],
    [["all:read"], "users", false],
    [[" Users:Read "], "users:read", true],
    [["users"], "users:read", true],
    [["users:read"], "users", false],
    [["dns:read"], "users:read", false],
    [[], "users:read", false],
    [["devices_invites:read"], "device_invites:read", true],
    [["oauth_keys"], "oauth_apps:read", true],
  ] as const)("%j covers %s: %s", (granted, scope, covered) => {
    expect(coversScope(granted, scope)).toBe(covered);
  });

  it("are judged by alternatives, and not at all where nothing is known", () => {
    const keys = [["auth_keys:read", "api_access_tokens:read"]];
    expect(compareScopes(["api_access_tokens:read"], keys)).toEqual({
      status: "satisfied",
      missing: [],
    });
    expect(compareScopes(["dns:read"], [...keys, ["dns:read"]])).toEqual({
      status: "insufficient",
      missing: ["auth_keys:read", "api_access_tokens:read"],
    });
    expect([
      compareScopes(undefined, keys).status,
      compareScopes(["all"], undefined).status,
      compareScopes(undefined, []).status,
    ]).toEqual(["unknown", "unknown", "not_applicable"]);
  });
});

const operations = {
  devices: defineOperation("listTailnetDevices"),
  devicePosture: defineOperation("device_posture"),
  deviceInvites: defineOperation("device_invites"),
  users: defineOperation("listUsers"),
  flowLogs: defineOperation("listNetworkFlowLogs", [403]),
};

function opened(
  scopes: readonly string[] | undefined,
  unsupported: Parameters<typeof createFakeProvider>[1] = {},
  collectors: NonNullable<Parameters<typeof networkOptions>[0]>["collectors"] = { dns: undefined },
) {
  const clock = createManualClock();
  const scope = createTelemetryWriter({ clock }).scope({
    name: "n",
    resource: {},
    constants: {},
  }) as SeriesScope;
  const tracker = createCapabilityTracker({ clock, scope });
  const provider = createFakeProvider({}, { granted: { method: "oauth", scopes }, ...unsupported });
  const options = networkOptions({ collectors });
  const registered = new Set(
    allCollectors.flatMap((each) =>
      each.prepare(options) !== undefined &&
      (each.needs === undefined || provider.supports(each.needs))
        ? [each.name]
        : [],
    ),
  );
  const matrix = () =>
    capabilityMatrix({ collectors: allCollectors, registered, options, provider, tracker });
  return {
    clock,
    scope,
    tracker,
    matrix,
    row: (collector: string, subrequest?: string) =>
      matrix().find((each) => each.collector === collector && each.subrequest === subrequest),
  };
}

describe("the capability matrix", () => {
  it("has a row for each collector and each further call, sorted, feeds only while they run", () => {
    const rows = opened(["all:read"])
      .matrix()
      .map(({ collector, subrequest }) =>
        subrequest === undefined ? collector : `${collector}.${subrequest}`,
      );
    expect(rows).toEqual(rows.toSorted());
    expect(rows).toEqual(
      expect.arrayContaining([
        "acl",
        "auditlogs",
        "contacts",
        "devices",
        "devices.device_invites",
        "devices.device_posture",
        "dns",
        "flowlogs",
        "keys",
        "logstream",
        "nodemetrics",
        "oauth_apps",
        "posture_integrations",
        "services",
        "settings",
        "users",
        "users.user_invites",
        "webhooks",
      ]),
    );
    expect(rows.filter((name) => /objectstore|feature/.test(name))).toEqual([]);
  });

  it("says why a collector does not run", () => {
    const { row } = opened(["all:read"], { unsupported: ["webhooks"] });
    expect(row("webhooks")).toMatchObject({
      active: false,
      providerSupported: false,
      reason: "provider_unsupported",
    });
    expect(row("dns")).toMatchObject({
      active: false,
      configEnabled: false,
      reason: "config_disabled",
    });
    expect(row("devices", "device_posture")).toMatchObject({
      active: false,
      reason: "config_disabled",
    });
    expect(row("devices", "device_invites")).toMatchObject({
      active: true,
      reason: undefined,
      operations: [],
    });
  });

  it("needs the scope of devices for the hosts of services, where they are asked for", () => {
    const services = { intervalMs: 600_000, collectHosts: false };
    expect(opened(["services:read"], {}, { services }).row("services")).toMatchObject({
      scopeStatus: "satisfied",
      requiredScopes: ["services:read"],
    });
    const hosts = { services: { ...services, collectHosts: true } };
    expect(opened(["services:read"], {}, hosts).row("services")).toMatchObject({
      scopeStatus: "insufficient",
      missingScopes: ["devices:core:read"],
    });
    expect(opened(["services:read", "devices:core:read"], {}, hosts).row("services")).toMatchObject(
      { scopeStatus: "satisfied" },
    );
  });

  it("shows the most serious state of the operations, and of a further call its own", () => {
    const { row, tracker, clock } = opened(["users:read"]);
    tracker.observed("devices", operations.devices, "supported");
    tracker.covered("devices", operations.deviceInvites, {
      tried: 3,
      failures: ["scope_denied", "transient_failure"],
    });
    expect(row("devices")).toMatchObject({
      state: "scope_denied",
      actionable: true,
      scopeStatus: "insufficient",
      lastProbeMs: clock.now(),
    });
    expect(row("devices")?.operations.map(({ operation, state }) => [operation, state])).toEqual([
      ["device_invites", "scope_denied"],
      ["listTailnetDevices", "supported"],
    ]);
    expect(row("devices", "device_invites")).toMatchObject({
      state: "scope_denied",
      capability: "device_invites",
    });
    expect(row("users")).toMatchObject({
      state: "unknown",
      actionable: false,
      scopeStatus: "satisfied",
      lastProbeMs: undefined,
    });
    tracker.observed("flowlogs-feature", operations.flowLogs, "disabled");
    expect(row("flowlogs")).toMatchObject({ state: "disabled", actionable: false });
    expect(worstState([])).toBe("unknown");
  });

  it("is exported for what is active, and each missing scope is warned of once", () => {
    const { scope, matrix, tracker } = opened(["users:read"]);
    tracker.observed("users", operations.users, "supported");
    reportCapabilities(scope, matrix());
    const active = matrix().filter((row) => row.active);
    expect(scope.series(capabilityStatus)).toBe(
      7 * active.filter((row) => row.subrequest === undefined).length,
    );
    expect(scope.series(capabilityScopeSatisfied)).toBe(
      active.filter(
        ({ scopeStatus }) => scopeStatus === "satisfied" || scopeStatus === "insufficient",
      ).length,
    );
    expect(scope.series(apiAvailability)).toBe(7);
    const lines: string[] = [];
    warnOfScopes(
      createLog({ level: "warn", format: "text", write: (line) => lines.push(line), now: () => 0 }),
      matrix(),
    );
    expect(lines).toHaveLength(
      active.filter(({ scopeStatus }) => scopeStatus === "insufficient").length,
    );
    expect(lines.join("")).not.toContain("name=users ");
  });

  it("counts further calls of five kinds of failure from the first run on, and full coverage when none was tried", () => {
    const { scope, tracker } = opened(undefined);
    tracker.covered("devices", operations.devicePosture, { tried: 0, failures: [] });
    expect([scope.series(subrequestFailures), tracker.operations("devices")]).toEqual([5, []]);
  });
});
