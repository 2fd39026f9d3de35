import { afterAll, expect, it, vi } from "vitest";
import { removeTemporaryFolders } from "../contract/daemon.ts";
import { audit, Site, text, wrapped } from "../contract/ingress-site.ts";

afterAll(removeTemporaryFolders);

const ROUNDS = process.env["STEWARD_TEST_LONG"] === "1" ? 100 : 3;
const SENDERS = 3;
/** Bodies that are applied before they are exported (`src/monitor/ingress/ingress-log.ts`). */
const BATCH = 256;

it(
  `kill -9 at random moments, ${ROUNDS} times: nothing acknowledged is missing, and no more than a batch counts twice`,
  { timeout: ROUNDS * 20_000 + 60_000 },
  async () => {
    await using site = await Site.make();
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await site.start();
      // Every third round ends while the rest of the one before is still applied.
      if (round % 3 < 2) await site.ready();
      const ended = Date.now() + 100 + Math.random() * 1_500;
      let sent = 0;
      const sender = async (): Promise<void> => {
        while (Date.now() < ended) {
          const id = `${round}-${(sent += 1)}`;
          const reply = await site.stream(text(wrapped(audit(id)))).catch(() => undefined);
          if (reply?.status === 200) acknowledged.push(id);
        }
      };
      const senders = round % 3 < 2 ? Array.from({ length: SENDERS }, sender) : [];
      await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(ended), {
        timeout: 60_000,
        interval: 5,
      });
      await site.daemon?.stop("SIGKILL");
      await Promise.all(senders);
    }
    await site.start();
    await site.ready();
    const seen = site.audits();
    expect(acknowledged.length).toBeGreaterThan(ROUNDS);
    expect(acknowledged.filter((id) => !seen.has(id))).toEqual([]);
    const twice = [...seen.values()].reduce((sum, times) => sum + times - 1, 0);
    expect(twice).toBeLessThanOrEqual(ROUNDS * BATCH);
  },
);
