/**
 * SIGINT and SIGTERM handling from the first moment on: the first requests a stop, further ones
 * force it.
 */

/** The process, or a stand-in. */
export interface SignalSource {
  on(signal: "SIGINT" | "SIGTERM", handler: (signal: "SIGINT" | "SIGTERM") => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", handler: (signal: "SIGINT" | "SIGTERM") => void): unknown;
}

export interface StopSignals extends Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  stopRequested(): boolean;
  /**
   * Called at each signal, `insisted` from the second on; immediately for earlier ones. One
   * listener, the newest.
   */
  listen(listener: (signal: string, insisted: boolean) => void): void;
}

/** Listens until disposed. Signals before `listen`, e.g. while modules load, are kept. */
export function createStopSignals(source: SignalSource): StopSignals {
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const names: string[] = [];
  let current: ((signal: string, insisted: boolean) => void) | undefined;
  const handler = (signal: "SIGINT" | "SIGTERM"): void => {
    // Only whether there was more than one matters.
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
