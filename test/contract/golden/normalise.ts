/**
 * What differs between two runs although nothing changed, with the reason. Everything else in the
 * golden files is compared as it is: the clock, the identifiers and the simulated networks are the
 * same in each run.
 */
import { familyName, labelName } from "../../../src/kernel/telemetry/exposition/naming.ts";
import { processMetricRows } from "../../../src/kernel/telemetry/report/service-metrics.ts";
import type { PlainAttributes, ReceivedLog, ReceivedPoint } from "../../support/otlp/decode.ts";

/** Stands for a value that is not compared. */
const MASKED = "*";

/**
 * Metrics whose values are not compared, by the reason. Their names, kinds, units, help and labels
 * are.
 */
const VARYING_METRICS: Readonly<Record<string, readonly string[]>> = {
  "read from the real process": [
    "process.cpu.time", "process.uptime", "process.start_time", "process.resident_memory", "process.open_fds", "process.max_fds",
    "svc.runtime.gc.count", "svc.runtime.gc.pause_time", "svc.runtime.gc.cpu_fraction", "svc.runtime.memory.alloc", "svc.runtime.memory.heap_alloc",
    "svc.runtime.memory.heap_inuse", "svc.runtime.memory.heap_sys", "svc.runtime.memory.sys",
  ],
  "counts the cores of the machine": ["svc.runtime.max_procs", "svc.pool.threads", "svc.pool.tasks.limit"],
  "is the disk of the machine": ["svc.state.disk.free", "svc.state.disk.size"],
  "measured by the telemetry thread, which has the machine's clock": ["svc.export.duration", "svc.metrics.scrape.duration", "svc.tls.cert.reload.last_success"],
  "the pull that reads it may have been counted or not": ["svc.metrics.scrape.in_flight"],
};

/**
 * Attributes of the resource, and labels made from them, whose values are not compared: they name
 * the machine, its Node and the release.
 */
const MACHINE_ATTRIBUTES: readonly string[] = [
  "host.arch", "host.name", "os.description", "os.type", "os.version", "process.pid", "process.runtime.version", "service.version", "telemetry.sdk.version", "version", "runtime.version",
];

/** Members of the status that are not compared, by the reason. */
const VARYING_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  "names the release or its Node": ["service.version", "service.runtime_version", "update.current_version"],
  "counts the cores of the machine": ["runtime.max_procs"],
  "measured by the telemetry thread, which has the machine's clock": ["metrics_serving.last_scrape_at", "metrics_serving.last_scrape_duration_ms"],
};

const varying: ReadonlySet<string> = new Set(Object.values(VARYING_METRICS).flat());
const varyingFamilies: ReadonlySet<string> = new Set(processMetricRows.filter(({ name }) => varying.has(name)).map((row) => familyName(row)));
const varyingMembers: ReadonlySet<string> = new Set(Object.values(VARYING_MEMBERS).flat());
const machineLabels = new RegExp(`(?<=[{,])(${MACHINE_ATTRIBUTES.map(labelName).join("|")})="[^"]*"`, "g");

/** Whether the values of a metric are compared. */
export function isVarying(metric: string): boolean {
  return varying.has(metric);
}

/** Replaces addresses and folders, which differ, by what they stand for. */
export function named(text: string, names: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [found, name] of Object.entries(names)) {
    result = result.replaceAll(found, `<${name}>`);
    // An address stands in some places without its scheme.
    if (found.startsWith("http")) result = result.replaceAll(new URL(found).host, `<${name}>`);
  }
  return result;
}

/**
 * The exposition. Within a family series are sorted: which of two simultaneous answers comes first
 * is no promise.
 */
export function normaliseExposition(text: string): string {
  const families: string[][] = [];
  for (const line of text.trimEnd().split("\n")) {
    if (/^# (HELP|EOF)/.test(line) || (line.startsWith("# TYPE") && !families.at(-1)?.[0]?.startsWith(`# HELP ${familyOf(line)} `))) families.push([]);
    families.at(-1)?.push(line.startsWith("#") ? line : maskedSample(line));
  }
  return `${families.flatMap(sortedFamily).join("\n")}\n`;
}

function sortedFamily(lines: readonly string[]): string[] {
  const samples = lines.filter((line) => !line.startsWith("#"));
  return [...lines.filter((line) => line.startsWith("#")), ...samples.toSorted((left, right) => compare(seriesOf(left), seriesOf(right)))];
}

function familyOf(line: string): string {
  return line.split(" ")[2] ?? "";
}

function maskedSample(line: string): string {
  const machine = /^(target_info|svc_build_info_ratio)\{/.test(line) ? line.replaceAll(machineLabels, `$1="${MASKED}"`) : line;
  const name = /^[^{ ]+/.exec(line)?.[0] ?? "";
  return [name, name.replace(/_(bucket|sum|count)$/, "")].some((family) => varyingFamilies.has(family)) ? machine.replace(/ \S+$/, ` ${MASKED}`) : machine;
}

/** The labels of a sample but for `le`: the lines of one histogram stay together in their order. */
function seriesOf(line: string): string {
  return (/\{.*\}/s.exec(line)?.[0] ?? "").replace(/(?<=[{,])le="[^"]*"/, "").replaceAll(/,?[{}]/g, "");
}

/**
 * The requests that were received, one block each. Sorted: those of several scopes are on their way
 * at once, and the order of metrics is no promise.
 */
export function normaliseMetrics(batches: readonly (readonly ReceivedPoint[])[], beganMs: number): string {
  return batches.map((points) => metricsBlock(points, beganMs)).toSorted(compare).join("\n");
}

function metricsBlock(points: readonly ReceivedPoint[], beganMs: number): string {
  const [first] = points;
  const lines = [`request: ${attributesOf(first?.resource)}`, `schema ${first?.schemaUrl}, scope ${first?.scope}`];
  const byMetric = Map.groupBy(points, metricLine);
  for (const [metric, all] of [...byMetric].toSorted(([left], [right]) => compare(left, right))) {
    lines.push(metric, ...all.map((point) => pointLine(point, beganMs)).toSorted(compare));
  }
  return `${lines.join("\n")}\n`;
}

function metricLine({ metric, kind, monotonic, temporality, unit, description }: ReceivedPoint): string {
  const kinds = `${kind}${monotonic ? " monotonic" : ""}${temporality === 0 ? "" : ` temporality=${temporality}`}`;
  return `${metric} ${kinds} unit=${unit} ${description}`;
}

function pointLine({ metric, attributes, doubles, startMs, timeMs, value, histogram }: ReceivedPoint, beganMs: number): string {
  const shown = isVarying(metric) ? MASKED : histogram === undefined ? value : histogramText(histogram);
  const since = (ms: number): string => `${(ms - beganMs) / 1_000}s`;
  const start = startMs === 0 ? "" : ` from ${isVarying(metric) ? MASKED : since(startMs)}`;
  return `  {${attributesOf(attributes, { doubles, machine: metric === "svc.build_info" })}} ${shown} at ${since(timeMs)}${start}`;
}

function histogramText({ count, sum, counts, bounds }: NonNullable<ReceivedPoint["histogram"]>): string {
  return `count=${count} sum=${sum} ${counts.map((cell, index) => `${bounds[index] ?? "+Inf"}:${cell}`).join(" ")}`;
}

/**
 * The records that were received, by their resources, without the order in which simultaneous ones
 * came.
 */
export function normaliseLogs(records: readonly ReceivedLog[], beganMs: number): string {
  const blocks = Map.groupBy(records, ({ resource, schemaUrl, scope }) => `resource: ${attributesOf(resource)}\nschema ${schemaUrl}, scope ${scope}`);
  return [...blocks].map(([resource, all]) => `${resource}\n${all.map((record) => recordLine(record, beganMs)).toSorted(compare).join("\n")}\n`).toSorted(compare).join("\n");
}

/**
 * Records whose time of observation is told by the control plane. The telemetry thread writes that
 * of others by the machine's clock.
 */
const CAPTURED: ReadonlySet<string> = new Set(["vpn.network.flow"]);

function recordLine({ name, body, severity, severityNumber, attributes, doubles, timeMs, observedMs, traceId, spanId }: ReceivedLog, beganMs: number): string {
  const at = `${((timeMs - beganMs) / 1_000).toFixed(3).padStart(14)}s`;
  const observed = CAPTURED.has(name) ? ` observed ${(observedMs - beganMs) / 1_000}s` : "";
  const span = traceId === "" ? "" : ` ${traceId} ${spanId}`;
  return `  ${at} ${severity} ${severityNumber} ${name === "" ? "-" : name}: ${JSON.stringify(body)} {${attributesOf(attributes, { doubles })}}${observed}${span}`;
}

function attributesOf(attributes: PlainAttributes = {}, { doubles = [], machine = "service.name" in attributes }: AttributeText = {}): string {
  const shown = (name: string, value: string | number | boolean): string => (typeof value === "number" ? numberText(value, doubles.includes(name)) : JSON.stringify(value));
  return Object.entries(attributes).map(([name, value]) => `${name}=${machine && MACHINE_ATTRIBUTES.includes(name) ? MASKED : shown(name, value)}`).join(" ");
}

interface AttributeText {
  readonly doubles?: readonly string[];
  readonly machine?: boolean;
}

/** As it was sent: a double has a point, an integer has none. */
function numberText(value: number, isDouble: boolean): string {
  return isDouble && Number.isInteger(value) ? `${value}.0` : String(value);
}

/** The status as text: what fits stands on one line. */
export function normaliseStatus(status: unknown): string {
  return `${printed(masked(status, ""), "")}\n`;
}

function masked(value: unknown, path: string): unknown {
  if (varyingMembers.has(path)) return MASKED;
  if (Array.isArray(value)) return value.map((each) => masked(each, `${path}[]`));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, masked(each, path === "" ? name : `${path}.${name}`)]));
}

const LINE = 160;

function printed(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || line.length <= LINE) return line;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((each) => `${inner}${printed(each, inner)}`)
    : Object.entries(value).map(([name, each]) => `${inner}${JSON.stringify(name)}: ${printed(each, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${members.join(",\n")}\n${indent}${close}`;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
