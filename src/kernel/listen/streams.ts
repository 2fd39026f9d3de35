/**
 * Long-lived answers of one share: how many there may be in all, on one connection and for one
 * address, and how long each may last.
 */
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { StewardError } from "../base/errors.ts";
import type { ShareLimits } from "./limits.ts";
import { createCounts } from "./request-slots.ts";

/** A stream that was admitted. Disposing it gives its place back. */
interface AdmittedStream extends Disposable {
  /** Fires with `not_ready` when the stream has reached its age: its client may open another. */
  readonly expired: AbortSignal;
}

/** Counts the streams of a share. */
export interface Streams {
  /** Undefined when one of the bounds is reached. */
  open(connection: Socket, address: string | undefined): AdmittedStream | undefined;
  inUse(): number;
}

/** None is open. */
export function createStreams(limits: ShareLimits, clock: Clock): Streams {
  const perConnection = new WeakMap<Socket, number>();
  const perAddress = createCounts();
  let open = 0;
  const count = (connection: Socket, address: string | undefined, by: 1 | -1): void => {
    open += by;
    perAddress.add(address, by);
    perConnection.set(connection, (perConnection.get(connection) ?? 0) + by);
  };
  return {
    open(connection, address) {
      if (open >= limits.streams || perAddress.of(address) >= limits.streamsPerAddress)
        return undefined;
      if ((perConnection.get(connection) ?? 0) >= limits.streamsPerConnection) return undefined;
      count(connection, address, 1);
      const age = new AbortController();
      const timer = clock.timer(clock.monotonic() + limits.streamMs, () =>
        age.abort(tooOld(limits.streamMs)),
      );
      return {
        expired: age.signal,
        [Symbol.dispose]() {
          timer[Symbol.dispose]();
          count(connection, address, -1);
        },
      };
    },
    inUse: () => open,
  };
}

function tooOld(streamMs: number): StewardError {
  return new StewardError(
    "not_ready",
    `the stream has reached its age of ${streamMs / 1000} seconds; open it again`,
    { rule: "stream_age", remedy: "open it again" },
  );
}
