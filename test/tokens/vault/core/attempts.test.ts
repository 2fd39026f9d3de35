import { describe, expect, it } from "vitest";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { createAttempts, type Attempts } from "../../../../src/tokens/vault/core/attempts.ts";
import { createManualClock, type ManualClock } from "../../../kernel/supervisor/manual-clock.ts";

function start(): { attempts: Attempts; clock: ManualClock; said: string[] } {
  const clock = createManualClock();
  const said: string[] = [];
  return { attempts: createAttempts({ clock, log: createLog({ level: "warn", format: "text", write: (line) => said.push(line), now: () => 0 }) }), clock, said };
}

function fail(attempts: Attempts, address: string, times: number): void {
  for (let done = 0; done < times; done++) attempts.failed(address);
}

function mayTry(attempts: Attempts, address: string | undefined): boolean {
  try {
    attempts.assertMayTry(address);
    return true;
  } catch {
    return false;
  }
}

describe("failed attempts", () => {
  it("are refused after fifty in a minute, until that minute is over, with the time to wait", async () => {
    const { attempts, clock, said } = start();
    fail(attempts, "192.0.2.1", 49);
    await clock.advance(10_000);
    expect(mayTry(attempts, "192.0.2.1")).toBe(true);
    fail(attempts, "192.0.2.1", 2);
    expect(() => attempts.assertMayTry("192.0.2.1")).toThrow(expect.objectContaining({ code: "exhausted", retryAfterMs: 50_000, message: "too many failed attempts from 192.0.2.1; try again in 50 s" }));
    expect(said).toEqual([expect.stringContaining("address=192.0.2.1")]);
    await clock.advance(50_000);
    expect(mayTry(attempts, "192.0.2.1")).toBe(true);
    fail(attempts, "192.0.2.1", 49);
    expect(mayTry(attempts, "192.0.2.1")).toBe(true);
  });

  it("count for their own address alone, and for nobody when it is not known", () => {
    const { attempts } = start();
    fail(attempts, "192.0.2.1", 60);
    fail(attempts, "", 2_000);
    expect(["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2", "", undefined].map((address) => mayTry(attempts, address))).toEqual([false, false, true, true, true]);
  });

  it("of this machine may be more, since all its programs and proxies share an address", () => {
    const { attempts } = start();
    for (const address of ["127.0.0.1", "::1"]) {
      fail(attempts, address, 999);
      expect(mayTry(attempts, address)).toBe(true);
      fail(attempts, address, 1);
      expect(mayTry(attempts, address)).toBe(false);
    }
  });

  it("over IPv6 count for the network that one host can have all of", () => {
    const { attempts } = start();
    for (let host = 1; host <= 50; host++) attempts.failed(`2001:db8:0:7::${host.toString(16)}`);
    expect(["2001:db8:0:7:1:2:3:4", "2001:0db8:0000:0007::ffff", "2001:db8::7:0:0:0:1", "2001:db8:0:8::1", "fe80::1%eth0"].map((address) => mayTry(attempts, address))).toEqual([false, false, false, true, true]);
  });

  it("of very many addresses take no more memory than those of ten thousand: the oldest are forgotten", () => {
    const { attempts } = start();
    fail(attempts, "192.0.2.1", 60);
    for (let n = 0; n < 9_999; n++) attempts.failed(`10.0.${n >> 8}.${n & 255}`);
    expect(mayTry(attempts, "192.0.2.1")).toBe(false);
    attempts.failed("198.51.100.1");
    expect(mayTry(attempts, "192.0.2.1")).toBe(true);
  });
});
