/**
 * A limit on buffers that a library makes. A thread's heap has a limit, but buffers lie outside of
 * it, and pdf.js unpacks a stream into one buffer without asking how large it may be.
 */

/**
 * Runs `work`, in which `new Uint8Array(n)` with `n` above `limitBytes` throws a RangeError. Streams
 * that unpack are not there meanwhile, since their chunks would add up without a single large
 * buffer; libraries fall back to code of their own. They may also catch the error: `refused` gives
 * how often it was thrown.
 */
export async function withBoundedBuffers<T>(
  limitBytes: number,
  work: (refused: () => number) => Promise<T>,
): Promise<T> {
  const { Uint8Array: Original, DecompressionStream: Stream } = globalThis;
  let refused = 0;
  const Bounded: typeof Uint8Array = new Proxy(Original, {
    construct(target, args: unknown[], newTarget) {
      if (typeof args[0] === "number" && args[0] > limitBytes) {
        refused += 1;
        throw new RangeError(`a buffer of ${args[0]} bytes is too large`);
      }
      return Reflect.construct(target, args, newTarget === Bounded ? target : newTarget) as object;
    },
  });
  Object.assign(globalThis, { Uint8Array: Bounded, DecompressionStream: undefined });
  try {
    return await work(() => refused);
  } finally {
    Object.assign(globalThis, { Uint8Array: Original, DecompressionStream: Stream });
  }
}
