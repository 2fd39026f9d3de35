/** What travels between the pool and a worker thread. Errors travel as data, since a thrown one would lose its code. */
import { StewardError, toStewardError } from "../base/errors.ts";
import type { Code, Detail } from "../base/errors.ts";
import type { ControlWords } from "./control.ts";

/** One attempt as the worker gets it. */
export interface AttemptMessage {
  readonly file: string;
  readonly input: unknown;
  readonly words: ControlWords;
}

/** An error as data. */
export interface ErrorMessage {
  readonly code: Code;
  readonly message: string;
  readonly field: string | undefined;
  readonly rule: string | undefined;
  readonly remedy: string | undefined;
  readonly details: readonly Detail[] | undefined;
  /** For the log of the operator only. */
  readonly stack: string | undefined;
}

/** What comes back. */
export type AttemptReply = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: ErrorMessage };

const codes: ReadonlySet<string> = new Set<Code>([
  "invalid", "unauthenticated", "denied", "not_found", "conflict", "already_running", "too_large", "exhausted", "not_ready", "sealed",
  "upstream", "unsupported", "cancelled", "deadline", "disk_full", "corrupt", "internal",
]);

/** Any thrown thing as data. Workers do not know StewardError: an error of theirs says its code in a `code` property. */
export function writeError(thrown: unknown): ErrorMessage {
  const own = thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" && codes.has(thrown.code);
  const error = own ? (thrown as StewardError) : toStewardError(thrown);
  const { code, message, field, rule, remedy, details } = error;
  return { code, message, field, rule, remedy, details, stack: thrown instanceof Error ? thrown.stack : undefined };
}

/** The error a caller sees; what the worker threw is its cause. */
export function readError(task: string, error: ErrorMessage): StewardError {
  const cause = new Error(`task ${task}: ${error.stack ?? error.message}`);
  const { field, rule, remedy, details } = error;
  const parts = { ...(field === undefined ? {} : { field }), ...(rule === undefined ? {} : { rule }), ...(remedy === undefined ? {} : { remedy }), ...(details === undefined ? {} : { details }) };
  return new StewardError(error.code, error.message, { ...parts, cause });
}
