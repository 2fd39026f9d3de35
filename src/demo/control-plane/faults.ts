/** What tests may make go wrong at a control plane, queued per operation and used up in order. */

/** One misbehaviour. */
export type Fault =
  /** Any status, with the control plane's own form of errors. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The request takes effect, and yet its answer is an error. */
  | { readonly kind: "done_but_error"; readonly status: number }
  /** 429, with `Retry-After` in seconds, as an HTTP date, or without. */
  | { readonly kind: "limited"; readonly retryAfterS?: number; readonly as?: "seconds" | "date" }
  /** The page of a proxy; default 502. With 200 it is a success that holds no JSON. */
  | { readonly kind: "html"; readonly status?: number }
  /** Default 307. */
  | {
      readonly kind: "redirect";
      readonly location: string;
      readonly status?: 301 | 302 | 303 | 307 | 308;
    }
  /** The connection is reset without an answer. */
  | { readonly kind: "reset" }
  /** No answer until the client gives up or the simulator stops. */
  | { readonly kind: "hang" }
  /** The true answer, later: a delay before the headers. */
  | { readonly kind: "delay"; readonly ms: number }
  /**
   * Headers and the first `bytes` (default half) of the true answer, then silence; the rest after
   * `ms`, if given.
   */
  | { readonly kind: "stall"; readonly bytes?: number; readonly ms?: number }
  /** The true answer, `bytes` (default 1) every `intervalMs`. */
  | { readonly kind: "drip"; readonly intervalMs: number; readonly bytes?: number }
  /** The first `bytes` (default half) of the true answer, then the end of the connection. */
  | { readonly kind: "truncate"; readonly bytes?: number }
  /**
   * The true answer compressed, and cut in the middle in good order: the length is that of what is
   * sent.
   */
  | { readonly kind: "truncated_gzip" }
  /** The true answer behind blanks, `bytes` long, streamed without a length when `chunked`. */
  | { readonly kind: "oversize"; readonly bytes: number; readonly chunked?: boolean }
  /** A few KiB that unpack to `bytes` of blanks before the true answer. */
  | { readonly kind: "gzip_bomb"; readonly bytes: number }
  /** Arrays within arrays. */
  | { readonly kind: "deep"; readonly levels: number }
  /** The status of the true answer (or `status`) without a body. */
  | { readonly kind: "empty"; readonly status?: number }
  /** A success that holds no JSON. */
  | { readonly kind: "garbage" }
  /** Every number of the true answer as text. */
  | { readonly kind: "numbers_as_strings" }
  /** Every leaf of the true answer of another type. */
  | { readonly kind: "wrong_types" }
  /** The true answer without the members of these names, at any depth. */
  | { readonly kind: "missing_fields"; readonly names: readonly string[] }
  /**
   * Members with these names, at any depth, get an unknown text; default: those of the vendor's
   * enums.
   */
  | { readonly kind: "unknown_enums"; readonly names?: readonly string[] }
  /** The true answer after `change`. */
  | { readonly kind: "change"; readonly change: (body: unknown) => unknown };

/** The queues. */
export interface Faults<Operation extends string> {
  /**
   * Applies to the next `times` requests of an operation (`*`: of any), default 1, after what is
   * queued already. `Infinity`: until cleared.
   */
  next(operation: Operation | "*", fault: Fault, times?: number): void;
  /** The fault of a request that has just come. */
  take(operation: Operation): Fault | undefined;
  /** Faults not yet used, by operation or in all. */
  pending(operation?: Operation | "*"): number;
  clear(operation?: Operation | "*"): void;
}

/** Empty queues; one operation's own come before those of any. */
export function createFaults<Operation extends string>(): Faults<Operation> {
  const queues = new Map<Operation | "*", { readonly fault: Fault; left: number }[]>();
  const takeFrom = (operation: Operation | "*"): Fault | undefined => {
    const queue = queues.get(operation);
    const first = queue?.[0];
    if (queue === undefined || first === undefined) return undefined;
    first.left -= 1;
    if (first.left <= 0) queue.shift();
    return first.fault;
  };
  return {
    next(operation, fault, times = 1) {
      const queue = queues.get(operation) ?? [];
      if (times > 0) queue.push({ fault, left: times });
      queues.set(operation, queue);
    },
    take: (operation) => takeFrom(operation) ?? takeFrom("*"),
    pending: (operation) =>
      (operation === undefined ? [...queues.values()] : [queues.get(operation) ?? []])
        .flat()
        .reduce((sum, { left }) => sum + left, 0),
    clear: (operation) =>
      operation === undefined ? queues.clear() : void queues.delete(operation),
  };
}
