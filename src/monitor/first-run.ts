/** Whether anything was collected yet: what holds readiness back after a start. */
import type { Component, Health } from "../kernel/supervisor/component.ts";

/** The component's name; the process looks for it among the parts of the monitor. */
export const FIRST_RUN = "first-run";
/** More names than these would make no line. */
const MOST_NAMES = 20;

/** Knows which collectors there are, and which had a good run. */
export interface FirstRun {
  /** Not well until one run of the process went well; well at once when there is no collector. */
  readonly component: Component;
  registered(name: string): void;
  succeeded(): void;
}

/** Nothing is registered and nothing went well. */
export function createFirstRun(): FirstRun {
  const waiting = new Set<string>();
  let open = false;
  const health = (): Health => {
    if (open || waiting.size === 0) return { ok: true };
    const names = [...waiting].slice(0, MOST_NAMES);
    return {
      ok: false,
      reason: `starting: waiting for first run: ${names.join(", ")}${waiting.size > names.length ? ", …" : ""}`,
    };
  };
  return {
    component: {
      name: FIRST_RUN,
      needs: [],
      readiness: "required",
      health,
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    },
    registered: (name) => void waiting.add(name),
    succeeded: () => void (open = true),
  };
}
