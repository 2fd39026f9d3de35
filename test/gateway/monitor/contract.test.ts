/**
 * Every field of the contract's tables is in the documents, of its type, and left out by rule only.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  create,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { messageSchema } from "../../../gateway/describe/json-schema.ts";
import { CardinalityInfoSchema } from "../../../src/gen/steward/monitor/v1/cardinality_pb.ts";
import {
  ConfigSummarySchema,
  type ConfigValueSchema,
} from "../../../src/gen/steward/monitor/v1/config_summary_pb.ts";
import { StatusSchema } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { schemaVersion } from "../../../src/kernel/wire/style.ts";
import { plainMessage } from "../../../src/kernel/wire/write.ts";
import { mismatches } from "../describe/schema-check.ts";
import {
  additions,
  cardinality,
  configSummary,
  status,
  type ContractRow,
} from "./contract-table.ts";
import { filled, minimal } from "./documents.ts";

const documents: readonly (readonly [string, DescMessage, readonly ContractRow[]])[] = [
  ["Status", StatusSchema, [...status, ...additions]],
  ["ConfigSummary", ConfigSummarySchema, configSummary],
  ["CardinalityInfo", CardinalityInfoSchema, cardinality],
];

/** What is in a document, by path: `object`, `list`, `null` or the type of a leaf. */
function found(json: JsonValue, path = "", into = new Map<string, string>()): Map<string, string> {
  if (path !== "" && !(path.endsWith("[]") && isObject(json))) into.set(path, typeOf(json));
  if (Array.isArray(json)) for (const each of json) found(each, `${path}[]`, into);
  else if (isObject(json))
    for (const [name, each] of Object.entries(json)) found(each, below(path, name), into);
  return into;
}

function below(path: string, name: string): string {
  if (/(^|\.)(full|services)$/.test(path)) return `${path}{}`;
  return path === "" ? name : `${path}.${name}`;
}

function typeOf(json: JsonValue): string {
  if (json === null || Array.isArray(json)) return json === null ? "null" : "list";
  return typeof json === "number" ? (Number.isInteger(json) ? "integer" : "number") : typeof json;
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function plain(desc: DescMessage, message: Message): JsonObject {
  return plainMessage(desc, message);
}

/** The path of the object that a field stands in. */
function parentOf(path: string): string {
  return path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : "";
}

function fits(row: ContractRow, type: string | undefined): boolean {
  return (
    type === row.type ||
    (row.type === "number" && type === "integer") ||
    (row.type === "any" && type !== undefined)
  );
}

describe.each(documents)("%s", (_name, desc, rows) => {
  const byPath = new Map(rows.map((row) => [row.path, row]));

  it("has every field of the contract with its type when everything is on, and no other", () => {
    const there = found(plain(desc, filled(desc)));
    expect(
      rows
        .filter((row) => !fits(row, there.get(row.path)))
        .map((row) => `${row.path} is ${there.get(row.path)}, not ${row.type}`),
    ).toEqual([]);
    expect([...there.keys()].filter((path) => !byPath.has(path) && !path.endsWith("{}"))).toEqual(
      [],
    );
  });

  it("leaves out what the rules name when everything is off, and nothing else", () => {
    const there = found(plain(desc, minimal(desc)));
    const lists = new Set([...there.keys()].map(parentOf));
    const wrong = rows
      .filter(
        ({ path }) =>
          !/(\[\]|\{\})$/.test(path) &&
          (parentOf(path) === "" ||
            there.get(parentOf(path)) === "object" ||
            lists.has(parentOf(path))),
      )
      .filter((row) => {
        const type = there.get(row.path);
        return row.omission === "never"
          ? !fits(row, type)
          : row.omission === "null"
            ? type !== "null"
            : type !== undefined;
      });
    expect(
      wrong.map(({ path, omission }) => `${path} is ${there.get(path)}, left out: ${omission}`),
    ).toEqual([]);
  });

  it("is what its schema says, with everything on and with everything off", () => {
    const schema = messageSchema(desc, { side: "answer", comment: () => undefined });
    for (const message of [filled(desc), minimal(desc)])
      expect(mismatches(plain(desc, message), schema, () => ({}))).toEqual([]);
  });

  it("begins with its version, which is the first one", () => {
    expect([Object.keys(plain(desc, filled(desc)))[0], schemaVersion(desc)]).toEqual([
      "schema_version",
      1,
    ]);
  });
});

it("the status has its fields in the contract's order", () => {
  expect(Object.keys(plain(StatusSchema, filled(StatusSchema))).join(" ")).toBe(
    "schema_version generated_at refresh_ms provider health health_reasons capabilities advisories api capability_matrix cardinality collectors components config dedup_sets delivery device_cache devices " +
      "event_store fleet flow_store geoip log_events metrics metrics_serving node_discovery profiling receivers reverse_dns runtime service networks telemetry throughput tls_certificates update services health_problems",
  );
});

it("every field that the predecessor's status had is still there", () => {
  const known = new Set(status.map(({ path }) => path));
  const paths = readFileSync(join(import.meta.dirname, "predecessor-paths.txt"), "utf8")
    .trim()
    .split("\n");
  expect(paths.length).toBeGreaterThan(290);
  expect(paths.filter((path) => !known.has(path))).toEqual([]);
});

describe("rows of a cardinality", () => {
  it("are there as empty lists once it is available", () => {
    expect(
      plain(
        CardinalityInfoSchema,
        create(CardinalityInfoSchema, { available: true, thresholds: {} }),
      ),
    ).toEqual({
      schema_version: 0,
      available: true,
      total: 0,
      total_metrics: 0,
      thresholds: { critical: 0, warning: 0 },
      series: [],
      labels: [],
    });
  });
});

describe("a key of the configuration", () => {
  const keys: readonly (readonly [string, MessageInitShape<typeof ConfigValueSchema>, object])[] = [
    ["a value", { value: { kind: { case: "numberValue", value: 8000 } } }, { value: 8000 }],
    [
      "a list",
      {
        value: {
          kind: {
            case: "listValue",
            value: { values: [{ kind: { case: "stringValue", value: "a" } }] },
          },
        },
      },
      { value: ["a"] },
    ],
    ["an empty list", { value: { kind: { case: "listValue", value: {} } } }, { value: [] }],
    ["false", { value: { kind: { case: "boolValue", value: false } } }, { value: false }],
    ["empty text", { value: { kind: { case: "stringValue", value: "" } } }, { value: "" }],
    ["nothing", {}, {}],
    [
      "a secret that is not set",
      { secret: true, set: false, source: 1 },
      { secret: true, set: false, source: "unset" },
    ],
    [
      "a secret in a file",
      { secret: true, set: true, source: 3 },
      { secret: true, set: true, source: "file" },
    ],
  ];
  it.each(keys)("is written with %s", (_what, init, expected) => {
    expect(
      plain(ConfigSummarySchema, create(ConfigSummarySchema, { full: { "a.b": init } }))["full"],
    ).toEqual({ "a.b": expected });
  });
});
