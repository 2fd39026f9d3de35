import { strFromU8, unzipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { run } from "../../../workers/bundle/bundle.ts";

const control = { cancelled: () => false, step: () => undefined, transfer: () => undefined };

const status = {
  service: { name: "steward", version: "1.2.3" },
  update: { state: "disabled" },
  config: { schema_version: 1, full: { "logging.level": { value: "info" } } },
  components: [
    { name: "admin", enabled: true, failed: true, reason: "taken" },
    { name: "pool", enabled: true, failed: false },
  ],
  api: { auth: { method: "oauth" }, endpoints: [{ endpoint: "devices", last_error: "timeout" }] },
  delivery: [{ signal: "logs", last_error_class: "unavailable" }, { signal: "metrics" }],
  collectors: [{ name: "devices", last_error: "no answer" }, { name: "users" }],
  advisories: [{ key: "a.b", message: "a.b: odd" }],
  flow_store: { enabled: false },
  metrics: [{ name: "svc.up" }],
  log_events: [],
  devices: [{ name: "kanarienvogel" }],
  networks: [{ name: "corp", devices: [{ name: "kanarienvogel" }] }],
  health: "degraded",
  health_reasons: ["component admin: taken"],
  capability_matrix: [
    { collector: "keys", state: "scope_missing", actionable: true, reason: "needs keys:read" },
    { collector: "dns", state: "ok", actionable: false },
  ],
  cardinality: {
    alerts: [{ metric: "vpn.flows", level: "critical", count: 9_000 }],
    labels: [{ label: "host.name", metrics: [{ examples: ["kanarienvogel"] }] }],
  },
};

function bundle(
  changes: object = {},
  devices = false,
  atMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678),
): { readonly names: string[]; readonly parts: Record<string, any>; readonly bytes: Uint8Array } {
  const bytes = run(
    {
      status: new TextEncoder().encode(JSON.stringify({ ...status, ...changes })),
      atMs,
      version: "1.2.3",
      devices,
    },
    control,
  );
  const files = unzipSync(bytes);
  return {
    bytes,
    names: Object.keys(files),
    parts: Object.fromEntries(
      Object.entries(files).map(([name, body]) => [
        name.replace(".json", ""),
        JSON.parse(strFromU8(body)),
      ]),
    ),
  };
}

const parts = [
  "version",
  "diagnostics",
  "config",
  "components",
  "api",
  "delivery",
  "collectors",
  "advisories",
  "flow_store",
  "catalog_metrics",
  "catalog_log_events",
];

describe("a support bundle", () => {
  it("has its parts in an order that never changes, and a manifest of them", () => {
    const { names, parts: read, bytes } = bundle();
    expect(names).toEqual(["manifest", ...parts].map((name) => `${name}.json`));
    expect(read["manifest"]).toEqual({
      format_version: 1,
      generated_at: "2026-01-02T03:04:05Z",
      version: "1.2.3",
      included: parts,
      excluded_by_default: ["flow_records", "raw_logs", "device_inventory"],
      truncated: [],
    });
    expect(read["config"]).toEqual(status.config);
    expect(Buffer.compare(bytes, bundle().bytes)).toBe(0);
  });

  it.each([0, Date.UTC(1980, 0, 1), Date.UTC(2099, 11, 31, 23, 59, 59), Date.UTC(2106, 1, 7)])(
    "is made at %s too, which a ZIP archive cannot show",
    (atMs) => {
      const { parts: read } = bundle({}, false, atMs);
      expect(read["manifest"].generated_at).toBe(
        new Date(atMs).toISOString().replace(".000Z", "Z"),
      );
    },
  );

  it("has devices only when they are asked for", () => {
    expect(JSON.stringify(bundle().parts)).not.toContain("kanarienvogel");
    const asked = bundle({}, true);
    expect([
      asked.names.at(-1),
      asked.parts["devices"],
      asked.parts["manifest"].included.at(-1),
    ]).toEqual(["devices.json", status.devices, "devices"]);
  });

  it("gathers what is not as it should be", () => {
    expect(bundle().parts["diagnostics"]).toEqual([
      { area: "health", message: "degraded" },
      { area: "health", message: "component admin: taken" },
      { area: "component", subject: "admin", message: "taken" },
      { area: "delivery", subject: "logs", message: "unavailable" },
      { area: "collector", subject: "devices", message: "no answer" },
      { area: "endpoint", subject: "devices", message: "timeout" },
      { area: "capability", subject: "keys", message: "needs keys:read" },
      { area: "cardinality", subject: "vpn.flows", message: "critical: 9000 series" },
    ]);
  });

  it("cuts what is too long, and says so", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        name: `n${index}`,
        message: "m",
        endpoint: "e",
        last_error: "x",
      }));
    const { parts: read } = bundle(
      {
        devices: many(5_001),
        collectors: many(2_001),
        advisories: many(501),
        metrics: many(5_001),
        log_events: many(5_001),
        api: { endpoints: many(501) },
      },
      true,
    );
    expect(read["manifest"].truncated).toEqual([
      "diagnostics",
      "endpoints",
      "collectors",
      "advisories",
      "catalog_metrics",
      "catalog_log_events",
      "devices",
    ]);
    expect(
      [
        read["devices"],
        read["collectors"],
        read["advisories"],
        read["catalog_metrics"],
        read["catalog_log_events"],
        read["api"].endpoints,
        read["diagnostics"],
      ].map((rows) => rows.length),
    ).toEqual([5_000, 2_000, 500, 5_000, 5_000, 500, 1_000]);
  });
});
