/**
 * Every field of the contract's tables, in documents of a monitor that runs: with everything on,
 * and with everything off.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../../gateway/describe/json-schema.ts";
import { StatusSchema, type Status } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { writeMessage } from "../../../src/kernel/wire/write.ts";
import { nodeMetricsSection } from "../../../src/monitor/collectors/nodemetrics/section.ts";
import type {
  NetworkOptions,
  NodeMetricsOptions,
  TailscaleOptions,
} from "../../../src/monitor/options.ts";
import type { Key, SettingName } from "../../../src/monitor/providers/model.ts";
import { DocumentWriter } from "../../../src/monitor/status/document/document-writer.ts";
import {
  cardinality,
  configSummary,
  status as statusRows,
  type ContractRow,
} from "../../gateway/monitor/contract-table.ts";
import { filled } from "../../gateway/monitor/documents.ts";
import { mismatches } from "../../gateway/describe/schema-check.ts";
import { aDevice, aKey, DAY_MS, START_MS } from "../collectors/entities.ts";
import { createFakeProvider, failing, type Answers } from "../collectors/fake-provider.ts";
import { networkOptions } from "../collectors/harness.ts";
import { everyCollector } from "../stage-options.ts";
import { stageOptions, startStage, fakeProcess, type MonitorStage } from "./monitor-stage.ts";

const MINUTE = 60_000;
const canary = "canary-5b1f";

function tailscale(name: string, clientId: string): NetworkOptions {
  const provider: TailscaleOptions = {
    kind: "tailscale",
    url: "http://127.0.0.1:9",
    network: "-",
    auth: {
      method: "oauth",
      clientId,
      clientSecret: { sentSecret: canary, origin: "test" },
      scopes: ["devices:core:read"],
    },
    http: { timeoutMs: 1_000, maxAttempts: 1, baseDelayMs: 1, maxDelayMs: 1, rateLimit: 0 },
    maxResponseBytes: 1 << 20,
    maxLogResponseBytes: 1 << 20,
  };
  const options = networkOptions({
    collectors: {
      ...everyCollector(MINUTE, [
        { url: "http://user:hidden@127.0.0.1:9/metrics?key=hidden", instance: "agent" },
      ]),
      dns: undefined,
    },
    cardinality: { warningThreshold: 1, criticalThreshold: 2 },
  });
  return {
    ...options,
    name,
    provider,
    collectors: {
      ...options.collectors,
      node_metrics: { ...nodeMetricsSection.of(options), discovery },
    },
  };
}

const discovery: NonNullable<NodeMetricsOptions["discovery"]> = {
  intervalMs: MINUTE,
  maxTargets: 1,
  scheme: "http",
  port: 9,
  path: "/metrics",
  onlineOnly: false,
  excludeExternal: false,
  includeHostLabels: false,
  includeTagsLabel: false,
  addressOrder: "ipv4",
  instanceSource: "name",
  includeTags: [],
  excludeTags: [],
};
const device = aDevice("a", {
  os: "linux",
  user: "ann@example.test",
  addresses: ["100.64.0.1"],
  tags: ["tag:x"],
  distro: { name: "debian", codeName: "trixie", version: "13" },
  clientVersion: "1.90.4",
  online: true,
  lastSeenMs: START_MS,
  expiresMs: START_MS + DAY_MS,
  keyExpiryDisabled: true,
  updateAvailable: true,
  advertisedRoutes: ["10.1.0.0/16", "10.2.0.0/16"],
  enabledRoutes: ["10.1.0.0/16"],
});
const answers = (keys: readonly Key[]): Answers => ({
  devices: [aDevice("z"), device, aDevice("m", { external: true })],
  users: [],
  keys,
  settings: {
    switches: new Map<SettingName, boolean>([["network_flow_logging", true]]),
    externalLinkSet: undefined,
    keyDurationDays: undefined,
    externalNetworksRole: undefined,
  },
  flowLogs: [],
  auditLogs: [],
  webhooks: () => Promise.reject(failing(500)),
});

/** Two networks, everything on, something of everything happened. */
async function everythingOn(): Promise<MonitorStage> {
  const granted = { method: "oauth", scopes: ["devices:core:read"] } as const;
  const east = createFakeProvider(
    answers([aKey("kOWN", { type: "client", authKind: "none", expiresMs: START_MS + DAY_MS })]),
    { granted },
  );
  const west = createFakeProvider(answers([]), { granted });
  const options = stageOptions([tailscale("east", "kOWN"), tailscale("west", "kELSE")], {
    cardinality: { warningThreshold: 1, criticalThreshold: 2 },
  });
  const file = { ...options, checkpoint: { ...options.checkpoint, store: "file" as const } };
  // Damaged: it is set aside, which the configuration's page tells.
  writeFileSync(
    file.checkpoint.filePath,
    "no environment of lmdb, but long enough to be looked at. ".repeat(200),
  );
  const processStatus = fakeProcess(filled(StatusSchema) as Status, filled(StatusSchema) as Status);
  const stage = await startStage(file, { east, west }, processStatus);
  await stage.advance(4_000);
  stage.called("east", {
    operation: "devices",
    status: 429,
    class: "rate_limited",
    attempts: 3,
    durationMs: 12,
    waitedMs: 0,
  });
  stage.called("west", {
    operation: "acl",
    status: 0,
    class: "transport",
    attempts: 1,
    durationMs: 3,
    waitedMs: 0,
  });
  east.answers.contacts = () => new Promise(() => undefined);
  for (let at = 0; at < 4; at += 1) await stage.advance(MINUTE);
  // The checkpoint file is opened in the disk's time, and no window of a log is read before.
  await expect
    .poll(async () => {
      await stage.advance(1_000);
      return JSON.stringify(await stage.status());
    })
    .toContain('"high_water_mark"');
  return stage;
}

/** What is in a document, by path: `object`, `list`, `null` or the type of a leaf. */
function found(
  json: JsonValue,
  path = "",
  into = new Map<string, Set<string>>(),
): Map<string, Set<string>> {
  if (path !== "") into.set(path, (into.get(path) ?? new Set()).add(typeOf(json)));
  if (Array.isArray(json)) for (const each of json) found(each, `${path}[]`, into);
  else if (isObject(json))
    for (const [name, each] of Object.entries(json))
      found(
        each,
        /(^|\.)(full|services)$/.test(path) ? `${path}{}` : path === "" ? name : `${path}.${name}`,
        into,
      );
  return into;
}

function typeOf(json: JsonValue): string {
  if (json === null || Array.isArray(json)) return json === null ? "null" : "list";
  return typeof json === "number" ? (Number.isInteger(json) ? "integer" : "number") : typeof json;
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function fits({ type, omission }: ContractRow, types: ReadonlySet<string>): boolean {
  return [...types].every(
    (each) =>
      type === "any" ||
      each === type ||
      (type === "number" && each === "integer") ||
      (omission === "null" && each === "null"),
  );
}

/**
 * Each object that may have the field: where it is not in one of them although it is never left
 * out.
 */
function missing(json: JsonValue, segments: readonly string[], at = "$"): string[] {
  const [segment = "", ...rest] = segments;
  const name = segment.replace(/\[\]$|\{\}$/, "");
  if (!isObject(json)) return [];
  const value = json[name];
  if (rest.length === 0) return value === undefined ? [`${at}.${name}`] : [];
  if (value === undefined || value === null) return [];
  return segment.endsWith("[]") && Array.isArray(value)
    ? value.flatMap((each, index) => missing(each, rest, `${at}.${name}[${index}]`))
    : missing(value, rest, `${at}.${name}`);
}

function schemaOf(name: string): JsonSchema {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, `../../../docs/schemas/${name}.schema.json`), "utf8"),
  ) as JsonSchema;
}

const documents = [
  ["getStatus", "status", statusRows],
  ["getConfigSummary", "config-summary", configSummary],
  ["getCardinality", "cardinality", cardinality],
] as const;
/** Growth and samples are the whole process's. */
const wholeOnly = /^networks\[\]\.cardinality\.(total_series|growth)/;

/**
 * Needs traffic, shown in test/contract/flows.test.ts, a store that is not in memory, a purge,
 * shown in test/contract/reverse-dns.test.ts, or a database, shown in test/contract/geoip.test.ts.
 */
const notHere =
  /^reverse_dns\.last_purge|^geoip\.(asn|country)_(age|build_time|path|type)|^flow_store\.(covered|backend\.(errors|queue_drops|queued|rows|size_bytes))/;

describe.each(documents)("%s", (method, schema, rows) => {
  it("has every field, each of its type, with everything on", async () => {
    const stage = await everythingOn();
    const json = await stage.document(method);
    const there = found(json);
    expect(
      rows
        .filter(({ path }) => !wholeOnly.test(path) && !notHere.test(path))
        .filter((row) => !there.has(row.path))
        .map(({ path }) => path),
    ).toEqual([]);
    expect([...there.keys()].filter((path) => wholeOnly.test(path))).toEqual([]);
    expect(
      rows
        .filter(({ path }) => !notHere.test(path))
        .filter((row) => !fits(row, there.get(row.path) ?? new Set()))
        .map(({ path, type }) => `${path}: ${[...(there.get(path) ?? [])].join("|")}, not ${type}`),
    ).toEqual([]);
    expect(mismatches(json, schemaOf(schema), () => ({}))).toEqual([]);
    expect(JSON.stringify(json)).not.toMatch(/hidden|canary/);
  });

  it.each([
    [
      "without networks and without a process",
      () =>
        startStage(stageOptions([], { selfObservability: { enabled: false, instanceId: "" } }), {}),
    ],
    [
      "with one network that has not run",
      () => startStage(stageOptions([tailscale("east", "k")]), { east: createFakeProvider({}) }),
    ],
  ])("leaves out by rule only %s", async (_name, start) => {
    const json = await (await start()).document(method);
    expect(
      rows
        .filter(({ path, omission }) => omission === "never" && !/(\[\]|\{\})$/.test(path))
        .flatMap(({ path }) => missing(json, path.split("."))),
    ).toEqual([]);
    const there = found(json);
    expect(
      rows.filter((row) => !fits(row, there.get(row.path) ?? new Set())).map(({ path }) => path),
    ).toEqual([]);
    expect(mismatches(json, schemaOf(schema), () => ({}))).toEqual([]);
  });
});

it("what is written in pieces is what would be written at once, also the second time, of several networks, and of parts that stand in two places", async () => {
  const stage = await everythingOn();
  const message = await stage.message();
  const writer = new DocumentWriter();
  const whole = `${writeMessage(StatusSchema, message, { indent: 2 })}\n`;
  for (let at = 0; at < 2; at += 1)
    expect(Buffer.concat(await writer.write(StatusSchema, message)).toString()).toBe(whole);
  const shared = filled(StatusSchema) as Status;
  const [row] = shared.networks;
  if (row !== undefined) [row.devices, row.cardinality] = [shared.devices, shared.cardinality];
  for (const other of [create(StatusSchema), filled(StatusSchema) as Status, shared])
    expect(Buffer.concat(await writer.write(StatusSchema, other)).toString()).toBe(
      `${writeMessage(StatusSchema, other, { indent: 2 })}\n`,
    );
});
