/**
 * The metrics and spans of the document service, driven through the running daemon and compared
 * with the table of its contract in both directions, pushed and scraped.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { dedupMetrics } from "../../src/dedup/telemetry/metrics.ts";
import { familyName } from "../../src/kernel/telemetry/exposition/naming.ts";
import { startAiProvider, suggestion, type AiProviderSimulator } from "../support/ai-provider.ts";
import { startReceiver, type Receiver } from "../support/otlp/receiver.ts";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import {
  configOf,
  fillGroups,
  groupsOf,
  startArchive,
  syncAndAnalyse,
} from "./paperless-estate.ts";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";

afterAll(removeTemporaryFolders);

const GROUPS = 6;
const SIZE = 2;

/** By their OpenTelemetry names: kind, unit, attributes, and the name of the exposition. */
const TABLE: Readonly<Record<string, readonly [string, string, readonly string[], string]>> = {
  "svc.sync.documents_total": ["counter", "{document}", ["status"], "svc_sync_documents_total"],
  "svc.sync.runs_total": ["counter", "{run}", ["outcome"], "svc_sync_runs_total"],
  "svc.sync.duration_seconds": ["histogram", "s", [], "svc_sync_duration_seconds"],
  "svc.sync.last_success": ["gauge", "s", [], "svc_sync_last_success_seconds"],
  "svc.sync.interval": ["gauge", "s", [], "svc_sync_interval_seconds"],
  "svc.archive.readable": ["gauge", "1", ["archive"], "svc_archive_readable_ratio"],
  "svc.analysis.runs_total": ["counter", "{run}", ["outcome"], "svc_analysis_runs_total"],
  "svc.analysis.duration_seconds": ["histogram", "s", [], "svc_analysis_duration_seconds"],
  "svc.analysis.stage.duration_seconds": [
    "histogram",
    "s",
    ["stage"],
    "svc_analysis_stage_duration_seconds",
  ],
  "svc.jobs_total": ["counter", "{job}", ["type", "outcome"], "svc_jobs_total"],
  "svc.jobs.active_count": ["gauge", "{job}", [], "svc_jobs_active_count"],
  "svc.documents_count": ["gauge", "{document}", [], "svc_documents_count"],
  "svc.duplicates.unresolved_count": ["gauge", "{group}", [], "svc_duplicates_unresolved_count"],
  "svc.paperless.requests_total": [
    "counter",
    "{request}",
    ["method", "status_code"],
    "svc_paperless_requests_total",
  ],
  "svc.ai.documents_total": [
    "counter",
    "{document}",
    ["outcome", "gen_ai.system"],
    "svc_ai_documents_total",
  ],
  "svc.ai.tokens_total": [
    "counter",
    "{token}",
    ["gen_ai.token.type", "gen_ai.system"],
    "svc_ai_tokens_total",
  ],
  "svc.ai.runs_total": ["counter", "{run}", ["outcome"], "svc_ai_runs_total"],
  "svc.ai.apply_total": ["counter", "{result}", ["status"], "svc_ai_apply_total"],
  "svc.ai.document_duration_seconds": ["histogram", "s", [], "svc_ai_document_duration_seconds"],
  "svc.ai.batch_duration_seconds": ["histogram", "s", [], "svc_ai_batch_duration_seconds"],
  "svc.ai.pending_count": ["gauge", "{result}", [], "svc_ai_pending_count"],
  ...paperless("status_storage_total_bytes", "By"),
  ...paperless("status_storage_available_bytes", "By"),
  ...paperless("status_database_status", "1"),
  ...paperless("status_database_unapplied_migrations", "{migration}"),
  ...paperless("status_redis_status", "1"),
  ...paperless("status_celery_status", "1"),
  ...paperless("status_index_status", "1"),
  ...paperless("status_index_last_modified_timestamp_seconds", "s"),
  ...paperless("status_classifier_status", "1"),
  ...paperless("status_classifier_last_trained_timestamp_seconds", "s"),
  ...paperless("status_sanity_check_status", "1"),
  ...paperless("status_sanity_check_last_run_timestamp_seconds", "s"),
  ...paperless("statistics_documents_total", "{document}"),
  ...paperless("statistics_documents_inbox_count", "{document}"),
  ...paperless("statistics_documents_file_type_counts", "{document}", ["mime_type"]),
  ...paperless("statistics_character_count", "{character}"),
  ...paperless("statistics_tag_count", "{tag}"),
  ...paperless("statistics_correspondent_count", "{correspondent}"),
  ...paperless("statistics_document_type_count", "{type}"),
  ...paperless("statistics_storage_path_count", "{path}"),
  ...paperless("documents", "{document}"),
  ...paperless("groups", "{group}"),
  ...paperless("users", "{user}"),
  ...paperless("tag_info", "1", ["id", "name", "slug"]),
  ...paperless("tag_document_count", "{document}", ["id"]),
  ...paperless("tag_inbox", "1", ["id"]),
  ...paperless("correspondent_info", "1", ["id", "name", "slug"]),
  ...paperless("correspondent_document_count", "{document}", ["id"]),
  ...paperless("correspondent_last_correspondence_timestamp_seconds", "s", ["id"]),
  ...paperless("document_type_info", "1", ["id", "name", "slug"]),
  ...paperless("document_type_document_count", "{document}", ["id"]),
  ...paperless("storage_path_info", "1", ["id", "name", "slug"]),
  ...paperless("storage_path_document_count", "{document}", ["id"]),
  ...paperless("remote_version_update_available", "1", ["version"]),
  paperless_collector_errors_total: [
    "counter",
    "{error}",
    ["collector"],
    "paperless_collector_errors_total",
  ],
};

function paperless(name: string, unit: string, attributes: readonly string[] = []) {
  const whole = `paperless_${name}`;
  return { [whole]: ["gauge", unit, attributes, whole] as const };
}

/** Families of the document service; `svc.jobs.running` and its like are the process's. */
const isDedup = (name: string): boolean =>
  /^(svc[._](sync|analysis|ai|paperless|documents|duplicates)[._]|svc\.documents_count|svc_documents_count|paperless_)/.test(
    name,
  );

async function start(
  more: string,
  arrange: (sim: Paperless) => void = () => undefined,
): Promise<{
  readonly daemon: Daemon;
  readonly sim: Paperless;
  readonly provider: AiProviderSimulator;
}> {
  const [sim, provider] = await Promise.all([
    startArchive((estate) => {
      fillGroups(GROUPS, SIZE)(estate);
      estate.addReference("storage_paths", { name: "Shelf" });
      estate.edit(1, { correspondent: 1 });
      estate.checkedAt = "2026-02-02T09:00:00Z";
      estate.remoteVersion = { version: "v3.1.0", updateAvailable: true };
    }),
    startAiProvider(),
  ]);
  onTestFinished(async () => void (await Promise.all([sim.stop(), provider.stop()])));
  arrange(sim);
  const folder = temporaryFolder();
  writeFileSync(join(folder, "key"), "sk-0123456789abcdef", { mode: 0o600 });
  const config = `${configOf(sim, temporaryFolder())}  paperless_metrics: {enabled: true}
  ai:
    enabled: true
    openai: {api_key_file: ${join(folder, "key")}, base_url: "${provider.url}/v1"}
${more}`;
  const daemon = await startDaemon({ config });
  onTestFinished(async () => void (await daemon.stop()));
  // The last request for the metrics of Paperless-ngx: none of them takes a fault of a test.
  await expect.poll(() => sim.requests()["remote_version"] ?? 0).toBeGreaterThan(0);
  return { daemon, sim, provider };
}

/** Syncs, analyses, lets a model suggest, applies, rejects, reverts, deletes; some of it in vain. */
async function drive({ daemon, sim, provider }: Awaited<ReturnType<typeof start>>): Promise<void> {
  await syncAndAnalyse(daemon);
  const api = async (path: string, body: object = {}): Promise<any> =>
    await rest(daemon, "POST", `/api/v1/ai${path}`, body);
  const settings = { provider: "openai", model: "gpt-5.4-mini", batchSize: 1, maxRetries: 0 };
  await rest(daemon, "PUT", "/api/v1/ai/config", { ...settings, maxCostPerRunUsd: 0.021 });
  let answers = 0;
  provider.reply = () => ((answers += 1) === 1 ? { kind: "refusal" } : suggestion());
  await runJob(daemon, "/api/v1/ai/process", {});
  await rest(daemon, "PUT", "/api/v1/ai/config", { maxCostPerRunUsd: 0 });
  await runJob(daemon, "/api/v1/ai/process", {});
  provider.reply = () => ({ kind: "status", status: 401 });
  await runJob(daemon, "/api/v1/ai/process", { reprocess: true });
  const { data } = (await rest(daemon, "GET", "/api/v1/ai/results?status=pending")).json;
  const [first, second, third] = data.map(({ id }: { id: string }) => id);
  expect((await api(`/results/${first}/apply`)).status).toBe(200);
  expect((await api(`/results/${first}/revert`)).status).toBe(200);
  expect((await api(`/results/${second}/reject`)).status).toBe(200);
  sim.faults.next("patch_document", { kind: "status", status: 403 });
  expect((await api(`/results/${third}/apply`)).status).toBe(502);
  sim.faults.next("documents", { kind: "status", status: 403 });
  expect((await runJob(daemon, "/api/v1/sync", { force: true })).status).toBe("failed");
  const groupIds = (await groupsOf(daemon)).slice(0, 2).map(({ id }) => id);
  const body = { groupIds, confirm: true };
  const started = await rest(daemon, "POST", "/api/v1/batch/delete-non-primary", body);
  expect((await jobEnd(daemon, started.json.data.jobId)).result.failedDocuments).toBe(0);
}

/** The labels of a series by their names. */
function sortLabels(line: string): string {
  return line.replace(
    /\{(.*)\}/,
    (_, labels: string) => `{${(labels.match(/[a-z_]+="[^"]*"/g) ?? []).toSorted().join(",")}}`,
  );
}

/** By the exposition; those without a value have one that the run decides. */
const SERIES = [
  'svc_sync_documents_total{status="inserted"} 12',
  'svc_sync_documents_total{status="failed"} 0',
  'svc_sync_runs_total{outcome="success"} 1',
  'svc_sync_runs_total{outcome="failure"} 1',
  "svc_sync_duration_seconds_count 2",
  'svc_analysis_runs_total{outcome="success"} 1',
  "svc_analysis_duration_seconds_count 1",
  'svc_analysis_stage_duration_seconds_count{stage="scoring"} 1',
  'svc_jobs_total{outcome="completed",type="delete_non_primary"} 1',
  'svc_jobs_total{outcome="failed",type="sync"} 1',
  "svc_jobs_active_count 0",
  "svc_documents_count 10",
  "svc_duplicates_unresolved_count 4",
  'svc_ai_documents_total{gen_ai_system="openai",outcome="skipped"}',
  'svc_ai_documents_total{gen_ai_system="openai",outcome="failed"}',
  'svc_ai_tokens_total{gen_ai_system="openai",gen_ai_token_type="input"}',
  'svc_ai_tokens_total{gen_ai_system="openai",gen_ai_token_type="output"}',
  'svc_ai_tokens_total{gen_ai_system="openai",gen_ai_token_type="cached"}',
  'svc_ai_runs_total{outcome="success"} 2',
  'svc_ai_runs_total{outcome="failure"} 1',
  'svc_ai_apply_total{status="applied"} 1',
  'svc_ai_apply_total{status="rejected"} 1',
  'svc_ai_apply_total{status="reverted"} 1',
  'svc_ai_apply_total{status="failed"} 1',
  "svc_ai_batch_duration_seconds_count 3",
  'svc_paperless_requests_total{method="PATCH",status_code="403"} 1',
  'svc_paperless_requests_total{method="DELETE",status_code="204"} 2',
  "paperless_status_redis_status 1",
  "paperless_status_classifier_last_trained_timestamp_seconds 1770022800",
  'paperless_tag_info{id="1",name="inbox",slug="inbox"} 1',
  'paperless_remote_version_update_available{version="v3.1.0"} 1',
  'paperless_collector_errors_total{collector="status"} 0',
];

describe("the metrics of the document service", () => {
  afterEach(() => vi.restoreAllMocks());

  it("are declared as the table has them", () => {
    const declared = Object.fromEntries(
      dedupMetrics.map((row) => [row.name, [row.kind, row.unit, row.attributes, familyName(row)]]),
    );
    const { "svc.jobs_total": _, ...own } = TABLE;
    expect(declared).toEqual(own);
  });

  it("are scraped whole where nothing is pushed", async () => {
    const estate = await start("  metrics_endpoint: {enabled: true}\n");
    await drive(estate);
    let text = "";
    let lines: string[] = [];
    await expect
      .poll(async () => {
        text = (await rest(estate.daemon, "GET", "/api/v1/metrics")).text;
        lines = text.split("\n").map(sortLabels);
        return SERIES.filter(
          (series) => !lines.some((line) => line === series || line.startsWith(`${series} `)),
        );
      })
      .toEqual([]);
    const seen = new Map<string, string>(
      [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name = "", kind = ""]) => [name, kind]),
    );
    const expected = Object.values(TABLE).map(([kind, , , name]) => [name, kind] as const);
    expect(Object.fromEntries([...seen].filter(([name]) => isDedup(name)))).toEqual(
      Object.fromEntries(expected.filter(([name]) => isDedup(name))),
    );
    for (const [, , attributes, name] of Object.values(TABLE)) {
      const keys = new Set(attributes.map((one) => one.replaceAll(".", "_")));
      const labels = lines
        .filter((line) => new RegExp(`^${name}(_bucket|_sum|_count)?[{ ]`).test(line))
        .flatMap((line) => [...line.matchAll(/([a-z_]+)="/g)].map(([, key = ""]) => key))
        .filter((key) => key !== "le");
      expect([name, new Set(labels)]).toEqual([name, keys]);
    }
  });

  it("are pushed whole where nothing is scraped", async () => {
    const receiver: Receiver = await startReceiver({ protocol: "http" });
    onTestFinished(() => receiver.close());
    const estate = await start(
      `otlp: {endpoint: '${receiver.endpoint}', metric_interval: 500ms}\ntracing: {enabled: true}\n`,
    );
    await drive(estate);
    const last = TABLE["paperless_remote_version_update_available"]?.[3];
    await expect
      .poll(() => receiver.points().some(({ metric }) => metric === last), { interval: 200 })
      .toBe(true);
    await estate.daemon.stop();
    const seen: Record<string, [string, string, Set<string>]> = {};
    for (const { metric, kind, monotonic, unit, attributes } of receiver.points()) {
      if (!isDedup(metric) && !Object.hasOwn(TABLE, metric)) continue;
      const shown = kind === "sum" && monotonic ? "counter" : kind;
      const entry = (seen[metric] ??= [shown, unit, new Set()]);
      for (const key of Object.keys(attributes)) entry[2].add(key);
    }
    expect(seen).toEqual(
      Object.fromEntries(
        Object.entries(TABLE).map(([name, [kind, unit, attributes]]) => [
          name,
          [kind, unit, new Set(attributes)],
        ]),
      ),
    );
    const spans = receiver.spans().filter(({ name }) => name.startsWith("dedupe."));
    expect(new Set(spans.map(({ name }) => name))).toEqual(
      new Set([
        "dedupe.worker.task",
        "dedupe.sync.fetch_references",
        "dedupe.analysis.build_lsh_index",
        "dedupe.ai.batch",
        "dedupe.ai.apply",
        "dedupe.ai.revert",
      ]),
    );
    const of = (name: string) => spans.find((span) => span.name === name)?.attributes;
    expect(of("dedupe.worker.task")).toEqual({
      "app.job.id": expect.stringMatching(/^[\w-]{21}$/) as string,
      "app.job.type": "sync",
    });
    expect(of("dedupe.analysis.build_lsh_index")).toEqual({
      "index.size": expect.any(Number) as number,
    });
    expect(of("dedupe.ai.batch")).toMatchObject({
      "gen_ai.system": "openai",
      "gen_ai.request.model": "gpt-5.4-mini",
      "app.batch.documents": GROUPS * SIZE,
    });
    const names = new Set(receiver.spans().map(({ name }) => name));
    expect(names.has("POST /api/v1/sync")).toBe(true);
    expect([...names].filter((name) => /health|ready|metrics/.test(name))).toEqual([]);
  });
});

it("a collector without permission is counted, and the others go on", async () => {
  const { daemon } = await start("  metrics_endpoint: {enabled: true}\n", ({ faults }) =>
    faults.next("status", { kind: "status", status: 403, message: "Insufficient permissions" }),
  );
  const text = await vi.waitFor(
    async () => {
      const answer = await rest(daemon, "GET", "/api/v1/metrics");
      expect(answer.text).toContain("paperless_remote_version_update_available{");
      return answer.text;
    },
    { timeout: 60_000, interval: 100 },
  );
  expect(text).toContain('paperless_collector_errors_total{collector="status"} 1');
  expect(text).toContain('paperless_collector_errors_total{collector="tag"} 0');
  expect(text).toContain(`\npaperless_documents ${GROUPS * SIZE}\n`);
  expect(text).not.toContain("paperless_status_redis_status");
  // The line may come after the answer of a request that was made later.
  await expect
    .poll(() => daemon.stderr.filter((line) => line.includes("collector of Paperless-ngx")).length)
    .toBe(1);
});

it("no metric of Paperless-ngx is read unless that is set", async () => {
  const sim = await startArchive(fillGroups(1, 2));
  onTestFinished(() => sim.stop());
  const config = `${configOf(sim, temporaryFolder())}  metrics_endpoint: {enabled: true}\n`;
  const daemon = await startDaemon({ config });
  onTestFinished(async () => void (await daemon.stop()));
  await runJob(daemon, "/api/v1/sync");
  const { text } = await rest(daemon, "GET", "/api/v1/metrics");
  expect(text).not.toMatch(/^# TYPE paperless_/m);
  expect(text).not.toMatch(/^# TYPE svc_ai_/m);
  expect(text).toContain("svc_documents_count 2");
});
