/** Fetches one small JSON document periodically, e.g. from a package index or a release API. */
import type { Client } from "./types.ts";
import { anonymous } from "./authorizers.ts";
import { createClientFactory, type ClientDeps } from "./client.ts";

const MAX_ELEMENTS = 10_000;
const MAX_DEPTH = 16;

export interface DocumentSpec {
  /** Name in messages, e.g. `package index`. */
  readonly name: string;
  /** Operation name, e.g. `latest_client`. */
  readonly operation: string;
  /** An http(s) URL without credentials. */
  readonly url: string;
  readonly timeoutMs: number;
  /** Longest document. */
  readonly maxBytes: number;
}

/** Fetches it whole each time; keeps only the connection. */
export interface DocumentClient {
  /** The parsed document. Rejects with a client's failure, or the signal's reason. */
  fetch(signal: AbortSignal): Promise<unknown>;
  /** Closes the connection; the next fetch opens another. */
  close(): Promise<void>;
}

/** One attempt each time, since callers are periodic. */
export function createDocumentClient(deps: ClientDeps, spec: DocumentSpec): DocumentClient {
  let client: Client | undefined;
  return {
    async fetch(signal) {
      const url = new URL(spec.url);
      client ??= open(deps, spec, url);
      const query = Object.fromEntries(
        [...new Set(url.searchParams.keys())].map((name) => [name, url.searchParams.getAll(name)]),
      );
      return (
        await client.call(
          { operation: spec.operation, method: "GET", path: "", query, idempotent: true },
          signal,
        )
      ).value;
    },
    async close() {
      const closing = client;
      client = undefined;
      await closing?.close();
    },
  };
}

function open(deps: ClientDeps, { name, timeoutMs, maxBytes }: DocumentSpec, url: URL): Client {
  return createClientFactory(deps).create({
    name,
    base: new URL(url.origin + url.pathname),
    auth: anonymous,
    redirects: "same-origin",
    retry: { retries: 0, baseDelayMs: 1_000, maxDelayMs: 1_000 },
    limits: {
      connectMs: timeoutMs,
      attemptMs: timeoutMs,
      callMs: timeoutMs,
      wireBytes: maxBytes,
      bodyBytes: maxBytes,
      json: {
        bytes: maxBytes,
        depth: MAX_DEPTH,
        stringBytes: maxBytes,
        elements: MAX_ELEMENTS,
      },
      sliceMs: 10,
      connections: 1,
      inFlight: 1,
    },
  });
}
