/** The latest stable client, as its vendor's package index tells it: what devices are measured against. Without an answer nothing is said. */
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import { anonymous } from "../../kernel/client/authorizers.ts";
import { createClientFactory } from "../../kernel/client/client.ts";
import type { Client } from "../../kernel/client/types.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { MonitorOptions } from "../options.ts";

const ANSWER_BYTES = 64 * 1024;
const VERSION = /^v?\d{1,6}\.\d{1,6}\.\d{1,6}/;

/** What it works with. */
export interface LatestClientDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
}

/** Asks at its start and whenever the answer is older than its time to live. */
export interface LatestClient extends Component {
  /** E.g. `1.88.0`; undefined until there was an answer. The last good one stays. */
  latest(): string | undefined;
}

/** The question, asked by nobody before the start. */
export function createLatestClient(deps: LatestClientDeps, options: MonitorOptions["versionChecks"]): LatestClient {
  const { clock, log } = deps;
  let latest: string | undefined;
  let client: Client | undefined;
  let timer: Disposable | undefined;
  let asking = new AbortController();

  const ask = async (): Promise<void> => {
    const { signal } = asking;
    try {
      const url = new URL(options.url);
      client ??= openClient(deps, url, options.timeoutMs);
      const reply = await client.call({ operation: "latest_client", method: "GET", path: url.pathname, query: Object.fromEntries(url.searchParams), idempotent: true }, signal);
      const told = (reply.value as { readonly Version?: unknown } | undefined)?.Version;
      if (typeof told === "string" && VERSION.test(told)) latest = told.replace(/^v/, "");
      else log.warn("the package index tells no version", { url: url.origin });
    } catch (thrown) {
      if (signal.aborted) return;
      log.warn("the latest client version is not known", { error: toStewardError(thrown) });
    }
    if (!signal.aborted) timer = clock.timer(clock.monotonic() + options.cacheTtlMs, () => void ask());
  };

  return {
    name: "latest-client", needs: [], readiness: "none",
    start() {
      asking = new AbortController();
      // Nobody waits for it.
      if (options.devices) void ask();
      return Promise.resolve();
    },
    async stop() {
      asking.abort();
      timer?.[Symbol.dispose]();
      await client?.close();
      client = undefined;
    },
    latest: () => latest,
  };
}

function openClient(deps: LatestClientDeps, url: URL, timeoutMs: number): Client {
  return createClientFactory(deps).create({
    name: "package index", base: new URL(url.origin), auth: anonymous, redirects: "same-origin", retry: { retries: 0, baseDelayMs: 1_000, maxDelayMs: 1_000 },
    limits: {
      connectMs: timeoutMs, attemptMs: timeoutMs, callMs: timeoutMs, wireBytes: ANSWER_BYTES, bodyBytes: ANSWER_BYTES,
      json: { bytes: ANSWER_BYTES, depth: 16, stringBytes: ANSWER_BYTES, elements: 10_000 }, sliceMs: 10, connections: 1, inFlight: 1,
    },
  });
}
