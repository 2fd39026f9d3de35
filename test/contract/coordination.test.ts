/** Replicas that share one lease in a real etcd: one monitors, the others wait. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, it, vi } from "vitest";
import {
  type Etcd,
  hasEtcd,
  readKey,
  startEtcd,
  startProxy,
} from "../monitor/coordination/etcd.ts";
import { startApiServer } from "../monitor/coordination/kubernetes/api-server.ts";
import { startReceiver } from "../support/otlp/receiver.ts";
import { removeTemporaryFolders, rest, temporaryFolder } from "./daemon.ts";
import { changeIn } from "./audited-network.ts";
import { startEstate } from "./monitor-estate.ts";
import {
  holderOf,
  late,
  portOf,
  roleOf,
  senderOf,
  senders,
  SOON,
  startReplica,
  TTL_MS,
  type Replica,
} from "./replicas.ts";

afterAll(removeTemporaryFolders);

if (!hasEtcd)
  process.stderr.write("skipped: etcd is not on this machine, so no replicas were coordinated\n");

/** Written once an export was late, as on a busy machine. */
const FAILED_EXPORT: ReadonlySet<string> = new Set([
  "svc.export.diagnostics.suppressed",
  "svc.export.failures",
  "svc.export.lost",
]);

/** Up to where the audit log was read, as the holder of the lease keeps it for the next one. */
async function auditReadTo(etcd: Etcd): Promise<number> {
  const text = (await readKey(etcd, "/steward/steward-monitor/positions")) ?? "{}";
  const networks = Object.values(JSON.parse(text) as Record<string, Record<string, number>>);
  return Math.max(0, ...networks.map((marks) => marks["mark/auditlogs"] ?? 0));
}

/** The metrics of a standby by its page. */
function documented(): string[] {
  const page = readFileSync(join(import.meta.dirname, "../../docs/coordination.md"), "utf8");
  return (/```\n(process\.[^`]+)```/.exec(page)?.[1] ?? "").trim().split(/\s+/).toSorted();
}

describe.skipIf(!hasEtcd)("replicas", () => {
  it("monitor one at a time: a standby is ready, says so and exports its process alone", async () => {
    await using etcd = await startEtcd();
    await using estate = await startEstate({ talkers: 0 });
    const exported = await startReceiver({ protocol: "http" });
    const first = await startReplica("first", { estate, exported, etcd });
    await holderOf([first]);
    await vi.waitFor(() => expect(senders(exported.batches)).toContain("first"), SOON);
    const second = await startReplica("second", { estate, exported, etcd });
    await vi.waitFor(
      async () => expect(await roleOf(second)).toMatch(/^on: standby: .+ holds the lease$/),
      SOON,
    );
    await vi.waitFor(
      async () => expect((await rest(second.daemon, "GET", "/readyz")).text).toBe("ok\n"),
      SOON,
    );
    const verbose = await rest(second.daemon, "GET", "/readyz?verbose=1");
    expect(verbose.text).toMatch(/^coordination: ready, standby: .+ holds the lease$/m);
    const status = (await rest(second.daemon, "GET", "/api/status.json")).json;
    expect([status.health, status.collectors, status.networks]).toEqual(["healthy", [], []]);
    exported.clear();
    await vi.waitFor(
      () =>
        expect(
          exported.points().some(({ resource }) => resource["service.instance.id"] === "second"),
        ).toBe(true),
      SOON,
    );
    expect(exported.points().filter((point) => senderOf(point) === "second")).toEqual([]);
    const namesOf = (replica: string): string[] => [
      ...new Set(
        exported
          .points()
          .filter(({ resource }) => resource["service.instance.id"] === replica)
          .map(({ metric }) => metric)
          .filter((metric) => !FAILED_EXPORT.has(metric)),
      ),
    ];
    await vi.waitFor(() => expect(namesOf("second").toSorted()).toEqual(documented()), SOON);
    const held = (replica: string): unknown =>
      exported
        .points()
        .findLast(
          ({ metric, resource }) =>
            metric === "svc.coordination.held" && resource["service.instance.id"] === replica,
        )?.value;
    await vi.waitFor(() => {
      expect([held("first"), held("second")]).toEqual([1, 0]);
      expect(namesOf("first")).toContain("svc.coordination.epoch");
    }, SOON);

    // The first gives the lease back: the second takes over at once.
    const stopped = Date.now();
    expect(await first.daemon.stop()).toEqual({ code: 0, signal: null });
    await vi.waitFor(() => expect(senders(exported.batches)).toContain("second"), SOON);
    expect(await roleOf(second)).toMatch(/^on: holds the lease, epoch \d+$/);
    expect(Date.now() - stopped).toBeLessThan(2 * TTL_MS);
    expect(late(senders(exported.batches))).toBe(0);
    expect(await second.daemon.stop()).toEqual({ code: 0, signal: null });
    await exported.close();
  });

  it("refuse what their receivers get on standby, and take it once they hold the lease", async () => {
    await using etcd = await startEtcd();
    await using estate = await startEstate({ talkers: 0 });
    const exported = await startReceiver({ protocol: "http" });
    const sections = {
      streaming: { enabled: true, listen: "127.0.0.1:0", token: "a-token-of-the-stream" },
      webhook: { enabled: true, listen: "127.0.0.1:0", secret: "a-secret-of-the-webhook" },
      ingress_wal: { enabled: true },
      collectors: {
        devices: { interval: "1s" },
        flowlogs: { source: "stream" },
        auditlogs: { source: "stream" },
      },
    };
    const first = await startReplica("first", { estate, exported, etcd, sections });
    await holderOf([first]);
    const second = await startReplica("second", { estate, exported, etcd, sections });
    await vi.waitFor(async () => expect(await roleOf(second)).toMatch(/^on: standby: /), SOON);
    const post = async (replica: Replica, receiver: string, path: string) => {
      const answer = await fetch(`http://127.0.0.1:${portOf(replica, receiver)}${path}`, {
        method: "POST",
        headers: { authorization: "Splunk a-token-of-the-stream" },
        body: "{}",
      });
      return [answer.status, answer.headers.get("retry-after"), await answer.text()] as const;
    };
    const refused = [503, "5", "this replica is on standby; try again\n"] as const;
    const stream = "/services/collector/event";
    expect(await post(second, "stream", stream)).toEqual(refused);
    expect(await post(second, "webhook", "/webhook")).toEqual(refused);
    expect((await post(first, "stream", stream))[0]).not.toBe(503);
    await first.daemon.stop();
    await holderOf([second]);
    await vi.waitFor(
      async () => expect((await post(second, "stream", stream))[0]).not.toBe(503),
      SOON,
    );
    await vi.waitFor(
      async () => expect((await rest(second.daemon, "GET", "/readyz")).text).toBe("ok\n"),
      SOON,
    );
    await second.daemon.stop();
    await exported.close();
  });

  it.each(["SIGTERM", "SIGKILL"] as const)(
    "go on where the last holder had read to, after its %s: nothing is missing, nothing comes twice",
    async (signal) => {
      await using etcd = await startEtcd();
      await using estate = await startEstate({ talkers: 0 });
      const exported = await startReceiver({ protocol: "http" });
      const sections = {
        collectors: {
          devices: { interval: "1s" },
          flowlogs: { enabled: false },
          auditlogs: { interval: "1s", lag: "0s", initial_lookback: "1h" },
        },
      };
      const groups = (): string[] =>
        exported
          .logs()
          .flatMap(({ attributes }) => String(attributes["vpn.audit.event_group_id"] ?? ""))
          .filter((group) => group.startsWith("probe-"))
          .toSorted();
      const change = (number: number): void => estate.tailscale.estate.audit(changeIn(number));
      const first = await startReplica("first", { estate, exported, etcd, sections });
      await holderOf([first]);
      change(1);
      change(2);
      const changedMs = Date.now();
      await vi.waitFor(() => expect(groups()).toEqual(["probe-1", "probe-2"]), SOON);
      const second = await startReplica("second", { estate, exported, etcd, sections });
      await vi.waitFor(async () => expect(await roleOf(second)).toMatch(/^on: standby: /), SOON);
      // What was read is known to the others a moment later.
      await vi.waitFor(
        async () => expect(await auditReadTo(etcd)).toBeGreaterThan(changedMs),
        SOON,
      );
      await first.daemon.stop(signal);
      change(3);
      await holderOf([second]);
      await vi.waitFor(() => expect(groups()).toContain("probe-3"), SOON);
      await pause(1_500);
      expect(groups()).toEqual(["probe-1", "probe-2", "probe-3"]);
      await second.daemon.stop();
      await exported.close();
    },
  );

  it("wait while etcd cannot be reached, stay ready, and say what is wrong", async () => {
    await using estate = await startEstate({ talkers: 0 });
    await using etcd = await startEtcd();
    using proxy = await startProxy(etcd.endpoint);
    proxy.cut();
    const exported = await startReceiver({ protocol: "http" });
    const only = await startReplica("only", { estate, exported, etcd: proxy });
    await vi.waitFor(
      async () =>
        expect(await roleOf(only)).toBe(
          `on, failed: standby: the coordination service did not answer within ${TTL_MS / 2} ms`,
        ),
      SOON,
    );
    expect((await rest(only.daemon, "GET", "/readyz")).status).toBe(200);
    const status = (await rest(only.daemon, "GET", "/api/status.json")).json;
    expect(status.health).toBe("degraded");
    expect(status.health_problems).toEqual([
      {
        part: "coordination",
        reason: `component coordination: standby: the coordination service did not answer within ${TTL_MS / 2} ms`,
        remedy:
          "check coordination.endpoints, coordination.tls and the service itself; Steward goes on trying",
        link: "/monitor#config",
      },
    ]);
    proxy.mend();
    await holderOf([only]);
    await vi.waitFor(
      async () =>
        expect((await rest(only.daemon, "GET", "/api/status.json")).json.health).toBe("healthy"),
      SOON,
    );
    await only.daemon.stop();
    await exported.close();
  });
});

it("a daemon takes the lease of Kubernetes with the token of a file, and gives it back at its stop", async () => {
  await using api = await startApiServer("monitoring");
  await using estate = await startEstate({ talkers: 0 });
  const exported = await startReceiver({ protocol: "http" });
  const tokenFile = join(temporaryFolder(), "token");
  writeFileSync(tokenFile, api.token, { mode: 0o600 });
  const only = await startReplica("only", {
    estate,
    exported,
    etcd: { endpoint: "" },
    sections: {
      coordination: {
        mode: "kubernetes",
        endpoints: [api.url],
        namespace: "monitoring",
        lease_name: "home",
        lease_ttl: "30s",
        token_file: tokenFile,
      },
    },
  });
  await vi.waitFor(
    async () => expect(await roleOf(only)).toBe("on: holds the lease, epoch 1"),
    SOON,
  );
  await vi.waitFor(() => expect(senders(exported.batches)).toContain("only"), SOON);
  expect(api.lease("home")?.spec["holderIdentity"]).toMatch(/^.+\/[0-9A-Za-z]{6}$/);
  expect(await only.daemon.stop()).toEqual({ code: 0, signal: null });
  expect(api.lease("home")?.spec["holderIdentity"]).toBe("");
  await exported.close();
});
