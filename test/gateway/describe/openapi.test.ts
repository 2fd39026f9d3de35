import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpStatus, dedupCode } from "../../../gateway/codes.ts";
import type { OpenApi, Operation } from "../../../gateway/describe/openapi.ts";
import { StewardError, type Code } from "../../../src/kernel/base/errors.ts";
import {
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "../../contract/daemon.ts";

const root = join(import.meta.dirname, "../../..");
const committed = JSON.parse(readFileSync(join(root, "docs/api/openapi.json"), "utf8")) as OpenApi;
let daemon: Daemon;
let served: OpenApi;
let page: string;

beforeAll(async () => {
  daemon = await startDaemon({
    args: ["-demo"],
    env: { STEWARD_GATEWAY__LISTEN: "127.0.0.1:0", STEWARD_STATE__DIRECTORY: temporaryFolder() },
  });
  served = (await rest(daemon, "GET", "/openapi.json")).json as OpenApi;
  page = (await rest(daemon, "GET", "/docs")).text;
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

interface Named {
  readonly name: string;
  readonly operation: Operation;
}

function operationsOf(document: OpenApi): readonly Named[] {
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      name: `${verb.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

/** The findings of the linter; empty when there are none. Nothing leaves the machine. */
function lint(document: OpenApi): string {
  const file = join(temporaryFolder(), "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  const quiet = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const args = [
    "node_modules/@redocly/cli/bin/cli.js",
    "lint",
    file,
    "--config",
    "redocly.yaml",
    "--format",
    "codeclimate",
  ];
  const done = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...quiet },
    encoding: "utf8",
  });
  expect([0, 1], done.stderr).toContain(done.status);
  // Nothing at all stands for no findings.
  const found = JSON.parse(done.stdout || "[]") as readonly {
    readonly description: string;
    readonly check_name?: string;
  }[];
  expect(found.length > 0, done.stderr).toBe(done.status !== 0);
  return found
    .map(({ description, check_name: rule = "" }) => `${rule}: ${description}`)
    .join("\n");
}

describe("the linter", () => {
  it("finds nothing in the committed document, nor in what a daemon serves", () => {
    expect(lint(committed)).toBe("");
    expect(lint(served)).toBe("");
  });

  it("finds what is missing", () => {
    const [path = "", verbs = {}] = Object.entries(committed.paths)[0] ?? [];
    const [verb = "", operation] = Object.entries(verbs)[0] ?? [];
    const { operationId: _id, summary: _summary, ...rest } = operation as Operation;
    const broken = {
      ...committed,
      servers: [],
      paths: { ...committed.paths, [path]: { ...verbs, [verb]: rest } },
    } as unknown as OpenApi;
    expect(lint(broken)).toMatch(/server[^]*operationId|operationId[^]*server/i);
  });
});

describe("the served document", () => {
  it("is the committed one, but for the address", () => {
    expect({ ...served, servers: committed.servers }).toEqual(committed);
    expect(committed.servers.map(({ url }) => url)).toEqual(["http://127.0.0.1:8400"]);
    expect(new URL(served.servers[0]?.url ?? "", `${daemon.url}/openapi.json`).href).toBe(
      `${daemon.url}/`,
    );
  });

  it("has a summary of one line for every operation, and /docs shows its whole text", () => {
    const plain = page
      .replaceAll(/<[^>]+>/g, "")
      .replaceAll(/&#(?:39|x27);/g, "'")
      .replaceAll("&quot;", '"');
    for (const {
      name,
      operation: { summary = "", description = summary },
    } of operationsOf(served)) {
      expect([name, summary]).toEqual([name, expect.stringMatching(/^[A-Z].{5,100}[^.]$/)]);
      expect(plain.includes(description) ? "shown" : `${name}: ${description}`).toBe("shown");
    }
  });

  it("describes each parameter, each field of a body and each answer", () => {
    const silent = operationsOf(served).flatMap(
      ({ name, operation: { parameters, requestBody, responses } }) => {
        const fields = Object.entries(
          requestBody?.content["application/json"]?.schema.properties ?? {},
        );
        return [
          ...parameters
            .filter(({ description }) => !description)
            .map((each) => `${name} ${each.name}`),
          ...fields
            .filter(([, { description }]) => !description)
            .map(([field]) => `${name} ${field}`),
          ...Object.entries(responses)
            .filter(([, each]) => !textOf(each))
            .map(([status]) => `${name} ${status}`),
        ];
      },
    );
    expect(silent).toEqual([]);
  });

  it("says for each failure what it means, with the code that the body has", () => {
    const startSync = served.paths["/api/v1/sync"]?.["post"]?.responses ?? {};
    expect(Object.keys(startSync)).toEqual([
      "202",
      "400",
      "401",
      "409",
      "413",
      "429",
      "500",
      "503",
      "507",
      "default",
    ]);
    expect(textOf(startSync["409"])).toMatch(/`CONFLICT`: .+ `JOB_ALREADY_RUNNING`: /);
    const health = served.paths["/v1/sys/health"]?.["get"]?.responses ?? {};
    expect(health["503"]).toEqual(health["200"]);
    expect(Object.keys(health)).toEqual(expect.arrayContaining(["200", "501", "503"]));
  });

  function textOf(response: unknown): string | undefined {
    const { $ref: reference, description } = response as { $ref?: string; description?: string };
    if (reference === undefined) return description;
    const components = served.components["responses"] as Record<string, { description: string }>;
    return components[reference.replace("#/components/responses/", "")]?.description;
  }
});

// Names of generated clients' methods. A line is added for a new operation; none is ever changed or
// taken away.
const IDS: Readonly<Record<string, string>> = {
  "GET /api/v1/health": "getHealth",
  "GET /api/v1/ready": "getReadiness",
  "GET /api/v1/metrics": "getMetrics",
  "POST /api/v1/sync": "startSync",
  "GET /api/v1/sync/status": "getSyncStatus",
  "POST /api/v1/analysis": "startAnalysis",
  "GET /api/v1/analysis/status": "getAnalysisStatus",
  "GET /api/v1/archives": "listArchives",
  "GET /api/v1/config": "getConfig",
  "GET /api/v1/config/settings": "listSettings",
  "POST /api/v1/config/dedup/preview": "previewDedupConfig",
  "GET /api/v1/jobs": "listJobs",
  "GET /api/v1/jobs/{jobId}": "getJob",
  "POST /api/v1/jobs/{jobId}/cancel": "cancelJob",
  "GET /api/v1/jobs/{jobId}/progress": "streamJobProgress",
  "GET /api/v1/documents": "listDocuments",
  "GET /api/v1/documents/stats": "getDocumentStatistics",
  "GET /api/v1/documents/skipped": "listSkippedDocuments",
  "GET /api/v1/documents/{id}": "getDocument",
  "GET /api/v1/documents/{id}/content": "getDocumentContent",
  "GET /api/v1/pairs": "listPairs",
  "GET /api/v1/pairs/{a}/{b}": "getPair",
  "DELETE /api/v1/pairs/{a}/{b}": "restorePair",
  "POST /api/v1/duplicates/{id}/merge": "mergeGroup",
  "POST /api/v1/batch/status": "setGroupStatuses",
  "POST /api/v1/batch/delete-non-primary": "deleteNonPrimary",
  "POST /api/v1/batch/purge-deleted": "purgeDeleted",
  "GET /api/v1/paperless/documents/{paperlessId}/preview": "downloadPreview",
  "GET /api/v1/paperless/documents/{paperlessId}/thumb": "downloadThumbnail",
  "GET /api/v1/paperless/trash": "getTrash",
  "POST /api/v1/paperless/trash": "emptyTrash",
  "GET /api/v1/config/dedup": "getDedupConfig",
  "GET /api/v1/dashboard": "getDashboard",
  "PUT /api/v1/config": "updateConfig",
  "POST /api/v1/config/test-connection": "testConnection",
  "GET /api/v1/ai/providers": "listAiProviders",
  "POST /api/v1/ai/test-connection": "testAiProvider",
  "POST /api/v1/import/config": "importConfig",
  "PUT /api/v1/config/dedup": "updateDedupConfig",
  "GET /api/v1/duplicates": "listGroups",
  "GET /api/v1/duplicates/graph": "getGraph",
  "GET /api/v1/duplicates/stats": "getGroupStatistics",
  "GET /api/v1/duplicates/{id}": "getGroup",
  "DELETE /api/v1/duplicates/{id}": "deleteGroup",
  "GET /api/v1/duplicates/{id}/content": "compareMembers",
  "PUT /api/v1/duplicates/{id}/status": "setGroupStatus",
  "PUT /api/v1/duplicates/{id}/primary": "setGroupPrimary",
  "GET /api/v1/delete-plan": "getDeletePlan",
  "POST /api/v1/delete-plan/accept": "acceptGroups",
  "POST /api/v1/delete-plan/accept-exact-copies": "acceptExactCopies",
  "POST /api/v1/delete-plan/withdraw": "withdrawGroups",
  "GET /api/v1/export/config.json": "exportConfig",
  "GET /api/v1/export/delete-plan.json": "exportDeletePlan",
  "GET /api/v1/ai/config": "getAiConfig",
  "PUT /api/v1/ai/config": "updateAiConfig",
  "GET /api/v1/ai/models": "listAiModels",
  "POST /api/rdns/purge": "monitorPurgeReverseDns",
  "POST /api/v1/ai/process": "startAiProcessing",
  "GET /api/v1/ai/results": "listAiResults",
  "GET /api/v1/ai/results/groups": "groupAiResults",
  "GET /api/v1/ai/results/{id}": "getAiResult",
  "POST /api/v1/ai/results/{id}/apply": "applyAiResult",
  "POST /api/v1/ai/results/{id}/reject": "rejectAiResult",
  "POST /api/v1/ai/results/{id}/revert": "revertAiResult",
  "POST /api/v1/ai/results/{id}/feedback": "recordAiFeedback",
  "POST /api/v1/ai/results/batch-apply": "batchApplyAiResults",
  "POST /api/v1/ai/results/apply-all": "applyAllAiResults",
  "POST /api/v1/ai/results/batch-reject": "batchRejectAiResults",
  "POST /api/v1/ai/results/reject-all": "rejectAllAiResults",
  "POST /api/v1/ai/results/preflight": "preflightAiResults",
  "GET /api/v1/ai/feedback/summary": "getAiFeedbackSummary",
  "GET /api/v1/ai/costs": "getAiCosts",
  "GET /api/v1/ai/costs/estimate": "estimateAiCost",
  "GET /api/v1/ai/stats": "getAiStats",
  "GET /api/v1/export/duplicates.csv": "exportDuplicatesCsv",
  "GET /api/status.json": "monitorGetStatus",
  "GET /api/config.json": "monitorGetConfigSummary",
  "GET /api/events.json": "monitorListEvents",
  "GET /api/flows.json": "monitorQueryFlows",
  "GET /api/flows/export.csv": "monitorExportFlowsCsv",
  "GET /api/flows/export.json": "monitorExportFlows",
  "GET /api/presence.json": "monitorGetPresence",
  "GET /api/tokens.json": "tokensGetTokens",
  "GET /api/cardinality.json": "monitorGetCardinality",
  "GET /api/support-bundle.zip": "monitorGetSupportBundle",
  "GET /v1/sys/health": "tokensGetHealth",
  "GET /v1/sys/seal-status": "tokensGetSealStatus",
  "GET /v1/{mount}/info": "tokensReadInfo",
  "GET /v1/{mount}/config": "tokensReadConfig",
  "POST /v1/{mount}/config": "tokensWriteConfig",
  "DELETE /v1/{mount}/config": "tokensDeleteConfig",
  "POST /v1/{mount}/token": "tokensMintToken",
  "POST /v1/{mount}/token/{permissionset}": "tokensMintTokenFromSet",
  "GET /v1/{mount}/permissionset/{name}": "tokensReadPermissionSet",
  "POST /v1/{mount}/permissionset/{name}": "tokensWritePermissionSet",
  "DELETE /v1/{mount}/permissionset/{name}": "tokensDeletePermissionSet",
  "GET /v1/{mount}/installations": "tokensListInstallations",
  "GET /v1/{mount}/doctor": "tokensDiagnose",
};

it("an operation keeps its id, and each has its own", () => {
  const ids = operationsOf(committed).map(
    ({ name, operation }) => [name, operation.operationId] as const,
  );
  expect(Object.fromEntries(ids)).toEqual(IDS);
  expect(new Set(ids.map(([, id]) => id)).size).toBe(ids.length);
});

describe("docs/api.md", () => {
  const text = readFileSync(join(root, "docs/api.md"), "utf8");

  it("lists every operation below /api/v1 with its query parameters, and no other", () => {
    const rows = [...text.matchAll(/^\| (GET|POST|PUT|DELETE) \| `(\/[^`]*)`(?: `\?([^`]*)`)?/gm)];
    const listed = rows.map(([, verb, path, query = ""]) => [
      `${verb} /api/v1${path}`,
      query.replace(/=.*/, "").split("&").filter(Boolean).sort(),
    ]);
    const described = operationsOf(committed)
      .filter(({ name }) => name.includes(" /api/v1/"))
      .map(
        ({ name, operation }) =>
          [
            name,
            operation.parameters
              .filter((each) => each.in === "query")
              .map((each) => each.name)
              .sort(),
          ] as const,
      );
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(described));
  });

  it("lists every error code with its status", () => {
    const codes: Readonly<Record<Code, true>> = {
      invalid: true,
      unauthenticated: true,
      denied: true,
      not_found: true,
      conflict: true,
      already_running: true,
      too_large: true,
      exhausted: true,
      not_ready: true,
      sealed: true,
      upstream: true,
      unsupported: true,
      cancelled: true,
      deadline: true,
      disk_full: true,
      corrupt: true,
      internal: true,
    };
    for (const code of Object.keys(codes) as Code[]) {
      const error = new StewardError(code, "");
      const row = text
        .split("\n")
        .find((line) => line.startsWith("| ") && line.includes(`\`${dedupCode(error)}\``));
      expect([code, row]).toEqual([
        code,
        expect.stringContaining(`| ${httpStatus(error, "dedup")} |`),
      ]);
    }
  });
});
