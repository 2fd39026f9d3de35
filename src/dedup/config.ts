/** The document service's configuration: which archives there are and how often they are read. */
import type { Complaint } from "../kernel/config/findings.ts";
import { defineKey, type Schema } from "../kernel/config/key.ts";
import type { Check } from "../kernel/config/load.ts";
import { listOfObjects } from "../kernel/config/objects.ts";
import { boolean, duration, listOf, oneOf, path, string } from "../kernel/config/types.ts";
import { analysisSchema } from "./analysis/settings.ts";

/** Where documents come from. */
export interface ArchiveConfig {
  /** Unique, used in ids and messages. */
  readonly name: string;
  readonly kind: "folder" | "jsonl";
  /** The folder, or the JSONL file. */
  readonly path: string;
  /** Glob patterns relative to the folder; empty means every readable kind of document. */
  readonly include: readonly string[];
  /** Glob patterns of what to leave out. */
  readonly exclude: readonly string[];
  /** The field of a line that holds its id, if not the usual one. */
  readonly idField?: string | undefined;
  /** The field of a line that holds its text, if not the usual one. */
  readonly textField?: string | undefined;
}

/** The archives, in their order in lists. */
export const dedupArchives = defineKey({
  path: "dedup.archives",
  type: listOfObjects<ArchiveConfig>({
    limit: 100,
    fields: {
      name: { type: string, rule: archiveName, help: "Unique name: letters, digits, . _ -" },
      kind: {
        type: oneOf(["folder", "jsonl"], {
          paperless: 'is "paperless", which this version cannot read',
        }),
        help: "folder: every file with readable text, recursively; jsonl: one document per line.",
      },
      path: { type: path, help: "The folder or file." },
      include: {
        type: listOf(string),
        default: [],
        help: "folder only: patterns of files to read.",
      },
      exclude: {
        type: listOf(string),
        default: [],
        help: "folder only: patterns of files to leave out.",
      },
      idField: {
        type: string,
        optional: true,
        help: "jsonl only: the field that holds the id; without it id, else the number of the line.",
      },
      textField: {
        type: string,
        optional: true,
        help: "jsonl only: the field that holds the text; without it content, else text.",
      },
    },
    rule: fieldsOfItsKind,
  }),
  default: [],
  rule: uniqueNames,
  help: "Archives to find duplicates in.",
});

/** Time between automatic syncs. */
export const dedupSyncInterval = defineKey({
  path: "dedup.sync.interval",
  type: duration,
  default: 0,
  rule: (ms) =>
    ms !== 0 && ms < 10_000
      ? { rule: "must be 0 (off) or at least 10s", remedy: "write 10s or more." }
      : undefined,
  help: "Time between automatic syncs; 0 disables them.",
});

/** Whether `/api/v1/metrics` answers. */
export const apiMetricsEnabled = defineKey({
  path: "dedup.metrics_endpoint.enabled",
  type: boolean,
  default: false,
  env: "OTEL_METRICS_SCRAPE_ENABLED",
  help: "Serves the metrics of the process and of the document service at /api/v1/metrics. When off, that path is 404.",
});

export const dedupKeys: Schema = [
  dedupArchives,
  dedupSyncInterval,
  apiMetricsEnabled,
  ...analysisSchema,
];

/** A variable that a later version reads must not be taken for configured today. */
export const paperlessUnread: Check = {
  needs: [],
  run: (_config, environment) =>
    environment["PAPERLESS_URL"]
      ? [
          {
            severity: "warning",
            path: "PAPERLESS_URL",
            variable: "PAPERLESS_URL",
            rule: "is ignored: this version cannot read Paperless-ngx",
            remedy: "point an archive of kind folder at an export.",
          },
        ]
      : [],
};

function archiveName(name: string): Complaint | undefined {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return undefined;
  return {
    rule: `must be 1 to 64 letters, digits, dots, dashes and underscores, got ${JSON.stringify(name.slice(0, 80))}`,
  };
}

function uniqueNames(archives: readonly ArchiveConfig[]): Complaint | undefined {
  const seen = new Set<string>();
  for (const { name } of archives) {
    if (seen.has(name))
      return {
        rule: `must have different names, ${name} is there twice`,
        remedy: "rename one of them.",
      };
    seen.add(name);
  }
  return undefined;
}

const fieldsOf = {
  folder: ["include", "exclude"],
  jsonl: ["idField", "textField"],
} as const;

function fieldsOfItsKind(
  archive: ArchiveConfig,
): (Complaint & { readonly field: (typeof fieldsOf)["folder" | "jsonl"][number] }) | undefined {
  const other = archive.kind === "folder" ? "jsonl" : "folder";
  const field = fieldsOf[other].find((name) => (archive[name]?.length ?? 0) > 0);
  return (
    field && {
      field,
      rule: `is for archives of kind ${other}, this one is ${archive.kind}`,
      remedy: "remove it.",
    }
  );
}
