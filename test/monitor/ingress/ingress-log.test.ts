import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { waitFor, late } from "../../../src/kernel/async/wait.ts";
import { delay } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createIngressLog } from "../../../src/monitor/ingress/ingress-log.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });

/** As the exporter has it: a flush waits for the one that is running, and for a whole one after it. */
function slowExport(clock: ReturnType<typeof createManualClock>, flushMs: number) {
  let running = Promise.resolve();
  return async (deadlineMs: number): Promise<boolean> => {
    running = running.then(() => delay(clock, flushMs));
    return (await waitFor(running, { clock, timeoutMs: deadlineMs })) !== late;
  };
}

describe("The ingress log", () => {
  it.each([15_000, 100_000])(
    "removes what was exported also when an export takes %d ms",
    async (flushMs) => {
      const clock = createManualClock();
      const directory = mkdtempSync(join(tmpdir(), "steward-ingress-"));
      folders.push(directory);
      const ingress = createIngressLog(
        {
          clock,
          log,
          version: "1.0.0",
          effectOf: () => () => Promise.resolve(0),
          settle: () => undefined,
          maxRecords: 1_000,
          deliver: slowExport(clock, flushMs),
          needs: [],
        },
        { directory, maxBytes: 2 ** 26, maxEntries: 100 },
      );
      await ingress.component.start(new AbortController().signal, () => undefined);
      await expect.poll(() => ingress.component.health?.().ok).toBe(true);
      const received = { network: "a", source: "stream", body: Buffer.from("x"), acceptedMs: 0 };
      await ingress.append(received as never, () => Promise.resolve(0));
      await expect
        .poll(
          async () => {
            await clock.advance(10_000);
            return ingress.size()?.entries;
          },
          { interval: 1, timeout: 20_000 },
        )
        .toBe(0);
      const stopping = ingress.component.stop(1_000);
      await clock.advance(1_000);
      await stopping;
    },
  );
});
