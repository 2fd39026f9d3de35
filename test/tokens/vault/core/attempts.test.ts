import { describe, expect, it } from "vitest";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { createAttempts, type Attempts } from "../../../../src/tokens/vault/core/attempts.ts";
import { createManualClock, type ManualClock } from "../../../kernel/supervisor/manual-clock.ts";

function start(): { attempts: Attempts; clock: ManualClock; lines: string[] } {
  const clock = createManualClock();
  const lines: string[] = [];
  return {
    attempts: createAttempts({
      clock,
      log: createLog({
        level: "warn",
        format: "text",
        write: (line) => lines.push(line),
        now: () => 0,
      }),
    }),
    clock,
    lines,
  };
}

/** How many of so many failures are refused as too many. */
function refused(
  attempts: Attempts,
  address: string | undefined,
  subject: string | ((index: number) => string),
  times: number,
): number {
  let count = 0;
  for (let index = 0; index < times; index++)
    if (
      attempts.failed(address, typeof subject === "string" ? subject : subject(index)) !== undefined
    )
      count += 1;
  return count;
}

describe("failed attempts", () => {
  it("on one role or token are answered with the time to wait after fifty in a minute, until that minute is over", async () => {
    const { attempts, clock, lines } = start();
    expect(refused(attempts, "192.0.2.1", "role", 49)).toBe(0);
    await clock.advance(10_000);
    expect(refused(attempts, "192.0.2.1", "role", 3)).toBe(2);
    expect(attempts.failed("192.0.2.1", "role")).toMatchObject({
      code: "exhausted",
      retryAfterMs: 50_000,
      message: "too many failed attempts from 192.0.2.1; try again in 50 s",
    });
    expect(lines).toEqual([expect.stringContaining("address=192.0.2.1")]);
    await clock.advance(50_000);
    expect(refused(attempts, "192.0.2.1", "role", 51)).toBe(1);
  });

  it("count for their own subject and address alone, and for nobody when the address is not known", () => {
    const { attempts } = start();
    expect(refused(attempts, "192.0.2.1", "a", 60)).toBe(10);
    expect(
      ["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2", "", undefined].map((address) =>
        refused(attempts, address, "a", 1),
      ),
    ).toEqual([1, 1, 0, 0, 0]);
    expect(refused(attempts, "192.0.2.1", "b", 50)).toBe(0);
    expect(refused(attempts, "", "a", 2_000)).toBe(0);
  });

  it("of this machine may be more, since all its programs share an address", () => {
    const { attempts } = start();
    for (const address of ["127.0.0.1", "127.0.9.9", "::1"])
      expect([address, refused(attempts, address, "a", 1_010)]).toEqual([address, 10]);
  });

  it("over IPv6 count for the network that one host can have all of", () => {
    const { attempts } = start();
    for (let host = 1; host <= 50; host++)
      attempts.failed(`2001:db8:0:7::${host.toString(16)}`, "a");
    expect(
      [
        "2001:db8:0:7:1:2:3:4",
        "2001:0db8:0000:0007::ffff",
        "2001:db8::7:0:0:0:1",
        "2001:db8:0:8::1",
        "fe80::1%eth0",
      ].map((address) => refused(attempts, address, "a", 1)),
    ).toEqual([1, 1, 1, 0, 0]);
  });

  it("on ever new subjects share one count beyond the first 64, which is bounded too", () => {
    const { attempts } = start();
    expect(refused(attempts, "192.0.2.1", (index) => `token ${index}`, 64 + 1_000)).toBe(0);
    expect(refused(attempts, "192.0.2.1", (index) => `other ${index}`, 10)).toBe(10);
    expect(refused(attempts, "192.0.2.1", "token 0", 49)).toBe(0);
    expect(refused(attempts, "192.0.2.2", (index) => `other ${index}`, 10)).toBe(0);
  });

  it("of very many addresses take no more memory than those of ten thousand: the oldest are forgotten", () => {
    const { attempts } = start();
    refused(attempts, "192.0.2.1", "a", 60);
    for (let n = 0; n < 9_999; n++) attempts.failed(`10.0.${n >> 8}.${n & 255}`, "a");
    expect(refused(attempts, "192.0.2.1", "a", 1)).toBe(1);
    attempts.failed("198.51.100.1", "a");
    expect(refused(attempts, "192.0.2.1", "a", 1)).toBe(0);
  });
});
