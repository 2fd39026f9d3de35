/** What a REST surface is: its successes, its failures and its limit of a body. */
import type { DescMessage } from "@bufbuild/protobuf";
import type { StewardError } from "../../src/kernel/base/errors.ts";
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { retryAfterSeconds } from "../codes.ts";

/** A whole answer. Header names are lower case. */
interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** An answer that is text. */
interface TextAnswer extends WholeAnswer {
  readonly body: string;
}

/** What a method says about its success. */
interface SuccessOptions {
  readonly status: number;
  /** Written without an envelope. */
  readonly raw: boolean;
  /** Name of the file when the answer is a download, else empty. */
  readonly attachment: string;
  readonly requestId: string;
}

/** What goes with a failure. */
export interface FailureOptions {
  /** The methods that the path does take, for a wrong one. */
  readonly allow?: readonly string[];
  /** Path of the request, for surfaces that name it. */
  readonly path?: string;
}

/** One REST surface. */
export interface Dialect {
  readonly name: DialectName;
  /** The largest body of a method that declares none. */
  readonly bodyBytes: number;
  /** `json` is the message of that schema by `writeRestJson`; bytes stay bytes. */
  success(schema: DescMessage, json: string | Uint8Array, options: SuccessOptions): WholeAnswer;
  /** The error must be one that may be seen: see `seenError`. */
  failure(error: StewardError, options: FailureOptions): TextAnswer;
}

/** Text around JSON, which need not be decoded for that. */
export function around(
  before: string,
  json: string | Uint8Array,
  after: string,
): string | Uint8Array {
  return typeof json === "string"
    ? `${before}${json}${after}`
    : Buffer.concat([Buffer.from(before), json, Buffer.from(after)]);
}

/** The headers of a failure that all surfaces share. */
export function failureHeaders(
  error: StewardError,
  options: FailureOptions,
): Record<string, string> {
  const seconds = retryAfterSeconds(error);
  return {
    "cache-control": "no-store",
    ...(options.allow === undefined ? {} : { allow: options.allow.join(", ") }),
    ...(seconds === undefined ? {} : { "retry-after": String(seconds) }),
  };
}

/** The headers of a success; `type` is its content type. */
export function successHeaders(type: string, attachment: string): Record<string, string> {
  return {
    "content-type": type,
    "cache-control": "no-store",
    ...(attachment === ""
      ? {}
      : {
          "content-disposition": `attachment; filename="${attachment.replaceAll(/["\\\r\n]/g, "_")}"`,
        }),
  };
}
