/** Flows on disk, over the daemon's own API: restarts, kills, backups, files that cannot be used. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { flowStoreName } from "../../src/monitor/flowstore/disk/names.ts";
import { legacyDatabase } from "../monitor/flowstore/adoption/legacy-database.ts";
import { removeTemporaryFolders, rest, runSteward, temporaryFolder } from "./daemon.ts";
import { flow, Site, text } from "./ingress-site.ts";

afterAll(removeTemporaryFolders);

const SOON = { timeout: 60_000, interval: 50 };
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

async function newSite(): Promise<Site> {
  const site = await Site.make();
  open.push(site);
  return site;
}

async function start(site: Site, directory: string, more: object = {}, others: object = {}) {
  const store = { directory, flush_interval: "100ms", ...more };
  await site.start({ ingress_wal: { enabled: false }, flows: { store }, ...others });
  await site.ready();
}

async function get(site: Site, path: string): Promise<any> {
  const { status, json, text: body } = await rest(site.daemon as never, "GET", path);
  expect([status, body.slice(0, 200)]).toEqual([200, expect.anything()]);
  return json;
}
const report = (site: Site, query = "") => get(site, `/api/flows.json${query}`);
const statusOf = async (site: Site) => (await get(site, "/api/status.json")).flow_store;

/** Sends so many connections, and waits until they are on disk. */
async function send(site: Site, count: number): Promise<void> {
  const { rows: before = 0 } = (await statusOf(site)).backend;
  const body = text(...Array.from({ length: count }, () => flow()));
  expect((await site.stream(body)).status).toBe(200);
  await vi.waitFor(
    async () => expect((await statusOf(site)).backend.rows).toBe(before + count),
    SOON,
  );
}

describe("flows on disk", () => {
  it("are the same after a restart and after a kill, and pages go on", async () => {
    const site = await newSite();
    const directory = temporaryFolder();
    await start(site, directory);
    await send(site, 30);
    const first = await report(site, "?recent=10&top=200");
    expect(first).toMatchObject({
      retention: "720h0m0s",
      recent_matched: 30,
      recent_retained: 30,
      recent_truncated: false,
      result: { totals: { flows: 30, tx_bytes: 36_000 } },
      stats: { capacity: 0, observations: 30, truncated: 0 },
    });
    expect(first.stats.backend).toEqual({
      kind: "lmdb",
      healthy: true,
      path: expect.stringContaining(`${directory}/flows-`),
      rows: 30,
      size_bytes: expect.any(Number),
    });
    await site.daemon?.stop("SIGKILL");
    await start(site, directory);
    const second = await report(site, `?recent=10&cursor=${first.next_cursor}`);
    const whole = await report(site);
    expect(whole.recent).toHaveLength(30);
    expect([...first.recent, ...second.recent]).toEqual(whole.recent.slice(0, 20));
    expect(whole.result.totals).toEqual(first.result.totals);
    expect(whole.stats.observations).toBe(0);
    const page = (await rest(site.daemon as never, "GET", "/flows")).text;
    for (const shown of ["7 days", "30 days", "Connections stored", "the oldest "])
      expect([shown, page.includes(shown)]).toEqual([shown, true]);
    const before = "2026-01-02T00:00:00Z";
    const long = (await rest(site.daemon as never, "GET", `/flows?end=${before}&window=1h`)).text;
    expect(long).toContain("No traffic within this window");
    await send(site, 5);
    expect((await report(site)).recent_matched).toBe(35);
    expect(await statusOf(site)).toEqual({
      enabled: true,
      buckets: expect.any(Number),
      capacity: 0,
      estimated_bytes: 0,
      max_recent: 50_000,
      observations: 5,
      truncated: 0,
      capacity_profile: "lmdb",
      covered: expect.stringMatching(/^\d+m0s$/),
      retention: "720h0m0s",
      backend: {
        kind: "lmdb",
        healthy: true,
        persistent: true,
        rows: 35,
        size_bytes: expect.any(Number),
      },
    });
  });

  it("are exported up to the limit, newest first, and say where they came from", async () => {
    const site = await newSite();
    await start(site, temporaryFolder(), { max_export_rows: 100 });
    await send(site, 120);
    const exported = await get(site, "/api/flows/export.json");
    expect(exported).toMatchObject({
      source: "lmdb",
      source_note: expect.stringContaining("at most 100"),
      matched: 120,
      returned: 100,
      retained: 120,
      truncated: true,
    });
    expect(exported.rows).toEqual((await report(site, "?recent=100")).recent);
    const { text: csv } = await rest(site.daemon as never, "GET", "/api/flows/export.csv");
    expect(
      csv
        .trim()
        .split("\n")
        .filter((line) => !line.startsWith("#")),
    ).toHaveLength(101);
    expect(csv).toContain("# source=lmdb (");
  });

  it("have nothing on disk that the privacy filter hides", async () => {
    const site = await newSite();
    const directory = temporaryFolder();
    await start(site, directory, {}, { pii_filter: { vpn_ips: false, node_ids: false } });
    await send(site, 3);
    const [row] = (await report(site)).recent;
    expect([row.src_addr, row.dst_addr, row.reporter_node_id]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(row.counts.tx_bytes).toBe(1_200);
  });

  it("are part of a backup, and are checked there", async () => {
    const site = await newSite();
    const directory = temporaryFolder();
    await start(site, directory);
    await send(site, 7);
    const target = join(temporaryFolder(), "copy");
    const backup = await runSteward(["backup", target, "--config", site.config]);
    expect([backup.code, backup.stderr]).toEqual([0, ""]);
    const name = readdirSync(target).find((file) => /^flows-.*\.mdb$/.test(file));
    expect(name).toBeDefined();
    const check = await runSteward(["check", target]);
    expect(check.code).toBe(0);
    expect(check.stdout).toMatch(
      /flows-.*\.mdb: SOUND, .*schema 1, rows: blocks 1, owner 1, rows 1, sums 1\n(?! {2}note: no store)/,
    );
    // The copy in the place of the folder has the same flows.
    await site.daemon?.stop();
    const restored = temporaryFolder();
    writeFileSync(join(restored, name as string), readFileSync(join(target, name as string)));
    await start(site, restored);
    expect((await report(site)).recent_matched).toBe(7);
  });

  it("of a file that cannot be used are not shown, the log says why, and the rest works", async () => {
    const site = await newSite();
    const directory = temporaryFolder();
    await start(site, directory);
    await send(site, 3);
    const { path } = (await report(site)).stats.backend;
    await site.daemon?.stop();
    const damaged = readFileSync(path).fill(7, 0, 9_000);
    writeFileSync(path, damaged);
    await site.start({ ingress_wal: { enabled: false }, flows: { store: { directory } } });
    await site.ready();
    const refused = await rest(site.daemon as never, "GET", "/api/flows.json");
    expect([refused.status, refused.text]).toEqual([
      404,
      expect.stringContaining("the files in flows.store.directory cannot be used"),
    ]);
    expect(site.daemon?.stderr.join("\n")).toMatch(
      / error flows: flows of this network are not stored/,
    );
    expect(await statusOf(site)).toMatchObject({
      enabled: false,
      backend: { kind: "lmdb", healthy: false, errors: [expect.stringContaining(path)] },
    });
    expect((await site.stream(text(flow()))).status).toBe(200);
    expect(readFileSync(path).equals(damaged)).toBe(true);
  });

  it("of the predecessor are adopted by a command, and only then shown", async () => {
    const site = await newSite();
    const directory = temporaryFolder();
    const legacy = legacyDatabase(directory, { network: "-", rows: 25 });
    await start(site, directory);
    const refused = await rest(site.daemon as never, "GET", "/api/flows.json");
    expect(refused.status).toBe(404);
    expect(site.daemon?.stderr.join("\n")).toContain(`${legacy} has not been adopted`);
    const adopt = (network: string) =>
      runSteward(["-config", site.config, "-adopt-flow-db", network]);
    const busy = await adopt("-");
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining("flows.store.directory")]);
    await site.daemon?.stop();
    const unknown = await adopt("elsewhere");
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('no network "elsewhere" is configured'),
    ]);
    const file = join(directory, `${flowStoreName("-")}.mdb`);
    expect(await adopt("-")).toEqual({
      code: 0,
      stdout: `adopted 25 rows of ${legacy}, now ${legacy}.adopted, into ${file}\n`,
      stderr: "",
    });
    expect((await adopt("-")).stdout).toBe(`nothing to adopt: there is no ${legacy}\n`);
    await start(site, directory);
    expect((await report(site)).recent_matched).toBe(25);
    await send(site, 2);
    expect((await report(site)).recent_matched).toBe(27);
  });

  it("are refused and counted while too many wait", async () => {
    const site = await newSite();
    await start(
      site,
      temporaryFolder(),
      { queue_size: 64, batch_size: 64, flush_interval: "5m" },
      {
        otlp: {
          endpoint: site.exported.endpoint,
          metric_interval: "100ms",
          retry: { enabled: false },
        },
      },
    );
    expect((await site.stream(text(...Array.from({ length: 200 }, () => flow())))).status).toBe(
      200,
    );
    await vi.waitFor(async () => {
      const { backend, truncated } = await statusOf(site);
      expect(backend.queue_drops).toBe(truncated);
      expect(backend.queue_drops + (backend.rows ?? 0) + (backend.queued ?? 0)).toBe(200);
      const dropped = site.exported
        .points()
        .findLast(
          ({ metric, attributes }) =>
            metric === "vpn.network.store.dropped" && attributes["reason"] === "queue_full",
        );
      expect(dropped?.value).toBe(backend.queue_drops);
      expect(backend.queue_drops).toBeGreaterThan(0);
    }, SOON);
  });
});

describe("the keys of the store on disk", () => {
  const validate = async (flows: object, more: object = {}) => {
    const file = join(temporaryFolder(), "steward.yaml");
    writeFileSync(file, JSON.stringify({ flows, ...more }));
    return await runSteward(["-validate", "-config", file]);
  };
  const directory = "/var/lib/steward/flows";
  it.each<[object, RegExp]>([
    [{ retention: "59m" }, /flows\.store\.retention.*between 1h0m0s and 8760h0m0s/],
    [{ retention: "8761h" }, /flows\.store\.retention/],
    [{ max_rows: 9_999 }, /flows\.store\.max_rows.*between 10000 and 1000000000/],
    [{ max_export_rows: 99 }, /flows\.store\.max_export_rows.*between 100 and 1000000/],
    [{ queue_size: 63 }, /flows\.store\.queue_size.*between 64 and 1048576/],
    [{ batch_size: 0 }, /flows\.store\.batch_size.*between 1 and 100000/],
    [
      { queue_size: 64, batch_size: 65 },
      /flows\.store\.batch_size.*at most flows\.store\.queue_size \(64\)/,
    ],
    [{ flush_interval: "99ms" }, /flows\.store\.flush_interval.*between 100ms and 5m0s/],
    [{ query_timeout: "301s" }, /flows\.store\.query_timeout.*between 1s and 5m0s/],
    [{ sweep_interval: "25h" }, /flows\.store\.sweep_interval.*between 1m0s and 24h0m0s/],
  ])("refuse %o beside a folder, and ignore it without one", async (keys, message) => {
    const refused = await validate({ store: { directory, ...keys } });
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([
      1,
      expect.stringMatching(message),
    ]);
    expect((await validate({ store: keys })).code).toBe(0);
  });

  it("refuse a folder that others use, and say what is ignored", async () => {
    const own = await validate({ store: { directory } }, { state: { directory } });
    expect([own.code, own.stderr]).toEqual([1, expect.stringContaining("is the folder of state")]);
    const root = await validate({ store: { directory: "/" } });
    expect([root.code, root.stderr]).toEqual([1, expect.stringContaining("below the root")]);
    const idle = await validate({ retention: "2h", store: { directory: temporaryFolder() } });
    expect([idle.code, idle.stdout + idle.stderr]).toEqual([
      0,
      expect.stringMatching(/flows\.retention.*is ignored: flows\.store\.directory is set/),
    ]);
  });
});
