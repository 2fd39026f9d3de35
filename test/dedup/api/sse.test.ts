import { describe, expect, it } from "vitest";
import { eventFrame, withKeepAlive } from "../../../src/dedup/api/sse.ts";
import { createHandClock } from "../store-bench.ts";

/** A source fed by hand. */
function createFeed(): {
  push(frame: string): void;
  end(): void;
  source(signal: AbortSignal): AsyncIterable<string>;
  signal: AbortSignal | undefined;
} {
  const waiting: string[] = [];
  let wake = (): void => undefined;
  let ended = false;
  const feed = {
    signal: undefined as AbortSignal | undefined,
    push: (frame: string) => {
      waiting.push(frame);
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
    async *source(signal: AbortSignal) {
      feed.signal = signal;
      signal.addEventListener("abort", () => wake());
      for (;;) {
        for (let frame = waiting.shift(); frame !== undefined; frame = waiting.shift()) yield frame;
        if (ended || signal.aborted) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
  return feed;
}

const never = new AbortController().signal;

describe("server-sent events", () => {
  it("are frames of one event and one line of data", () => {
    expect(eventFrame("progress", { message: "two\nlines" })).toBe(
      'event: progress\ndata: {"message":"two\\nlines"}\n\n',
    );
  });

  it("have a comment every 15 s by the clock, between the frames", async () => {
    const clock = createHandClock();
    const feed = createFeed();
    const stream = withKeepAlive((signal) => feed.source(signal), clock, never);
    feed.push("first");
    expect((await stream.next()).value).toBe("first");
    const quiet = stream.next();
    clock.advance(15_000);
    expect((await quiet).value).toBe(":keepalive\n\n");
    const next = stream.next();
    clock.advance(14_999);
    feed.push("second");
    expect((await next).value).toBe("second");
    const after = stream.next();
    clock.advance(1);
    expect((await after).value).toBe(":keepalive\n\n");
    const last = stream.next();
    feed.end();
    expect(await last).toEqual({ done: true, value: undefined });
  });

  it("end the source when the reader leaves or the call is cut", async () => {
    const clock = createHandClock();
    const feed = createFeed();
    const stream = withKeepAlive((signal) => feed.source(signal), clock, never);
    feed.push("first");
    await stream.next();
    await stream.return(undefined);
    expect(feed.signal?.aborted).toBe(true);
    const cut = new AbortController();
    const other = createFeed();
    const second = withKeepAlive((signal) => other.source(signal), clock, cut.signal);
    const pending = second.next();
    cut.abort();
    expect((await pending).done).toBe(true);
  });
});
