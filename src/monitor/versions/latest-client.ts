/**
 * The latest stable client version from the vendor's package index, to compare devices with.
 * Unknown until the first successful lookup.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import { createDocumentClient } from "../../kernel/client/document.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { MonitorOptions } from "../options.ts";

const VERSION = /^v?\d{1,6}\.\d{1,6}\.\d{1,6}/;
const MAX_INDEX_BYTES = 65_536;

export interface LatestClientDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
}

/** Looks up at its start and whenever the value exceeds its time to live. */
export interface LatestClient extends Component {
  /**
   * E.g. `1.88.0`; undefined before the first successful lookup. The last value is kept on
   * failures.
   */
  latest(): string | undefined;
}

/** Makes no request before its start. */
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
    maxBytes: MAX_INDEX_BYTES,
  });
  let timer: Disposable | undefined;
  let lookups = new AbortController();

  const lookUp = async (): Promise<void> => {
    const { signal } = lookups;
    try {
      const found = ((await index.fetch(signal)) as { readonly Version?: unknown } | undefined)
        ?.Version;
      if (typeof found === "string" && VERSION.test(found)) latest = found.replace(/^v/, "");
      else log.warn("the package index returned no version", { url: new URL(options.url).origin });
    } catch (thrown) {
      if (signal.aborted) return;
      log.warn("the check for the latest client version failed", { error: toStewardError(thrown) });
    }
    if (!signal.aborted)
      timer = clock.timer(clock.monotonic() + options.cacheTtlMs, () => void lookUp());
  };

  return {
    name: "latest-client",
    needs: [],
    readiness: "none",
    start() {
      lookups = new AbortController();
      // Runs in the background.
      if (options.devices) void lookUp();
      return Promise.resolve();
    },
    async stop() {
      lookups.abort();
      timer?.[Symbol.dispose]();
      await index.close();
    },
    latest: () => latest,
  };
}
