/** `annotations`: dashboard annotations for notable events. */
import type { Secret } from "../../kernel/base/secret.ts";
import {
  defineKeyGroup,
  keysOf,
  type KeyField,
  type KeyGroup,
} from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import {
  baseUrl,
  isReadableByOthers,
  noBlank,
  optionally,
  timer,
} from "../../kernel/config/checks/rules.ts";
import {
  boolean,
  duration,
  integer,
  listOf,
  secret,
  string,
  text,
} from "../../kernel/config/values/types.ts";
import type { AnnotationOptions } from "../options.ts";

type AnnotationSection = Omit<AnnotationOptions, "token" | "categories"> & {
  readonly token: Secret | undefined;
  readonly stateFile: string;
};
type Category = AnnotationOptions["categories"]["expiry"];

const MAX_UID_LENGTH = 128;
const time = (ms: number, help: string): KeyField<number> => ({
  type: duration,
  default: ms,
  rule: timer,
  help,
});

export const annotations = defineKeyGroup<AnnotationSection>("annotations", {
  url: {
    type: text,
    default: "",
    rule: optionally(baseUrl),
    help: "Base URL of the dashboard server. Empty: no annotations are written.",
    warn: (url) =>
      isReadableByOthers(url)
        ? { rule: "is plain HTTP: others on the network can read the token", remedy: "use https." }
        : undefined,
  },
  token: {
    type: secret,
    optional: true,
    secret: true,
    help: "Token of the dashboard server; required with annotations.url.",
  },
  dashboardUid: {
    type: text,
    default: "",
    rule: (uid) =>
      uid.length > MAX_UID_LENGTH
        ? { rule: `must have at most ${MAX_UID_LENGTH} characters` }
        : undefined,
    help: "UID of the one dashboard to annotate. Empty: all dashboards of the organisation.",
  },
  timeoutMs: time(10_000, "Timeout of one request."),
  maxPerMinute: {
    type: integer(1, 10_000),
    default: 60,
    help: "Maximum annotations per minute; more are queued, up to queue_size.",
  },
  queueSize: {
    type: integer(1, 100_000),
    default: 512,
    help: "Maximum queued annotations; more are dropped and counted.",
  },
  rollupIntervalMs: time(
    300_000,
    "Annotations of one category within this time are merged into one.",
  ),
  dedupeRetentionMs: time(
    172_800_000,
    "How long a written annotation is remembered so that it is not written twice.",
  ),
  stateFile: {
    type: text,
    default: "",
    help: "Accepted but ignored: written annotations are recorded in checkpoint.file_path.",
    warn: (file) =>
      file === ""
        ? undefined
        : {
            rule: "is ignored: written annotations are recorded in checkpoint.file_path",
            remedy: "remove it.",
          },
  },
  extraTags: {
    type: listOf(string),
    default: [],
    rule: noBlank,
    help: "Tags of every annotation.",
  },
});

function category(name: string, what: string): KeyGroup<Category> {
  return defineKeyGroup<Category>(`annotations.categories.${name}`, {
    enabled: { type: boolean, default: true, help: `Annotates ${what}.` },
    rollup: {
      type: boolean,
      default: true,
      help: "Merges annotations within rollup_interval into one.",
    },
  });
}

export const annotationCategories: Readonly<
  Record<keyof AnnotationOptions["categories"], KeyGroup<Category>>
> = {
  config_change: category("config_change", "changes of the network's configuration"),
  expiry: category("expiry", "keys that are about to expire"),
};

export const annotationSchema: Schema = keysOf(
  annotations,
  annotationCategories.config_change,
  annotationCategories.expiry,
);
