/** Holds readiness back until the first collection has succeeded. */
import type { Component, Health } from "../kernel/supervisor/component.ts";

/** Component name; the process's readiness rule looks it up. */
export const FIRST_RUN = "first-run";
/** Longest list of names in the reason. */
const MAX_NAMES = 20;

/** Tracks collectors and their successful runs. */
export interface FirstRun {
  /** Unhealthy until one run has succeeded; healthy at once when there is no collector. */
  readonly component: Component;
  registered(name: string): void;
  succeeded(): void;
}

export function createFirstRun(): FirstRun {
  const waiting = new Set<string>();
  let open = false;
  const health = (): Health => {
    if (open || waiting.size === 0) return { ok: true };
    const names = [...waiting].slice(0, MAX_NAMES);
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
