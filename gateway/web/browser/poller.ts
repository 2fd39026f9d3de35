/**
 * Asks an address again and again: never twice at once, slower while it fails, not at all while
 * nobody looks.
 */

/** Where the polling stands. */
export interface Polling {
  readonly paused: boolean;
  /** An answer is awaited. */
  readonly asking: boolean;
  /** When the newest answer came, in milliseconds since 1970. */
  readonly answeredAtMs: number | undefined;
  /** Why the last attempt failed; undefined after a good one. */
  readonly problem: string | undefined;
  /** When it is asked next, in milliseconds since 1970; undefined when it is not. */
  readonly nextAtMs: number | undefined;
}

/** What it works with. */
export interface PollerDeps<T> {
  fetch(signal: AbortSignal): Promise<T>;
  now(): number;
  /** Whether somebody could be looking. */
  visible(): boolean;
  answered(answer: T): void;
  /** The standing has changed. */
  changed(): void;
}

/** Times. */
export interface PollerOptions {
  /** Between an answer and the next question. Asked each time. */
  everyMs(): number;
  readonly longestMs: number;
  /** An answer that takes longer is given up. */
  readonly timeoutMs: number;
}

/** The polling of one address. */
export interface Poller {
  readonly state: Polling;
  /** Asks now, also while paused; does nothing while an answer is awaited. Never rejects. */
  refresh(): Promise<void>;
  pause(): void;
  resume(): void;
  /** To be called when the page comes into sight or leaves it. */
  looked(): void;
}

/** Does not ask before `resume` or `refresh`. */
export function createPoller<T>(deps: PollerDeps<T>, options: PollerOptions): Poller {
  let state: Polling = {
    paused: true,
    asking: false,
    answeredAtMs: undefined,
    problem: undefined,
    nextAtMs: undefined,
  };
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const set = (change: Partial<Polling>): void => {
    state = { ...state, ...change };
    deps.changed();
  };
  const plan = (): void => {
    clearTimeout(timer);
    if (state.paused || state.asking || !deps.visible()) return set({ nextAtMs: undefined });
    const every = options.everyMs();
    const waitMs =
      failures === 0
        ? every
        : Math.max(every, Math.min(options.longestMs, every * 2 ** Math.min(failures, 16)));
    timer = setTimeout(() => void ask(), waitMs);
    set({ nextAtMs: deps.now() + waitMs });
  };
  const ask = async (): Promise<void> => {
    if (state.asking) return;
    clearTimeout(timer);
    set({ asking: true, nextAtMs: undefined });
    try {
      const answer = await deps.fetch(AbortSignal.timeout(options.timeoutMs));
      failures = 0;
      state = { ...state, answeredAtMs: deps.now(), problem: undefined };
      deps.answered(answer);
    } catch (thrown) {
      failures += 1;
      state = { ...state, problem: thrown instanceof Error ? thrown.message : String(thrown) };
    }
    set({ asking: false });
    plan();
  };
  return {
    get state() {
      return state;
    },
    refresh: ask,
    pause() {
      set({ paused: true });
      plan();
    },
    resume() {
      set({ paused: false });
      void ask();
    },
    looked() {
      if (!deps.visible() || state.paused) return plan();
      const waited = deps.now() - (state.answeredAtMs ?? 0);
      if (waited >= options.everyMs()) void ask();
      else plan();
    },
  };
}
