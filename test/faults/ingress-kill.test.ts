import { afterAll, expect, it, vi } from "vitest";
import { removeTemporaryFolders } from "../contract/daemon.ts";
import { audit, flow, Site, text, wrapped } from "../contract/ingress-site.ts";
import { startEstate } from "../contract/monitor-estate.ts";
import { startReceiver } from "../support/otlp/receiver.ts";
import { isLongRun } from "../support/long-run.ts";

afterAll(removeTemporaryFolders);

const ROUNDS = isLongRun ? 100 : 3;
const SENDERS = 3;
/** Bodies that are applied before they are exported (`src/monitor/ingress/ingress-log.ts`). */
const BATCH = 256;

it(
  `kill -9 at random moments, ${ROUNDS} times: nothing acknowledged is missing, and no more than a batch counts twice`,
  { timeout: ROUNDS * 20_000 + 300_000 },
  async () => {
    await using site = await Site.make();
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await site.start();
      // Every third round ends while the rest of the one before is still applied.
      if (round % 3 < 2) await site.ready();
      const ended = Date.now() + 100 + Math.random() * 1_500;
      const before = acknowledged.length;
      let sent = 0;
      const over = new AbortController();
      const sender = async (): Promise<void> => {
        while (!over.signal.aborted) {
          const id = `${round}-${(sent += 1)}`;
          const reply = await site.stream(text(wrapped(audit(id)))).catch(() => undefined);
          if (reply?.status === 200) acknowledged.push(id);
        }
      };
      const senders = round % 3 < 2 ? Array.from({ length: SENDERS }, sender) : [];
      await vi.waitFor(
        () => {
          expect(Date.now()).toBeGreaterThan(ended);
          // A busy machine may not answer by then.
          if (senders.length > 0) expect(acknowledged.length).toBeGreaterThan(before + 1);
        },
        { timeout: 60_000, interval: 5 },
      );
      over.abort();
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

it("kill -9 while metrics over gRPC are sent again and again: what they count is not forgotten", async () => {
  await using site = new Site(
    await startEstate({ talkers: 0 }),
    await startReceiver({ protocol: "grpc" }),
  );
  const otlp = {
    protocol: "grpc",
    endpoint: `127.0.0.1:${site.exported.port}`,
    tls: { insecure: true },
    metric_interval: "2s",
    retry: { enabled: true },
    logs: { enabled: false },
  };
  await site.start({ otlp });
  await site.ready();
  site.exported.answer = { kind: "refuse", grpc: 14, http: 503 };
  expect((await site.stream(text(wrapped(flow())))).status).toBe(200);
  await vi.waitFor(async () => expect(await site.readyz()).toBe("503 ingress_wal: retrying"), {
    timeout: 60_000,
    interval: 50,
  });
  await site.daemon?.stop("SIGKILL");
  site.exported.clear();
  site.exported.answer = { kind: "accept" };
  await site.start({ otlp });
  await site.ready();
  const flows = site.exported.points().filter(({ metric }) => metric === "vpn.network.flows");
  expect(flows.map(({ value }) => value)).toContain(1);
});
