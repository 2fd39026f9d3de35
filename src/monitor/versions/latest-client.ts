/**
 * The latest stable client, as its vendor's package index tells it: what devices are measured
 * against. Without an answer nothing is said.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import { createDocumentClient } from "../../kernel/client/document.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { MonitorOptions } from "../options.ts";

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
export function createLatestClient(
  deps: LatestClientDeps,
  options: MonitorOptions["versionChecks"],
): LatestClient {
  const { clock, log } = deps;
  let latest: string | undefined;
  const index = createDocumentClient(deps, {
    name: "package index",
    operation: "latest_client",
    url: options.url,
    timeoutMs: options.timeoutMs,
  });
  let timer: Disposable | undefined;
  let asking = new AbortController();

  const ask = async (): Promise<void> => {
    const { signal } = asking;
    try {
      const told = ((await index.fetch(signal)) as { readonly Version?: unknown } | undefined)
        ?.Version;
      if (typeof told === "string" && VERSION.test(told)) latest = told.replace(/^v/, "");
      else log.warn("the package index returned no version", { url: new URL(options.url).origin });
    } catch (thrown) {
      if (signal.aborted) return;
      log.warn("the check for the latest client version failed", { error: toStewardError(thrown) });
    }
    if (!signal.aborted)
      timer = clock.timer(clock.monotonic() + options.cacheTtlMs, () => void ask());
  };

  return {
    name: "latest-client",
    needs: [],
    readiness: "none",
    start() {
      asking = new AbortController();
      // Nobody waits for it.
      if (options.devices) void ask();
      return Promise.resolve();
    },
    async stop() {
      asking.abort();
      timer?.[Symbol.dispose]();
      await index.close();
    },
    latest: () => latest,
  };
}
