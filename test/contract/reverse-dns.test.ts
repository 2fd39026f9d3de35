/** Names of external addresses from a real resolver on loopback, and their purge. */
import { afterAll, expect, it, vi } from "vitest";
import { ReverseDnsService } from "../../src/gen/steward/monitor/v1/reverse_dns_service_pb.ts";
import { startDns } from "../support/dns.ts";
import { removeTemporaryFolders, rest, startDaemon, temporaryFolder } from "./daemon.ts";
import { post, startReceiving, TOKEN } from "./receivers.ts";
import { grpcUnary } from "./rpc.ts";

afterAll(removeTemporaryFolders);

const PURGE = "/api/rdns/purge";
const SOON = { timeout: 60_000, interval: 50 };

let next = 0;
/** A connection from a node of the network to an address outside. */
function flowTo(address: string): string {
  next += 1;
  const at = (ms: number): string => new Date(Date.now() - 10_000 + ms).toISOString();
  return JSON.stringify({
    event: {
      logged: at(5_000),
      nodeId: "nAAAcntrl",
      start: at(0),
      end: at(4_000),
      exitTraffic: [
        {
          proto: 6,
          src: `100.64.0.7:${1024 + next}`,
          dst: `${address}:443`,
          txPkts: 9,
          txBytes: 1_200,
          rxPkts: 8,
          rxBytes: 5_400,
        },
      ],
    },
  });
}

it("names external addresses by reverse DNS, shows it in status and metrics, and forgets when told to", async () => {
  await using dns = await startDns((question) =>
    question.startsWith("7.113.0.203") ? ["zz.example.net", "Host.Example.net"] : "none",
  );
  await using receiving = await startReceiving({
    streaming: { enabled: true, listen: "127.0.0.1:0", token: TOKEN },
    enrichment: {
      // No question may run out of time on a busy machine: each is counted.
      reverse_dns: {
        enabled: true,
        server: dns.address,
        timeout: "60s",
        acknowledge_cardinality: true,
      },
    },
  });
  const { daemon } = receiving;
  const send = async (address: string): Promise<void> => {
    const headers = { authorization: `Splunk ${TOKEN}` };
    const body = flowTo(address);
    expect((await post(receiving.port("stream"), { headers, body })).status).toBe(200);
  };
  const status = async () => (await rest(daemon, "GET", "/api/status.json")).json.reverse_dns;
  const bytesTo = (node: string): number =>
    receiving.sum("vpn.network.io.rollup", {
      "vpn.dst.node": node,
      "network.io.direction": "transmit",
    });

  await send("203.0.113.7");
  await send("203.0.113.8");
  await vi.waitFor(async () => expect(await status()).toMatchObject({ query_success: 2 }), SOON);
  await send("203.0.113.7");
  await send("203.0.113.8");
  await send("100.64.0.99");
  await vi.waitFor(() => expect(bytesTo("host.example.net")).toBe(1_200), SOON);
  expect(dns.questions.toSorted()).toEqual([
    "7.113.0.203.in-addr.arpa",
    "8.113.0.203.in-addr.arpa",
  ]);
  // Of four look-ups, the second of the name that was found is the only hit.
  await vi.waitFor(
    async () =>
      expect(await status()).toEqual({
        enabled: true,
        capacity: 50_000,
        evicted_expired: 0,
        evicted_purged: 0,
        hits: 1,
        misses: 2,
        negatives: 1,
        overflows: 0,
        query_fail: 0,
        query_success: 2,
        size: 2,
        hit_rate_pct: 25,
        negative_ttl: "5m0s",
        ttl: "1d0h",
      }),
    SOON,
  );
  await vi.waitFor(
    () => expect(receiving.sum("vpn.rdns.queries", { result: "success" })).toBe(2),
    SOON,
  );

  const wrong = await rest(daemon, "GET", PURGE);
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
  const foreign = await rest(daemon, "POST", PURGE, undefined, {
    "sec-fetch-site": "cross-site",
  });
  expect(foreign.status).toBe(403);
  const purged = await rest(daemon, "POST", PURGE);
  expect([purged.status, purged.json]).toEqual([200, { purged: 2, enabled: true }]);
  await vi.waitFor(
    async () =>
      expect(await status()).toMatchObject({
        size: 0,
        evicted_purged: 2,
        last_purge: expect.stringMatching(/Z$/),
      }),
    SOON,
  );
  const { purgeReverseDns } = ReverseDnsService.method;
  expect(await grpcUnary(new URL(daemon.url).host, purgeReverseDns, {})).toMatchObject({
    enabled: true,
  });
});

it("answers a purge while it is off", async () => {
  const config = JSON.stringify({
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: temporaryFolder() },
    services: { dedup: false, tokens: false },
  });
  const daemon = await startDaemon({ config });
  const { status, json } = await rest(daemon, "POST", PURGE);
  expect([status, json]).toEqual([200, { purged: 0, enabled: false }]);
  await daemon.stop();
});
