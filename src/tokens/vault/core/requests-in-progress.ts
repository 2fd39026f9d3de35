/** Counts requests in progress, so that sealing or unmounting can wait for them. */

/** One counter. Requests may enter while somebody waits; the wait then includes them. */
export class RequestsInProgress implements Disposable {
  #count = 0;
  /** Shared by all waiters: two may seal at once. */
  #none: PromiseWithResolvers<void> | undefined;

  /** Dispose the result once. It is the counter itself, so that a request allocates nothing. */
  enter(): Disposable {
    this.#count += 1;
    return this;
  }

  [Symbol.dispose](): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    this.#none?.resolve();
    this.#none = undefined;
  }

  /** Resolves when no request is in progress. */
  none(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    this.#none ??= Promise.withResolvers<void>();
    return this.#none.promise;
  }
}
