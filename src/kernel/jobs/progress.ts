/**
 * Progress by phases: the sum of completed phases' shares and the current phase's share times its
 * progress. Never decreases.
 */
import { assert } from "../base/errors.ts";

/** Progress is rounded to a millionth, so that sums of shares print as written. */
const PRECISION = 1_000_000;

export interface ProgressState {
  /** 0 to 1. */
  readonly progress: number;
  /** 0 to 1 within the current phase; undefined when its length is unknown. */
  readonly phaseProgress: number | undefined;
  readonly message: string;
}

export interface Progress {
  readonly state: ProgressState;
  phase(name: string, total?: number): { step(done: number, message?: string): void };
}

/** Starts from `from`, reached by a resumed job before; `changed` is called after each change. */
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
