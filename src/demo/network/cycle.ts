/**
 * What happens again and again at fixed instants, so that the past is a function of the time alone:
 * the same question about it gives the same answer.
 */

/** One turn after another, each `periodMs` long; turn 0 begins at `phaseMs` since 1970. */
export interface Cycle {
  readonly periodMs: number;
  readonly phaseMs: number;
}

/** From, inclusive, to, exclusive: milliseconds since 1970. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The turn that an instant lies in. */
export function turnAt({ periodMs, phaseMs }: Cycle, atMs: number): number {
  return Math.floor((atMs - phaseMs) / periodMs);
}

/** When a turn begins. */
export function startOf({ periodMs, phaseMs }: Cycle, turn: number): number {
  return phaseMs + turn * periodMs;
}

/** The turns that begin within a window, ascending. */
export function turnsIn(cycle: Cycle, { fromMs, toMs }: Window): number[] {
  const turns: number[] = [];
  for (
    let turn = Math.ceil((fromMs - cycle.phaseMs) / cycle.periodMs);
    startOf(cycle, turn) < toMs;
    turn++
  )
    turns.push(turn);
  return turns;
}
