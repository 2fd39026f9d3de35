import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { Scope } from "../../../src/kernel/telemetry/types.ts";
import {
  unobserved,
  watchAudit,
  watchSealGate,
  watchRevocations,
  type TokensObserver,
} from "../../../src/tokens/telemetry/observer.ts";
import {
  createTokensReport,
  reportTokens,
  type TokensLevels,
} from "../../../src/tokens/telemetry/report.ts";
import type { AuditService } from "../../../src/tokens/vault/audit/audit.ts";
import type { CoreAnswer, CoreRequest } from "../../../src/tokens/vault/core/types.ts";
import type { SealGate } from "../../../src/tokens/vault/core/seal-gate.ts";
import type { Mounts } from "../../../src/tokens/vault/mounts/mounts.ts";

/** Writes down what is written. */
function fakeScope(): { scope: Scope; written: string[]; collect: () => void } {
  const written: string[] = [];
  let collect = (): void => undefined;
  const write = (row: { name: string }, value: number, attributes: object): void =>
    void written.push(`${row.name} ${Object.values(attributes).join(",")} ${value}`);
  const scope = {
    add: write,
    record: write,
    gauge: write,
    sweep: () => ({ gauge: write, commit: () => written.push("commit") }),
    observe(run: () => void) {
      collect = run;
      return { [Symbol.dispose]: () => undefined };
    },
  } as unknown as Scope;
  return { scope, written, collect: () => collect() };
}

describe("the report of tokens", () => {
  it("counts what happens by mount and outcome", () => {
    const { scope, written } = fakeScope();
    const report = createTokensReport(scope);
    report.request({ mount: "github/", operation: "write", outcome: "ok" });
    report.request({ mount: undefined, operation: "read", outcome: "denied" });
    report.mint({ mount: "github/", outcome: "ok", tookMs: 250 });
    report.mint({ mount: "github/", outcome: "upstream", tookMs: 250 });
    report.cache({ mount: "github/", outcome: "hit" });
    report.cache({ mount: "github/", outcome: "miss" });
    report.revocation({ mount: "github/", outcome: "failed" });
    report.audit({ type: "request", ok: true });
    report.audit({ type: "response", ok: false });
    expect(written).toEqual([
      "svc.tokens.requests github/,write,ok 1",
      "svc.tokens.requests (none),read,denied 1",
      "svc.tokens.mints github/,ok 1",
      "svc.tokens.mint.duration github/ 0.25",
      "svc.tokens.mints github/,upstream 1",
      "svc.tokens.cache.hits github/ 1",
      "svc.tokens.cache.misses github/ 1",
      "svc.tokens.revocations github/,failed 1",
      "svc.tokens.audit.records request 1",
      "svc.tokens.audit.failures response 1",
    ]);
  });

  it("has a hundred mounts as labels and one for all others", () => {
    const { scope, written } = fakeScope();
    const report = createTokensReport(scope);
    for (let n = 0; n < 300; n++) report.revocation({ mount: `m${n}/`, outcome: "revoked" });
    report.revocation({ mount: "m7/", outcome: "revoked" });
    expect(new Set(written).size).toBe(101);
    expect(written.slice(-2)).toEqual([
      "svc.tokens.revocations __other__,revoked 1",
      "svc.tokens.revocations m7/,revoked 1",
    ]);
  });

  it("says the levels while it is unsealed, and only that it is sealed otherwise", () => {
    const { scope, written, collect } = fakeScope();
    let levels: TokensLevels = {
      sealed: false,
      inside: {
        leases: 5,
        due: 2,
        irrevocable: 1,
        orphans: 3,
        stored: 4,
        quotas: [
          {
            mount: "github/",
            installationId: "1001",
            limit: 5_000,
            remaining: 4_321,
            resetAtMs: 0,
            atMs: 0,
          },
        ],
        cached: [{ mount: "github/", entries: 6 }],
      },
    };
    reportTokens(scope, () => levels);
    collect();
    expect(written.splice(0)).toEqual([
      "svc.tokens.sealed  0",
      "svc.tokens.leases held 5",
      "svc.tokens.leases due 2",
      "svc.tokens.leases irrevocable 1",
      "svc.tokens.orphans  3",
      "svc.tokens.stored  4",
      "svc.tokens.cache.entries github/ 6",
      "svc.tokens.quota.limit github/,1001 5000",
      "svc.tokens.quota.remaining github/,1001 4321",
      "commit",
    ]);
    levels = { sealed: true, inside: undefined };
    collect();
    expect(written).toEqual(["svc.tokens.sealed  1", "commit"]);
  });
});

describe("the secrets manager tells", () => {
  const told: unknown[] = [];
  const tell =
    (what: string) =>
    (seen: object): void =>
      void told.push([what, ...Object.values(seen)]);
  const observe: TokensObserver = {
    request: tell("request"),
    mint: tell("mint"),
    cache: tell("cache"),
    revocation: tell("revocation"),
    audit: tell("audit"),
  };
  const request = (path: string, verb: CoreRequest["verb"] = "write"): CoreRequest => ({
    verb,
    path,
    data: {},
    token: undefined,
    remote: undefined,
    wrapTtlMs: undefined,
    signal: new AbortController().signal,
  });

  it("of each request, and of each mint beside it, how it ended", async () => {
    let now = 0;
    const mounts = {
      match: (path: string) =>
        path.startsWith("github/")
          ? {
              rest: path.slice(7),
              mount: {
                point: "github/",
                class: "secret",
                backend: { find: (rest: string) => (rest === "token" ? { mints: true } : {}) },
              },
            }
          : undefined,
    } as unknown as Mounts;
    const inner = {
      handle: ({ path }: CoreRequest) => (
        (now += 30),
        path.endsWith("bad")
          ? Promise.reject(new StewardError("denied", "no"))
          : Promise.resolve({} as CoreAnswer)
      ),
      isOpen: () => true,
    } as unknown as SealGate;
    const gate = watchSealGate(inner, {
      clock: {
        now: () => now,
        monotonic: () => now,
        timer: () => ({ [Symbol.dispose]: () => undefined }),
      },
      observe,
      mounts: () => mounts,
    });
    await gate.handle(request("github/token"));
    await gate.handle(request("github/token", "delete"));
    await gate.handle(request("github/config", "read"));
    await expect(gate.handle(request("nowhere/bad"))).rejects.toThrow("no");
    expect(gate.isOpen()).toBe(true);
    expect(told.splice(0)).toEqual([
      ["request", "github/", "write", "ok"],
      ["mint", "github/", "ok", 30],
      ["request", "github/", "delete", "ok"],
      ["request", "github/", "read", "ok"],
      ["request", undefined, "write", "denied"],
    ]);
  });

  it("of each record and each try to revoke", async () => {
    const down = new StewardError("disk_full", "full");
    const audit = watchAudit(
      {
        request: () => Promise.resolve(),
        response: () => Promise.reject(down),
        devices: () => [],
      } as unknown as AuditService,
      observe,
    );
    await audit.request({} as never);
    await expect(audit.response({} as never, {})).rejects.toBe(down);
    expect(audit.devices()).toEqual([]);
    const lease = { id: "l", path: "p", mountPoint: "github/", data: {}, internalData: {} };
    await watchRevocations(() => Promise.resolve(), observe)(lease, new AbortController().signal);
    await expect(
      watchRevocations(() => Promise.reject(down), observe)(lease, new AbortController().signal),
    ).rejects.toBe(down);
    expect(told.splice(0)).toEqual([
      ["audit", "request", true],
      ["audit", "response", false],
      ["revocation", "github/", "revoked"],
      ["revocation", "github/", "failed"],
    ]);
  });

  it("nobody who does not listen", () => {
    expect([
      unobserved.request({ mount: undefined, operation: "read", outcome: "ok" }),
      unobserved.audit({ type: "request", ok: true }),
    ]).toEqual([undefined, undefined]);
  });
});
