/** Polls an address: never concurrently, slower while it fails, not while the page is hidden. */

/** State of the polling. */
export interface Polling {
  readonly paused: boolean;
  /** A request is running. */
  readonly asking: boolean;
  /** When the newest response came, in milliseconds since 1970. */
  readonly answeredAtMs: number | undefined;
  /** Why the last attempt failed; undefined after a success. */
  readonly problem: string | undefined;
  /** Time of the next request, in milliseconds since 1970; undefined when none is planned. */
  readonly nextAtMs: number | undefined;
}

export interface PollerDeps<T> {
  fetch(signal: AbortSignal): Promise<T>;
  now(): number;
  /** Whether the page is visible. */
  visible(): boolean;
  answered(answer: T): void;
  /** Called when the state has changed. */
  changed(): void;
}

export interface PollerOptions {
  /** Between a response and the next request. Evaluated each time. */
  everyMs(): number;
  readonly longestMs: number;
  /** Timeout of a request. */
  readonly timeoutMs: number;
}

export interface Poller {
  readonly state: Polling;
  /** Requests now, also while paused; a no-op while a request is running. Never rejects. */
  refresh(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Call when the page becomes visible or hidden. */
  looked(): void;
}

/** Sends nothing before `resume` or `refresh`. */
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
