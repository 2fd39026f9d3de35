import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { Journal } from "../../src/monitor/ingress/journal.ts";
import { openIngressStore } from "../../src/monitor/ingress/open.ts";
import { removeTemporaryFolders, runSteward, temporaryFolder } from "./daemon.ts";
import { audit, flow, Site, text, wrapped } from "./ingress-site.ts";

afterAll(removeTemporaryFolders);

const REFUSED = { kind: "refuse", grpc: 14, http: 503 } as const;
const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

async function newSite(): Promise<Site> {
  const site = await Site.make();
  open.push(site);
  return site;
}
const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe("the ingress log", () => {
  it("says that a body is on disk, counts it, exports it at once, and forgets it then", async () => {
    const site = await newSite();
    await site.start();
    await site.ready();
    const reply = await site.stream(text(wrapped(audit("a-0")), wrapped(flow())));
    expect([reply.status, reply.body]).toEqual([200, '{"text":"Success","code":0}']);
    expect(reply.headers["steward-durability"]).toBe("disk");
    const delivered = await site.webhook(
      JSON.stringify([{ timestamp: new Date().toISOString(), version: 1, type: "test" }]),
    );
    expect([delivered.status, delivered.headers["steward-durability"]]).toEqual([200, "disk"]);
    const last = (metric: string) =>
      site.exported.points().findLast((point) => point.metric === metric)?.value;
    await vi.waitFor(
      () => {
        expect(site.audits()).toEqual(new Map([["a-0", 1]]));
        expect(last("vpn.webhook.events")).toBe(1);
        expect(last("vpn.network.flows")).toBeGreaterThan(0);
        for (const name of ["pending.entries", "pending.size", "orphan.stages", "orphan.size"])
          expect(last(`svc.ingress_wal.${name}`)).toBeDefined();
        expect(last("svc.ingress_wal.completion.markers")).toBe(0);
      },
      { timeout: 60_000, interval: 50 },
    );
    await vi.waitFor(
      async () => {
        expect(await site.component()).toEqual({
          name: "ingress_wal",
          enabled: true,
          failed: false,
        });
      },
      { timeout: 60_000, interval: 50 },
    );
  });

  it("applies every shape of body after a kill, in the order of acceptance, and then opens", async () => {
    const site = await newSite();
    await site.start();
    await site.ready();
    site.exported.answer = REFUSED;
    const many = ids("large", 1_000).map((id) => wrapped({ ...audit(id), old: "x".repeat(1_200) }));
    const shapes: readonly string[] = [
      text(wrapped(audit("concatenated-0")), wrapped(audit("concatenated-1"))),
      text(audit("object-0")),
      `${text(audit("line-0"))}\n${text(flow())}\n`,
      text([audit("list-0"), wrapped(audit("list-1"))]),
      text({ logs: [audit("wrapper-0"), flow()] }),
      text({ event: { event: { event: wrapped(audit("deep-0")) } } }),
      text(...many),
    ];
    for (const body of shapes) expect((await site.stream(body)).status).toBe(200);
    expect((await site.webhook(JSON.stringify([webhookEvent("after")]))).status).toBe(200);
    await site.daemon?.stop("SIGKILL");

    site.exported.clear();
    await site.start();
    await vi.waitFor(async () => expect(await site.readyz()).toBe("503 ingress_wal: replaying"), {
      timeout: 60_000,
      interval: 20,
    });
    // Until it is replayed, no receiver listens.
    expect(
      site.daemon?.stderr.filter((line) => line.includes("name=stream")).join(""),
    ).not.toContain("listening");
    site.exported.answer = { kind: "accept" };
    await site.ready();
    const found = [...site.audits().keys()];
    expect(found.slice(0, 8)).toEqual([
      "concatenated-0",
      "concatenated-1",
      "object-0",
      "line-0",
      "list-0",
      "list-1",
      "wrapper-0",
      "deep-0",
    ]);
    expect(new Set(site.audits().values())).toEqual(new Set([1]));
    expect(found.length).toBe(8 + many.length);
    expect(site.exported.logs().map(({ body }) => body)).toContain("after");
  });

  it("applies what was accepted when the clock is behind that time at the next start", async () => {
    const site = await newSite();
    await site.start();
    await site.ready();
    site.exported.answer = REFUSED;
    expect((await site.stream(text(wrapped(flow())))).status).toBe(200);
    await site.daemon?.stop("SIGKILL");
    // What was accepted an hour from now: as if the clock had been set back meanwhile.
    const signal = new AbortController().signal;
    const limits = { maxBytes: 2 ** 20, maxEntries: 10 };
    const { env, release } = await openIngressStore(
      { clock: systemClock, log, version: "0.0.0-test" },
      { ...limits, directory: join(site.state, "ingress-wal") },
      signal,
    );
    const journal = await Journal.open(env, limits, signal);
    const acceptedMs = Date.now() + 3_600_000;
    const network = [...journal.entries()][0]?.network ?? "";
    const body = Buffer.from(text(flow(acceptedMs)));
    await journal.append({ network, source: "stream", body, acceptedMs });
    await env.close();
    release();

    site.exported.clear();
    site.exported.answer = { kind: "accept" };
    await site.start();
    await expect.poll(() => site.readyz()).toBe("200 ok");
    const flows = site.exported.logs().filter(({ name }) => name === "vpn.network.flow");
    expect(flows).toHaveLength(2);
  });

  it("refuses what does not fit with a remedy, and takes bodies again once it was exported", async () => {
    const site = await newSite();
    await site.start({ ingress_wal: { max_entries: 2 } });
    await site.ready();
    site.exported.answer = REFUSED;
    const [first, ...others] = ["full-0", "full-1", "full-2"].map((id) => text(wrapped(audit(id))));
    expect((await site.stream(first ?? "")).status).toBe(200);
    expect((await site.stream(others[0] ?? "")).status).toBe(200);
    const refused = await site.stream(others[1] ?? "");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
    expect(JSON.parse(refused.body)).toEqual({
      text: "the ingress log is full; try again",
      code: 503,
    });
    // A retry of what is there is no new entry.
    expect((await site.stream(first ?? "")).status).toBe(200);
    await vi.waitFor(
      async () => expect(await site.readyz()).toMatch(/^503 ingress_wal: (full|retrying)$/),
      {
        timeout: 60_000,
        interval: 50,
      },
    );
    expect(await site.component()).toMatchObject({ enabled: true, failed: true });
    site.exported.answer = { kind: "accept" };
    await site.ready();
    expect((await site.stream(others[1] ?? "")).status).toBe(200);
    await vi.waitFor(() => expect(site.audits().size).toBe(3), { timeout: 60_000, interval: 50 });
    expect(new Set(site.audits().values())).toEqual(new Set([1]));
  });

  it("loses nothing in an outage longer than any request is tried", async () => {
    const site = await newSite();
    await site.start({ otlp: { timeout: "5s" } });
    await site.ready();
    site.exported.answer = REFUSED;
    expect((await site.stream(text(wrapped(audit("outage-0"))))).status).toBe(200);
    await expect
      .poll(() => site.daemon?.stderr.some((line) => line.includes("logs export failed")))
      .toBe(true);
    await expect.poll(() => site.readyz()).toBe("503 ingress_wal: retrying");
    expect((await site.stream(text(wrapped(audit("outage-1"))))).status).toBe(200);
    const { refused } = site.exported;
    await expect.poll(() => site.exported.refused).toBeGreaterThan(refused + 3);
    site.exported.answer = { kind: "accept" };
    await site.ready();
    await expect
      .poll(() => site.audits())
      .toEqual(
        new Map([
          ["outage-0", 1],
          ["outage-1", 1],
        ]),
      );
  });

  it("keeps at a stop what could not be exported, and drains what can", async () => {
    const site = await newSite();
    await site.start();
    await site.ready();
    expect((await site.stream(text(wrapped(audit("drained"))))).status).toBe(200);
    await site.daemon?.stop();
    expect(site.audits()).toEqual(new Map([["drained", 1]]));
    await site.start();
    await site.ready();
    site.exported.answer = REFUSED;
    expect((await site.stream(text(wrapped(audit("kept"))))).status).toBe(200);
    const { code } = (await site.daemon?.stop()) ?? {};
    expect(code).toBe(0);
    site.exported.answer = { kind: "accept" };
    await site.start();
    await site.ready();
    expect(site.audits()).toEqual(
      new Map([
        ["drained", 1],
        ["kept", 1],
      ]),
    );
  });

  it("is part of a backup, and what was accepted counts where that is restored", async () => {
    const site = await newSite();
    await site.start();
    await site.ready();
    site.exported.answer = REFUSED;
    expect((await site.stream(text(wrapped(audit("restored"))))).status).toBe(200);
    const target = join(temporaryFolder(), "backup");
    const { code, stderr } = await runSteward(["backup", target, "-config", site.config]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(readdirSync(target)).toContain("ingress.mdb");
    await site.daemon?.stop("SIGKILL");
    rmSync(join(site.state, "ingress-wal"), { recursive: true });
    mkdirSync(join(site.state, "ingress-wal"));
    copyFileSync(join(target, "ingress.mdb"), join(site.state, "ingress-wal", "ingress.mdb"));
    site.exported.clear();
    site.exported.answer = { kind: "accept" };
    await site.start();
    await site.ready();
    expect(site.audits()).toEqual(new Map([["restored", 1]]));
  });

  it("closes the receivers and says why when its files are damaged", async () => {
    const site = await newSite();
    await site.start();
    await site.ready();
    await site.daemon?.stop();
    const folder = join(site.state, "ingress-wal");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    truncateSync(join(folder, "ingress.mdb"), 1_000);
    await site.start();
    await vi.waitFor(async () => expect(await site.readyz()).toBe("503 ingress_wal: failed"), {
      timeout: 60_000,
      interval: 50,
    });
    expect(await site.component()).toEqual({
      name: "ingress_wal",
      enabled: true,
      failed: true,
      reason: "failed",
    });
    expect(site.daemon?.stderr.join("\n")).toContain("the ingress log has failed");
    expect(readdirSync(folder)).toContain("ingress.mdb");
  });
});

function webhookEvent(message: string): object {
  return {
    timestamp: new Date().toISOString(),
    version: 1,
    type: "nodeCreated",
    tailnet: "corp.test",
    message,
    data: { nodeID: "n1", deviceName: "alpha.example.net" },
  };
}
