/**
 * How many calls an installation has left this hour. Only a token of the installation can ask, and
 * asking costs nothing (`GET /rate_limit`), so that a fresh one asks before its caller has it, at
 * most once a minute for each installation, and in the background. A token that is too fresh for
 * the platform's servers (401) leaves the question to the next one.
 */
import { createSemaphore } from "../../../kernel/async/semaphore.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import type { Quota } from "../../logical/types.ts";
import { parseExact } from "../../logical/json.ts";
import type { Base } from "../base-url.ts";
import { readRateLimit, type PlatformDeps } from "./platform.ts";

const EVERY_MS = 60_000;
/** After 401, which says that the new token has not reached all servers of the platform. */
const UNKNOWN_MS = 5_000;
/** A server without limits (404) is asked less often. */
const WITHOUT_MS = 3_600_000;
/** Installations that are remembered, and calls at a time. */
const MAX_INSTALLATIONS = 1_000;
const MAX_RUNNING = 2;

export interface HeadroomDeps {
  readonly clock: Clock;
  readonly platform: PlatformDeps;
  readonly found: (quota: Quota) => void;
}

export class Headroom {
  readonly #deps: HeadroomDeps;
  /** When each installation may be asked again, by the monotonic clock; the oldest first. */
  readonly #dueMs = new Map<string, number>();
  readonly #slots = createSemaphore(MAX_RUNNING);

  constructor(deps: HeadroomDeps) {
    this.#deps = deps;
  }

  /**
   * Asks if it is time. Never throws and never waits; a failure is asked again in a minute, a token
   * that is not known yet in five seconds.
   */
  note(base: Base, installationId: string, token: string): void {
    const nowMs = this.#deps.clock.monotonic();
    if (nowMs < (this.#dueMs.get(installationId) ?? 0)) return;
    const slot = this.#slots.tryAcquire();
    if (slot === undefined) return;
    this.#remember(installationId, nowMs + EVERY_MS);
    void this.#ask(base, installationId, token).finally(() => slot[Symbol.dispose]());
  }

  async #ask(base: Base, installationId: string, token: string): Promise<void> {
    const outcome = await readRateLimit(this.#deps.platform, base, token);
    if (outcome.lost !== undefined) return;
    const waitMs = { 401: UNKNOWN_MS, 404: WITHOUT_MS }[outcome.status];
    if (waitMs !== undefined) this.#remember(installationId, this.#deps.clock.monotonic() + waitMs);
    if (outcome.status !== 200) return;
    const core = coreOf(outcome.body);
    if (core !== undefined) this.#deps.found({ installationId, ...core });
  }

  #remember(installationId: string, dueMs: number): void {
    this.#dueMs.delete(installationId);
    this.#dueMs.set(installationId, dueMs);
    for (const oldest of this.#dueMs.keys()) {
      if (this.#dueMs.size <= MAX_INSTALLATIONS) break;
      this.#dueMs.delete(oldest);
    }
  }
}

/** Undefined for an answer that is none. */
function coreOf(body: Buffer): Omit<Quota, "installationId"> | undefined {
  try {
    const { resources } = parseExact(body) as { readonly resources?: { readonly core?: unknown } };
    const { limit, remaining, reset } = (resources?.core ?? {}) as Record<string, unknown>;
    if (typeof limit !== "number" || typeof remaining !== "number" || typeof reset !== "number")
      return undefined;
    return { limit, remaining, resetAtMs: reset * 1_000 };
  } catch {
    return undefined;
  }
}
