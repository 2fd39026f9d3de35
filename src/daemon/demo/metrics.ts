/**
 * Starts the demo's telemetry after the start line is printed: loading the scrape thread takes half
 * a second. A pull endpoint that cannot be opened is reported and stops nothing.
 */
import type { Component } from "../../kernel/supervisor/component.ts";

/** The deferred components. */
export interface DemoMetrics {
  readonly telemetry: Component;
  readonly pull: Component | undefined;
  /** Starts the deferred components; resolves when the pull endpoint is open or has failed. */
  begin(signal: AbortSignal): Promise<void>;
}

/** `pull` is undefined when the pull endpoint is off. */
export function createDemoMetrics(telemetry: Component, pull: Component | undefined): DemoMetrics {
  let begun = false;
  let opened = false;
  let start = (): Promise<void> => Promise.resolve();
  const late: Component = {
    ...telemetry,
    start(signal, failed) {
      if (begun) return telemetry.start(signal, failed);
      start = () => telemetry.start(signal, failed);
      return Promise.resolve();
    },
  };
  const reported =
    pull &&
    ({
      name: pull.name,
      needs: pull.needs,
      readiness: "reported",
      start: () => Promise.resolve(),
      stop: (deadlineMs) => pull.stop(deadlineMs),
      health: () => (opened ? (pull.health?.() ?? { ok: true }) : { ok: true }),
    } satisfies Component);
  return {
    telemetry: late,
    pull: reported,
    async begin(signal) {
      begun = true;
      await start();
      await pull?.start(signal, () => undefined);
      opened = true;
    },
  };
}
