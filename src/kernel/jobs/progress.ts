/**
 * Progress by phases: the shares of the phases before, and the present one's share times how far it
 * is. Never goes back.
 */
import { assert } from "../base/errors.ts";

/** Progress is shown to a millionth, so that sums of shares read as they were written. */
const PRECISION = 1_000_000;

/** How far a job is. */
export interface ProgressState {
  /** 0 to 1. */
  readonly progress: number;
  /** 0 to 1 within the present phase; undefined when its end is not known. */
  readonly phaseProgress: number | undefined;
  readonly message: string;
}

/** Turns phases and steps into progress. */
export interface Progress {
  readonly state: ProgressState;
  phase(name: string, total?: number): { step(done: number, message?: string): void };
}

/** Starts from `from`, which a resumed job has reached before; `changed` runs after each change. */
export function createProgress(
  phases: Readonly<Record<string, number>>,
  from: ProgressState,
  changed: () => void,
): Progress {
  const names = Object.keys(phases);
  let state = from;
  const move = (name: string, inner: number | undefined, message: string): void => {
    const before = names
      .slice(0, names.indexOf(name))
      .reduce((sum, done) => sum + (phases[done] ?? 0), 0);
    const reached = Math.min(
      1,
      Math.round((before + (phases[name] ?? 0) * (inner ?? 0)) * PRECISION) / PRECISION,
    );
    state = { progress: Math.max(state.progress, reached), phaseProgress: inner, message };
    changed();
  };
  return {
    get state() {
      return state;
    },
    phase(name, total = 0) {
      assert(names.includes(name), `the job has a phase ${name}`);
      const inner = (done: number): number | undefined =>
        total > 0 ? Math.min(1, Math.max(0, done / total)) : undefined;
      move(name, inner(0), state.message);
      return { step: (done, message) => move(name, inner(done), message ?? state.message) };
    },
  };
}
