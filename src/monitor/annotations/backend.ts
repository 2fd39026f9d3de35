/** Writes annotations through Grafana's `POST /api/annotations`. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import { bearer } from "../../kernel/client/authorizers.ts";
import { createClientFactory } from "../../kernel/client/client.ts";
import { failureOf } from "../../kernel/client/failure.ts";
import { receiveSecret } from "../../kernel/threads/secrets.ts";
import type { AnnotationOptions } from "../options.ts";
import type { Mark } from "./rollup.ts";

/** Rejects with the HTTP client's error. */
export interface AnnotationBackend {
  write(mark: Mark, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Reason label of a failed write. */
export type WriteFailure = "unauthorized" | "rate_limited" | "rejected" | "unavailable";

const RETRY = { retries: 2, baseDelayMs: 500, maxDelayMs: 10_000 } as const;
const ANSWER_BYTES = 64 * 1024;

export function createAnnotationBackend(
  deps: { readonly clock: Clock; readonly ids: Ids; readonly version: string },
  options: AnnotationOptions,
): AnnotationBackend {
  const client = createClientFactory(deps).create({
    name: "annotations",
    base: new URL(options.url),
    auth: bearer(receiveSecret(options.token)),
    redirects: "same-origin",
    retry: RETRY,
    limits: {
      connectMs: options.timeoutMs,
      attemptMs: options.timeoutMs,
      callMs: options.timeoutMs * (RETRY.retries + 1) + RETRY.maxDelayMs * RETRY.retries,
      wireBytes: ANSWER_BYTES,
      bodyBytes: ANSWER_BYTES,
      json: { bytes: ANSWER_BYTES, depth: 16, stringBytes: ANSWER_BYTES, elements: 1_000 },
      sliceMs: 10,
      connections: 1,
      inFlight: 2,
    },
  });
  return {
    async write(mark, signal) {
      const body = {
        ...(options.dashboardUid === "" ? {} : { dashboardUID: options.dashboardUid }),
        time: mark.timeMs,
        ...(mark.endMs > mark.timeMs ? { timeEnd: mark.endMs } : {}),
        text: mark.text,
        tags: [...new Set(["steward", mark.category, ...mark.tags, ...options.extraTags])],
      };
      // A duplicate annotation is worse than a missing one, so a write is retried only when it
      // certainly did not arrive.
      await client.call(
        {
          operation: "annotations",
          method: "POST",
          path: "/api/annotations",
          body: { type: "application/json", bytes: JSON.stringify(body) },
          read: "bytes",
          idempotent: false,
        },
        signal,
      );
    },
    close: () => client.close(),
  };
}

export function writeFailureOf(error: unknown): WriteFailure {
  switch (failureOf(error)?.class) {
    case "auth":
    case "forbidden":
      return "unauthorized";
    case "rate_limited":
      return "rate_limited";
    case "rejected":
    case "not_found":
    case "too_large":
    case "decode":
    case "redirect":
      return "rejected";
    default:
      return "unavailable";
  }
}
