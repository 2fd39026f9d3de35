/** `/api/events.json` of a running daemon, row by row, over REST, Connect and gRPC. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { AuditEvent } from "../../src/demo/network/audit.ts";
import type { Tailscale } from "../../src/demo/tailscale/types.ts";
import { EventService } from "../../src/gen/steward/monitor/v1/event_service_pb.ts";
import { ada, auditedConfiguration, changeIn, startAudited } from "./audited-network.ts";
import {
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { rawRequest } from "./raw-request.ts";
import { grpcUnary } from "./rpc.ts";

afterAll(removeTemporaryFolders);

const CAPACITY = 100;
const EVENTS_RPC = "/steward.monitor.v1.EventService/ListEvents";
const connect = { "content-type": "application/json", "connect-protocol-version": "1" };
const bob = { id: "u-bob", type: "USER", loginName: "probe-Bob@corp.test", displayName: "Bob" };

async function events(daemon: Daemon, query = ""): Promise<Record<string, any>> {
  const { status, json } = await rest(daemon, "GET", `/api/events.json${query}`);
  expect(status).toBe(200);
  return json;
}

describe("stored events", () => {
  let tailscale: Tailscale;
  let daemon: Daemon;
  let changed = 0;
  const change = (given: Partial<AuditEvent>): void => {
    changed += 1;
    tailscale.estate.audit(changeIn(changed, given));
  };
  /** Waits until this many of the test's own events are stored. */
  const stored = async (count: number): Promise<void> => {
    await vi.waitFor(
      async () => expect((await events(daemon, "?actor=probe")).matched).toBe(count),
      { timeout: 60_000, interval: 100 },
    );
  };

  beforeAll(async () => {
    tailscale = await startAudited();
    daemon = await startDaemon({ config: auditedConfiguration(tailscale, CAPACITY) });
    change({ old: "before", new: { tags: ["tag:web"] } });
    await stored(1);
    change({ actor: bob, action: "CREATE", error: "not allowed" });
    await stored(2);
    change({ actor: bob, origin: "CONFIG_API", target: { id: "k-1", type: "API_KEY" } });
    change({ details: "é".repeat(9_000), target: { id: "n-long", name: "<b>&", type: "NODE" } });
    await stored(4);
  });
  afterAll(async () => {
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    await tailscale.stop();
  });

  it("come with every field, newest first, although the privacy filter hides them from exports", async () => {
    const list = await events(daemon, "?actor=probe");
    expect(Object.keys(list)).toEqual([
      "schema_version",
      "stats",
      "rows",
      "filters",
      "generated_at",
      "matched",
      "returned",
      "retained",
      "truncated",
    ]);
    expect(list).toMatchObject({
      schema_version: 1,
      filters: { actor: "probe" },
      matched: 4,
      returned: 4,
      truncated: false,
      stats: { capacity: CAPACITY, evicted: 0 },
    });
    expect([list.stats.retained, list.stats.recorded]).toEqual([list.retained, list.retained]);
    expect(Date.parse(list.stats.latest)).toBeGreaterThanOrEqual(Date.parse(list.stats.earliest));
    const [long, key, failed, first] = list.rows;
    expect(first).toEqual({
      time: expect.stringMatching(/^20\d\d-.*Z$/),
      source: "audit",
      network: tailscale.tailnet,
      action: "UPDATE",
      type: "CONFIG",
      origin: "ADMIN_CONSOLE",
      actor_id: "u-ada",
      actor_name: "probe-Ada@corp.test",
      actor_type: "USER",
      target_id: "n-probe",
      target_name: "Probe-web",
      target_type: "NODE",
      target_property: "ACL_TAGS",
      severity: "info",
      summary: "UPDATE on NODE.ACL_TAGS via ADMIN_CONSOLE",
      details: 'old: before\nnew: {"tags":["tag:web"]}',
      seq: expect.any(Number),
    });
    expect(failed).toMatchObject({ action: "CREATE", severity: "warn", error: "not allowed" });
    expect([key.target_name, key.target_property, key.details]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([long.truncated, Buffer.byteLength(long.details)]).toEqual([true, 4_096 + 14]);
  });

  it.each([
    ["?source=AUDIT&actor=probe", 4],
    ["?source=aud&actor=probe", 0],
    ["?source=webhook", 0],
    ["?severity=WARN&actor=probe", 1],
    ["?type=config&actor=probe", 4],
    ["?type=conf", 0],
    ["?actor=probe-BOB@", 2],
    ["?actor=u-ADA", 2],
    ["?target=probe-WEB", 2],
    ["?target=K-1", 1],
    ["?action=reat&actor=probe", 1],
    ["?errors=1&actor=probe", 1],
    ["?errors=yes&actor=probe", 1],
    ["?errors=0&actor=probe", 4],
    ["?errors=FALSE&actor=probe", 4],
    ["?errors=&source=&target=&actor=probe", 4],
    ["?actor=bob&errors=1&action=update", 0],
    ["?start=2999-01-01T00:00:00Z", 0],
    ["?end=2000-01-01T00:00:00Z", 0],
    ["?start=yesterday&end=soon&actor=probe", 4],
    ["?start=2000-01-01T00:00:00Z&end=2999-01-01T00:00:00Z&actor=probe", 4],
    ["?unknown=1&actor=probe", 4],
  ])("are selected by %s: %d", async (query, matched) => {
    const list = await events(daemon, query);
    expect([list.matched, list.returned, list.rows.length]).toEqual([matched, matched, matched]);
  });

  it("show the filters that apply, and none where there is none", async () => {
    expect((await events(daemon)).filters).toBeUndefined();
    expect((await events(daemon, "?errors=0&actor=")).filters).toBeUndefined();
    expect((await events(daemon, "?errors=1&source=audit&target=x")).filters).toEqual({
      source: "audit",
      target: "x",
      errors: true,
    });
  });

  it("come in pages by cursor, and an invalid one begins with the newest", async () => {
    const pages: string[][] = [];
    let cursor: string | undefined = "";
    while (cursor !== undefined) {
      const page = await events(daemon, `?actor=probe&limit=3&cursor=${cursor}`);
      pages.push(page.rows.map(({ seq }: { seq: number }) => seq));
      expect(page.matched).toBe(4);
      cursor = page.next_cursor as string | undefined;
    }
    expect(pages.map((page) => page.length)).toEqual([3, 1]);
    expect(pages.flat()).toEqual(pages.flat().toSorted((a, b) => Number(b) - Number(a)));
    const first = await events(daemon, "?actor=probe&limit=3");
    expect(Buffer.from(first.next_cursor, "base64url").toString()).toMatch(/^v1:\d+$/);
    for (const wrong of [
      "x",
      "djI6MTc",
      "%ff",
      `${first.next_cursor}&cursor=again`,
      "9".repeat(500),
    ])
      expect((await events(daemon, `?actor=probe&cursor=${wrong}`)).returned).toBeGreaterThan(0);
  });

  it.each([
    ["0", 0],
    ["-1", 0],
    ["2", 2],
    ["1000", 4],
    ["99999999999999999999", 4],
    ["x", 4],
    ["1.5", 4],
    ["", 4],
    ["1&limit=3", 1],
  ])("are cut at a limit of %s, which is never an error", async (limit, returned) => {
    const list = await events(daemon, `?actor=probe&limit=${limit}`);
    expect([list.returned, list.matched]).toEqual([returned, 4]);
    if (returned === 0) expect(list.next_cursor).toBeUndefined();
  });

  it.each(["source", "severity", "type", "actor", "target", "action", "errors"])(
    "are refused with 400 for more than 128 bytes in %s, and not for 128",
    async (name) => {
      const bytes = "é".repeat(64);
      expect(
        (
          await rawRequest(
            daemon.url,
            "GET",
            `/api/events.json?${name}=${encodeURIComponent(bytes)}`,
          )
        ).status,
      ).toBe(200);
      const refused = await rawRequest(
        daemon.url,
        "GET",
        `/api/events.json?${name}=${encodeURIComponent(`${bytes}x`)}`,
      );
      expect([refused.status, refused.headers["content-type"]]).toEqual([
        400,
        "text/plain; charset=utf-8",
      ]);
      expect(refused.text).toContain(name);
      expect(refused.text).toContain("128 bytes");
    },
  );

  it("are the same over Connect and gRPC", async () => {
    const request = { actor: "probe", limit: 3 };
    const { json } = await rest(daemon, "POST", EVENTS_RPC, request, connect);
    const { events: list } = await grpcUnary(daemon.host, EventService.method.listEvents, request);
    const over = await events(daemon, "?actor=probe&limit=3");
    expect(json.events.rows.map(({ seq }: { seq: string }) => Number(seq))).toEqual(
      over.rows.map(({ seq }: { seq: number }) => seq),
    );
    expect(list?.rows.map(({ seq }) => Number(seq))).toEqual(
      over.rows.map(({ seq }: { seq: number }) => seq),
    );
    expect([list?.nextCursor, json.events.nextCursor]).toEqual([
      over.next_cursor,
      over.next_cursor,
    ]);
    const long = await rest(daemon, "POST", EVENTS_RPC, { actor: "x".repeat(129) }, connect);
    expect([long.status, long.json.code]).toEqual([400, "invalid_argument"]);
  });

  it("evict the oldest when the store is full, and say so here and in the status", async () => {
    const before = (await events(daemon)).retained as number;
    for (let at = 0; at < CAPACITY; at += 1) change({ actor: { ...ada, id: `u-${at}` } });
    await vi.waitFor(
      async () =>
        expect((await events(daemon)).stats.recorded).toBeGreaterThanOrEqual(before + CAPACITY),
      { timeout: 60_000, interval: 100 },
    );
    await vi.waitFor(
      async () => {
        const page = await events(daemon, "?limit=60");
        const older = await events(daemon, `?cursor=${page.next_cursor}`);
        // The simulated network may have a change of its own meanwhile.
        expect(older.stats.recorded).toBe(page.stats.recorded);
        const { stats, retained, truncated, matched } = page;
        expect([retained, truncated, stats.retained, matched]).toEqual([
          CAPACITY,
          true,
          CAPACITY,
          CAPACITY,
        ]);
        expect(stats.evicted).toBe(stats.recorded - CAPACITY);
        expect(older.returned).toBe(40);
      },
      { timeout: 60_000, interval: 100 },
    );
    await vi.waitFor(
      async () => {
        // The simulated network may have a change of its own meanwhile.
        const { evicted, recorded } = (await events(daemon)).stats;
        expect((await rest(daemon, "GET", "/api/status.json")).json.event_store).toEqual({
          capacity: CAPACITY,
          enabled: true,
          evicted,
          recorded,
          retained: CAPACITY,
        });
      },
      { timeout: 60_000, interval: 100 },
    );
  });
});

describe("events without a network", () => {
  const idle = {
    STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    STEWARD_SERVICES__DEDUP: "false",
    STEWARD_SERVICES__TOKENS: "false",
  };
  const start = (more: Readonly<Record<string, string>> = {}): Promise<Daemon> =>
    startDaemon({ env: { ...idle, STEWARD_STATE__DIRECTORY: temporaryFolder(), ...more } });

  it("are none, with the year 1 as their times", async () => {
    const daemon = await start();
    const list = await events(daemon);
    expect(list).toEqual({
      schema_version: 1,
      stats: {
        capacity: 5_000,
        retained: 0,
        recorded: 0,
        evicted: 0,
        earliest: "0001-01-01T00:00:00Z",
        latest: "0001-01-01T00:00:00Z",
      },
      rows: [],
      generated_at: expect.any(String),
      matched: 0,
      returned: 0,
      retained: 0,
      truncated: false,
    });
    await daemon.stop();
  });

  it.each([
    { STEWARD_EVENTS__ENABLED: "false" },
    { STEWARD_ADMIN__ENABLED: "false" },
    { STEWARD_ADMIN__LANDING_PAGE: "false" },
  ])("are unknown by every protocol with %o", async (more) => {
    const daemon = await start(more);
    const refused = await rawRequest(daemon.url, "GET", "/api/events.json");
    expect([refused.status, refused.text]).toEqual([404, "404 page not found\n"]);
    expect((await rawRequest(daemon.url, "GET", "/events")).status).toBe(404);
    expect((await rawRequest(daemon.url, "POST", EVENTS_RPC, connect, "{}")).status).toBe(404);
    if (more.STEWARD_EVENTS__ENABLED !== undefined)
      expect((await rest(daemon, "GET", "/api/status.json")).json.event_store).toEqual({
        capacity: 0,
        enabled: false,
        evicted: 0,
        recorded: 0,
        retained: 0,
      });
    await daemon.stop();
  });

  it("are refused a size out of range only while they are stored", async () => {
    const validate = async (enabled: string, size: string) =>
      await runSteward(["-validate"], {
        env: { STEWARD_EVENTS__ENABLED: enabled, STEWARD_EVENTS__MAX_EVENTS: size },
      });
    const few = await validate("true", "99");
    expect([few.code, `${few.stdout}${few.stderr}`]).toEqual([
      1,
      expect.stringMatching(/events\.max_events.*between 100 and 100000/),
    ]);
    expect([(await validate("true", "100001")).code, (await validate("false", "99")).code]).toEqual(
      [1, 0],
    );
  });
});
