/**
 * Checks a release API for a newer Steward. Nothing depends on the result: a failure keeps the last
 * good one.
 */
import type { Clock } from "../kernel/base/clock.ts";
import { toStewardError } from "../kernel/base/errors.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import { createDocumentClient } from "../kernel/client/document.ts";
import { failureOf, type FailureClass } from "../kernel/client/failure.ts";
import type { Component } from "../kernel/supervisor/component.ts";
import { updateAvailable } from "../kernel/telemetry/report/process-metrics.ts";
import type { Scope } from "../kernel/telemetry/types.ts";
import {
  compareReleases,
  formatRelease,
  minorsBehind,
  parseRelease,
  releasePage,
} from "./release.ts";

/**
 * `checking`: no attempt has ended. `error`: none ever succeeded. `unknown`: one of the versions
 * cannot be parsed, e.g. of a custom build.
 */
type UpdateState = "disabled" | "checking" | "error" | "unknown" | "current" | "available";

/** Why the last attempt failed: no response, an error status, or a response without a release. */
type UpdateErrorClass = "network" | "http_error" | "parse_error" | "unknown";

/** As plain data. */
export interface UpdateStatus {
  readonly enabled: boolean;
  readonly state: UpdateState;
  /** `X.Y.Z` or `X.Y.Z-rc.1`; only while `current` or `available`. */
  readonly currentVersion: string | undefined;
  readonly latestVersion: string | undefined;
  /** Within the same major version; 0 unless `available`. */
  readonly minorsBehind: number;
  /** End of the last attempt, successful or not; milliseconds since 1970. */
  readonly lastCheckedAtMs: number | undefined;
  /** Only when the last attempt failed. */
  readonly lastErrorClass: UpdateErrorClass | undefined;
  /** For people; empty when no URL is configured. */
  readonly releaseUrl: string;
}

/** `version` is that of this Steward. */
export interface UpdateDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
}

export interface UpdateOptions {
  /** False sends no requests. */
  readonly enabled: boolean;
  /** Returns JSON with `tag_name`. */
  readonly url: string;
  /** Between attempts. */
  readonly cacheTtlMs: number;
  readonly timeoutMs: number;
}

/** Checks at its start and whenever the result is too old; nothing waits for it. */
export interface UpdateCheck extends Component {
  status(): UpdateStatus;
}

/** The notes of a release and the list of its files are part of the answer. */
const MAX_ANSWER_BYTES = 1_048_576;

export function createUpdateCheck(deps: UpdateDeps, options: UpdateOptions): UpdateCheck {
  const { clock, log } = deps;
  const api = createDocumentClient(deps, {
    name: "release API",
    operation: "latest_release",
    url: options.url,
    timeoutMs: options.timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
  });
  let asking = new AbortController();
  let timer: Disposable | undefined;
  const known: Known = { tag: undefined, checkedAtMs: undefined, errorClass: undefined };

  const ask = async (): Promise<void> => {
    const { signal } = asking;
    try {
      const tag = tagOf(await api.fetch(signal));
      if (tag !== undefined && tag !== known.tag) announce(log, deps.version, tag);
      known.tag = tag ?? known.tag;
      known.errorClass = tag === undefined ? "parse_error" : undefined;
      if (tag === undefined)
        log.warn("the release API returned no tag_name", { url: new URL(options.url).origin });
    } catch (thrown) {
      if (signal.aborted) return;
      known.errorClass = errorClassOf(failureOf(thrown)?.class);
      log.warn("the check for newer releases failed", { error: toStewardError(thrown) });
    }
    if (signal.aborted) return;
    known.checkedAtMs = clock.now();
    timer = clock.timer(clock.monotonic() + options.cacheTtlMs, () => void ask());
  };

  return {
    name: "update-check",
    needs: [],
    readiness: "none",
    start() {
      asking = new AbortController();
      if (options.enabled) void ask();
      return Promise.resolve();
    },
    async stop() {
      asking.abort();
      timer?.[Symbol.dispose]();
      await api.close();
    },
    status: () => statusOf(deps.version, options, known),
  };
}

/**
 * Reports at each snapshot whether there is a newer release, until disposed; nothing while unknown.
 */
export function reportUpdate(
  scope: Pick<Scope, "observe" | "gauge" | "end">,
  check: Pick<UpdateCheck, "status">,
): Disposable {
  return scope.observe(() => {
    const { state } = check.status();
    if (state === "available" || state === "current")
      scope.gauge(updateAvailable, state === "available" ? 1 : 0, {});
    else scope.end(updateAvailable, {});
  });
}

interface Known {
  tag: string | undefined;
  checkedAtMs: number | undefined;
  errorClass: UpdateErrorClass | undefined;
}

const MAX_TAG_LENGTH = 128;

function tagOf(document: unknown): string | undefined {
  const tag = (document as { readonly tag_name?: unknown } | null | undefined)?.tag_name;
  return typeof tag === "string" && tag !== "" && tag.length <= MAX_TAG_LENGTH ? tag : undefined;
}

function announce(log: Log, version: string, tag: string): void {
  const [own, latest] = [parseRelease(version), parseRelease(tag)];
  if (own !== undefined && latest !== undefined && compareReleases(own, latest) < 0)
    log.info("a newer release of Steward is available", { version: formatRelease(latest) });
}

function statusOf(
  version: string,
  options: UpdateOptions,
  { tag, checkedAtMs, errorClass }: Known,
): UpdateStatus {
  const nothing = {
    enabled: options.enabled,
    currentVersion: undefined,
    latestVersion: undefined,
    minorsBehind: 0,
    lastCheckedAtMs: checkedAtMs,
    lastErrorClass: errorClass,
    releaseUrl: releasePage(options.url),
  };
  if (!options.enabled) return { ...nothing, state: "disabled" };
  if (tag === undefined)
    return { ...nothing, state: errorClass === undefined ? "checking" : "error" };
  const [own, latest] = [parseRelease(version), parseRelease(tag)];
  if (own === undefined || latest === undefined) return { ...nothing, state: "unknown" };
  const known = {
    ...nothing,
    currentVersion: formatRelease(own),
    latestVersion: formatRelease(latest),
  };
  return compareReleases(own, latest) < 0
    ? { ...known, state: "available", minorsBehind: minorsBehind(own, latest) }
    : { ...known, state: "current" };
}

function errorClassOf(failure: FailureClass | undefined): UpdateErrorClass {
  switch (failure) {
    case "transport":
    case "timeout":
    case "unavailable":
      return "network";
    case "auth":
    case "forbidden":
    case "not_found":
    case "rate_limited":
    case "rejected":
    case "server":
    case "redirect":
      return "http_error";
    case "decode":
    case "too_large":
      return "parse_error";
    default:
      return "unknown";
  }
}
