import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { breaks, flatten, type Baseline } from "../../../gateway/describe/flatten.ts";
import { messageSchema, type SchemaOptions } from "../../../gateway/describe/json-schema.ts";
import { openApi } from "../../../gateway/describe/openapi.ts";
import { methodTable } from "../../../gateway/methods.ts";
import { comments } from "../../../src/gen/comments.ts";
import { apiDocs, brokenPromises } from "../../../tools/api-docs.ts";
import { CreateSampleRequestSchema, DedupSampleSchema, GetSampleResponseSchema, ListSamplesRequestSchema } from "../../gen/steward/test/v1/dedup_sample_pb.ts";
import { GetMonitorSampleResponseSchema } from "../../gen/steward/test/v1/monitor_sample_pb.ts";
import { GetVaultSampleResponseSchema } from "../../gen/steward/test/v1/vault_sample_pb.ts";
import { allServices } from "../all-services.ts";
import { dedupService, otherServices } from "../sample-services.ts";

const root = join(import.meta.dirname, "../../..");
const answer: SchemaOptions = { side: "answer", comment: () => undefined };

describe("what is committed", () => {
  it("is what the protos say, byte for byte (npm run generate)", async () => {
    const files = await apiDocs(comments);
    expect(files.length).toBeGreaterThan(10);
    for (const { path, text } of files) expect(readFileSync(join(root, path), "utf8") === text ? "same" : path).toBe("same");
    expect(readdirSync(join(root, "docs/schemas")).filter((file) => file.endsWith(".schema.json")).length).toBe(files.length - 1);
  });

  it("keeps every promise of its baseline", async () => {
    expect(await brokenPromises()).toEqual([]);
  });
});

describe("a schema of answers", () => {
  it("has null where the writer puts it, and nowhere else: monitor", () => {
    expect(flatten(messageSchema(GetMonitorSampleResponseSchema, answer))).toEqual({
      schema_version: "integer", empty_text: "string", byte_count: "integer", ratio: "number", maybe_text: "string", state: "string", unset_state: "string",
      taken_at: "string", seen_at: "string", never_at: "string", earliest: "string", "part.part_name": "string", "checkpoint.part_name": "string",
      "rows[]": "string", "tags[]": "string", "labels{}": "string", "few_labels{}": "string", errors: "integer", overdue: "boolean", reason: "string",
      value: "any", duration: "null|number",
    });
    expect(messageSchema(GetMonitorSampleResponseSchema, answer).properties?.["checkpoint"]?.type).toEqual(["object", "null"]);
    expect(messageSchema(GetMonitorSampleResponseSchema, answer).properties?.["part"]?.type).toBe("object");
  });

  it("has null where the writer puts it, and nowhere else: dedup", () => {
    const paths = flatten(messageSchema(DedupSampleSchema, answer));
    expect(paths).toMatchObject({ text: "string", smallNumber: "integer", maybeText: "null|string", maybeNumber: "integer|null", kind: "null|string", madeAt: "null|string", chosenText: "null|string", anotherName: "string", leftOut: "string", "partByNumber{}.partName": "string", "corrections{}": "any" });
    expect(Object.keys(paths).join(" ")).not.toMatch(/password/);
    expect(messageSchema(GetSampleResponseSchema, answer).properties?.["meta"]?.type).toBe("object");
    expect(messageSchema(GetVaultSampleResponseSchema, answer).properties?.["hashed_token"]).toMatchObject({ type: "string", contentEncoding: "base64" });
  });

  it("ends where a message holds itself", () => {
    expect(messageSchema(DedupSampleSchema, answer).properties?.["part"]?.properties?.["inner"]).toEqual({ type: ["object", "null"] });
  });
});

it("a schema of requests has the rules and refuses what is not declared", () => {
  const request: SchemaOptions = { side: "request", comment: () => undefined };
  const create = messageSchema(CreateSampleRequestSchema, request);
  expect(create.additionalProperties).toBe(false);
  expect(create.properties).toMatchObject({ name: { type: "string", minLength: 1, maxLength: 20 }, groupIds: { type: "array", maxItems: 5, uniqueItems: true }, kind: { enum: ["plain", "large_scan", "Other-Kind"] } });
  expect(messageSchema(ListSamplesRequestSchema, request).properties).toMatchObject({ limit: { type: "integer", minimum: 1, maximum: 100 }, offset: { minimum: 0 }, minRatio: { type: "number", minimum: 0, maximum: 1 } });
});

describe("a baseline", () => {
  const before: Baseline = { schema_version: 1, paths: { "data[].id": "string", "data[].size": "integer" } };

  it.each([
    ["additional path", { ...before.paths, "data[].more": "any" }, []],
    ["removed path", { "data[].id": "string" }, ["data[].size: REMOVED (was integer)"]],
    ["renamed path", { "data[].key": "string", "data[].size": "integer" }, ["data[].id: REMOVED (was string)"]],
    ["retyped path", { "data[].id": "null|string", "data[].size": "string" }, ["data[].id: changed from string to null|string", "data[].size: changed from integer to string"]],
  ])("finds a break, or none: %s", (_name, paths, found) => {
    expect(breaks(before, { schema_version: 1, paths })).toEqual(found);
  });

  it("finds a version that is not its own", () => {
    expect(breaks(before, { ...before, schema_version: 2 })).toEqual(["schema_version: baseline 1, now 2"]);
  });
});

describe("the OpenAPI document", () => {
  const table = methodTable([...allServices(), dedupService(), ...otherServices()], []);
  const document = openApi(table, comments);

  it("describes every route of the table under the names that answers use, and no other", () => {
    const expected = table.routes.filter(({ verb }) => verb !== "LIST").map(({ verb, template }) => `${verb} ${template.text}`).sort();
    const found = Object.entries(document.paths).flatMap(([path, verbs]) => Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`)).sort();
    expect(found.map((each) => each.replaceAll(/\{.*?\}/g, "{}"))).toEqual(expected.map((each) => each.replaceAll(/\{.*?\}/g, "{}")));
    expect(document.paths["/api/v1/jobs/{jobId}"]?.["get"]?.parameters).toMatchObject([{ name: "jobId", in: "path", required: true }]);
  });

  it("refers to nothing that it does not hold, and names operations once", () => {
    const held = Object.keys(document.components["schemas"] as object).map((name) => `#/components/schemas/${name}`);
    const referred = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]);
    expect(referred.length).toBeGreaterThan(20);
    expect(referred.filter((each) => !held.includes(each ?? ""))).toEqual([]);
    const ids = Object.values(document.paths).flatMap((verbs) => Object.values(verbs).map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("takes access, body and rules from the declarations", () => {
    expect(document.paths["/api/v1/health"]?.["get"]?.security).toEqual([]);
    expect(document.paths["/api/v1/jobs"]?.["get"]?.security).toEqual([{ operatorBearer: [] }, { operatorBasic: [] }]);
    expect(document.paths["/api/v1/jobs"]?.["get"]?.parameters.find(({ name }) => name === "limit")?.schema).toMatchObject({ type: "integer", minimum: 1, maximum: 200 });
    expect(document.paths["/api/v1/samples"]?.["post"]?.requestBody?.content["application/json"]?.schema.properties).toHaveProperty("groupIds");
    expect(Object.keys(document.paths["/v1/sample/{name}"]?.["delete"]?.responses ?? {})).toContain("204");
  });
});
