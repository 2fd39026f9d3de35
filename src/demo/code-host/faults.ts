/** What tests may make go wrong, queued per operation and used up in order. */
import { OPERATIONS, type Operation } from "./routes.ts";

/**
 * With `effect` the operation takes place first, and only its answer is lost: what a crash between
 * the two looks like.
 */
interface MayHaveEffect {
  readonly effect?: boolean;
}

/**
 * One misbehaviour. Those without `effect` damage the true answer, so the operation has always
 * taken place.
 */
export type Fault =
  /** Any status with upstream's error body. */
  | ({
      readonly kind: "status";
      readonly status: number;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly errors?: readonly unknown[];
    } & MayHaveEffect)
  /** The page of a proxy; default 502. */
  | ({ readonly kind: "html"; readonly status?: number } & MayHaveEffect)
  | ({
      readonly kind: "redirect";
      readonly location: string;
      readonly status?: 301 | 302 | 303 | 307 | 308;
    } & MayHaveEffect)
  /** The connection is reset without an answer. */
  | ({ readonly kind: "reset" } & MayHaveEffect)
  /** No answer until the client gives up or the host stops. */
  | ({ readonly kind: "hang" } & MayHaveEffect)
  /** A success that holds no JSON. */
  | ({ readonly kind: "garbage" } & MayHaveEffect)
  /** The true answer, later. */
  | ({ readonly kind: "delay"; readonly ms: number } & MayHaveEffect)
  /** The true answer, once `until` has resolved. */
  | { readonly kind: "hold"; readonly until: Promise<unknown> }
  /** The true answer, `bytes` (default 1) every `intervalMs`. */
  | { readonly kind: "drip"; readonly intervalMs: number; readonly bytes?: number }
  /** The first `bytes` (default half) of the true answer, then the end of the connection. */
  | { readonly kind: "truncate"; readonly bytes?: number }
  /** The true answer behind blanks, `bytes` long. */
  | { readonly kind: "oversize"; readonly bytes: number }
  | { readonly kind: "no_expiry" }
  | { readonly kind: "null_repositories" }
  /** The true answer with members replaced; an undefined one is left out. */
  | { readonly kind: "patch"; readonly members: Readonly<Record<string, unknown>> };

/** The queues. */
export interface Faults {
  /**
   * Applies to the next `times` requests of an operation, default 1, after what is queued already.
   * `Infinity`: until cleared.
   */
  next(operation: Operation, fault: Fault, times?: number): void;
  /** The fault of a request that has just come. */
  take(operation: Operation): Fault | undefined;
  /** Faults not yet used, by operation or in all. */
  pending(operation?: Operation): number;
  clear(operation?: Operation): void;
}

/** Empty queues. */
export function createFaults(): Faults {
  const queues = new Map<Operation, { readonly fault: Fault; left: number }[]>();
  const named = (operation: Operation | undefined): readonly Operation[] =>
    operation === undefined ? OPERATIONS : [operation];
  return {
    next(operation, fault, times = 1) {
      const queue = queues.get(operation) ?? [];
      if (times > 0) queue.push({ fault, left: times });
      queues.set(operation, queue);
    },
    take(operation) {
      if (queues.size === 0) return undefined;
      const queue = queues.get(operation);
      const first = queue?.[0];
      if (queue === undefined || first === undefined) return undefined;
      first.left -= 1;
      if (first.left <= 0) queue.shift();
      return first.fault;
    },
    pending: (operation) =>
      named(operation)
        .flatMap((each) => queues.get(each) ?? [])
        .reduce((sum, { left }) => sum + left, 0),
    clear: (operation) => named(operation).forEach((each) => queues.delete(each)),
  };
}
