import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../../../src/kernel/listen/admission/limits.ts";
import { createStreams, type Streams } from "../../../../src/kernel/listen/admission/streams.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";

const clock = createManualClock();

function streams(
  streamsInAll: number,
  streamsPerConnection: number,
  streamsPerAddress: number,
): Streams {
  return createStreams(
    {
      ...DEFAULT_LIMITS.owner,
      streams: streamsInAll,
      streamsPerConnection,
      streamsPerAddress,
      streamMs: 60_000,
    },
    clock,
  );
}

describe("long-lived streams", () => {
  it("are bounded in all, and one that ends makes room", () => {
    const all = streams(2, 9, 9);
    const first = all.open(new Socket(), undefined);
    expect([
      all.open(new Socket(), undefined) !== undefined,
      all.open(new Socket(), undefined),
      all.inUse(),
    ]).toEqual([true, undefined, 2]);
    first?.[Symbol.dispose]();
    expect(all.open(new Socket(), undefined)).toBeDefined();
  });

  it("are bounded on each connection and for each address", () => {
    const all = streams(9, 1, 2);
    const connection = new Socket();
    expect([all.open(connection, "a") !== undefined, all.open(connection, "b")]).toEqual([
      true,
      undefined,
    ]);
    expect([
      all.open(new Socket(), "a") !== undefined,
      all.open(new Socket(), "a"),
      all.open(new Socket(), "b") !== undefined,
    ]).toEqual([true, undefined, true]);
  });

  it("end at their age, which the error names", async () => {
    const stream = streams(1, 1, 1).open(new Socket(), undefined);
    await clock.advance(59_999);
    expect(stream?.expired.aborted).toBe(false);
    await clock.advance(1);
    expect(stream?.expired.reason).toMatchObject({
      code: "not_ready",
      message: expect.stringContaining("60 seconds") as string,
    });
  });
});
