/**
 * Object-store settings: the keys of `collectors.*.objectstore` and `networks[].objectstore.*`, and
 * their validation.
 */
import type { Secret } from "../../kernel/base/secret.ts";
import type { Fields } from "../../kernel/config/values/fields.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import { httpUrl, isPlainRemote, optionally, timer } from "../../kernel/config/checks/rules.ts";
import {
  boolean,
  byteCount,
  duration,
  integer,
  oneOf,
  secret,
  text,
} from "../../kernel/config/values/types.ts";
import { sendSecret } from "../../kernel/threads/secrets.ts";
import type { ObjectStoreOptions } from "../options.ts";

/** Settings as written. */
export interface ObjectStoreSection {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly pathStyle: boolean;
  readonly allowInsecureHttp: boolean;
  readonly accessKeyId: Secret | undefined;
  readonly secretAccessKey: Secret | undefined;
  readonly sessionToken: Secret | undefined;
  readonly layout: ObjectStoreOptions["layout"];
  readonly intervalMs: number;
  readonly lookbackMs: number;
  readonly initialLookbackMs: number;
  readonly maxObjects: number;
  readonly maxObjectWireBytes: number;
  readonly maxObjectDecompressedBytes: number;
  readonly maxObjectRecords: number;
  readonly maxCycleWireBytes: number;
  readonly maxCycleDecompressedBytes: number;
  readonly maxCycleRecords: number;
}

const MIB = 2 ** 20;
const MAX_SIZE = 2 ** 40;
const MAX_RECORDS = 100_000_000;

const layouts = {
  logs: oneOf<ObjectStoreOptions["layout"]>(["partitioned", "flat"]),
  recorder: oneOf<ObjectStoreOptions["layout"]>(["recorder"]),
} as const;

/** Recorders support only one layout. */
export function objectStoreFields(kind: "logs" | "recorder"): Fields<ObjectStoreSection> {
  const bytes = (mebibytes: number, help: string): Fields<{ readonly it: number }>["it"] => ({
    type: byteCount(1, MAX_SIZE),
    default: mebibytes * MIB,
    help,
  });
  const records = (count: number, help: string): Fields<{ readonly it: number }>["it"] => ({
    type: integer(1, MAX_RECORDS),
    default: count,
    help,
  });
  return {
    endpoint: {
      type: text,
      default: "",
      rule: optionally(httpUrl),
      help: "Address of the S3-compatible store, e.g. https://s3.eu-central-1.amazonaws.com.",
    },
    region: { type: text, default: "", help: "Region of the bucket." },
    bucket: { type: text, default: "", help: "Bucket that holds the records." },
    prefix: { type: text, default: "", help: "Prefix of the keys of all objects." },
    pathStyle: {
      type: boolean,
      default: false,
      help: "Uses path-style addressing: the bucket is in the path, not in the host name.",
    },
    allowInsecureHttp: {
      type: boolean,
      default: false,
      help: "Allows an http endpoint on another machine.",
    },
    accessKeyId: {
      type: secret,
      optional: true,
      secret: true,
      help: "Access key id. Unset: the machine's ambient credentials are used.",
    },
    secretAccessKey: { type: secret, optional: true, secret: true, help: "Secret access key." },
    sessionToken: {
      type: secret,
      optional: true,
      secret: true,
      help: "Session token of a temporary access key.",
    },
    layout:
      kind === "logs"
        ? {
            type: layouts.logs,
            default: "partitioned",
            help: "partitioned: keys begin with YYYY/MM/DD/ after the prefix; flat: they do not.",
          }
        : {
            type: layouts.recorder,
            default: "recorder",
            help: "recorder: the layout that the session recorder writes.",
          },
    intervalMs: { type: duration, default: 60_000, rule: timer, help: "Time between polls." },
    lookbackMs: {
      type: duration,
      default: 3_600_000,
      help: "How far before the newest object read a late object may still appear.",
    },
    initialLookbackMs: {
      type: duration,
      default: 21_600_000,
      rule: timer,
      help: "How far back the first poll goes.",
    },
    maxObjects: {
      type: integer(1, 100_000),
      default: 200,
      help: "Maximum objects per poll; the rest is read by the next poll.",
    },
    maxObjectWireBytes: bytes(64, "Maximum stored size of one object."),
    maxObjectDecompressedBytes: bytes(32, "Maximum decompressed size of one object."),
    maxObjectRecords: records(100_000, "Maximum records per object."),
    maxCycleWireBytes: bytes(512, "Maximum stored bytes per poll."),
    maxCycleDecompressedBytes: bytes(256, "Maximum decompressed bytes per poll."),
    maxCycleRecords: records(500_000, "Maximum records per poll."),
  };
}

/** Whether a location is configured. */
export function hasLocation({ endpoint, region, bucket }: ObjectStoreSection): boolean {
  return endpoint !== "" || region !== "" || bucket !== "";
}

export function objectStoreOptions(feed: ObjectStoreSection): ObjectStoreOptions {
  const {
    endpoint,
    region,
    bucket,
    prefix,
    pathStyle,
    layout,
    intervalMs,
    lookbackMs,
    initialLookbackMs,
    maxObjects,
    accessKeyId,
    secretAccessKey,
    sessionToken,
  } = feed;
  return {
    endpoint,
    region,
    bucket,
    prefix,
    pathStyle,
    layout,
    intervalMs,
    lookbackMs,
    initialLookbackMs,
    maxObjects,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : {
            accessKeyId: sendSecret(accessKeyId),
            secretAccessKey: sendSecret(secretAccessKey),
            sessionToken: sessionToken && sendSecret(sessionToken),
          },
    object: {
      wireBytes: feed.maxObjectWireBytes,
      decompressedBytes: feed.maxObjectDecompressedBytes,
      records: feed.maxObjectRecords,
    },
    cycle: {
      wireBytes: feed.maxCycleWireBytes,
      decompressedBytes: feed.maxCycleDecompressedBytes,
      records: feed.maxCycleRecords,
    },
  };
}

/** A finding about settings in use; `under` is the field concerned. */
export interface FeedFinding extends Complaint {
  readonly severity: "error" | "warning";
  readonly under: string;
}

/** Longest back-fill: more daily partitions are not listed. */
const MAX_BACKFILL_MS = 14 * 86_400_000;

export function validateFeed(feed: ObjectStoreSection): FeedFinding[] {
  const findings: FeedFinding[] = [];
  const say = (
    severity: FeedFinding["severity"],
    under: string,
    rule: string,
    remedy: string,
  ): void => void findings.push({ severity, under: `.${under}`, rule, remedy });
  for (const name of ["endpoint", "region", "bucket"] as const)
    if (feed[name].trim() === "")
      say("error", name, "is missing, and this feed is used", "set endpoint, region and bucket.");
  if (isPlainRemote(feed.endpoint) && !feed.allowInsecureHttp)
    say(
      "error",
      "endpoint",
      "is plain HTTP to another machine",
      "use https, or set allow_insecure_http.",
    );
  if ((feed.accessKeyId === undefined) !== (feed.secretAccessKey === undefined)) {
    say(
      "error",
      feed.accessKeyId === undefined ? "access_key_id" : "secret_access_key",
      "is missing: an access key has an id and a secret",
      "set both, or neither for the machine's own credentials.",
    );
  }
  if (feed.sessionToken !== undefined && feed.accessKeyId === undefined)
    say("error", "session_token", "needs access_key_id and secret_access_key", "set them too.");
  for (const [name, object, cycle] of [
    ["wire_bytes", feed.maxObjectWireBytes, feed.maxCycleWireBytes],
    ["decompressed_bytes", feed.maxObjectDecompressedBytes, feed.maxCycleDecompressedBytes],
    ["records", feed.maxObjectRecords, feed.maxCycleRecords],
  ] as const) {
    if (cycle < object)
      say(
        "error",
        `max_cycle_${name}`,
        `must be at least max_object_${name}, which is ${object}, got ${cycle}`,
        "a poll must be able to read one object.",
      );
  }
  if (feed.lookbackMs === 0)
    say(
      "warning",
      "lookback",
      "is 0, so that objects which appear late are never read",
      "write 1h.",
    );
  if (feed.prefix.startsWith("/"))
    say("warning", "prefix", "begins with /, which is unusual for object keys", "remove the /.");
  if (feed.layout === "partitioned" && feed.initialLookbackMs > MAX_BACKFILL_MS)
    say(
      "warning",
      "initial_lookback",
      "is more than the 14 days that are looked through",
      "write 336h or less.",
    );
  return findings;
}

/** Identifies a bucket location, to find duplicates. */
export function bucketLocation({ endpoint, bucket, prefix }: ObjectStoreSection): string {
  return JSON.stringify([
    URL.canParse(endpoint) ? new URL(endpoint).href : endpoint,
    bucket,
    prefix.replace(/\/+$/, ""),
  ]);
}
