/**
 * What is read from a Paperless-ngx for its metrics: one function a collector, each of which writes
 * its gauges into a round of its own. Fields that an older release lacks give no series.
 */
import type { Row, Sweep } from "../../../kernel/telemetry/types.ts";
import { notPaperless } from "../failures.ts";
import {
  countMetrics,
  labelMetrics,
  lastCorrespondence,
  statisticsMetrics,
  statusMetrics,
  tagInbox,
  updateAvailable,
} from "./metrics.ts";
import type { CollectorName } from "./settings.ts";

/** Reads a path below `/api/` once, as JSON. */
export type ReadFigures = (
  path: string,
  query: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
) => Promise<unknown>;

interface Collecting {
  readonly archive: string;
  readonly read: ReadFigures;
  readonly round: Pick<Sweep, "gauge">;
  readonly signal: AbortSignal;
}

type Collector = (run: Collecting) => Promise<void>;

const PAGE = 1_000;
/** Labels of one kind: as many as a metric has series. */
const MAX_PAGES = 10;
/** The newest release of an archive that has no access to the internet. */
const UNKNOWN_VERSION = "0.0.0";

export const collectors = {
  status: collectStatus,
  statistics: collectStatistics,
  document: (run) => count(run, "documents", countMetrics.documents),
  tag: async (run) => {
    for await (const tag of labels(run, "tags", labelMetrics.tag))
      number(run, tagInbox, flag(tag["is_inbox_tag"]), idOf(tag));
  },
  correspondent: async (run) => {
    const query = { last_correspondence: "true" };
    for await (const one of labels(run, "correspondents", labelMetrics.correspondent, query))
      number(run, lastCorrespondence, instant(one["last_correspondence"]), idOf(one));
  },
  document_type: (run) => drain(labels(run, "document_types", labelMetrics.document_type)),
  storage_path: (run) => drain(labels(run, "storage_paths", labelMetrics.storage_path)),
  group: (run) => count(run, "groups", countMetrics.groups),
  user: (run) => count(run, "users", countMetrics.users),
  remote_version: collectRemoteVersion,
} as const satisfies Readonly<Record<CollectorName, Collector>>;

type Members = Readonly<Record<string, unknown>>;

function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

async function object({ archive, read, signal }: Collecting, path: string): Promise<Members> {
  const value = await read(path, {}, signal);
  if (typeof value !== "object" || value === null)
    throw notPaperless(archive, `${path} is no object`);
  return value as Members;
}

async function collectStatus(run: Collecting): Promise<void> {
  const status = await object(run, "/api/status/");
  const [storage, database, tasks] = ["storage", "database", "tasks"].map((name) =>
    members(status[name]),
  ) as [Members, Members, Members];
  const unapplied = members(database["migration_status"])["unapplied_migrations"];
  const {
    storageTotal,
    storageAvailable,
    migrations,
    indexModified,
    classifierTrained,
    sanityCheckRun,
  } = statusMetrics;
  number(run, storageTotal, storage["total"], {});
  number(run, storageAvailable, storage["available"], {});
  number(run, migrations, Array.isArray(unapplied) ? unapplied.length : undefined, {});
  number(run, statusMetrics.database, isOk(database["status"]), {});
  for (const name of ["redis", "celery", "index", "classifier"] as const)
    number(run, statusMetrics[name], isOk(tasks[`${name}_status`]), {});
  number(run, statusMetrics.sanityCheck, isOk(tasks["sanity_check_status"]), {});
  number(run, indexModified, instant(tasks["index_last_modified"]), {});
  number(run, classifierTrained, instant(tasks["classifier_last_trained"]), {});
  number(run, sanityCheckRun, instant(tasks["sanity_check_last_run"]), {});
}

async function collectStatistics(run: Collecting): Promise<void> {
  const found = await object(run, "/api/statistics/");
  const metrics = statisticsMetrics;
  number(run, metrics.documents, found["documents_total"], {});
  number(run, metrics.inbox, found["documents_inbox"], {});
  number(run, metrics.characters, found["character_count"], {});
  number(run, metrics.tags, found["tag_count"], {});
  number(run, metrics.correspondents, found["correspondent_count"], {});
  number(run, metrics.documentTypes, found["document_type_count"], {});
  number(run, metrics.storagePaths, found["storage_path_count"], {});
  // Releases before 3 have the second key.
  const types = found["document_file_type_counts"] ?? found["document_file_type_count"];
  for (const entry of Array.isArray(types) ? types : []) {
    const { mime_type: type, mime_type_count: counted, count: older } = members(entry);
    if (typeof type === "string")
      number(run, metrics.fileTypes, counted ?? older, { mime_type: type });
  }
}

async function collectRemoteVersion(run: Collecting): Promise<void> {
  const { version, update_available: isNewer } = await object(run, "/api/remote_version/");
  if (typeof version === "string" && version !== UNKNOWN_VERSION)
    number(run, updateAvailable, flag(isNewer), { version });
}

async function count(
  { archive, read, round, signal }: Collecting,
  list: string,
  row: Row<never, "gauge">,
): Promise<void> {
  const { count: total } = members(await read(`/api/${list}/`, { page_size: 1 }, signal));
  if (typeof total !== "number") throw notPaperless(archive, `the list of ${list} has no count`);
  round.gauge(row, total, {});
}

/** The labels of a list, with what all kinds have in common written already. */
async function* labels(
  run: Collecting,
  list: string,
  metrics: (typeof labelMetrics)[keyof typeof labelMetrics],
  query: Readonly<Record<string, string>> = {},
): AsyncGenerator<Members> {
  for (let page = 1; page <= MAX_PAGES; page++) {
    const body = members(
      await run.read(`/api/${list}/`, { ...query, page, page_size: PAGE }, run.signal),
    );
    const results: unknown = body["results"];
    if (!Array.isArray(results))
      throw notPaperless(run.archive, `the list of ${list} has no results`);
    for (const label of results.map(members)) {
      const { id, name, slug } = label;
      if (typeof id !== "number" || typeof name !== "string") continue;
      const info = { id, name, slug: typeof slug === "string" ? slug : "" };
      run.round.gauge(metrics.info, 1, info);
      number(run, metrics.documents, label["document_count"], { id });
      yield label;
    }
    if (typeof body["next"] !== "string") return;
  }
}

async function drain(all: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of all);
}

function idOf(label: Members): { readonly id: number } {
  return { id: label["id"] as number };
}

/** Writes a value that is a number; anything else gives no series. */
function number<A extends string>(
  { round }: Collecting,
  row: Row<A, "gauge">,
  value: unknown,
  attributes: Parameters<typeof round.gauge<A>>[2],
): void {
  if (typeof value === "number" && Number.isFinite(value)) round.gauge(row, value, attributes);
}

function isOk(status: unknown): number | undefined {
  return typeof status === "string" ? Number(status === "OK") : undefined;
}

function flag(value: unknown): number | undefined {
  return typeof value === "boolean" ? Number(value) : undefined;
}

function instant(text: unknown): number | undefined {
  const ms = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms / 1_000;
}
