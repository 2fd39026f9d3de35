/**
 * A support bundle: a zip of what helps somebody else to understand a Steward, in an order that
 * never changes, with caps, and without what identifies devices unless that was asked for. Runs on
 * the pool: ten thousand devices take longer than the main thread may stand still.
 */
import { strToU8, zipSync } from "fflate";
import type { TaskControl } from "../control.ts";
import type { BundleInput } from "./tasks.ts";

const CAPS = {
  devices: 5_000,
  collectors: 2_000,
  diagnostics: 1_000,
  endpoints: 500,
  advisories: 500,
  catalog_metrics: 5_000,
  catalog_log_events: 5_000,
} as const;
/**
 * Years that a ZIP archive can show, in the local time zone, with a day on both sides. A machine
 * without a battery for its clock starts in 1970.
 */
const ZIP_TIMES = { firstMs: Date.UTC(1980, 0, 2), lastMs: Date.UTC(2099, 11, 30) };
/** Configured agents, whose addresses and names are those of devices. */
const TARGETS = "collectors.node_metrics.targets.";
/** Never in it, or only on demand. */
const EXCLUDED = ["flow_records", "raw_logs", "device_inventory"] as const;

type Part = Readonly<Record<string, unknown>>;
type Rows = readonly Part[];

interface StatusParts {
  readonly service: Part;
  readonly update: Part;
  readonly config: Part & { readonly full?: Readonly<Record<string, Part>> };
  readonly components: Rows;
  readonly api: Part & { readonly endpoints?: Rows };
  readonly delivery: Rows;
  readonly collectors: Rows;
  readonly advisories: Rows;
  readonly flow_store: Part;
  readonly metrics: Rows;
  readonly log_events: Rows;
  readonly devices: Rows;
  readonly health: string;
  readonly health_reasons?: readonly string[];
  readonly capability_matrix: Rows;
  readonly cardinality: { readonly alerts?: Rows };
}

/** The archive. */
export function run(
  { status: document, atMs, version, devices }: BundleInput,
  control: TaskControl,
): Uint8Array {
  const status = JSON.parse(new TextDecoder().decode(document)) as StatusParts;
  const truncated: string[] = [];
  const capped = (name: keyof typeof CAPS, rows: Rows): Rows => {
    if (rows.length > CAPS[name]) truncated.push(name);
    return rows.slice(0, CAPS[name]);
  };
  const parts: Readonly<Record<string, unknown>> = {
    version: { service: status.service, update: status.update },
    diagnostics: capped("diagnostics", diagnosticsOf(status)),
    config: devices ? status.config : withoutTargets(status.config),
    components: status.components,
    api: { ...status.api, endpoints: capped("endpoints", status.api.endpoints ?? []) },
    delivery: status.delivery,
    collectors: capped("collectors", status.collectors),
    advisories: capped("advisories", status.advisories),
    flow_store: status.flow_store,
    catalog_metrics: capped("catalog_metrics", status.metrics),
    catalog_log_events: capped("catalog_log_events", status.log_events),
    ...(devices ? { devices: capped("devices", status.devices) } : {}),
  };
  const manifest = {
    format_version: 1,
    generated_at: new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z"),
    version,
    included: Object.keys(parts),
    excluded_by_default: EXCLUDED,
    truncated,
  };
  const files = Object.entries({ manifest, ...parts }).map(
    ([name, part]) => [`${name}.json`, strToU8(`${JSON.stringify(part, null, 2)}\n`)] as const,
  );
  const mtime = Math.min(Math.max(atMs, ZIP_TIMES.firstMs), ZIP_TIMES.lastMs);
  const archive = zipSync(Object.fromEntries(files), { mtime });
  control.transfer(archive.buffer);
  return archive;
}

function withoutTargets(config: StatusParts["config"]): Part {
  const full = Object.entries(config.full ?? {}).map(([key, row]) => [
    key,
    key.startsWith(TARGETS) && typeof row["value"] === "string" && row["value"] !== ""
      ? { ...row, value: "redacted" }
      : row,
  ]);
  return { ...config, full: Object.fromEntries(full) };
}

/** What is not as it should be, from all over the status, in one list. */
function diagnosticsOf(status: StatusParts): Rows {
  return [
    { area: "health", message: status.health },
    ...(status.health_reasons ?? []).map((message) => ({ area: "health", message })),
    ...failing("component", status.components, "name", ({ failed, reason }) =>
      failed === true ? (reason ?? "failed") : undefined,
    ),
    ...failing("delivery", status.delivery, "signal", ({ last_error_class: problem }) => problem),
    ...failing("collector", status.collectors, "name", ({ last_error: problem }) => problem),
    ...failing(
      "endpoint",
      status.api.endpoints ?? [],
      "endpoint",
      ({ last_error: problem }) => problem,
    ),
    ...failing(
      "capability",
      status.capability_matrix,
      "collector",
      ({ state, reason, actionable }) => (actionable === true ? (reason ?? state) : undefined),
    ),
    ...failing(
      "cardinality",
      status.cardinality.alerts ?? [],
      "metric",
      ({ level, count }) => `${String(level)}: ${String(count)} series`,
    ),
  ];
}

function failing(area: string, rows: Rows, name: string, problem: (row: Part) => unknown): Rows {
  return rows.flatMap((row) => {
    const message = problem(row);
    return message === undefined || message === "" ? [] : [{ area, subject: row[name], message }];
  });
}
