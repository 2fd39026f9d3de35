/**
 * Progress on standard error: a bar on a terminal, a line per 10 % elsewhere, nothing when quiet.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { displayWidth, formatCount, formatElapsed, formatPercent } from "./text.ts";

const REDRAW_MS = 100;
const BAR = 24;
const ERASE = "\r\u001b[K";
/** Before this much is done a guess of the remaining time is worth nothing. */
const GUESS_FROM = 0.03;

/** How far the work is. */
export interface ProgressState {
  /** What is being done, a word or two. */
  readonly phase: string;
  /** Done of the whole, 0 to 1. Never shown to go back. */
  readonly fraction: number;
  /** Documents read so far, for the rate. */
  readonly documents: number;
}

/** Shows progress. */
export interface Progress {
  update(state: ProgressState): void;
  /**
   * The work is done (100 %) or broken off: the bar goes, so that what follows starts on a clean
   * line.
   */
  end(outcome: "done" | "broken"): void;
}

/** Where progress is shown. */
export interface ProgressOptions {
  readonly clock: Clock;
  readonly write: (text: string) => void;
  /** Columns of the terminal at the moment; undefined when it is none. */
  readonly columns: () => number | undefined;
  readonly quiet: boolean;
}

/** Progress in the form that fits the output. */
export function createProgress(options: ProgressOptions): Progress {
  if (options.quiet) return { update: () => {}, end: () => {} };
  return options.columns() === undefined ? createLines(options) : createBar(options);
}

function createLines({ clock, write }: ProgressOptions): Progress {
  const beganMs = clock.monotonic();
  let last = -1;
  let documents = 0;
  const line = (share: number, phase: string): void => {
    const step = Math.floor(share * 10 + 1e-9);
    if (step <= last) return;
    last = step;
    write(
      `${formatPercent(share).padStart(5)}  ${phase}${describeRate(documents, clock.monotonic() - beganMs)}\n`,
    );
  };
  return {
    update(state) {
      documents = state.documents;
      // Only `end` shows 100 %.
      line(Math.min(state.fraction, 0.99), state.phase);
    },
    end: (outcome) => outcome === "done" && line(1, "done"),
  };
}

function createBar({ clock, write, columns }: ProgressOptions): Progress {
  const beganMs = clock.monotonic();
  let drawnAtMs = -Infinity;
  let drawnPhase = "";
  let share = 0;
  return {
    update(state) {
      share = Math.max(share, Math.min(1, state.fraction));
      const nowMs = clock.monotonic();
      if (nowMs - drawnAtMs < REDRAW_MS && state.phase === drawnPhase) return;
      drawnAtMs = nowMs;
      drawnPhase = state.phase;
      write(`${ERASE}${drawBar({ ...state, fraction: share }, nowMs - beganMs, columns() ?? 80)}`);
    },
    end: () => write(ERASE),
  };
}

/** The bar as text that leaves the last column free, since some terminals wrap there. */
export function drawBar(state: ProgressState, elapsedMs: number, columns: number): string {
  const filled = Math.floor(state.fraction * BAR);
  const left =
    state.fraction >= GUESS_FROM && state.fraction < 1
      ? `, ${formatElapsed(roundSeconds((elapsedMs / state.fraction) * (1 - state.fraction)))} left`
      : "";
  const percent = formatPercent(state.fraction).padStart(6);
  const rate =
    state.documents === 0 || elapsedMs <= 0 ? "" : `, ${formatRate(state.documents, elapsedMs)}`;
  const parts = [
    `[${"#".repeat(filled)}${"-".repeat(BAR - filled)}]`,
    percent,
    `  ${state.phase}`,
    rate,
    left,
  ];
  // On a narrow terminal the parts at the end go first, the bar last of all.
  let text = "";
  for (const part of parts) {
    if (displayWidth(text + part) >= columns) break;
    text += part;
  }
  return text === "" ? percent.trimStart().slice(0, Math.max(0, columns - 1)) : text;
}

function describeRate(documents: number, elapsedMs: number): string {
  if (documents === 0) return "";
  return `, ${formatCount(documents)} documents${elapsedMs > 0 ? `, ${formatRate(documents, elapsedMs)}` : ""}`;
}

function formatRate(documents: number, elapsedMs: number): string {
  return `${formatCount((documents / elapsedMs) * 1000)} docs/s`;
}

function roundSeconds(ms: number): number {
  return Math.max(1000, Math.round(ms / 1000) * 1000);
}
