/**
 * SIGINT and SIGTERM as a wish to stop, heard from the first moment on: the first asks, every
 * further one insists.
 */

/** Where signals come from: the process. */
export interface SignalSource {
  on(signal: "SIGINT" | "SIGTERM", handler: (signal: "SIGINT" | "SIGTERM") => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", handler: (signal: "SIGINT" | "SIGTERM") => void): unknown;
}

/** What was heard. */
export interface StopSignals extends Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  stopRequested(): boolean;
  /**
   * Calls at each signal, `insisted` from the second on; at once for those that came before. One
   * listener, the newest.
   */
  listen(listener: (signal: string, insisted: boolean) => void): void;
}

/**
 * Listens until disposed. A signal that comes before anybody listens, e.g. while modules load, is
 * kept.
 */
export function createStopSignals(source: SignalSource): StopSignals {
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const names: string[] = [];
  let current: ((signal: string, insisted: boolean) => void) | undefined;
  const handler = (signal: "SIGINT" | "SIGTERM"): void => {
    // Only whether there were more than one matters, so no more are kept.
    if (names.length < 2) names.push(signal);
    current?.(signal, names.length > 1);
    resolve();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) source.on(signal, handler);
  return {
    first,
    stopRequested: () => names.length > 0,
    listen(listener) {
      current = listener;
      for (const [index, name] of names.entries()) listener(name, index > 0);
    },
    [Symbol.dispose]() {
      for (const signal of ["SIGINT", "SIGTERM"] as const) source.off(signal, handler);
    },
  };
}
