import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Collect, Tick } from "../../../src/monitor/collectors/collector.ts";
import { keys } from "../../../src/monitor/collectors/keys.ts";
import type { CollectorReport } from "../../../src/monitor/collectors/collector-report.ts";
import type { Key } from "../../../src/monitor/providers/model.ts";
import { aKey, DAY_MS, START_MS } from "./entities.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const join = aKey("k1", {
  authKind: "reusable",
  description: "ci",
  createdMs: START_MS - DAY_MS,
  expiresMs: START_MS + 7 * DAY_MS,
  owner: "u1",
  deviceTags: ["tag:z", "tag:a"],
  preauthorized: true,
});
const client = aKey("k2", {
  type: "client",
  authKind: "none",
  description: "terraform",
  scopes: ["devices:core", "dns:read"],
  owner: "u1",
  tags: ["tag:ci", "tag:net"],
});
const open = aKey("k3", {
  type: "client",
  authKind: "none",
  scopes: ["all"],
  invalid: true,
  expiresMs: START_MS + 1_500,
});
const token = aKey("1", {
  type: "api",
  authKind: "none",
  expiresMs: START_MS + 1_500,
  createdMs: START_MS + 1,
});

describe("The collector of keys", () => {
  it("tells when the credential itself ends, until it is not among the keys any more", async () => {
    const told: CollectorReport[] = [];
    const own = aKey("7", {
      type: "api",
      authKind: "none",
      description: "hskey-api-abcdef123456-***",
      expiresMs: START_MS + DAY_MS,
    });
    const provider = createFakeProvider({ keys: [join, own] });
    const { options } = openCollector(keys, provider).deps;
    const asked = {
      ...options,
      provider: {
        ...options.provider,
        apiKey: { sentSecret: "hskey-api-abcdef123456-canary", origin: "test" },
      },
    } as typeof options;
    const run = keys.prepare(asked)?.open({
      ...openCollector(keys, provider).deps,
      options: asked,
      report: (each) => void told.push(each),
    }) as Collect;
    const tick: Tick = {
      nowMs: START_MS,
      signal: new AbortController().signal,
      sweep: { gauge: () => undefined },
      call: (_operation, ask) => ask(),
      observed: () => undefined,
      covered: () => undefined,
    };
    await run(tick);
    provider.answers.keys = [join];
    await run(tick);
    expect(told).toEqual([
      { credential: { expiresMs: START_MS + DAY_MS, warnMs: 168 * 3_600_000 } },
      { credential: undefined },
    ]);
    expect(JSON.stringify(told)).not.toContain("canary");
  });

  it("counts keys, tells when each ends and how much it may do", async () => {
    const { run, series } = openCollector(
      keys,
      createFakeProvider({ keys: [join, client, open, token] }),
    );
    await run();
    const second =
      'vpn.key.id="k2",vpn.key.type="client",vpn.key.description="terraform",vpn.key.owner="u1"';
    const third = 'vpn.key.id="k3",vpn.key.type="client",vpn.key.description=""';
    const classes = (identity: string, highest: string) =>
      ["all", "all_read", "none", "read", "write"].map(
        (each) =>
          `vpn.key.scope_class{${identity},vpn.key.scope_class="${each}"} ${Number(each === highest)}`,
      );
    expect(series()).toEqual(
      [
        `vpn.key.allowed_tags{${third}} 0`,
        `vpn.key.allowed_tags{${second}} 2`,
        `vpn.key.expiry{vpn.key.id="1",vpn.key.type="api",vpn.key.auth_kind="none",vpn.key.description=""} ${Math.floor((START_MS + 1_500) / 1_000)}`,
        `vpn.key.expiry{vpn.key.id="k1",vpn.key.type="auth",vpn.key.auth_kind="reusable",vpn.key.description="ci",vpn.key.owner="u1",vpn.key.tags="tag:a,tag:z"} ${(START_MS + 7 * DAY_MS) / 1_000}`,
        'vpn.key.preauthorized{vpn.key.id="k1",vpn.key.type="auth",vpn.key.description="ci",vpn.key.owner="u1",vpn.key.tags="tag:a,tag:z"} 1',
        ...classes(second, "write"),
        ...classes(third, "all"),
        `vpn.key.scopes{${second}} 2`,
        `vpn.key.scopes{${third}} 1`,
        `vpn.key.tag_scope{${second},vpn.key.tag_scope="none"} 0`,
        `vpn.key.tag_scope{${second},vpn.key.tag_scope="restricted"} 1`,
        `vpn.key.tag_scope{${third},vpn.key.tag_scope="none"} 1`,
        `vpn.key.tag_scope{${third},vpn.key.tag_scope="restricted"} 0`,
        "vpn.keys.age n=2 sum=86400",
        'vpn.keys.by_owner{vpn.key.owner="u1",vpn.key.type="auth"} 1',
        'vpn.keys.by_owner{vpn.key.owner="u1",vpn.key.type="client"} 1',
        'vpn.keys.count{vpn.key.type="api",vpn.key.auth_kind="none",vpn.key.revoked=false,vpn.key.invalid=false} 1',
        'vpn.keys.count{vpn.key.type="auth",vpn.key.auth_kind="reusable",vpn.key.revoked=false,vpn.key.invalid=false} 1',
        'vpn.keys.count{vpn.key.type="client",vpn.key.auth_kind="none",vpn.key.revoked=false,vpn.key.invalid=false} 1',
        'vpn.keys.count{vpn.key.type="client",vpn.key.auth_kind="none",vpn.key.revoked=false,vpn.key.invalid=true} 1',
      ].toSorted(),
    );
  });

  it("warns of valid keys that expire within the time that is configured, and writes scopes down, in every run", async () => {
    const { run, records, annotations } = openCollector(
      keys,
      createFakeProvider({
        keys: [
          join,
          client,
          open,
          token,
          aKey("revoked", { revokedMs: 1, expiresMs: START_MS + 1 }),
          aKey("past", { expiresMs: START_MS }),
          aKey("far", { expiresMs: START_MS + 7 * DAY_MS + 1 }),
        ],
      }),
    );
    const expected = [
      'warn vpn.key.expiring {"vpn.key.id":"k1","vpn.key.type":"auth","vpn.key.auth_kind":"reusable","vpn.key.description":"ci","vpn.key.expires_in_seconds":"604800","vpn.key.owner":"u1","vpn.key.tags":"tag:a,tag:z"} the auth key k1 (ci) of u1 expires in 604800 s',
      'info vpn.key.scopes {"vpn.key.id":"k2","vpn.key.scope_values":"devices:core,dns:read","vpn.key.description":"terraform"} scopes of the client key k2 (terraform): devices:core,dns:read',
      'info vpn.key.scopes {"vpn.key.id":"k3","vpn.key.scope_values":"all","vpn.key.description":""} scopes of the client key k3: all',
      'warn vpn.key.expiring {"vpn.key.id":"1","vpn.key.type":"api","vpn.key.auth_kind":"none","vpn.key.description":"","vpn.key.expires_in_seconds":"1"} the api key 1 expires in 1 s',
    ];
    await run();
    expect(records()).toEqual(expected);
    await run();
    expect(records()).toEqual(expected);
    expect(annotations.slice(0, 2)).toEqual([
      {
        category: "expiry",
        timeMs: START_MS,
        tags: ["key", "auth"],
        identity: `example.test/key/auth/k1/${START_MS + 7 * DAY_MS}`,
        text: "Key k1 of type auth expires on 2023-11-21.",
      },
      {
        category: "expiry",
        timeMs: START_MS,
        tags: ["key", "api"],
        identity: `example.test/key/api/1/${START_MS + 1_500}`,
        text: "Key 1 of type api expires on 2023-11-14.",
      },
    ]);
  });

  it("still warns, but says nothing else of single keys, where that is switched off", async () => {
    const { run, series, records } = openCollector(
      keys,
      createFakeProvider({ keys: [join, client] }),
      {
        cardinality: {
          perEntity: { device: true, user: true, key: false, webhook: true, service: true },
        },
      },
    );
    await run();
    expect(series("vpn.key.")).toEqual([]);
    expect(records().map((line) => line.split(" ")[1])).toEqual(["vpn.key.expiring"]);
    expect(series("vpn.keys.count")).toHaveLength(2);
  });

  it("keeps two keys of different types with one id apart", async () => {
    const { run, series } = openCollector(
      keys,
      createFakeProvider(
        { keys: [aKey("1", { expiresMs: START_MS + 1_000 }), token] },
        { kind: "headscale" },
      ),
    );
    await run();
    expect(series("vpn.key.expiry")).toHaveLength(2);
  });

  it("ends what belongs to a key that is gone, and keeps everything when keys are not to be had", async () => {
    const provider = createFakeProvider({ keys: [join, client] });
    const { run, series, states } = openCollector(keys, provider);
    await run();
    provider.answers.keys = [client];
    await run();
    expect(series().filter((line) => line.includes("k1"))).toEqual([]);
    const before = series();
    provider.answers.keys = () => {
      throw failing(500);
    };
    await expect(run()).rejects.toMatchObject({ code: "upstream" });
    expect(series()).toEqual(before);
    expect(states.get("listTailnetKeys")).toBe("transient_failure");
  });

  it("takes any list of keys", async () => {
    const text = fc.string({ maxLength: 12 });
    const time = fc.option(fc.double(), { nil: undefined });
    const any: fc.Arbitrary<Key> = fc.record({
      id: text,
      type: fc.constantFrom("client", "api", "auth", "unknown"),
      authKind: fc.constantFrom("ephemeral", "reusable", "onetime", "none"),
      description: text,
      scopes: fc.array(text),
      createdMs: time,
      expiresMs: fc.oneof(time, fc.integer({ min: START_MS, max: START_MS + 10 * DAY_MS })),
      revokedMs: time,
      invalid: fc.boolean(),
      owner: text,
      tags: fc.array(text),
      deviceTags: fc.array(text),
      preauthorized: fc.option(fc.boolean(), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(any, { maxLength: 6 }), async (list) => {
        const { run, series } = openCollector(keys, createFakeProvider({ keys: list }));
        await run();
        expect(
          series("vpn.keys.count").reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0),
        ).toBe(list.length);
      }),
    );
  });
});
