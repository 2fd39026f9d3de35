/**
 * Telemetry of the demo, which begins after the start line: the thread that answers scrapes loads
 * for half a second, and what somebody waits for is the page. A pull endpoint that cannot be opened
 * is reported and stops nothing.
 */
import type { Component } from "../../kernel/supervisor/component.ts";

/** The two components as a demo has them. */
export interface DemoMetrics {
  readonly telemetry: Component;
  readonly pull: Component | undefined;
  /** Starts what was put off; resolves when the pull endpoint was opened or could not be. */
  begin(signal: AbortSignal): Promise<void>;
}

/** `pull` is undefined where it is switched off. */
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
