/** The lease of replicas against a simulated API of Kubernetes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { systemClock as clock } from "../../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import { createLeaseApi } from "../../../../src/monitor/coordination/kubernetes/api.ts";
import { createKubernetesStore } from "../../../../src/monitor/coordination/kubernetes/store.ts";
import { createAuthority, hasOpenssl } from "../../../support/otlp/authority.ts";
import { startReplica, type TestReplica } from "../replica.ts";
import { startApiServer, type ApiServer } from "./api-server.ts";

const TTL_MS = 3_000;
const NAME = "steward-monitor";
const NAMESPACE = "monitoring";
const SOON = { timeout: 60_000, interval: 10 };
const folder = mkdtempSync(join(tmpdir(), "steward-lease-"));
const tokenFile = join(folder, "token");

afterAll(() => rmSync(folder, { recursive: true }));

interface Trust {
  readonly caFile?: string;
}

function storeOf({ url }: ApiServer, holder: string, { caFile = "" }: Trust = {}) {
  const api = createLeaseApi(
    { clock, ids: systemIds, version: "0.0.0", environment: {} },
    {
      mode: "kubernetes",
      leaseName: NAME,
      ttlMs: TTL_MS,
      endpoints: [url],
      namespace: NAMESPACE,
      tokenFile,
      tls: { caFile, certFile: "", keyFile: "" },
    },
  );
  return createKubernetesStore(api, {
    holder,
    ttlMs: TTL_MS,
    monotonic: () => clock.monotonic(),
    now: () => clock.now(),
  });
}

async function startApi(): Promise<ApiServer> {
  writeFileSync(tokenFile, "first\n");
  return await startApiServer(NAMESPACE);
}

const begin = (api: ApiServer, holder: string): TestReplica =>
  startReplica(storeOf(api, holder), TTL_MS);

const holds = (replica: TestReplica): Promise<void> =>
  vi.waitFor(() => expect(replica.tenures.at(-1)?.fence.isOpen()).toBe(true), SOON);

const waits = (replica: TestReplica, holder: string): Promise<void> =>
  vi.waitFor(
    () => expect(replica.election.state()).toMatchObject({ role: "standby", holder }),
    SOON,
  );

describe("the lease in Kubernetes", () => {
  it("is written as its other clients read it, and given back at the stop", async () => {
    await using api = await startApi();
    const replica = begin(api, "first");
    await holds(replica);
    expect(api.lease(NAME)?.spec).toEqual({
      holderIdentity: "first",
      leaseDurationSeconds: 3,
      leaseTransitions: 1,
      acquireTime: expect.stringMatching(/\.\d{6}Z$/),
      renewTime: expect.stringMatching(/\.\d{6}Z$/),
    });
    const before = api.lease(NAME)?.spec["renewTime"];
    await vi.waitFor(() => expect(api.lease(NAME)?.spec["renewTime"]).not.toBe(before), SOON);
    await replica.election.stop();
    expect(api.lease(NAME)?.spec).toMatchObject({ holderIdentity: "", leaseTransitions: 1 });
  });

  it("goes to the next at once when it is given back, with a greater epoch", async () => {
    await using api = await startApi();
    await using first = begin(api, "first");
    await holds(first);
    await using second = begin(api, "second");
    await waits(second, "first");
    const stoppedMs = clock.monotonic();
    await first.election.stop();
    await holds(second);
    expect(clock.monotonic() - stoppedMs).toBeLessThan(TTL_MS / 2);
    expect(second.tenures[0]!.epoch).toBeGreaterThan(first.tenures[0]!.epoch);
  });

  it("goes to one of many that try at the same moment", async () => {
    await using api = await startApi();
    const all = ["a", "b", "c", "d", "e", "f"].map((name) => begin(api, name));
    await vi.waitFor(() => expect(all.flatMap(({ tenures }) => tenures).length).toBe(1), SOON);
    const holder = String(api.lease(NAME)?.spec["holderIdentity"]);
    await Promise.all(
      all.flatMap((each) => (each.tenures.length === 0 ? [waits(each, holder)] : [])),
    );
    expect(all.flatMap(({ tenures }) => tenures).length).toBe(1);
    await Promise.all(all.map(({ election }) => election.stop()));
  });

  it("of a holder that is gone is taken over after its length, and not before", async () => {
    await using api = await startApi();
    await using first = begin(api, "first");
    await holds(first);
    api.edit(NAME, (lease) => {
      lease.spec["holderIdentity"] = "gone";
      // By its own clock it lies a day ahead: clocks of others do not count.
      lease.spec["renewTime"] = "2999-01-01T00:00:00.000000Z";
    });
    const seenMs = clock.monotonic();
    await vi.waitFor(() => expect(first.tenures[0]!.signal.aborted).toBe(true), SOON);
    await vi.waitFor(() => expect(first.tenures.length).toBe(2), SOON);
    expect(clock.monotonic() - seenMs).toBeGreaterThan(TTL_MS * 0.99);
    expect(clock.monotonic() - seenMs).toBeLessThan(2 * TTL_MS);
    expect(api.lease(NAME)?.spec).toMatchObject({ holderIdentity: "first", leaseTransitions: 2 });
  });

  it("stays with its holder when somebody else writes to the object, and keeps what they wrote", async () => {
    await using api = await startApi();
    await using first = begin(api, "first");
    await holds(first);
    api.edit(NAME, (lease) => {
      lease.metadata["labels"] = { team: "network" };
    });
    const edited = api.lease(NAME)?.metadata.resourceVersion;
    await vi.waitFor(
      () => expect(api.lease(NAME)?.metadata.resourceVersion).not.toBe(edited),
      SOON,
    );
    expect(api.lease(NAME)?.metadata["labels"]).toEqual({ team: "network" });
    expect(first.tenures[0]!.fence.isOpen()).toBe(true);
    expect(first.tenures.length).toBe(1);
  });

  it("is tried for again when the object was deleted", async () => {
    await using api = await startApi();
    await using first = begin(api, "first");
    await holds(first);
    api.remove(NAME);
    await vi.waitFor(() => expect(first.tenures[0]!.signal.aborted).toBe(true), SOON);
    expect(first.tenures[0]!.fence.isOpen()).toBe(false);
    await vi.waitFor(() => expect(first.tenures.length).toBe(2), SOON);
  });

  it("ends before another takes it when the holder's token has expired, and comes back with a new one", async () => {
    await using api = await startApi();
    await using first = begin(api, "first");
    await holds(first);
    api.token = "second";
    await vi.waitFor(() => expect(first.tenures[0]!.signal.aborted).toBe(true), SOON);
    expect(first.graces[0]).toBeGreaterThan(0);
    await vi.waitFor(
      () =>
        expect(first.election.state().problem).toBe(
          "kubernetes: read_lease: the credential was rejected (status 401)",
        ),
      SOON,
    );
    // The kubelet renews the file in place.
    writeFileSync(tokenFile, "second\n");
    await vi.waitFor(() => expect(first.tenures.length).toBe(2), SOON);
    expect(first.election.state().problem).toBeUndefined();
  });

  it("ends before another takes it when the API hangs", async () => {
    await using api = await startApi();
    await using first = begin(api, "first");
    await holds(first);
    await using second = begin(api, "second");
    await waits(second, "first");
    api.hung = true;
    await vi.waitFor(() => expect(first.tenures[0]!.fence.isOpen()).toBe(false), SOON);
    expect(second.tenures).toEqual([]);
    api.hung = false;
    await vi.waitFor(
      () => expect(first.tenures.length + second.tenures.length).toBeGreaterThan(1),
      SOON,
    );
  });

  it.each(["ended", "refused as too old"])(
    "is noticed to be free also when watches are %s",
    async (how) => {
      await using api = await startApi();
      await using first = begin(api, "first");
      await holds(first);
      await using second = begin(api, "second");
      await waits(second, "first");
      if (how === "ended") api.endWatches();
      else {
        api.tooOld = true;
        api.endWatches();
      }
      const stoppedMs = clock.monotonic();
      await first.election.stop();
      await holds(second);
      expect(clock.monotonic() - stoppedMs).toBeLessThan(2 * TTL_MS);
    },
  );

  it("keeps the positions of a holder for the next one, and of nobody else", async () => {
    await using api = await startApi();
    await using first = begin(api, "first");
    await holds(first);
    expect(first.tenures[0]!.positions).toBeUndefined();
    first.tenures[0]!.keep('{"home":{"mark/auditlogs":1}}');
    first.tenures[0]!.keep('{"home":{"mark/auditlogs":2}}');
    await first.election.stop();
    await using second = begin(api, "second");
    await holds(second);
    expect(second.tenures[0]!.positions).toBe('{"home":{"mark/auditlogs":2}}');
    const stale = { epoch: first.tenures[0]!.epoch, ttlMs: TTL_MS };
    using store = storeOf(api, "first");
    expect(await store.keepPositions(stale, "{}", new AbortController().signal)).toBe(false);
  });

  it.skipIf(!hasOpenssl)("is reached over TLS with the cluster's own authority alone", async () => {
    using authority = createAuthority();
    writeFileSync(tokenFile, "first\n");
    await using api = await startApiServer(NAMESPACE, authority.sign("api", "server"));
    const caFile = join(folder, "ca.crt");
    writeFileSync(caFile, authority.cert);
    const { signal } = new AbortController();
    using trusting = storeOf(api, "first", { caFile });
    expect(await trusting.acquire(signal)).toMatchObject({ grant: { epoch: 1n } });
    using other = storeOf(api, "second");
    await expect(other.acquire(signal)).rejects.toThrow("kubernetes: read_lease:");
  });
});
