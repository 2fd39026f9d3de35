import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { breaks, flatten, type Baseline } from "../../../gateway/describe/flatten.ts";
import {
  messageSchema,
  type JsonSchema,
  type SchemaOptions,
} from "../../../gateway/describe/json-schema.ts";
import { openApi } from "../../../gateway/describe/openapi.ts";
import { methodTable } from "../../../gateway/methods.ts";
import { JOB_PROGRESS_ROUTE } from "../../../src/dedup/api/jobs.ts";
import { comments } from "../../../src/gen/comments.ts";
import { StatusSchema } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { apiDocs, brokenPromises, compare } from "../../../tools/api-docs.ts";
import {
  CreateSampleRequestSchema,
  DedupSampleSchema,
  GetSampleResponseSchema,
  ListSamplesRequestSchema,
} from "../../gen/steward/test/v1/dedup_sample_pb.ts";
import { GetMonitorSampleResponseSchema } from "../../gen/steward/test/v1/monitor_sample_pb.ts";
import { GetVaultSampleResponseSchema } from "../../gen/steward/test/v1/vault_sample_pb.ts";
import { allServices } from "../all-services.ts";
import { dedupService, otherServices, plainRoute } from "../sample-services.ts";

const root = join(import.meta.dirname, "../../..");
const answer: SchemaOptions = { side: "answer", comment: () => undefined };

describe("what is committed", () => {
  it("is what the protos say, byte for byte (npm run generate)", async () => {
    const files = await apiDocs(comments);
    expect(files.length).toBeGreaterThan(10);
    for (const { path, text } of files)
      expect(readFileSync(join(root, path), "utf8") === text ? "same" : path).toBe("same");
    expect(
      readdirSync(join(root, "docs/schemas")).filter((file) => file.endsWith(".schema.json"))
        .length,
    ).toBe(files.length - 1);
  });

  it("keeps every promise of its baseline", async () => {
    expect(await brokenPromises()).toEqual([]);
  });
});

describe("a schema of answers", () => {
  it("has null where the writer puts it, and nowhere else: monitor", () => {
    expect(flatten(messageSchema(GetMonitorSampleResponseSchema, answer))).toEqual({
      schema_version: "integer",
      empty_text: "string",
      byte_count: "integer",
      ratio: "number",
      maybe_text: "string",
      state: "string",
      unset_state: "string",
      taken_at: "string",
      seen_at: "string",
      never_at: "string",
      earliest: "string",
      "part.part_name": "string",
      "checkpoint.part_name": "string",
      "rows[]": "string",
      "tags[]": "string",
      "labels{}": "string",
      "few_labels{}": "string",
      errors: "integer",
      overdue: "boolean",
      reason: "string",
      value: "any",
      duration: "null|number",
    });
    expect(
      messageSchema(GetMonitorSampleResponseSchema, answer).properties?.["checkpoint"]?.type,
    ).toEqual(["object", "null"]);
    expect(messageSchema(GetMonitorSampleResponseSchema, answer).properties?.["part"]?.type).toBe(
      "object",
    );
  });

  it("has null where the writer puts it, and nowhere else: dedup", () => {
    const paths = flatten(messageSchema(DedupSampleSchema, answer));
    expect(paths).toMatchObject({
      text: "string",
      smallNumber: "integer",
      maybeText: "null|string",
      maybeNumber: "integer|null",
      kind: "null|string",
      madeAt: "null|string",
      chosenText: "null|string",
      anotherName: "string",
      leftOut: "string",
      "partByNumber{}.partName": "string",
      "corrections{}": "any",
    });
    expect(Object.keys(paths).join(" ")).not.toMatch(/password/);
    expect(messageSchema(GetSampleResponseSchema, answer).properties?.["meta"]?.type).toBe(
      "object",
    );
    expect(
      messageSchema(GetVaultSampleResponseSchema, answer).properties?.["hashed_token"],
    ).toMatchObject({ type: "string", contentEncoding: "base64" });
  });

  it("ends where a message holds itself", () => {
    expect(
      messageSchema(DedupSampleSchema, answer).properties?.["part"]?.properties?.["inner"],
    ).toEqual({ type: ["object", "null"] });
  });
});

it("a schema of requests has the rules and refuses what is not declared", () => {
  const request: SchemaOptions = { side: "request", comment: () => undefined };
  const create = messageSchema(CreateSampleRequestSchema, request);
  expect(create.additionalProperties).toBe(false);
  expect(create.properties).toMatchObject({
    name: { type: "string", minLength: 1, maxLength: 20 },
    groupIds: { type: "array", maxItems: 5, uniqueItems: true },
    kind: { enum: ["plain", "large_scan", "Other-Kind"] },
  });
  expect(messageSchema(ListSamplesRequestSchema, request).properties).toMatchObject({
    limit: { type: "integer", minimum: 1, maximum: 100 },
    offset: { minimum: 0 },
    minRatio: { type: "number", minimum: 0, maximum: 1 },
  });
});

describe("a baseline", () => {
  const before: Baseline = {
    schema_version: 1,
    paths: { "data[].id": "string", "data[].size": "integer" },
  };

  it.each([
    ["additional path", { ...before.paths, "data[].more": "any" }, []],
    ["removed path", { "data[].id": "string" }, ["data[].size: REMOVED (was integer)"]],
    [
      "renamed path",
      { "data[].key": "string", "data[].size": "integer" },
      ["data[].id: REMOVED (was string)"],
    ],
    [
      "retyped path",
      { "data[].id": "null|string", "data[].size": "string" },
      [
        "data[].id: changed from string to null|string",
        "data[].size: changed from integer to string",
      ],
    ],
  ])("finds a break, or none: %s", (_name, paths, found) => {
    expect(breaks(before, { schema_version: 1, paths })).toEqual(found);
  });

  it("finds a version that is not its own", () => {
    expect(breaks(before, { ...before, schema_version: 2 })).toEqual([
      "schema_version: baseline 1, now 2",
    ]);
  });
});

describe("what the monitor's readers were promised", () => {
  const promised = (name: string): Baseline =>
    JSON.parse(readFileSync(join(root, `docs/schemas/${name}.baseline.json`), "utf8")) as Baseline;
  const names = ["status", "config-summary", "cardinality", "events", "flows"];
  const before = new Map(names.map((name) => [name, promised(name)]));
  const changed = (
    change: (paths: Record<string, string>) => void,
    version = 1,
  ): ReadonlyMap<string, Baseline> => {
    const paths = { ...promised("status").paths };
    change(paths);
    return new Map([...before, ["status", { schema_version: version, paths }]]);
  };

  it("is published under the names that the contract's readers know, with versions of their own", () => {
    for (const [name, { schema_version, paths }] of before) {
      expect([name, schema_version, paths["schema_version"]]).toEqual([name, 1, "integer"]);
      expect(Object.keys(paths)).toEqual(Object.keys(paths).toSorted());
    }
    expect(promised("status").paths).toMatchObject({
      "api.endpoints[].duration_ms_series[]": "integer",
      "config.full{}.value": "any",
      "collectors[].checkpoint.lag_seconds": "integer",
      "services{}": "string",
    });
    const { properties = {} } = messageSchema(StatusSchema, answer);
    expect(properties["profiling"]?.properties?.["profiler_upload"]?.type).toEqual([
      "object",
      "null",
    ]);
    expect(properties["api"]?.properties?.["rate_limit"]?.type).toEqual(["object", "null"]);
    expect(properties["collectors"]?.items?.properties?.["checkpoint"]?.type).toEqual([
      "object",
      "null",
    ]);
    const key = properties["config"]?.properties?.["full"]?.additionalProperties as
      | JsonSchema
      | undefined;
    expect(key?.properties?.["value"]).toEqual({});
    expect(JSON.stringify(properties)).not.toContain('"required"');
  });

  it("is kept by what is the same or more", () => {
    expect(compare(before, before)).toEqual([]);
    expect(
      compare(
        before,
        changed((paths) => void (paths["a_new_field"] = "string")),
      ),
    ).toEqual([]);
  });

  it("is broken by what is removed, renamed, retyped or of another version, and every break is listed", () => {
    const one = changed((paths) => {
      delete paths["health"];
      delete paths["fleet.active"];
      paths["fleet.running"] = "integer";
      paths["refresh_ms"] = "string";
    });
    expect(compare(before, one)).toEqual([
      "status: fleet.active: REMOVED (was integer)",
      "status: health: REMOVED (was string)",
      "status: refresh_ms: changed from integer to string",
    ]);
    expect(
      compare(
        before,
        changed((paths) => void delete paths["health"], 2),
      ),
    ).toEqual([
      "status: health: REMOVED (was string)",
      "status: schema_version: baseline 1, now 2",
    ]);
  });

  it("is broken by a document that is gone, and unknown of one that has no baseline", () => {
    expect(
      compare(before, new Map([...before].filter(([name]) => name !== "cardinality"))),
    ).toEqual(["cardinality: REMOVED"]);
    expect(compare(new Map(), new Map([["status", promised("status")]]))).toEqual([
      "status: no baseline",
    ]);
  });
});

describe("the OpenAPI document", () => {
  const table = methodTable([...allServices(), dedupService(), ...otherServices()], []);
  const document = openApi(table, comments);

  it("describes every route of the table under the names that answers use, and no other", () => {
    const expected = table.routes
      .filter(({ verb }) => verb !== "LIST")
      .map(({ verb, template }) => `${verb} ${template.text}`)
      .sort();
    const found = Object.entries(document.paths)
      .flatMap(([path, verbs]) => Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`))
      .sort();
    expect(found.map((each) => each.replaceAll(/\{.*?\}/g, "{}"))).toEqual(
      expected.map((each) => each.replaceAll(/\{.*?\}/g, "{}")),
    );
    expect(document.paths["/api/v1/jobs/{jobId}"]?.["get"]?.parameters).toMatchObject([
      { name: "jobId", in: "path", required: true },
    ]);
  });

  it("names the variables of plain routes as those of all others", () => {
    const never = (): Promise<never> => Promise.reject(new Error("not asked"));
    const plain = [
      { ...JOB_PROGRESS_ROUTE, handle: never },
      plainRoute("/assets/{name=**}", never),
    ];
    const { paths } = openApi(methodTable(allServices(), plain), comments);
    const [jobId] = paths["/api/v1/jobs/{jobId}/progress"]?.["get"]?.parameters ?? [];
    expect(jobId).toMatchObject({
      name: "jobId",
      in: "path",
      required: true,
      schema: { type: "string" },
    });
    expect(Object.keys(paths).filter((path) => /\{[^}]*[^A-Za-z}][^}]*\}/.test(path))).toEqual([]);
  });

  it("leaves out plain routes that do not describe themselves, such as pages", () => {
    const plain = [plainRoute("/assets/{name=**}", () => Promise.reject(new Error("not asked")))];
    expect(openApi(methodTable([], plain), comments).paths).toEqual({});
  });

  it("refuses two operations of the same id", () => {
    const route = { ...JOB_PROGRESS_ROUTE, handle: () => Promise.reject(new Error("not asked")) };
    const table = methodTable([], [route, { ...route, template: "/api/v1/other/{job_id}" }]);
    expect(() => openApi(table, comments)).toThrow(
      "two operations have the id streamJobProgress; rename one rpc or route",
    );
  });

  it("refers to nothing that it does not hold, and names operations once", () => {
    const held = ["schemas", "responses"].flatMap((kind) =>
      Object.keys(document.components[kind] as object).map(
        (name) => `#/components/${kind}/${name}`,
      ),
    );
    const referred = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      (match) => match[1],
    );
    expect(referred.length).toBeGreaterThan(20);
    expect(referred.filter((each) => !held.includes(each ?? ""))).toEqual([]);
    const ids = Object.values(document.paths).flatMap((verbs) =>
      Object.values(verbs).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("takes access, body and rules from the declarations", () => {
    expect(document.paths["/api/v1/health"]?.["get"]?.security).toEqual([]);
    expect(document.paths["/api/v1/jobs"]?.["get"]?.security).toEqual([
      { operatorBearer: [] },
      { operatorBasic: [] },
    ]);
    expect(
      document.paths["/api/v1/jobs"]?.["get"]?.parameters.find(({ name }) => name === "limit")
        ?.schema,
    ).toMatchObject({ type: "integer", minimum: 1, maximum: 200 });
    expect(
      document.paths["/api/v1/samples"]?.["post"]?.requestBody?.content["application/json"]?.schema
        .properties,
    ).toHaveProperty("groupIds");
    expect(Object.keys(document.paths["/v1/sample/{name}"]?.["delete"]?.responses ?? {})).toContain(
      "204",
    );
  });
});
