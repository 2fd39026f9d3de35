/**
 * Publishes annotations: deduplicates, rolls up bursts and writes at a limited rate. Accepting an
 * event never waits; when the queue is full the event is dropped.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Fence } from "../../kernel/base/fence.ts";
import type { Log } from "../../kernel/base/log.ts";
import { createTokenBucket } from "../../kernel/client/call/token-bucket.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  annotationDegraded,
  annotationDropped,
  annotationPublished,
} from "../catalogue/publishing.ts";
import type { SeenDigests } from "../checkpoints/types.ts";
import type { AnnotationOptions } from "../options.ts";
import { writeFailureOf, type AnnotationBackend } from "./backend.ts";
import { markOf, rollUp, type Mark } from "./rollup.ts";
import type { AnnotationCategory, AnnotationEvent, AnnotationSink } from "./types.ts";

/** Identities remembered in the checkpoint store, so that a restart writes no annotation twice. */
export const REMEMBERED_ANNOTATIONS = 65_536;
const MINUTE_MS = 60_000;

export interface AnnotatorDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly scope: Scope;
  readonly seen: SeenDigests;
  readonly backend: AnnotationBackend;
  /** While it is closed, nothing is written: another replica may write by now. */
  readonly fence?: Pick<Fence, "isOpen"> | undefined;
}

/** Accepts events only while it runs. */
export type Annotator = AnnotationSink & Component;

/** Ignores events: no backend is configured. */
export const noAnnotations: AnnotationSink = { publish: () => undefined };

/** Writes nothing before its start. */
export function createAnnotator(deps: AnnotatorDeps, options: AnnotationOptions): Annotator {
  return new QueuedAnnotator(deps, options);
}

interface Gathering {
  readonly events: [AnnotationEvent, ...AnnotationEvent[]];
  readonly timer: Disposable;
}

class QueuedAnnotator implements Annotator {
  readonly name = "annotations";
  readonly needs: readonly string[] = [];
  readonly readiness = "reported";
  readonly #deps: AnnotatorDeps;
  readonly #options: AnnotationOptions;
  readonly #gathering = new Map<AnnotationCategory, Gathering>();
  readonly #queue: Mark[] = [];
  /** Identities that are queued or being written. */
  readonly #pending = new Set<string>();
  #stop: AbortController | undefined;
  #working: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #degraded = false;

  constructor(deps: AnnotatorDeps, options: AnnotationOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  publish(event: AnnotationEvent): void {
    if (this.#stop === undefined) return;
    const rule =
      event.category === "startup"
        ? { enabled: true, rollup: false }
        : this.#options.categories[event.category];
    if (!rule.enabled) return;
    const identity = digestOf(event);
    if (this.#pending.has(identity) || this.#deps.seen.has(identity)) return;
    if (this.#pending.size >= this.#options.queueSize) return this.#drop("queue_full");
    this.#pending.add(identity);
    const known = { ...event, identity };
    if (rule.rollup && this.#options.rollupIntervalMs > 0) this.#gather(known);
    else this.#enqueue(markOf(known));
  }

  start(): Promise<void> {
    if (this.#stop !== undefined) return Promise.resolve();
    const stop = new AbortController();
    this.#stop = stop;
    this.#deps.scope.gauge(annotationDegraded, 0, {});
    this.#working = this.#work(stop.signal);
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    const stop = this.#stop;
    this.#stop = undefined;
    for (const { timer } of this.#gathering.values()) timer[Symbol.dispose]();
    const left = this.#pending.size;
    this.#gathering.clear();
    this.#queue.length = 0;
    this.#pending.clear();
    stop?.abort();
    this.#wake?.();
    await this.#working;
    if (left > 0) this.#drop("shutdown", left);
    if (stop !== undefined) await this.#deps.backend.close();
  }

  health(): { ok: boolean; reason?: string } {
    return this.#degraded ? { ok: false, reason: "annotations cannot be written" } : { ok: true };
  }

  #gather(event: AnnotationEvent): void {
    const { clock } = this.#deps;
    const gathering = this.#gathering.get(event.category);
    if (gathering !== undefined) return void gathering.events.push(event);
    const events: Gathering["events"] = [event];
    const timer = clock.timer(clock.monotonic() + this.#options.rollupIntervalMs, () => {
      this.#gathering.delete(event.category);
      this.#enqueue(rollUp(events));
    });
    this.#gathering.set(event.category, { events, timer });
  }

  #enqueue(mark: Mark): void {
    this.#queue.push(mark);
    this.#wake?.();
  }

  /** Never rejects. */
  async #work(signal: AbortSignal): Promise<void> {
    const { maxPerMinute } = this.#options;
    const bucket = createTokenBucket(
      { capacity: maxPerMinute, perSecond: (maxPerMinute * 1_000) / MINUTE_MS, waiting: 1 },
      this.#deps.clock,
    );
    while (!signal.aborted) {
      const mark = this.#queue.shift();
      if (mark === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      try {
        await bucket.take(signal);
        await this.#write(mark, signal);
      } catch {
        // Only a stop interrupts the wait for the rate limiter; the stop counts what is still
        // queued as dropped.
        return;
      }
    }
  }

  async #write(mark: Mark, signal: AbortSignal): Promise<void> {
    const { backend, fence, scope, seen, clock, log } = this.#deps;
    try {
      if (fence?.isOpen() === false) return this.#drop("shutdown", mark.identities.length);
      await backend.write(mark, signal);
      scope.add(annotationPublished, 1, { category: mark.category });
      this.#reportState(false);
      await seen
        .add(mark.identities, clock.now() + this.#options.dedupeRetentionMs)
        .catch((thrown: unknown) =>
          log.warn("cannot record written annotations; they may be written again", {
            error: toStewardError(thrown),
          }),
        );
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      this.#drop(writeFailureOf(thrown), mark.identities.length);
      this.#reportState(true);
      log.warn("writing an annotation failed", { error: toStewardError(thrown) });
    } finally {
      for (const identity of mark.identities) this.#pending.delete(identity);
    }
  }

  #reportState(degraded: boolean): void {
    this.#degraded = degraded;
    this.#deps.scope.gauge(annotationDegraded, degraded ? 1 : 0, {});
  }

  #drop(reason: string, events = 1): void {
    this.#deps.scope.add(annotationDropped, events, { reason });
  }
}

function digestOf({ category, identity }: AnnotationEvent): string {
  return createHash("sha256").update(`${category}\0${identity}`).digest("hex");
}
