/** Types of the supervisor: components and their state. */
import type { Backoff } from "../async/backoff.ts";

/**
 * `degraded`: unhealthy or about to be restarted. `failed`: stays down. `refusing`: answers every
 * request with the reason why it cannot use its stored data, until the process restarts.
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

/** Health of a running component. */
export interface Health {
  readonly ok: boolean;
  /**
   * Our own words (`ownMessage`): anybody may read it at `/readyz?verbose=1`. Of a healthy component
   * a note, e.g. its role.
   */
  readonly reason?: string;
  /** Requests are refused with the reason, but the process may take traffic for other services. */
  readonly refusing?: boolean;
  /** It cannot work at all: closes readiness, even for a component that is only `reported`. */
  readonly unable?: boolean;
  /**
   * It works in part: reported as degraded while readiness stays open, even for a `required`
   * component.
   */
  readonly partial?: boolean;
  /** For administrators only: it may name paths and configuration values. */
  readonly remedy?: string;
}

/**
 * Start limit of a component that opens stores: after an unclean stop they are read through first,
 * which takes as long as their size and the disk need.
 */
export const STORE_START_MS: number = 24 * 3_600_000;

/** A part of the process with its own lifecycle. */
export interface Component {
  readonly name: string;
  /** Names of the components that must run before this one starts and until it has stopped. */
  readonly needs: readonly string[];
  /**
   * `required`: determines readiness, and its first start the start of the process; `reported`:
   * only shown; `none`: neither.
   */
  readonly readiness: "required" | "reported" | "none";
  /** Default 60,000; `STORE_START_MS` for what opens stores. */
  readonly startTimeoutMs?: number;
  /** Default 10,000. */
  readonly stopTimeoutMs?: number;
  /**
   * Stops before the others, although none needs it: it takes work from outside. No component may
   * need it.
   */
  readonly stopsFirst?: true;
  /** Without it the first crash is final. */
  readonly restart?: Backoff;
  /**
   * Resolves when it serves. The signal aborts the start and is meaningless afterwards. Call
   * `failed` when it breaks while running; it is then stopped and, if allowed, restarted.
   */
  start(signal: AbortSignal, failed: (error: unknown) => void): Promise<void>;
  /**
   * Resolves when all resources are released, within the given milliseconds. Works without start,
   * after a failed start, and twice.
   */
  stop(deadlineMs: number): Promise<void>;
  /** Called often; must answer from memory. */
  health?(): Health;
}

/** State of a component. */
export interface ComponentState {
  readonly name: string;
  readonly phase: Phase;
  /** The component's own; `required` while it is `unable`, `reported` while it works in part. */
  readonly readiness: Component["readiness"];
  /** Why it is not simply ready; may be shown to anybody. */
  readonly reason: string | undefined;
  /** For administrators only. */
  readonly remedy?: string;
  readonly crashes: number;
  /** When it entered the phase, milliseconds since 1970. */
  readonly sinceMs: number;
}

/** Result of a stop. */
export interface StopReport {
  /** Components that did not stop in time. */
  readonly late: readonly string[];
  /** Components whose stop failed. */
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
  readonly tookMs: number;
}

/**
 * Starts components in the order of their needs, supervises them and stops them in reverse order,
 * after those that stop first.
 */
export interface Supervisor {
  /** Only before `start`. */
  add(component: Component): void;
  /**
   * Rejects with the error of the first required component that fails to start; started components
   * are stopped by then.
   */
  start(): Promise<void>;
  /**
   * Never rejects. Not ready from the first moment. A later call may shorten the running deadline,
   * 0 ends the waiting at once; all calls get the same report.
   */
  stop(deadlineMs: number): Promise<StopReport>;
  states(): readonly ComponentState[];
  /** Whether the process may take traffic, and if not, why. */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}
