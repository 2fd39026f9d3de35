/**
 * SIGINT and SIGTERM as a wish to stop, heard from the first moment on: the first asks, every
 * further one insists.
 */

/** Where signals come from: the process. */
export interface SignalSource {
  on(signal: "SIGINT" | "SIGTERM", hear: (signal: "SIGINT" | "SIGTERM") => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", hear: (signal: "SIGINT" | "SIGTERM") => void): unknown;
}

/** What was heard. */
export interface StopSignals extends Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  asked(): boolean;
  /**
   * Calls at each signal, `insisted` from the second on; at once for those that came before. One
   * listener, the newest.
   */
  listen(heard: (signal: string, insisted: boolean) => void): void;
}

/**
 * Listens until disposed. A signal that comes before anybody listens, e.g. while modules load, is
 * kept.
 */
export function createStopSignals(source: SignalSource): StopSignals {
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const names: string[] = [];
  let heard: ((signal: string, insisted: boolean) => void) | undefined;
  const hear = (signal: "SIGINT" | "SIGTERM"): void => {
    // Only whether there were more than one matters, so no more are kept.
    if (names.length < 2) names.push(signal);
    heard?.(signal, names.length > 1);
    resolve();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) source.on(signal, hear);
  return {
    first,
    asked: () => names.length > 0,
    listen(listener) {
      heard = listener;
      for (const [index, name] of names.entries()) listener(name, index > 0);
    },
    [Symbol.dispose]() {
      for (const signal of ["SIGINT", "SIGTERM"] as const) source.off(signal, hear);
    },
  };
}
