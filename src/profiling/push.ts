/**
 * Continuous profiling: records all the time, and sends what it recorded every so often. Nothing
 * depends on it: a profile that cannot be delivered is lost, counted and forgotten.
 *
 *     record ─▶ stop ─▶ send CPU and heap (at most five uploads under way)
 *        ▲        │
 *        └────────┘ every `uploadRateMs`
 */
import { delay, type Clock } from "../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../kernel/base/errors.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import type { Component } from "../kernel/supervisor/component.ts";
import type { Scope } from "../kernel/telemetry/types.ts";
import { Credentials } from "../kernel/telemetry/thread/export/credentials.ts";
import type { WireReload } from "../kernel/telemetry/thread/options.ts";
import { createCpuRecorder, type CpuRecorder } from "./cpu.ts";
import type { HeapSampler } from "./heap.ts";
import { currentHeap, endRecording } from "./profiles.ts";
import { createUploadStats, type UploadStats, type UploadStatus } from "./upload-stats.ts";
import { uploadClassOf } from "./upload-class.ts";
import {
  createUploader,
  MAX_UPLOADS,
  type Upload,
  type Uploader,
  type UploadTarget,
} from "./uploader.ts";

export interface ProfilerDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
  readonly scope: Pick<Scope, "add" | "gauge" | "record">;
  readonly heap: Pick<HeapSampler, "name" | "take">;
}

export interface ProfilerOptions {
  readonly target: UploadTarget;
  readonly uploadRateMs: number;
  /** Reloads credentials; undefined reads them once. */
  readonly reload: WireReload | undefined;
}

/** Records and uploads while running; does not affect readiness. */
export interface Profiler extends Component {
  status(): UploadStatus;
}

/** Needs a running heap sampler. */
export function createProfiler(deps: ProfilerDeps, options: ProfilerOptions): Profiler {
  const stats = createUploadStats(deps.clock, deps.scope);
  let run: Run | undefined;
  return {
    name: "profiler",
    needs: [deps.heap.name],
    readiness: "none",
    start() {
      run = new Run(deps, options, stats);
      return Promise.resolve();
    },
    async stop() {
      await run?.end();
      run = undefined;
    },
    status: () => stats.status(),
  };
}

/** From one start to its stop. */
class Run {
  readonly #deps: ProfilerDeps;
  readonly #options: ProfilerOptions;
  readonly #stats: UploadStats;
  readonly #ending = new AbortController();
  readonly #uploads = new Set<Promise<void>>();
  readonly #loops: Promise<unknown>;
  readonly #recorder: CpuRecorder;
  #uploader: Uploader;

  constructor(deps: ProfilerDeps, options: ProfilerOptions, stats: UploadStats) {
    this.#deps = deps;
    this.#options = options;
    this.#stats = stats;
    this.#recorder = createCpuRecorder(deps.clock);
    this.#uploader = createUploader(deps, options.target);
    this.#loops = Promise.all([this.#record(), this.#renew()]);
  }

  async end(): Promise<void> {
    this.#ending.abort(new StewardError("cancelled", "the profiler is stopped"));
    await this.#uploader.close();
    await Promise.all([this.#loops, ...this.#uploads]);
    await this.#recorder.close();
  }

  async #record(): Promise<void> {
    const { clock, log, heap } = this.#deps;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const fromMs = clock.now();
        const recording = await this.#recorder.record();
        if (await this.#waitedFor(this.#options.uploadRateMs)) {
          const untilMs = clock.now();
          this.#send({ body: await endRecording(clock, recording, fromMs), fromMs, untilMs });
          this.#send({ body: await currentHeap(clock, heap), fromMs, untilMs });
        } else {
          recording.cancel();
        }
      } catch (error) {
        log.warn("profiling this process failed", { error: toStewardError(error) });
        await this.#waitedFor(this.#options.uploadRateMs);
      }
    }
  }

  #send(upload: Upload): void {
    const { clock, log } = this.#deps;
    const { signal } = this.#ending;
    // Running uploads are counted when they fail; further ones would only queue up.
    if (signal.aborted || this.#uploads.size >= MAX_UPLOADS) return;
    const beganMs = clock.monotonic();
    const sending: Promise<void> = this.#uploader
      .send(upload, signal)
      .then(
        () => this.#stats.enter(clock.monotonic() - beganMs),
        (error: unknown) => {
          const errorClass = uploadClassOf(error);
          this.#stats.enter(clock.monotonic() - beganMs, errorClass);
          if (!signal.aborted) log.warn("uploading a profile failed", { class: errorClass });
        },
      )
      .finally(() => this.#uploads.delete(sending));
    this.#uploads.add(sending);
  }

  /** Periodically reloads the credential files. */
  async #renew(): Promise<void> {
    const { reload, target } = this.#options;
    if (reload === undefined) return;
    const credentials = new Credentials(target, reload);
    while (await this.#waitedFor(reload.everyMs)) {
      const result = await credentials.check();
      if (result.kind === "unusable")
        this.#deps.log.warn(
          "cannot reload the credentials of the profiler; the last good ones stay in use",
          { reason: result.reason },
        );
      if (result.kind !== "changed" || this.#ending.signal.aborted) continue;
      const old = this.#uploader;
      this.#uploader = createUploader(this.#deps, result.target);
      await Promise.all(this.#uploads);
      await old.close();
      this.#deps.log.info("reloaded the credentials of the profiler");
    }
  }

  /** False when the run ends meanwhile. */
  async #waitedFor(ms: number): Promise<boolean> {
    const { signal } = this.#ending;
    await delay(this.#deps.clock, ms, signal).catch(() => undefined);
    return !signal.aborted;
  }
}
