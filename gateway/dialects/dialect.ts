/** What a REST surface is: its successes, its failures and its limit of a body. */
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { StewardError } from "../../src/kernel/base/errors.ts";
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { retryAfterSeconds } from "../codes.ts";

/** A whole answer that is text. Header names are lower case. */
export interface TextAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a method says about its success. */
export interface SuccessOptions {
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
  success(schema: DescMessage, message: Message, options: SuccessOptions): TextAnswer;
  /** The error must be one that may be seen: see `seenError`. */
  failure(error: StewardError, options: FailureOptions): TextAnswer;
}

/** The headers of a failure that all surfaces share. */
export function failureHeaders(error: StewardError, options: FailureOptions): Record<string, string> {
  const seconds = retryAfterSeconds(error);
  return {
    "cache-control": "no-store",
    ...(options.allow === undefined ? {} : { allow: options.allow.join(", ") }),
    ...(seconds === undefined ? {} : { "retry-after": String(seconds) }),
  };
}

/** The headers of a success; `type` is its content type. */
export function successHeaders(type: string, attachment: string): Record<string, string> {
  return { "content-type": type, "cache-control": "no-store", ...(attachment === "" ? {} : { "content-disposition": `attachment; filename="${attachment.replaceAll(/["\\\r\n]/g, "_")}"` }) };
}
