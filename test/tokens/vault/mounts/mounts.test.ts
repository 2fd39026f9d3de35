import { describe, expect, it, vi } from "vitest";
import { EmptyFieldsSchema } from "../../../../src/gen/steward/tokens/v1/sys_fields_pb.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import type { Env } from "../../../../src/kernel/state/types.ts";
import { createBackend } from "../../../../src/tokens/logical/backend.ts";
import { definePath } from "../../../../src/tokens/logical/define-path.ts";
import type { Backend, Host } from "../../../../src/tokens/logical/types.ts";
import {
  createMounts,
  type Mount,
  type Mounts,
  type MountsDeps,
  type MountSpec,
} from "../../../../src/tokens/vault/mounts/mounts.ts";
import {
  mountRows,
  mountTables,
  storedValues,
} from "../../../../src/tokens/vault/mounts/tables.ts";
import { quietLog, temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { createManualClock } from "../../../kernel/supervisor/manual-clock.ts";
import { openUnsealed } from "../fixtures/environment.ts";

const HOUR_MS = 3_600_000;

function fakeBackend(close: () => void = () => undefined): Backend {
  return createBackend({
    type: "fake",
    help: "",
    close: async () => close(),
    paths: [
      definePath({
        pattern: "x",
        fields: EmptyFieldsSchema,
        operations: { read: async () => undefined },
        synopsis: "s",
        description: "d",
      }),
    ],
  });
}

function spec(path: string, more: Partial<MountSpec> = {}): MountSpec {
  return {
    path,
    class: "secret",
    type: "fake",
    description: "",
    defaultLeaseTtlMs: 0,
    maxLeaseTtlMs: 0,
    ...more,
  };
}

interface Bench {
  readonly env: Env;
  readonly directory: string;
  readonly mounts: Mounts;
  readonly hosts: Host[];
  closed: number;
  readonly ended: string[];
}

async function bench(
  more: Partial<MountsDeps> & { readonly directory?: string } = {},
): Promise<Bench> {
  const { env, directory } = await openUnsealed(mountTables, more.directory ?? temporaryFolder());
  const made: Pick<Bench, "env" | "directory" | "hosts" | "closed" | "ended"> = {
    env,
    directory,
    hosts: [],
    closed: 0,
    ended: [],
  };
  const sys = {
    point: "sys/",
    class: "system" as const,
    type: "system",
    accessor: "s",
    uuid: "s",
    description: "",
    defaultLeaseTtlMs: 0,
    maxLeaseTtlMs: 0,
    options: {},
    declared: false,
    trusted: true,
    backend: fakeBackend(),
  };
  const mounts = createMounts({
    env,
    clock: systemClock,
    ids: systemIds,
    log: quietLog,
    fixed: [sys],
    declared: [],
    system: { defaultLeaseTtlMs: 768 * HOUR_MS, maxLeaseTtlMs: 768 * HOUR_MS },
    factories: {
      secret: {
        fake: async (host) => {
          made.hosts.push(host);
          return fakeBackend(() => (made.closed += 1));
        },
      },
      auth: {},
    },
    endLeases: async (prefix) => void made.ended.push(prefix),
    ...more,
  });
  return Object.assign(made, { mounts });
}

describe("mounts", () => {
  it("answer for the longest path that matches", async () => {
    const { mounts } = await bench();
    await mounts.enable(spec("a/"));
    await mounts.enable(spec("team/b/"));
    expect(mounts.match("a/x/y")).toMatchObject({ mount: { point: "a/" }, rest: "x/y" });
    expect(mounts.match("team/b/x")).toMatchObject({ mount: { point: "team/b/" }, rest: "x" });
    expect(mounts.match("team/b")).toMatchObject({ mount: { point: "team/b/" }, rest: "" });
    expect(mounts.match("team/x")).toBeUndefined();
    expect(mounts.match("ab/x")).toBeUndefined();
    expect(mounts.match("")).toBeUndefined();
  });

  it.each([
    [spec("a/b/"), "path is already in use at a/"],
    [spec("a/"), "path is already in use at a/"],
    [spec("sys/x/"), "reserved"],
    [spec("auth/x/"), "reserved"],
    [spec("cubbyhole/"), "reserved"],
    [spec("identity/"), "reserved"],
    [spec("/"), "one to eight segments"],
    [spec("a b/"), "one to eight segments"],
    [spec("../x/"), "one to eight segments"],
    [spec("n/", { type: "nope" }), "plugin not found in the catalog: nope"],
    [spec("n/", { type: "constructor" }), "plugin not found in the catalog: constructor"],
    [
      spec("n/", { defaultLeaseTtlMs: 2 * HOUR_MS, maxLeaseTtlMs: HOUR_MS }),
      "default_lease_ttl (7200s) is longer than max_lease_ttl (3600s)",
    ],
  ])("refuse what cannot be mounted: %o", async (wrong, text) => {
    const { mounts } = await bench();
    await mounts.enable(spec("a/"));
    await expect(mounts.enable(wrong)).rejects.toThrow(text);
    expect(mounts.all().map(({ point }) => point)).toEqual(["a/", "sys/"]);
  });

  it("are there again after a restart, with what their backends kept", async () => {
    const first = await bench();
    const { uuid, accessor } = await first.mounts.enable(
      spec("a/", { description: "mine", maxLeaseTtlMs: HOUR_MS }),
    );
    await first.hosts[0]?.storage.put("k/1", Uint8Array.of(1));
    await first.mounts.close();
    expect(first.closed).toBe(1);
    await first.env.close();
    const second = await bench({ directory: first.directory });
    await second.mounts.open();
    expect(second.mounts.at("a/")).toMatchObject({
      uuid,
      accessor,
      description: "mine",
      maxLeaseTtlMs: HOUR_MS,
    });
    expect(await second.hosts[0]?.storage.get("k/1")).toEqual(Uint8Array.of(1));
    expect(second.hosts[0]?.limits()).toEqual({
      defaultLeaseTtlMs: HOUR_MS,
      maxLeaseTtlMs: HOUR_MS,
    });
  });

  it("that the configuration declares are made at the start, and cannot be taken away by a request", async () => {
    const { mounts } = await bench({ declared: [spec("github/", { description: "declared" })] });
    await mounts.open();
    expect(mounts.at("github/")).toMatchObject({ declared: true, description: "declared" });
    await expect(mounts.disable("github/")).rejects.toThrow("write tokens.mounts without it");
    await expect(mounts.disable("sys/")).rejects.toThrow("built in");
  });

  it("that the configuration declares are written only when it changes them, so a start needs no free disk", async () => {
    const declared = [spec("github/", { description: "declared" })];
    const first = await bench({ declared });
    await first.mounts.open();
    await first.mounts.tune("github/", { maxLeaseTtlMs: HOUR_MS });
    await first.mounts.close();
    await first.env.close();
    const same = await bench({ directory: first.directory, declared });
    const write = vi.spyOn(same.env, "write");
    await same.mounts.open();
    expect(write).not.toHaveBeenCalled();
    expect(same.mounts.at("github/")).toMatchObject({ declared: true, maxLeaseTtlMs: HOUR_MS });
    await same.mounts.close();
    await same.env.close();
    const changed = await bench({
      directory: first.directory,
      declared: [spec("github/", { description: "another" })],
    });
    await changed.mounts.open();
    expect(changed.env.read((snapshot) => snapshot.get(mountRows, "github/"))).toMatchObject({
      description: "another",
      maxLeaseTtlMs: HOUR_MS,
    });
  });

  it("end their leases before they go, and go with all they kept", async () => {
    const house = await bench();
    const { mounts, hosts, ended, env } = house;
    await mounts.enable(spec("a/"));
    const { storage } = hosts[0] as Host;
    for (let index = 0; index < 600; index++) await storage.put(`k${index}`, Uint8Array.of(1));
    await mounts.disable("a/");
    expect(ended).toEqual(["a/"]);
    expect(mounts.match("a/x")).toBeUndefined();
    expect(await storage.list("")).toEqual([]);
    expect(house.closed).toBe(1);
    await mounts.enable(spec("a/"));
    expect(await hosts[1]?.storage.get("k1")).toBeUndefined();
    expect(env.status().healthy).toBe(true);
  });

  it("stay when their leases cannot be ended, and revoke while they are on their way out", async () => {
    const seen: unknown[] = [];
    const house: Bench = await bench({
      endLeases: async (prefix) => {
        seen.push(house.mounts.match("a/x"), house.mounts.forLease(prefix)?.point);
        throw new StewardError("upstream", "the platform is down");
      },
    });
    await house.mounts.enable(spec("a/"));
    await expect(house.mounts.disable("a/")).rejects.toThrow("the platform is down");
    expect(seen).toEqual([undefined, "a/"]);
    expect(house.mounts.at("a/")).toBeDefined();
    await expect(house.mounts.move("a/", "b/")).rejects.toThrow("the platform is down");
    expect([house.mounts.at("a/")?.point, house.mounts.at("b/"), house.closed]).toEqual([
      "a/",
      undefined,
      0,
    ]);
  });

  it.each([
    ["are unmounted", (mounts: Mounts) => mounts.disable("a/"), undefined],
    ["are moved", (mounts: Mounts) => mounts.move("a/", "b/"), "b/"],
  ] as const)(
    "that %s take no more requests, and end their leases after the last one in progress",
    async (_how, go, after) => {
      const { env, mounts, ended, hosts } = await bench();
      const other = await mounts.enable(spec("other/"));
      const requests = [mounts.enter(await mounts.enable(spec("a/"))), mounts.enter(other)];
      // Tuning replaces the mount in the table; its requests stay counted.
      await mounts.tune("a/", { description: "tuned" });
      requests.push(mounts.enter(mounts.at("a/") as Mount));
      await hosts[1]?.storage.put("k", Uint8Array.of(1));
      const gone = go(mounts);
      const [first, , last] = requests;
      for (const request of [first, last]) {
        for (let round = 0; round < 5; round += 1) await env.write(() => undefined);
        expect([mounts.match("a/x"), ended]).toEqual([undefined, []]);
        request?.[Symbol.dispose]();
      }
      await gone;
      expect(ended).toEqual(["a/"]);
      expect(mounts.match("b/x")?.mount.point).toBe(after);
    },
  );

  it("stay when a request at them does not end, and can go once it has", async () => {
    const clock = createManualClock();
    const { mounts, ended } = await bench({ clock });
    const request = mounts.enter(await mounts.enable(spec("a/")));
    for (const go of [() => mounts.disable("a/"), () => mounts.move("a/", "b/")]) {
      const refused = expect(go()).rejects.toMatchObject({
        code: "not_ready",
        rule: "in_progress",
      });
      await clock.advance(74_000);
      expect(mounts.at("a/")).toBeUndefined();
      await clock.advance(2_000);
      await refused;
      expect([mounts.at("a/")?.point, ended]).toEqual(["a/", []]);
    }
    request[Symbol.dispose]();
    await mounts.disable("a/");
    expect([mounts.at("a/"), ended, clock.timers()]).toEqual([undefined, ["a/"], 0]);
  });

  it("are not waited for once all are closed", async () => {
    const house = await bench();
    const { mounts, ended } = house;
    mounts.enter(await mounts.enable(spec("a/")));
    const refused = expect(mounts.disable("a/")).rejects.toMatchObject({ code: "not_ready" });
    await house.env.write(() => undefined);
    await mounts.close();
    await refused;
    expect([house.closed, ended]).toEqual([1, []]);
  });

  it("go with all they kept when their backends cannot be closed", async () => {
    const factory = async (host: Host): Promise<Backend> => {
      await host.storage.put("config", Uint8Array.of(1));
      return fakeBackend(() => {
        throw new Error("the pool is broken");
      });
    };
    const { env, mounts } = await bench({ factories: { secret: { fake: factory }, auth: {} } });
    await mounts.enable(spec("a/"));
    await mounts.enable(spec("b/"));
    await mounts.disable("a/");
    expect(env.read((snapshot) => snapshot.count(storedValues))).toBe(1);
    await mounts.move("b/", "c/");
    expect(mounts.at("c/")).toBeDefined();
    await mounts.close();
    expect(mounts.all().map(({ point }) => point)).toEqual(["sys/"]);
  });

  it("that were half unmounted before a crash leave nothing after the next start", async () => {
    const first = await bench();
    const mounted: Mount[] = [];
    for (const path of ["a/", "b/", "c/", "d/"])
      mounted.push(await first.mounts.enable(spec(path)));
    // More than one change deletes.
    const keys = Array.from({ length: 600 }, (_, index) => `k${index}`);
    for (const [index, { storage }] of first.hosts.entries())
      await Promise.all(
        keys.slice(index === 0 ? 0 : 598).map((key) => storage.put(key, Uint8Array.of(1))),
      );
    await first.env.write((tx) => ["a/", "c/"].forEach((path) => tx.delete(mountRows, path)));
    await first.env.close();
    const second = await bench({ directory: first.directory });
    await second.mounts.open();
    const owners = second.env.read((snapshot) =>
      Array.from(snapshot.range(storedValues), ([[owner]]) => owner),
    );
    const rowsOf = ({ uuid }: Mount): number => owners.filter((owner) => owner === uuid).length;
    expect([owners.length, ...mounted.map(rowsOf)]).toEqual([4, 0, 2, 0, 2]);
  });

  it("that are unknown are gone already", async () => {
    const { mounts } = await bench();
    await mounts.disable("nope/");
  });

  it("take new times at once", async () => {
    const { mounts, hosts } = await bench();
    await mounts.enable(spec("a/"));
    await mounts.tune("a/", { maxLeaseTtlMs: HOUR_MS, description: "short" });
    expect(hosts[0]?.limits().maxLeaseTtlMs).toBe(HOUR_MS);
    expect(mounts.at("a/")?.description).toBe("short");
    await expect(mounts.tune("a/", { defaultLeaseTtlMs: 2 * HOUR_MS })).rejects.toThrow(
      "longer than max_lease_ttl",
    );
    await expect(mounts.tune("nope/", {})).rejects.toThrow("no mount at nope/");
  });
});

describe("what a backend keeps", () => {
  it("is listed level by level, bytewise, and apart from other mounts", async () => {
    const { mounts, hosts } = await bench();
    await mounts.enable(spec("a/"));
    await mounts.enable(spec("b/"));
    const [one, two] = hosts.map(({ storage }) => storage);
    for (const key of ["set/b", "set/a", "set/deep/x", "set/deep/y", "config", "setx"])
      await one?.put(key, Uint8Array.of(1));
    await two?.put("set/z", Uint8Array.of(2));
    expect(await one?.list("set/")).toEqual(["a", "b", "deep/"]);
    expect(await one?.list("")).toEqual(["config", "set/", "setx"]);
    expect(await two?.list("set/")).toEqual(["z"]);
    await one?.delete("set/a");
    expect(await one?.get("set/a")).toBeUndefined();
  });

  it("is listed in pages, as it is listed at once", async () => {
    const { mounts, hosts } = await bench();
    await mounts.enable(spec("a/"));
    const storage = hosts[0]?.storage as Host["storage"];
    for (const key of ["a", "a-b", "a/x", "a/y", "ab", "b/x", "ü", "z"])
      await storage.put(`set/${key}`, Uint8Array.of(1));
    const all = await storage.list("set/");
    expect(all).toEqual(["a", "a-b", "a/", "ab", "b/", "z", "ü"]);
    for (let limit = 1; limit <= all.length; limit += 1) {
      const names: string[] = [];
      for (let page = ["?"]; page.length > 0;) {
        page = [...(await storage.list("set/", { after: names.at(-1) ?? "", limit }))];
        expect(page.length).toBeLessThanOrEqual(limit);
        names.push(...page);
      }
      expect(names).toEqual(all);
    }
  });

  it("has bounds that are named", async () => {
    const { mounts, hosts } = await bench();
    await mounts.enable(spec("a/"));
    await expect(hosts[0]?.storage.put("k".repeat(1_001), Uint8Array.of(1))).rejects.toThrow(
      "1001 bytes is too long",
    );
    await expect(hosts[0]?.storage.put("k", new Uint8Array(600_000))).rejects.toThrow(
      "at most 524288 bytes",
    );
  });
});
