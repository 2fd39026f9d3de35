/** Rules and limits that the keys of both receivers share. */
import type { Complaint } from "../../../kernel/config/findings.ts";
import type { KeyField } from "../../../kernel/config/key-group.ts";
import { integer } from "../../../kernel/config/values/types.ts";

/** As many as networks. */
export const MAX_ROUTES = 100;
const MAX_PATH_LENGTH = 256;
/** What a body may have at most where the configuration sets no limit: bodies are held in memory. */
const UNLIMITED_BODY_BYTES = 1024 * 1024 * 1024;
const DEFAULT_CONCURRENCY = 4;
/** Where the configuration sets no limit: as many as the gateway serves to owners. */
const UNLIMITED_CONCURRENCY = 256;

/** 0 is the default, a negative value no limit of its own. */
export function bodyLimit(defaultBytes: number, what: string): KeyField<number> {
  return {
    type: integer(Number.MIN_SAFE_INTEGER, UNLIMITED_BODY_BYTES),
    default: defaultBytes,
    help: `${what}, in bytes. 0: ${defaultBytes}. Negative: 1 GiB.`,
  };
}

/** 0 is the default, a negative value no limit of its own. */
export const concurrencyLimit: KeyField<number> = {
  type: integer(Number.MIN_SAFE_INTEGER, UNLIMITED_CONCURRENCY),
  default: DEFAULT_CONCURRENCY,
  help: "Requests at the same time; further ones wait 250ms and are then answered 503. 0: 4. Negative: 256.",
};

export function resolveBodyLimit(bytes: number, defaultBytes: number): number {
  if (bytes === 0) return defaultBytes;
  return bytes < 0 ? UNLIMITED_BODY_BYTES : bytes;
}

export function resolveConcurrency(requests: number): number {
  if (requests === 0) return DEFAULT_CONCURRENCY;
  return requests < 0 ? UNLIMITED_CONCURRENCY : requests;
}

/** Rooted and in the one form in which a client sends it. */
export function receiverPath(path: string): Complaint | undefined {
  const valid =
    path.length <= MAX_PATH_LENGTH &&
    /^\/[\w.~!$&'()*+,;=:@/-]*$/.test(path) &&
    !path.split("/").some((part, index, parts) => {
      const isInner = index > 0 && index < parts.length - 1;
      return part === "." || part === ".." || (isInner && part === "");
    });
  return valid
    ? undefined
    : {
        rule: `must be a path of at most ${MAX_PATH_LENGTH} characters that begins with /, without //, dot segments, escapes and query`,
        remedy: "write e.g. /services/collector/event.",
      };
}
