/** A disk that fills up below the ingress log and the flow store of a running daemon. */
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { removeTemporaryFolders, rest } from "../contract/daemon.ts";
import { audit, flow, Site, text, wrapped } from "../contract/ingress-site.ts";
import { fillDisk, mountSmallDisk, noSmallDisk } from "../kernel/state/fixtures/small-disk.ts";

afterAll(removeTemporaryFolders);

const MIB = 2 ** 20;
const SOON = { timeout: 60_000, interval: 100 };
const REFUSED = { kind: "refuse", grpc: 14, http: 503 } as const;

describe.skipIf(noSmallDisk !== undefined)("a disk that fills up", () => {
  it("makes the ingress log refuse, loses nothing that was acknowledged, and is forgotten once there is room", async () => {
    const disk = mountSmallDisk(64);
    await using site = await Site.make();
    await site.start({ ingress_wal: { directory: join(disk, "wal") } });
    await site.ready();
    // Nothing leaves the log while its exports fail.
    site.exported.answer = REFUSED;
    const free = fillDisk(disk, 2 * MIB);
    const acknowledged: string[] = [];
    let refused: Awaited<ReturnType<Site["stream"]>> | undefined;
    for (let at = 0; refused === undefined && at < 500; at += 1) {
      const body = text(wrapped({ ...audit(`full-${at}`), old: "x".repeat(200_000) }));
      const reply = await site.stream(body);
      if (reply.status === 200) acknowledged.push(`full-${at}`);
      else refused = reply;
    }
    expect(refused?.status).toBe(503);
    expect(refused?.headers["retry-after"]).toBeDefined();
    expect(acknowledged.length).toBeGreaterThan(0);
    // Still, and after a kill.
    await site.daemon?.stop("SIGKILL");
    free();
    site.exported.answer = { kind: "accept" };
    await site.start({ ingress_wal: { directory: join(disk, "wal") } });
    await site.ready();
    expect((await site.stream(text(wrapped(audit("after"))))).status).toBe(200);
    await vi.waitFor(() => {
      const seen = site.audits();
      expect([...acknowledged, "after"].filter((id) => !seen.has(id))).toEqual([]);
    }, SOON);
  });

  it("makes flows wait, then be dropped and counted, and they are stored again once there is room", async () => {
    const disk = mountSmallDisk(64);
    await using site = await Site.make();
    const store = {
      directory: join(disk, "flows"),
      flush_interval: "100ms",
      queue_size: 64,
      batch_size: 64,
    };
    await site.start({ ingress_wal: { enabled: false }, flows: { store } });
    await site.ready();
    const backend = async () =>
      (await rest(site.daemon as never, "GET", "/api/status.json")).json.flow_store.backend;
    const send = async (count: number) =>
      expect((await site.stream(text(...Array.from({ length: count }, flow)))).status).toBe(200);
    await send(5);
    await vi.waitFor(async () => expect((await backend()).rows).toBe(5), SOON);
    const free = fillDisk(disk);
    await vi.waitFor(async () => {
      await send(10);
      expect(await backend()).toMatchObject({
        healthy: false,
        errors: [expect.stringMatching(/space|full/)],
        queue_drops: expect.any(Number),
      });
    }, SOON);
    expect((await rest(site.daemon as never, "GET", "/flows")).text).toContain(
      "New traffic is not stored.",
    );
    const { rows } = await backend();
    free();
    await vi.waitFor(async () => {
      const now = await backend();
      expect(now).toMatchObject({ healthy: true, persistent: true });
      expect(now.rows).toBeGreaterThan(rows);
    }, SOON);
    const { recent_retained: retained } = (
      await rest(site.daemon as never, "GET", "/api/flows.json")
    ).json;
    expect(retained).toBeGreaterThanOrEqual(69);
  });
});
