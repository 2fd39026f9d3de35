/**
 * Converts the platform's mint response: keeps its fields and digits, adds ours, and reads the
 * expiry.
 */
import { createHash } from "node:crypto";
import { isRawNumber, parseExact, type RawNumber } from "../logical/json.ts";
import type { Data } from "../logical/types.ts";
import { isHeaderSafe } from "./platform/mint-body.ts";
import type { MintedToken } from "./types.ts";

/** Undefined when the body holds no token. */
export function readMinted(body: Uint8Array): MintedToken | undefined {
  let value: unknown;
  try {
    value = parseExact(body);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { token } = value;
  return isHeaderSafe(token) ? { token, data: value } : undefined;
}

const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Expiry in milliseconds since 1970; undefined unless it is RFC 3339. */
export function expiryOf(data: Data): number | undefined {
  const text = data["expires_at"];
  const ms = typeof text === "string" && TIMESTAMP.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Values added to the platform's fields. */
export interface AnswerOptions {
  readonly installationId: number | RawNumber;
  readonly orgName: string;
  readonly excludeRepositoryMetadata: boolean;
}

export function answerOf({ token, data }: MintedToken, options: AnswerOptions): Data {
  const { repositories } = data;
  return {
    ...data,
    ...(options.excludeRepositoryMetadata && Array.isArray(repositories)
      ? { repositories: repositories.map(nameOf) }
      : {}),
    installation_id: options.installationId,
    ...(options.orgName === "" ? {} : { org_name: options.orgName }),
    hashed_token: createHash("sha256").update(token, "utf8").digest("base64"),
  };
}

// An invalid or unnamed entry becomes an empty name.
function nameOf(repository: unknown): unknown {
  return isObject(repository) ? (repository["name"] ?? null) : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value)
  );
}
