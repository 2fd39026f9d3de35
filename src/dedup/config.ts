/** The document service's configuration: which archives there are and how often they are read. */
import type { Secret } from "../kernel/base/secret.ts";
import type { Config } from "../kernel/config/config.ts";
import type { Complaint, Finding } from "../kernel/config/findings.ts";
import { defineKey, type Schema } from "../kernel/config/key.ts";
import type { Check } from "../kernel/config/load.ts";
import { listOfObjects } from "../kernel/config/values/objects.ts";
import { baseUrl, optionally, timer } from "../kernel/config/checks/rules.ts";
import {
  boolean,
  duration,
  integer,
  listOf,
  oneOf,
  path,
  secret,
  string,
  text,
} from "../kernel/config/values/types.ts";
import { aiKeys } from "./ai/keys.ts";
import { analysisSchema } from "./analysis/settings.ts";
import { findOverlap } from "./archives/overlaps.ts";
import { collectorNames } from "./paperless/figures/settings.ts";

/** Where documents come from. Which fields an archive has depends on its kind. */
export interface ArchiveConfig {
  /** Unique, used in ids and messages. */
  readonly name: string;
  readonly kind: "folder" | "jsonl" | "paperless";
  /** The folder, or the JSONL file. */
  readonly path?: string | undefined;
  /** Glob patterns relative to the folder; empty means every readable kind of document. */
  readonly include: readonly string[];
  /** Glob patterns of what to leave out. */
  readonly exclude: readonly string[];
  /** The field of a line that holds its id, if not the usual one. */
  readonly idField?: string | undefined;
  /** The field of a line that holds its text, if not the usual one. */
  readonly textField?: string | undefined;
  /** The address of Paperless-ngx. */
  readonly url?: string | undefined;
  readonly token?: Secret | undefined;
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
  /** Of one attempt of a request. */
  readonly timeoutMs?: number | undefined;
  /** Documents of one request for texts. */
  readonly pageSize?: number | undefined;
}

/** Where an archive of kind paperless leaves them out. */
export const PAPERLESS_TIMEOUT_MS = 30_000;
export const PAPERLESS_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1_000;

/** The archives, in their order in lists. */
export const dedupArchives = defineKey({
  path: "dedup.archives",
  type: listOfObjects<ArchiveConfig>({
    limit: 100,
    fields: {
      name: { type: string, rule: archiveName, help: "Unique name: letters, digits, . _ -" },
      kind: {
        type: oneOf(["folder", "jsonl", "paperless"]),
        help: "folder: every file with readable text, recursively; jsonl: one document per line; paperless: a Paperless-ngx.",
      },
      path: { type: path, optional: true, help: "folder and jsonl: the folder or file." },
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
      url: {
        type: string,
        optional: true,
        rule: baseUrl,
        help: "paperless only: address of Paperless-ngx, e.g. https://paperless.example.org.",
      },
      token: {
        type: secret,
        optional: true,
        secret: true,
        help: "paperless only: API token of a user who may view the documents.",
      },
      username: {
        type: string,
        optional: true,
        help: "paperless only: user, where there is no token. Each request costs the server a quarter of a second more.",
      },
      password: {
        type: secret,
        optional: true,
        secret: true,
        help: "paperless only: password of the user.",
      },
      timeoutMs: {
        type: duration,
        optional: true,
        rule: timer,
        help: "paperless only: timeout of one attempt of a request, 30s when left out.",
      },
      pageSize: {
        type: integer(1, MAX_PAGE_SIZE),
        optional: true,
        help: "paperless only: documents of one request, 100 when left out.",
      },
    },
    rule: fieldsOfKind,
  }),
  default: [],
  rule: (archives) => uniqueNames(archives) ?? findOverlap(archives),
  help: "Archives to find duplicates in.",
});

/** `PAPERLESS_URL` and its companions: one archive, where `dedup.archives` is empty. */
const paperlessUrl = defineKey({
  path: "dedup.paperless.url",
  type: text,
  default: "",
  rule: optionally(baseUrl),
  env: "PAPERLESS_URL",
  help: "Address of a Paperless-ngx that becomes the archive named paperless while dedup.archives is empty.",
});
const paperlessToken = defineKey({
  path: "dedup.paperless.token",
  type: secret,
  default: undefined,
  secret: true,
  env: "PAPERLESS_API_TOKEN",
  help: "API token for dedup.paperless.url.",
});
const paperlessUsername = defineKey({
  path: "dedup.paperless.username",
  type: text,
  default: "",
  env: "PAPERLESS_USERNAME",
  help: "User for dedup.paperless.url, in place of a token.",
});
const paperlessPassword = defineKey({
  path: "dedup.paperless.password",
  type: secret,
  default: undefined,
  secret: true,
  env: "PAPERLESS_PASSWORD",
  help: "Password of the user.",
});

/** The archives of the file, or the one of the environment. */
export function configuredArchives(config: Config): readonly ArchiveConfig[] {
  const listed = config.get(dedupArchives);
  const url = config.get(paperlessUrl);
  if (listed.length > 0 || url === "") return listed;
  const username = config.get(paperlessUsername);
  return [
    {
      name: "paperless",
      kind: "paperless",
      include: [],
      exclude: [],
      url,
      token: config.get(paperlessToken),
      username: username === "" ? undefined : username,
      password: config.get(paperlessPassword),
    },
  ];
}

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

/** Whether metrics are read from the first Paperless-ngx. */
export const paperlessMetricsEnabled = defineKey({
  path: "dedup.paperless_metrics.enabled",
  type: boolean,
  default: false,
  env: "PAPERLESS_METRICS_ENABLED",
  help: "Reads the status, statistics and labels of the first Paperless-ngx every minute and emits them as metrics paperless_*.",
});
export const paperlessCollectors = defineKey({
  path: "dedup.paperless_metrics.collectors",
  type: listOf(oneOf(collectorNames)),
  default: [],
  env: "PAPERLESS_METRICS_COLLECTORS",
  help: "What is read; an empty list reads everything.",
});

export const dedupKeys: Schema = [
  dedupArchives,
  paperlessUrl,
  paperlessToken,
  paperlessUsername,
  paperlessPassword,
  dedupSyncInterval,
  apiMetricsEnabled,
  paperlessMetricsEnabled,
  paperlessCollectors,
  ...analysisSchema,
  ...aiKeys,
];

/** The archive of the environment is complete, and not shadowed by those of the file. */
export const paperlessComplete: Check = {
  needs: [dedupArchives, paperlessUrl, paperlessToken, paperlessUsername, paperlessPassword],
  run(config) {
    const [url, username] = [config.get(paperlessUrl), config.get(paperlessUsername)];
    const [token, password] = [config.get(paperlessToken), config.get(paperlessPassword)];
    const hasCredential = token !== undefined || (username !== "" && password !== undefined);
    if (url === "")
      return token === undefined && username === "" && password === undefined
        ? []
        : [
            finding(
              "warning",
              "is not set, so that its credential is ignored",
              "set PAPERLESS_URL.",
            ),
          ];
    if (config.get(dedupArchives).length > 0)
      return [
        finding(
          "warning",
          "is ignored, because dedup.archives lists archives",
          "list it there with kind: paperless, or unset PAPERLESS_URL.",
        ),
      ];
    if (hasCredential) return [];
    return [
      finding(
        "error",
        "needs a credential",
        "set PAPERLESS_API_TOKEN, or PAPERLESS_USERNAME and PAPERLESS_PASSWORD.",
      ),
    ];
  },
};

function finding(severity: Finding["severity"], rule: string, remedy: string): Finding {
  return { severity, path: paperlessUrl.path, rule, remedy };
}

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

type FieldComplaint = Complaint & { readonly field: keyof ArchiveConfig };

const folderFields = ["include", "exclude"] as const;
const linesFields = ["idField", "textField"] as const;
const paperlessFields = [
  "url",
  "token",
  "username",
  "password",
  "timeoutMs",
  "pageSize",
] as const satisfies readonly (keyof ArchiveConfig)[];

/** Each kind has its own fields. */
function fieldsOfKind(archive: ArchiveConfig): FieldComplaint | undefined {
  const { kind } = archive;
  const foreign: readonly (keyof ArchiveConfig)[] =
    kind === "paperless"
      ? ["path", ...folderFields, ...linesFields]
      : kind === "jsonl"
        ? [...folderFields, ...paperlessFields]
        : [...linesFields, ...paperlessFields];
  const field = foreign.find((name) => isGiven(archive[name]));
  if (field !== undefined)
    return {
      field,
      rule: `is for archives of kind ${kindsWith(field)}, this one is ${kind}`,
      remedy: "remove it.",
    };
  if (kind === "paperless") return completePaperless(archive);
  return archive.path === undefined
    ? { field: "path", rule: `is missing, an archive of kind ${kind} needs it` }
    : undefined;
}

function isGiven(value: ArchiveConfig[keyof ArchiveConfig]): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

function kindsWith(field: keyof ArchiveConfig): string {
  if (field === "path") return "folder and jsonl";
  if (folderFields.some((name) => name === field)) return "folder";
  return linesFields.some((name) => name === field) ? "jsonl" : "paperless";
}

/** An address, and one of two credentials; a token wins. */
function completePaperless(archive: ArchiveConfig): FieldComplaint | undefined {
  const { url, token, username, password } = archive;
  if (url === undefined)
    return {
      field: "url",
      rule: "is missing, an archive of kind paperless needs it",
      remedy: "write e.g. https://paperless.example.org.",
    };
  if (token !== undefined || (username !== undefined && password !== undefined)) return undefined;
  if (username === undefined && password === undefined)
    return {
      field: "token",
      rule: "is missing, an archive of kind paperless needs a token, or username and password",
      remedy: "create a token in Paperless-ngx under My Profile.",
    };
  return {
    field: username === undefined ? "username" : "password",
    rule: "is missing, username and password are needed together",
  };
}
