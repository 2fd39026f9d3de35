/** Exponential backoff: delays that double with each failure in a row. */

export interface Backoff {
  /** After the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The delay after so many failures in a row, at least 1. */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1));
}
