/**
 * Metrics read from a Paperless-ngx, under the names that exporters for it use. They are exposed
 * unchanged: some gauges end in `_total`.
 */
import {
  catalogue,
  defineMetric,
  type MetricDefinition,
} from "../../../kernel/telemetry/catalogue.ts";
import type { AnyRow, Row } from "../../../kernel/telemetry/types.ts";

/** An archive beyond it is not exported whole: further series are counted as dropped. */
const WHEN = "`dedup.paperless_metrics.enabled` is set";
const WHEN_KNOWN = `${WHEN}, and Paperless-ngx names the time`;

type Definition<A extends string> = Pick<
  MetricDefinition<A, "gauge">,
  "unit" | "help" | "attributes" | "when"
>;

function gauge<const A extends string = never>(
  name: string,
  definition: Definition<A>,
): Row<A, "gauge"> {
  return defineMetric<"gauge", A>({
    when: WHEN,
    ...definition,
    group: "Paperless-ngx",
    name: `paperless_${name}`,
    kind: "gauge",
    verbatim: true,
  });
}

const ok = (part: string): Definition<never> => ({
  unit: "1",
  help: `1 while ${part} is OK, else 0.`,
});
const instant = (what: string): Definition<never> => ({
  unit: "s",
  help: `When ${what}, in seconds since 1970.`,
  when: WHEN_KNOWN,
});
const count = (unit: string, help: string): Definition<never> => ({ unit, help });

export const statusMetrics = {
  storageTotal: gauge("status_storage_total_bytes", count("By", "Size of the media storage.")),
  storageAvailable: gauge(
    "status_storage_available_bytes",
    count("By", "Free space of the media storage."),
  ),
  database: gauge("status_database_status", ok("the database")),
  migrations: gauge(
    "status_database_unapplied_migrations",
    count("{migration}", "Database migrations that were not applied."),
  ),
  redis: gauge("status_redis_status", ok("Redis")),
  celery: gauge("status_celery_status", ok("Celery")),
  index: gauge("status_index_status", ok("the search index")),
  indexModified: gauge(
    "status_index_last_modified_timestamp_seconds",
    instant("the search index was last changed"),
  ),
  classifier: gauge("status_classifier_status", ok("the classifier")),
  classifierTrained: gauge(
    "status_classifier_last_trained_timestamp_seconds",
    instant("the classifier was last trained"),
  ),
  sanityCheck: gauge("status_sanity_check_status", ok("the sanity check")),
  sanityCheckRun: gauge(
    "status_sanity_check_last_run_timestamp_seconds",
    instant("the sanity check last ran"),
  ),
} as const;

export const statisticsMetrics = {
  documents: gauge("statistics_documents_total", count("{document}", "Documents.")),
  inbox: gauge("statistics_documents_inbox_count", count("{document}", "Documents in the inbox.")),
  fileTypes: gauge("statistics_documents_file_type_counts", {
    unit: "{document}",
    attributes: ["mime_type"],
    help: "Documents by the type of their file.",
  }),
  characters: gauge("statistics_character_count", count("{character}", "Characters of all texts.")),
  tags: gauge("statistics_tag_count", count("{tag}", "Tags.")),
  correspondents: gauge(
    "statistics_correspondent_count",
    count("{correspondent}", "Correspondents."),
  ),
  documentTypes: gauge("statistics_document_type_count", count("{type}", "Document types.")),
  storagePaths: gauge("statistics_storage_path_count", count("{path}", "Storage paths.")),
} as const;

export const countMetrics = {
  documents: gauge("documents", count("{document}", "Documents that the user sees.")),
  groups: gauge("groups", count("{group}", "Groups of users.")),
  users: gauge("users", count("{user}", "Users.")),
} as const;

function labelled(kind: string, what: string) {
  return {
    info: gauge(`${kind}_info`, {
      unit: "1",
      attributes: ["id", "name", "slug"],
      help: `Always 1; id, name and slug of a ${what}.`,
    }),
    documents: gauge(`${kind}_document_count`, {
      unit: "{document}",
      attributes: ["id"],
      help: `Documents of a ${what}.`,
    }),
  } as const;
}

export const labelMetrics = {
  tag: labelled("tag", "tag"),
  correspondent: labelled("correspondent", "correspondent"),
  document_type: labelled("document_type", "document type"),
  storage_path: labelled("storage_path", "storage path"),
} as const;
export const tagInbox = gauge("tag_inbox", {
  unit: "1",
  attributes: ["id"],
  help: "1 for a tag that new documents get, else 0.",
});
export const lastCorrespondence = gauge("correspondent_last_correspondence_timestamp_seconds", {
  unit: "s",
  attributes: ["id"],
  help: "Date of a correspondent's newest document, in seconds since 1970.",
  when: WHEN_KNOWN,
});
export const updateAvailable = gauge("remote_version_update_available", {
  unit: "1",
  attributes: ["version"],
  help: "1 while a newer release of Paperless-ngx than the running one is known, else 0.",
  when: `${WHEN}, and Paperless-ngx knows its newest release`,
});
export const collectorErrors = defineMetric({
  group: "Paperless-ngx",
  name: "paperless_collector_errors_total",
  kind: "counter",
  unit: "{error}",
  attributes: ["collector"],
  verbatim: true,
  help: "Runs of a collector that failed; the metrics of a collector that fails end.",
  when: WHEN,
});

/** All metrics read from a Paperless-ngx. */
export const paperlessMetrics: readonly AnyRow[] = catalogue(
  Object.values(statusMetrics),
  Object.values(statisticsMetrics),
  Object.values(countMetrics),
  Object.values(labelMetrics).flatMap(({ info, documents }) => [info, documents]),
  [tagInbox, lastCorrespondence, updateAvailable, collectorErrors],
);
