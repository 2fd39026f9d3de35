/**
 * Uploads one profile to a continuous profiling backend by Pyroscope's ingest API (`POST /ingest`,
 * multipart, pprof).
 */
import type { Clock } from "../kernel/base/clock.ts";
import type { Ids } from "../kernel/base/ids.ts";
import { Secret } from "../kernel/base/secret.ts";
import { anonymous } from "../kernel/client/authorizers.ts";
import { createClientFactory } from "../kernel/client/client.ts";
import type { Authorizer, Client, TrustRule } from "../kernel/client/types.ts";
import type { Renewed } from "../kernel/telemetry/thread/export/credentials.ts";
import { CPU_PERIOD_US } from "./cpu.ts";

/** Maximum number of concurrent uploads. */
export const MAX_UPLOADS = 5;
const TIMEOUT_MS = 30_000;
const ANSWER_BYTES = 4 * 1024;
const MICROSECONDS = 1_000_000;
const MILLISECONDS = 1_000;

/** `headers` is complete, including `authorization`. */
export interface UploadTarget extends Renewed {
  /** Base URL of the server. */
  readonly server: string;
  /** Application name in the backend. */
  readonly application: string;
  readonly tags: ReadonlyMap<string, string>;
}

/** Compressed pprof. */
export interface Upload {
  readonly body: Uint8Array;
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Uploader {
  /**
   * One attempt of at most 30 s, without redirects. Rejects with the client's error, or the
   * signal's reason.
   */
  send(upload: Upload, signal: AbortSignal): Promise<void>;
  /** Aborts running uploads. */
  close(): Promise<void>;
}

/** An uploader with the target's current credentials. */
export function createUploader(
  deps: { readonly clock: Clock; readonly ids: Ids; readonly version: string },
  target: UploadTarget,
): Uploader {
  const { authorization, ...headers } = Object.fromEntries(
    Object.entries(target.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const client = open(
    deps,
    target,
    authorization === undefined ? anonymous : sending(authorization),
  );
  const boundary = `steward-${deps.ids.nanoid()}`;
  return {
    async send({ body, fromMs, untilMs }, signal) {
      await client.call(
        {
          operation: "profiles",
          method: "POST",
          path: "/ingest",
          headers,
          read: "bytes",
          idempotent: false,
          query: {
            name: seriesName(target),
            from: Math.floor(fromMs / MILLISECONDS),
            until: Math.floor(untilMs / MILLISECONDS),
            format: "pprof",
            spyName: "nodespy",
            sampleRate: MICROSECONDS / CPU_PERIOD_US,
          },
          body: { type: `multipart/form-data; boundary=${boundary}`, bytes: form(boundary, body) },
        },
        signal,
      );
    },
    close: () => client.close(),
  };
}

/** `steward{region=eu,service_version=1.2.3}` */
export function seriesName({
  application,
  tags,
}: Pick<UploadTarget, "application" | "tags">): string {
  const pairs = [...tags]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? application : `${application}{${pairs.join(",")}}`;
}

function open(
  deps: { readonly clock: Clock; readonly ids: Ids; readonly version: string },
  { server, tls }: UploadTarget,
  auth: Authorizer,
): Client {
  return createClientFactory(deps).create({
    name: "profiler",
    base: new URL(server),
    auth,
    redirects: "none",
    retry: { retries: 0, baseDelayMs: 1_000, maxDelayMs: 1_000 },
    breaker: "none",
    trust: trustOf(tls),
    limits: {
      connectMs: TIMEOUT_MS,
      attemptMs: TIMEOUT_MS,
      callMs: TIMEOUT_MS,
      wireBytes: ANSWER_BYTES,
      bodyBytes: ANSWER_BYTES,
      errorBytes: ANSWER_BYTES,
      json: { bytes: ANSWER_BYTES, depth: 1, stringBytes: ANSWER_BYTES, elements: 1 },
      sliceMs: 10,
      connections: MAX_UPLOADS,
      inFlight: MAX_UPLOADS,
    },
  });
}

function sending(authorization: string): Authorizer {
  const value = Secret.of(authorization, "profiling.profiler");
  return { authorization: () => Promise.resolve(value), refused: () => false };
}

function trustOf({ ca, cert, key, insecureSkipVerify }: UploadTarget["tls"]): TrustRule {
  return {
    insecureSkipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { pair: { cert, key } }),
  };
}

function form(boundary: string, body: Uint8Array): Uint8Array {
  return Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="profile"; filename="profile.pprof"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    ),
    body,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
}
