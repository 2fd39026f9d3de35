/** Node agents to scrape in a round: configured ones first, then discovered ones. */
import { withDeadline } from "../../kernel/async/deadline.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import { failed } from "../../kernel/client/failure.ts";
import { instanceOf } from "../collectors/nodemetrics/section.ts";
import type { DeviceCache } from "../enrich/types.ts";
import type { NodeMetricsOptions } from "../options.ts";
import type { Device } from "../providers/model.ts";
import type { Provider } from "../providers/provider.ts";
import { discover, type Discovered } from "./discovery.ts";
import type { ScrapeTarget } from "./scrape.ts";

export interface RoundTarget extends ScrapeTarget {
  /** Value of `vpn.node`; unique in a round. */
  readonly instance: string;
  readonly source: "static" | "discovered";
  readonly labels: Readonly<Record<string, string>>;
}

/** For the status. */
export interface TargetsStatus {
  readonly enabled: boolean;
  readonly static: number;
  readonly lastOk: boolean;
  readonly lastDiscoveryMs: number | undefined;
  readonly targets: readonly RoundTarget[];
}

export interface TargetsDeps {
  readonly devices: DeviceCache;
  readonly provider: Provider;
  readonly log: Log;
  readonly clock: Clock;
  /** Longest discovery. */
  readonly discoveryMs: number;
}

/** One per network. */
export class Targets {
  readonly #deps: TargetsDeps;
  readonly #options: NodeMetricsOptions;
  readonly #configured: readonly RoundTarget[];
  #found: readonly Discovered[] = [];
  #lastOk = false;
  #lastMs: number | undefined;
  /** By the monotonic clock, since the wall clock may be set back. */
  #dueAtMs = 0;

  constructor(deps: TargetsDeps, options: NodeMetricsOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#configured = options.targets.map((target) => ({
      url: target.url,
      configured: target,
      source: "static",
      instance: instanceOf(target),
      labels: target.labels,
    }));
  }

  /**
   * The targets of this round; repeats discovery when due. On failure the previous discovery stays.
   */
  async round(signal: AbortSignal): Promise<readonly RoundTarget[]> {
    const { discovery } = this.#options;
    const isDue = !this.#lastOk || this.#deps.clock.monotonic() >= this.#dueAtMs;
    if (discovery !== undefined && isDue) await this.#discover(discovery, signal);
    return this.#joined();
  }

  status(): TargetsStatus {
    return {
      enabled: this.#options.discovery !== undefined,
      static: this.#configured.length,
      lastOk: this.#lastOk,
      lastDiscoveryMs: this.#lastMs,
      targets: this.#joined(),
    };
  }

  async #discover(
    options: NonNullable<NodeMetricsOptions["discovery"]>,
    signal: AbortSignal,
  ): Promise<void> {
    const { log, clock } = this.#deps;
    try {
      const known = await this.#devices(signal);
      const { targets, left, collisions } = discover(known, options);
      this.#found = targets;
      this.#lastOk = true;
      this.#lastMs = clock.now();
      this.#dueAtMs = clock.monotonic() + options.intervalMs;
      if (left > 0)
        log.warn(
          "more agents were discovered than max_targets allows; the others are not scraped",
          {
            left,
            remedy: "raise collectors.node_metrics.discovery.max_targets, or choose by tags",
          },
        );
      const hidden = targets.filter((target) => this.#isHidden(target));
      if (hidden.length > 0)
        log.warn("discovered agents are not scraped: configured ones have their instances", {
          instances: hidden
            .slice(0, 10)
            .map(({ instance }) => instance)
            .join(", "),
          remedy: "give those of collectors.node_metrics.targets other instances",
        });
      if (collisions.length > 0)
        log.warn(
          "several devices share a name; one keeps it, and the address distinguishes the others",
          {
            names: collisions.slice(0, 10).join(", "),
          },
        );
    } catch (thrown) {
      signal.throwIfAborted();
      this.#lastOk = false;
      log.warn("discovering agents failed; those discovered before are still scraped", {
        error: toStewardError(thrown),
      });
    }
  }

  /** Whether a configured agent with another URL has its instance. */
  #isHidden({ url, instance }: Discovered): boolean {
    return (
      this.#configured.every((target) => target.url !== url) &&
      this.#configured.some((target) => target.instance === instance)
    );
  }

  async #devices(signal: AbortSignal): Promise<readonly Device[]> {
    const { devices, provider, clock, discoveryMs: timeoutMs } = this.#deps;
    if (devices.size > 0) return devices.devices();
    const reason = (): Error => failed({ class: "timeout", status: 0 });
    return await withDeadline({ clock, timeoutMs, signal, reason }, (both) =>
      provider.devices(both),
    );
  }

  /**
   * A configured agent wins over a discovered one with its URL; the first of equal instances wins.
   */
  #joined(): readonly RoundTarget[] {
    const urls = new Set(this.#configured.map(({ url }) => url));
    const found = this.#found
      .filter(({ url }) => !urls.has(url))
      .map((target): RoundTarget => ({ ...target, configured: undefined, source: "discovered" }));
    const instances = new Set<string>();
    return [...this.#configured, ...found].filter(
      ({ instance }) => !instances.has(instance) && instances.add(instance),
    );
  }
}
