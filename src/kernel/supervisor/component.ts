/**
 * The shapes of the supervisor: what a part of the process promises, and what is known about it.
 */

/**
 * Where a component stands: `degraded` runs unwell or is about to be restarted, `failed` stays
 * down, `refusing` answers every request with the reason why it cannot use what it stored, until
 * the process starts anew.
 */
export type Phase =
  | "idle"
  | "starting"
  | "ready"
  | "degraded"
  | "refusing"
  | "failed"
  | "stopping"
  | "stopped";

/**
 * How a crashed component is restarted: after `firstMs`, doubled with each further crash up to
 * `maxMs`.
 */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Whether a running component is well. */
export interface Health {
  readonly ok: boolean;
  /** In words of our own (`ownWords`): anybody may read it at `/readyz?verbose=1`. */
  readonly reason?: string;
  /**
   * It refuses its requests with the reason, and the process may take traffic for the others all
   * the same.
   */
  readonly refusing?: boolean;
  /**
   * It can do none of its work for now: readiness is closed, also of a component that is only
   * `reported`.
   */
  readonly unable?: boolean;
  /**
   * It does part of its work: it shows as degraded and readiness stays open, also of a `required`
   * component.
   */
  readonly partial?: boolean;
  /**
   * What to do about it, for administrators only: it may name paths and what the configuration
   * calls things.
   */
  readonly remedy?: string;
}

/** A part of the process with a life of its own. */
export interface Component {
  readonly name: string;
  /** Names of the components that must run before this one starts and until it has stopped. */
  readonly needs: readonly string[];
  /**
   * `required` decides over readiness and its first start over the process; `reported` only shows;
   * `none` neither.
   */
  readonly readiness: "required" | "reported" | "none";
  /** Time to start, 60,000 unless said otherwise. */
  readonly startTimeoutMs?: number;
  /** Time to stop, 10,000 unless said otherwise. */
  readonly stopTimeoutMs?: number;
  /** Without it the first crash is the last. */
  readonly restart?: Backoff;
  /**
   * Resolves when it serves. The signal asks to give up starting and means nothing afterwards.
   * `failed` is called when it breaks while it runs; it is then stopped and, if it may be, started
   * again.
   */
  start(signal: AbortSignal, failed: (error: unknown) => void): Promise<void>;
  /**
   * Resolves when it holds nothing any more, within the milliseconds given. Works without start,
   * after a failed one, and twice.
   */
  stop(deadlineMs: number): Promise<void>;
  /** Asked often, answers from memory. */
  health?(): Health;
}

/** What is known about a component. */
export interface ComponentState {
  readonly name: string;
  readonly phase: Phase;
  /** The component's own, `required` while it is `unable`, `reported` while it works in part. */
  readonly readiness: Component["readiness"];
  /** Why it is not simply ready, in words that anybody may read. */
  readonly reason: string | undefined;
  /** What to do about it, for administrators only. */
  readonly remedy?: string;
  readonly crashes: number;
  /** When it entered the phase, milliseconds since 1970. */
  readonly sinceMs: number;
}

/** How a stop went. */
export interface StopReport {
  /** Components that did not stop in their time. */
  readonly late: readonly string[];
  /** Components whose stop failed, with the reason. */
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
  readonly tookMs: number;
}

/** Starts components in the order of their needs, watches them and stops them in reverse. */
export interface Supervisor {
  /** Before `start` only. */
  add(component: Component): void;
  /**
   * Rejects with the error of the first required component that does not start; what had started is
   * stopped again by then.
   */
  start(): Promise<void>;
  /**
   * Never rejects. Not ready from the first moment. A later call may shorten the deadline of the
   * one that runs, 0 ends the waiting at once; all calls get the same report.
   */
  stop(deadlineMs: number): Promise<StopReport>;
  states(): readonly ComponentState[];
  /** Whether the process may take traffic, and if not, why. */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}
