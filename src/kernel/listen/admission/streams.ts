/**
 * Long-lived responses of one share: limits on their number in total, per connection and per
 * address, and on their age.
 */
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { StewardError } from "../../base/errors.ts";
import type { ShareLimits } from "./limits.ts";
import { createCounts } from "./request-slots.ts";

/** An admitted stream. Dispose it to release its slot. */
interface AdmittedStream extends Disposable {
  /**
   * Fires with `not_ready` when the stream has reached its maximum age: its client may open
   * another.
   */
  readonly expired: AbortSignal;
}

export interface Streams {
  /** Undefined when a limit is reached. */
  open(connection: Socket, address: string | undefined): AdmittedStream | undefined;
  inUse(): number;
}

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
