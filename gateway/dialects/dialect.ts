/** Interface of a REST surface: successes, failures and default body limit. */
import type { DescMessage } from "@bufbuild/protobuf";
import type { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { StewardError } from "../../src/kernel/base/errors.ts";
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { retryAfterSeconds } from "../codes.ts";

/** Names are lower case; an array is one header line per value. */
export type AnswerHeaders = Readonly<Record<string, string | string[]>>;

/** Header names are lower case. */
interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

interface TextAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

/** Options of a method's success. */
interface SuccessOptions {
  readonly status: number;
  /** Written without an envelope. */
  readonly raw: boolean;
  /** File name of a download, else empty. */
  readonly attachment: string;
  readonly requestId: string;
}

export interface FailureOptions {
  /** Allowed methods of the path, for a wrong one. */
  readonly allow?: readonly string[];
  /** Path of the request, for surfaces that name it. */
  readonly path?: string;
  /** Access rule of the route, for surfaces that ask for different tokens. */
  readonly access?: Access;
}

export interface Dialect {
  readonly name: DialectName;
  /** Default body limit of a method. */
  readonly bodyBytes: number;
  /** `json` is the message of that schema by `writeRestJson`; bytes stay bytes. */
  success(schema: DescMessage, json: string | Uint8Array, options: SuccessOptions): WholeAnswer;
  /** The error must have passed `seenError`. */
  failure(error: StewardError, options: FailureOptions): TextAnswer;
}

/** Text before and after JSON bytes, which are not decoded. */
export function around(
  before: string,
  json: string | Uint8Array,
  after: string,
): string | Uint8Array {
  return typeof json === "string"
    ? `${before}${json}${after}`
    : Buffer.concat([Buffer.from(before), json, Buffer.from(after)]);
}

/** The headers that all surfaces' failures share. */
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

/** `type` is the content type. */
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
