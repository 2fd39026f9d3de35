import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TLSSocket } from "node:tls";
import {
  createClientAuthorities,
  isClientAccepted,
} from "../../../../src/kernel/listen/tls/client-certificates.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";
import { memoryLog } from "../../telemetry/fixtures.ts";
import { hasOpenssl, makePair, testFolder } from "../test-certificates.ts";

describe("isClientAccepted", () => {
  const socket = (given: boolean, authorized: boolean) =>
    ({ authorized, getPeerX509Certificate: () => (given ? {} : undefined) }) as Pick<
      TLSSocket,
      "authorized" | "getPeerX509Certificate"
    >;

  it.each([
    ["none", true, true, true],
    ["request", true, true, true],
    ["require", false, true, true],
    ["verify_if_given", true, false, true],
    ["require_and_verify", false, false, true],
  ] as const)(
    "with %s lets in: without %s, with a foreign one %s, with a known one %s",
    (mode, without, foreign, known) => {
      expect([
        isClientAccepted(mode, socket(false, false)),
        isClientAccepted(mode, socket(true, false)),
        isClientAccepted(mode, socket(true, true)),
      ]).toEqual([without, foreign, known]);
    },
  );

  it("takes no word for it that a client without a certificate is authorized", () => {
    expect(isClientAccepted("require_and_verify", socket(false, true))).toBe(false);
  });
});

describe.skipIf(!hasOpenssl)("createClientAuthorities", () => {
  it("refuses to start with a file that holds no certificate, naming it", async () => {
    const file = join(testFolder(), "ca.pem");
    writeFileSync(file, "canary");
    const authorities = createClientAuthorities(
      file,
      { clock: createManualClock(), log: memoryLog() },
      1_000,
    );
    await expect(authorities.start()).rejects.toThrow(file);
    await expect(authorities.start()).rejects.not.toThrow("canary");
    expect(authorities.current()).toBeUndefined();
  });

  it("has what the file says when it was last looked at", async () => {
    const file = join(testFolder(), "ca.pem");
    const { cert } = makePair("a");
    writeFileSync(file, cert);
    const authorities = createClientAuthorities(
      file,
      { clock: createManualClock(), log: memoryLog() },
      1_000,
    );
    await authorities.start();
    expect(authorities.current()).toBe(cert);
    authorities.stop();
  });

  it("accepts nobody while the file is unusable, and says how long that was once it is back", async () => {
    const file = join(testFolder(), "ca.pem");
    const { cert } = makePair("a");
    const clock = createManualClock();
    const log = memoryLog();
    const authorities = createClientAuthorities(file, { clock, log }, 60_000);
    const readAs = async (text: string): Promise<void> => {
      writeFileSync(file, text);
      await clock.advance(60_000);
      await expect.poll(() => clock.timers(), { timeout: 60_000 }).toBe(1); // for the next read
    };
    writeFileSync(file, cert);
    await authorities.start();
    await readAs(cert);
    expect(log.lines).toEqual([]);
    await readAs("");
    await readAs("");
    expect(authorities.current()).toBeUndefined();
    await readAs(cert);
    expect(authorities.current()).toBe(cert);
    expect(log.lines.slice(1)).toEqual([
      `info client certificates are accepted again {"file":"${file}","failed_for":"2m0s"}`,
    ]);
    authorities.stop();
  });
});
