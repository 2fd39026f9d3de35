/** Dashboard, statistics, graph, CSV and settings as text, on the running daemon beside a simulated Paperless-ngx. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPaperless } from "../../src/demo/paperless/paperless.ts";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { silent } from "../demo/control-plane/support.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

/** `words` invented words, the same for the same number. */
function textOf(number: number, words = 40): string {
  let state = number;
  const word = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return `word${(state >>> 8) % 5_000}`;
  };
  return Array.from({ length: words }, word).join(" ");
}

/** Papers 1 to 4; 5 and 6 are copies of 1, 7 is a copy of 2; 8 has no text, 9 is long. */
const PAPERS: readonly Readonly<Record<string, unknown>>[] = [
  { content: textOf(1), tags: [1, 2], correspondent: 1, documentType: 1 },
  { content: textOf(2), tags: [1], correspondent: 2 },
  { content: textOf(3), tags: [1], correspondent: 1 },
  { content: textOf(4) },
  { content: textOf(1), title: '=HYPERLINK("x")', tags: [2], correspondent: 1 },
  { content: textOf(1), title: 'Said "so", and\nmore' },
  { content: textOf(2), correspondent: 1 },
  { content: "" },
  { content: textOf(9, 1_200) },
];

let daemon: Daemon;
let sim: Paperless;

beforeAll(async () => {
  sim = await startPaperless({
    clock: systemClock,
    ids: systemIds,
    log: silent,
    fill(estate) {
      for (const name of ["Inbox", "tax"]) estate.addReference("tags", { name });
      for (const name of ["Northwind", "Contoso"]) estate.addReference("correspondents", { name });
      estate.addReference("document_types", { name: "Bill" });
      for (const [at, paper] of PAPERS.entries())
        estate.add({
          title: `Paper ${at + 1}`,
          addedUs: Date.UTC(2026, at % 3, 15) * 1_000,
          content: "",
          tags: [],
          ...paper,
        });
    },
  });
  const folder = temporaryFolder();
  writeFileSync(join(folder, "token"), sim.estate.users[0]?.token.use((value) => value) ?? "", {
    mode: 0o600,
  });
  const config = JSON.stringify({
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: temporaryFolder() },
    services: { monitor: false, tokens: false },
    dedup: {
      archives: [
        { name: "papers", kind: "paperless", url: sim.url, token_file: join(folder, "token") },
      ],
    },
  });
  daemon = await startDaemon({ config });
  await runJob(daemon, "/api/v1/sync");
  for (;;) {
    const { data } = (await rest(daemon, "GET", "/api/v1/jobs?type=analysis")).json;
    if (data.length > 0) {
      await jobEnd(daemon, data[0].id as string);
      break;
    }
  }
});

afterAll(async () => {
  await daemon.stop();
  await sim.stop();
  removeTemporaryFolders();
});

async function get(path: string): Promise<any> {
  const { status, json, text } = await rest(daemon, "GET", `/api/v1/${path}`);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return json.data;
}

/** A unary call over Connect. */
async function connect(method: string): Promise<any> {
  const answer = await rest(daemon, "POST", `/steward.dedup.v1.${method}`, {});
  return { status: answer.status, ...answer.json };
}

async function groups(): Promise<any[]> {
  return (await rest(daemon, "GET", "/api/v1/duplicates?sortBy=member_count")).json.data;
}

describe("statistics of documents", () => {
  it("count every document once, by what they have and lack", async () => {
    expect(await get("documents/stats")).toEqual({
      totalDocuments: 9,
      ocrCoverage: { withContent: 8, withoutContent: 1, percentage: 89 },
      processingStatus: { pending: 0, completed: 9 },
      correspondentDistribution: [
        { name: "Northwind", count: 4 },
        { name: "Contoso", count: 1 },
      ],
      documentTypeDistribution: [{ name: "Bill", count: 1 }],
      tagDistribution: [
        { name: "Inbox", count: 3 },
        { name: "tax", count: 2 },
      ],
      averageWordCount: 185,
      documentsOverTime: [
        { month: "2026-01", count: 3 },
        { month: "2026-02", count: 3 },
        { month: "2026-03", count: 3 },
      ],
      wordCountDistribution: [
        { bucket: "0 - 100", count: 7 },
        { bucket: "100 - 500", count: 0 },
        { bucket: "500 - 1K", count: 0 },
        { bucket: "1K - 5K", count: 1 },
        { bucket: "5K - 10K", count: 0 },
        { bucket: "10K+", count: 0 },
      ],
      unclassified: { noCorrespondent: 4, noDocumentType: 8, noTags: 5 },
      duplicateInvolvement: { documentsInGroups: 5, percentage: 56 },
      usageStats: { cumulativeGroupsActioned: 0, cumulativeDocumentsDeleted: 0 },
    });
    expect((await connect("StatisticsService/GetDocumentStatistics")).data.totalDocuments).toBe(9);
  });
});

describe("the graph", () => {
  it("has the documents of groups as nodes and their pairs as edges", async () => {
    const graph = await get("duplicates/graph");
    expect(graph).toMatchObject({ totalGroupsMatched: 2, groupsIncluded: 2, truncated: false });
    expect(graph.nodes).toHaveLength(5);
    // Three pairs of three copies, one of two.
    expect(graph.edges).toHaveLength(4);
    const ids = new Set(graph.nodes.map(({ id }: { id: string }) => id));
    for (const edge of graph.edges)
      expect(edge).toEqual({
        source: expect.toSatisfy((id: string) => ids.has(id)),
        target: expect.toSatisfy((id: string) => ids.has(id)),
        groupId: expect.any(String),
        confidenceScore: 1,
        groupConfidence: 1,
        status: "pending",
      });
    expect(graph.nodes.find(({ paperlessId }: any) => paperlessId === 1)).toEqual({
      id: expect.any(String),
      paperlessId: 1,
      title: "Paper 1",
      correspondent: "Northwind",
      documentType: "Bill",
      groupCount: 1,
      archive: "papers",
    });
  });

  it("takes the filters of the list and a number of groups", async () => {
    expect(await get("duplicates/graph?maxGroups=1")).toMatchObject({
      totalGroupsMatched: 2,
      groupsIncluded: 1,
    });
    for (const query of [
      "maxConfidence=0.5",
      "status=ignored,deleted",
      "minConfidence=1&maxConfidence=0",
    ])
      expect(await get(`duplicates/graph?${query}`)).toEqual({
        nodes: [],
        edges: [],
        totalGroupsMatched: 0,
        groupsIncluded: 0,
        truncated: false,
      });
  });

  it.each([
    "maxGroups=0",
    "maxGroups=501",
    "maxGroups=x",
    "minConfidence=2",
    "status=pending,none",
  ])("refuses %s", async (query) => {
    const { status, json } = await rest(daemon, "GET", `/api/v1/duplicates/graph?${query}`);
    expect([status, json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(json.error.message).toContain(query.split("=")[0]);
  });
});

describe("the CSV of duplicates", () => {
  it("has a row for each member, safe for spreadsheets", async () => {
    const { status, headers, text } = await rest(daemon, "GET", "/api/v1/export/duplicates.csv");
    expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(headers.get("content-disposition")).toMatch(
      /^attachment; filename="duplicates-\d{4}-\d\d-\d\d\.csv"$/,
    );
    const lines = text.split("\r\n");
    expect(lines[0]).toBe(
      "group_id,confidence_score,jaccard_similarity,fuzzy_text_ratio,discriminative_score,group_status,is_primary,paperless_id,title,correspondent,document_type,tags,created_date,word_count,group_created_at,archive,archive_ref",
    );
    expect(lines.at(-1)).toBe("");
    expect(lines).toHaveLength(1 + 5 + 1);
    const [group] = await groups();
    const row = lines.find((line) => line.includes(",1,Paper 1,"));
    expect(row).toMatch(
      new RegExp(
        `^${group.id},1,1,1,1,pending,(true|false),1,Paper 1,Northwind,Bill,Inbox\\|tax,[\\d-]+,40,\\d{4}-.*Z,papers,1$`,
      ),
    );
    expect(text).toContain(`,"'=HYPERLINK(""x"")",Northwind,`);
    expect(text).toContain(`,"Said ""so"", and more",,,`);
    const bytes = new Uint8Array(
      await (
        await fetch(`${daemon.url}/api/v1/export/duplicates.csv?status=ignored`)
      ).arrayBuffer(),
    );
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    expect(Buffer.from(bytes).toString().split("\r\n")).toHaveLength(2);
  });

  it("refuses wrong filters as the list does", async () => {
    const { status, json } = await rest(
      daemon,
      "GET",
      "/api/v1/export/duplicates.csv?minConfidence=7&status=gone",
    );
    expect([status, json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(json.error.message).toContain("status");
  });
});

describe("statistics of groups and the dashboard", () => {
  it("count groups by status, confidence and correspondent, and follow decisions", async () => {
    expect(await get("duplicates/stats")).toEqual({
      totalGroups: 2,
      pendingGroups: 2,
      falsePositiveGroups: 0,
      ignoredGroups: 0,
      deletedGroups: 0,
      confidenceDistribution: [
        { label: "0-50%", min: 0, max: 0.5, count: 0 },
        { label: "50-75%", min: 0.5, max: 0.75, count: 0 },
        { label: "75-85%", min: 0.75, max: 0.85, count: 0 },
        { label: "85-90%", min: 0.85, max: 0.9, count: 0 },
        { label: "90-95%", min: 0.9, max: 0.95, count: 0 },
        { label: "95-100%", min: 0.95, max: 1, count: 2 },
      ],
      topCorrespondents: [
        { correspondent: "Northwind", groupCount: 2 },
        { correspondent: "Contoso", groupCount: 1 },
      ],
    });
    expect(await get("dashboard")).toEqual({
      totalDocuments: 9,
      pendingGroups: 2,
      pendingAnalysis: 0,
      lastSyncAt: expect.stringMatching(/Z$/),
      lastAnalysisAt: expect.stringMatching(/Z$/),
      lastSyncDocumentCount: 9,
      arrivedDocuments: 9,
      arrivedGroups: 2,
      skippedDocuments: 1,
      totalDuplicateGroups: 2,
      topCorrespondents: [
        { correspondent: "Northwind", groupCount: 2 },
        { correspondent: "Contoso", groupCount: 1 },
      ],
      analysisStale: false,
      analysisStaleReason: null,
    });
    const [group] = await groups();
    const status = (to: string) =>
      rest(daemon, "PUT", `/api/v1/duplicates/${group.id}/status`, { status: to });
    await status("deleted");
    expect(await get("duplicates/stats")).toMatchObject({
      totalGroups: 2,
      pendingGroups: 1,
      deletedGroups: 1,
    });
    expect(await get("documents/stats")).toMatchObject({
      duplicateInvolvement: { documentsInGroups: 2, percentage: 22 },
      usageStats: { cumulativeGroupsActioned: 1 },
    });
    await status("pending");
    await status("ignored");
    expect(await get("duplicates/stats")).toMatchObject({
      pendingGroups: 1,
      ignoredGroups: 1,
      deletedGroups: 0,
    });
    expect((await get("documents/stats")).usageStats.cumulativeGroupsActioned).toBe(2);
    await status("pending");
    await rest(daemon, "PUT", "/api/v1/config/dedup", { similarityThreshold: 0.9 });
    expect(await get("dashboard")).toMatchObject({
      analysisStale: true,
      analysisStaleReason: "config_changed",
    });
    await rest(daemon, "PUT", "/api/v1/config/dedup", { similarityThreshold: 0.75 });
  });
});

describe("settings as text", () => {
  const put = (body: unknown) => rest(daemon, "PUT", "/api/v1/config", body);

  it("are the analysis settings and what other programs stored", async () => {
    const before = await get("config");
    expect(before).toMatchObject({ "dedup.minWords": "20", "dedup.autoAnalyze": "true" });
    expect(before).toMatchObject({ "ai.model": "gpt-5.4-mini", "ai.protectedTagNames": "[]" });
    expect(Object.keys(before)).toHaveLength(10 + 15);
    const single = await put({ key: "ui.theme", value: "dark" });
    expect([single.status, single.json.data]).toEqual([200, { ...before, "ui.theme": "dark" }]);
    const several = await put({ settings: { "dedup.minWords": "21", "ui.theme": "light" } });
    expect(several.json.data).toEqual({ ...before, "dedup.minWords": "21", "ui.theme": "light" });
    expect((await get("config/dedup")).minWords).toBe(21);
    await put({ key: "dedup.minWords", value: "20" });
    const ai = { "ai.maxRetries": "5", "ai.protectedTagNames": '["inbox"]' };
    expect((await put({ settings: ai })).json.data).toMatchObject(ai);
    await put({ settings: { "ai.maxRetries": "3", "ai.protectedTagNames": "[]" } });
  });

  it.each([
    ["ai.model", "m".repeat(201), "must have at most 200 characters"],
    ["ai.protectedTagNames", JSON.stringify(Array(101).fill("tag")), "at most 100 entries"],
  ])("%s has the limits of PUT /ai/config", async (key, value, rule) => {
    const { status, json } = await put({ key, value });
    expect([status, json.error?.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(JSON.stringify(json.error)).toContain(rule);
  });

  it("are given in one of two shapes, and with both nothing is changed", async () => {
    const before = await get("config");
    const both = { key: "ui.theme", value: "both", settings: { "ui.size": "large" } };
    const wrong = [both, { ...both, settings: { "ui.theme": "both" } }, { key: "a" }, {}];
    for (const body of wrong) {
      const { status, json } = await put(body);
      expect([status, json.error?.code]).toEqual([400, "VALIDATION_FAILED"]);
      expect(json.error.message).toContain("give either key and value");
    }
    expect(await get("config")).toEqual(before);
    expect((await put({ key: "ui.theme", value: "dark", settings: {} })).status).toBe(200);
  });

  it("leave out credentials and connections, whatever their spelling", async () => {
    const before = await get("config");
    const { status, json } = await put({
      settings: {
        "paperless.url": "http://elsewhere.example",
        PAPERLESS_API_TOKEN: "x",
        "ai.openai-api-key": "sk-x",
        "db.password": "x",
        "a.Client_Secret": "x",
        database_url: "x",
      },
    });
    expect([status, json.data]).toEqual([200, before]);
  });

  it.each<[string, unknown, string]>([
    ["neither shape", {}, "key and value"],
    ["a key without a value", { key: "ui.theme" }, "key and value"],
    ["a number for a text", { settings: { "ui.size": 3 } }, "settings"],
    ["an unknown field", { setting: {} }, "did you mean settings?"],
    [
      "a value that the typed route refuses",
      { settings: { "dedup.minWords": "none" } },
      "minWords",
    ],
    [
      "weights that do not add up",
      { key: "dedup.confidenceWeightFuzzy", value: "1" },
      "must add up to 100",
    ],
    ["a number out of range", { key: "ai.maxRetries", value: "99" }, "maxRetries"],
    [
      "one of several sections",
      { settings: { "ui.size": "3", "dedup.minWords": "30", "ai.maxRetries": "99" } },
      "maxRetries",
    ],
    [
      "another of several sections",
      { settings: { "ui.size": "3", "dedup.minWords": "none", "ai.maxRetries": "4" } },
      "minWords",
    ],
    ["a list that is none", { key: "ai.protectedTagNames", value: "inbox" }, "as JSON"],
    ["an empty name", { settings: { "": "x" } }, "must not be empty"],
    ["a long name", { settings: { ["n".repeat(257)]: "x" } }, "256 bytes"],
    ["a long value", { settings: { "ui.text": "x".repeat(65_537) } }, "65536 bytes"],
  ])("refuse %s and change nothing", async (_, body, message) => {
    const before = await get("config");
    const { status, json } = await put(body);
    expect([status, json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(json.error.message).toContain(message);
    expect(await get("config")).toEqual(before);
  });

  it("hold at most 1,000 names of others", async () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`x.${at}`, ""]));
    const { status, json } = await put({ settings: many });
    expect([status, json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(json.error.message).toContain("1000");
  });

  it("are exported to a file that an import takes back", async () => {
    const exported = await rest(daemon, "GET", "/api/v1/export/config.json");
    expect(exported.headers.get("content-disposition")).toMatch(
      /^attachment; filename="steward-config-\d{4}-\d\d-\d\d\.json"$/,
    );
    expect(exported.text).toContain('\n  "version": "1.0"');
    const file = exported.json;
    expect(file).toEqual({
      version: "1.0",
      exportedAt: expect.stringMatching(/Z$/),
      appConfig: await get("config"),
      dedupConfig: await get("config/dedup"),
    });
    await put({ settings: { "dedup.minWords": "33", "ui.theme": "gone" } });
    const { status, json } = await rest(daemon, "POST", "/api/v1/import/config", {
      ...file,
      ofALaterVersion: true,
    });
    expect([status, json.data]).toEqual([
      200,
      { appConfigKeys: Object.keys(file.appConfig).length, dedupConfigUpdated: true },
    ]);
    expect(await get("config")).toEqual(file.appConfig);
  });

  it("of a former version are converted: three weights, and no credentials", async () => {
    const { json } = await rest(daemon, "POST", "/api/v1/import/config", {
      version: "1.2",
      exportedAt: "2026-01-01",
      appConfig: { "paperless.apiToken": "x", "ui.theme": "old", "dedup.minWords": "50" },
      dedupConfig: {
        confidenceWeightJaccard: 40,
        confidenceWeightFuzzy: 45,
        confidenceWeightDiscriminative: 15,
        minWords: 20,
      },
    });
    expect(json.data).toEqual({ appConfigKeys: 2, dedupConfigUpdated: true });
    expect(await get("config/dedup")).toMatchObject({
      confidenceWeightJaccard: 47,
      confidenceWeightFuzzy: 53,
      discriminativePenaltyStrength: 70,
      minWords: 20,
    });
    await rest(daemon, "PUT", "/api/v1/config/dedup", {
      confidenceWeightJaccard: 60,
      confidenceWeightFuzzy: 40,
    });
  });

  it.each<[string, unknown]>([
    ["version", { version: "2.0", exportedAt: "2026-01-01", appConfig: {} }],
    ["exportedAt", { version: "1.0", appConfig: {} }],
    ["ngramSize", { version: "1.0", exportedAt: "2026-01-01", dedupConfig: { ngramSize: 99 } }],
    [
      "maxRetries",
      {
        version: "1.0",
        exportedAt: "2026-01-01",
        appConfig: { "ui.new": "1", "ai.maxRetries": "99" },
        dedupConfig: { minWords: 30 },
      },
    ],
    [
      "must add up to 100",
      {
        version: "1.0",
        exportedAt: "2026-01-01",
        appConfig: { "ui.new": "1" },
        dedupConfig: { confidenceWeightJaccard: 1 },
      },
    ],
  ])("are not imported with a wrong %s", async (message, body) => {
    const before = await get("config");
    const { status, json } = await rest(daemon, "POST", "/api/v1/import/config", body);
    expect([status, json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(json.error.message).toContain(message);
    expect(await get("config")).toEqual(before);
  });
});

describe("settings of other programs", () => {
  it("of more than a mebibyte are imported as they were exported", async () => {
    const exported = (await rest(daemon, "GET", "/api/v1/export/config.json")).json;
    const large = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`large.${at}`, `${at} `.repeat(15_000)]),
    );
    const file = { ...exported, appConfig: { ...exported.appConfig, ...large } };
    const { status, json } = await rest(daemon, "POST", "/api/v1/import/config", file);
    expect([status, json.error]).toEqual([200, undefined]);
    expect(await get("config")).toMatchObject(large);
  });
});

describe("the test of a connection", () => {
  it("asks Paperless-ngx with the configured credential", async () => {
    const { status, json } = await rest(daemon, "POST", "/api/v1/config/test-connection");
    expect([status, json.data]).toEqual([
      200,
      {
        connected: true,
        version: sim.estate.release,
        documentCount: 9,
        archive: "papers",
        apiVersion: expect.stringMatching(/^\d+$/),
        latencyMs: expect.any(Number),
      },
    ]);
  });

  it("is BAD_GATEWAY when it fails, and shows no credential", async () => {
    sim.faults.next("statistics", { kind: "status", status: 401 }, 1);
    const { status, json, text } = await rest(daemon, "POST", "/api/v1/config/test-connection");
    expect([status, json.error.code]).toEqual([502, "BAD_GATEWAY"]);
    expect(json.error.message).toContain("papers");
    expect(text).not.toContain(new URL(sim.url).host);
    expect(text).not.toContain(sim.estate.users[0]?.token.use((value) => value));
  });
});
