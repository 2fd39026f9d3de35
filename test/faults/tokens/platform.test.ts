/**
 * Every fault of the platform in a mint, a lookup and a revocation: what the client is told, and
 * that whatever may exist is on record (RESOLUTIONS T8, T11, T12; reliability D.3 no. 10, 11, 27).
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Fault } from "../../../src/demo/code-host/faults.ts";
import type { CodeHostOptions } from "../../../src/demo/code-host/types.ts";
import type { CodeHost } from "../../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "../../contract/daemon.ts";
import {
  appKey,
  startCodeHost,
  startVault,
  type VaultAnswer,
  type VaultDaemon,
} from "../../contract/vault.ts";

/** What no answer holds: a platform's token, a JWT, a key. */
const SECRETS = /ghs_|eyJ|PRIVATE KEY/;

let vault: VaultDaemon;

beforeAll(async () => {
  vault = await startVault();
});

afterAll(async () => {
  await vault.daemon.stop();
  removeTemporaryFolders();
});

/**
 * A mount of its own before a code host of its own, so that cases that take their time run side by
 * side.
 */
interface Place {
  readonly host: CodeHost;
  readonly mount: string;
  readonly mint: (body?: unknown) => Promise<VaultAnswer>;
  readonly orphans: () => Promise<number>;
}

let places = 0;

async function withPlace(
  run: (place: Place) => Promise<void>,
  options: Partial<CodeHostOptions> = {},
): Promise<void> {
  const host = await startCodeHost(options);
  const mount = `place${++places}`;
  try {
    expect(
      (await vault.ask("POST", `sys/mounts/${mount}`, { body: { type: "github" } })).status,
    ).toBe(204);
    expect(
      (
        await vault.ask("POST", `${mount}/config`, {
          body: { app_id: 7, prv_key: appKey.privateKey, base_url: host.url },
        })
      ).status,
    ).toBe(204);
    await run({
      host,
      mount,
      mint: (body = { installation_id: 1001 }) => vault.ask("POST", `${mount}/token`, { body }),
      orphans: async () =>
        (
          (await vault.ask("GET", "sys/leases/orphans")).json.data.orphans as { path: string }[]
        ).filter(({ path }) => path.startsWith(`${mount}/`)).length,
    });
  } finally {
    await host.stop();
  }
}

/** Waits for a value. */
async function becomes<T>(read: () => T | Promise<T>, wanted: T, timeoutMs: number): Promise<void> {
  await vi.waitFor(async () => expect(await read()).toBe(wanted), {
    timeout: timeoutMs,
    interval: 20,
  });
}

interface Case {
  readonly fault: Fault;
  readonly status: number;
  readonly says: RegExp;
  readonly orphans?: 1;
  readonly retryAfter?: string | RegExp;
}

const status = (code: number, message?: string, headers?: Record<string, string>): Fault => ({
  kind: "status",
  status: code,
  ...(message === undefined ? {} : { message }),
  ...(headers === undefined ? {} : { headers }),
});
const inSeconds = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);

const refused: Readonly<Record<string, Case>> = {
  "a JWT it cannot read": {
    fault: status(401, "A JSON web token could not be decoded"),
    status: 502,
    says: /credentials; check app_id and prv_key/,
  },
  "an app it does not know": {
    fault: status(401, "Integration not found"),
    status: 502,
    says: /Integration not found.*app_id/,
  },
  "a suspended installation": {
    fault: status(403, "This installation has been suspended"),
    status: 400,
    says: /installation 1001 is suspended.*unsuspend/,
  },
  "a call that the app may not make": {
    fault: status(403, "Resource not accessible by integration"),
    status: 400,
    says: /may not do this for installation 1001.*accept its permissions/,
  },
  "an installation it does not know": {
    fault: status(404, "Not Found"),
    status: 400,
    says: /no installation 1001.*install/,
  },
  "permissions it does not grant": {
    fault: status(422, "The permissions requested are not granted to this installation."),
    status: 400,
    says: /request fewer permissions/,
  },
  "repositories it does not know": {
    fault: status(
      422,
      "There is at least one repository that does not exist or is not accessible to the parent installation.",
    ),
    status: 400,
    says: /check the names/,
  },
  "a request it does not take": {
    fault: status(415),
    status: 502,
    says: /does not understand.*base_url/,
  },
  "a page instead of a 404": {
    fault: { kind: "html", status: 404 },
    status: 502,
    says: /a page.*base_url/,
  },
  "a limit with a time": {
    fault: status(429, "slow down", { "retry-after": "17" }),
    status: 429,
    says: /the platform's rate limit is exceeded/,
    retryAfter: "17",
  },
  "a limit without a time": {
    fault: status(429, "slow down"),
    status: 429,
    says: /the platform's rate limit is exceeded/,
    retryAfter: "60",
  },
  "a limit with a date": {
    fault: status(429, "slow down", {
      "retry-after": new Date(Date.now() + 3_600_000).toUTCString(),
    }),
    status: 429,
    says: /the platform's rate limit is exceeded/,
    retryAfter: /^\d+$/,
  },
  "a secondary limit": {
    fault: status(403, "You have exceeded a secondary rate limit.", { "retry-after": "30" }),
    status: 429,
    says: /secondary rate limit/,
    retryAfter: "30",
  },
  "a spent quota": {
    fault: status(403, "API rate limit exceeded", {
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": inSeconds(900),
    }),
    status: 429,
    says: /the platform's rate limit is exceeded/,
    retryAfter: /^[6789]\d\d$/,
  },
  "a limit with a time that is none": {
    fault: status(429, "slow down", { "retry-after": "soon" }),
    status: 429,
    says: /the platform's rate limit is exceeded/,
    retryAfter: "60",
  },
};

/** Nobody can know whether a token was made. */
const unclear: Readonly<Record<string, Case>> = {
  "500": {
    fault: status(500),
    status: 502,
    says: /500.*the platform failed; try again/,
    orphans: 1,
  },
  "502 with a page": {
    fault: { kind: "html" },
    status: 502,
    says: /502.*the platform failed/,
    orphans: 1,
  },
  "503 though it was made": {
    fault: { ...status(503), effect: true } as Fault,
    status: 502,
    says: /503/,
    orphans: 1,
  },
  "504": { fault: status(504), status: 502, says: /504/, orphans: 1 },
  "a page as a success": {
    fault: { kind: "html", status: 200 },
    status: 502,
    says: /contains no token.*base_url/,
    orphans: 1,
  },
  garbage: {
    fault: { kind: "garbage", effect: true },
    status: 502,
    says: /contains no token/,
    orphans: 1,
  },
  "a reset": {
    fault: { kind: "reset" },
    status: 502,
    says: /connection to the platform failed/,
    orphans: 1,
  },
  "a reset though it was made": {
    fault: { kind: "reset", effect: true },
    status: 502,
    says: /connection to the platform failed/,
    orphans: 1,
  },
  "a quarter of an answer": {
    fault: { kind: "truncate", bytes: 20 },
    status: 502,
    says: /connection to the platform failed/,
    orphans: 1,
  },
  "100 MiB": {
    fault: { kind: "oversize", bytes: 100 * 2 ** 20 },
    status: 502,
    says: /too large/,
    orphans: 1,
  },
  "an answer without a token": {
    fault: { kind: "patch", members: { token: undefined } },
    status: 502,
    says: /contains no token/,
    orphans: 1,
  },
  "a token that is a number": {
    fault: { kind: "patch", members: { token: 5 } },
    status: 502,
    says: /contains no token/,
    orphans: 1,
  },
  "a token that no header can hold": {
    fault: { kind: "patch", members: { token: "a b\nc\0" } },
    status: 502,
    says: /contains no token/,
    orphans: 1,
  },
  "no answer": {
    fault: { kind: "hang" },
    status: 504,
    says: /did not answer completely in time/,
    orphans: 1,
  },
  "no answer though it was made": {
    fault: { kind: "hang", effect: true },
    status: 504,
    says: /did not answer completely in time/,
    orphans: 1,
  },
  "a byte a second": {
    fault: { kind: "drip", intervalMs: 1_000 },
    status: 504,
    says: /did not answer completely in time/,
    orphans: 1,
  },
};

/** A token that no lease could end is revoked at once. */
const unusable: Readonly<Record<string, Case>> = {
  "no expiry": {
    fault: { kind: "no_expiry" },
    status: 502,
    says: /without a time of expiry; it was revoked at once/,
  },
  "half an answer": {
    fault: { kind: "truncate", bytes: 100 },
    status: 502,
    says: /connection to the platform failed.*the token in it was revoked at once/,
  },
  "40 MiB": {
    fault: { kind: "oversize", bytes: 40 * 2 ** 20 },
    status: 502,
    says: /too large; name the repositories, or set exclude_repository_metadata; the token in it was revoked at once/,
  },
  "an expiry that is a number": {
    fault: { kind: "patch", members: { expires_at: 1_800_000_000 } },
    status: 502,
    says: /without a time of expiry; it was revoked/,
  },
  "an expiry that is no date": {
    fault: { kind: "patch", members: { expires_at: "2026-99-99T99:99:99Z" } },
    status: 502,
    says: /without a time of expiry; it was revoked/,
  },
  "an expiry long past": {
    fault: { kind: "patch", members: { expires_at: "2020-01-01T00:00:00Z" } },
    status: 502,
    says: /expired already; it was revoked/,
  },
};

describe.concurrent("a mint that the platform answers with", () => {
  it.each(Object.entries({ ...refused, ...unclear, ...unusable }))(
    "%s",
    async (_name, { fault, status: expected, says, orphans = 0, retryAfter }) => {
      await withPlace(async (place) => {
        place.host.faults.next("mint", fault);
        const answer = await place.mint();
        expect([answer.status, answer.text]).toEqual([
          expected,
          expect.stringMatching(says) as string,
        ]);
        expect(answer.text).not.toMatch(SECRETS);
        if (retryAfter !== undefined)
          expect(answer.headers["retry-after"]).toEqual(expect.stringMatching(retryAfter));
        expect(await place.orphans()).toBe(orphans);
        // Nothing unknown was sent a second time, and nothing lives without a record.
        expect(place.host.requests().mint).toBe(1);
        expect(place.host.liveTokens().length).toBeLessThanOrEqual(orphans);
        expect((await place.mint()).status).toBe(200);
        expect((await vault.ask("GET", `${place.mount}/metrics`, { token: "" })).text).toMatch(
          /vault_github_token_request_duration_seconds_count\{[^}]*success="false"[^}]*\} 1\b/,
        );
      });
    },
  );

  it("what is odd and still a token: late, in drops, with members that are null or of other types", async () => {
    const odd: Fault[] = [
      { kind: "delay", ms: 300 },
      { kind: "drip", intervalMs: 1, bytes: 50 },
      { kind: "null_repositories" },
      {
        kind: "patch",
        members: { permissions: null, repositories: "none", repository_selection: 7 },
      },
      {
        kind: "patch",
        members: {
          permissions: [["a"]],
          repositories: [null, 5, {}],
          __proto__: { x: 1 },
          constructor: "x",
        },
      },
      { kind: "patch", members: { token: `ghs_${"x".repeat(100_000)}` } },
    ];
    await withPlace(async ({ host, mount, mint, orphans }) => {
      for (const fault of odd) {
        host.faults.next("mint", fault);
        const answer = await mint();
        expect([fault.kind, answer.status, answer.json.lease_id]).toEqual([
          fault.kind,
          200,
          expect.stringMatching(new RegExp(`^${mount}/token/`)) as string,
        ]);
      }
      await vault.ask("POST", `${mount}/config`, { body: { exclude_repository_metadata: true } });
      for (const repositories of [null, [null, 5, {}], {}, "none"]) {
        host.faults.next("mint", { kind: "patch", members: { repositories } });
        expect([repositories, (await mint()).status]).toEqual([repositories, 200]);
      }
      expect(await orphans()).toBe(0);
    });
  });

  it("a redirect elsewhere does not take the app's JWT there", async () => {
    await withPlace(async ({ host, mint, orphans }) => {
      const elsewhere = await startCodeHost();
      try {
        for (const code of [301, 302, 303, 307, 308] as const) {
          const before = await orphans();
          host.faults.next("mint", {
            kind: "redirect",
            status: code,
            location: `${elsewhere.url}/app/installations/1001/access_tokens`,
          });
          const answer = await mint();
          expect([code, answer.status, answer.text]).toEqual([
            code,
            502,
            expect.stringMatching(/redirects are not followed.*base_url/) as string,
          ]);
          // 303 says that the request was done and its result is elsewhere.
          expect([code, (await orphans()) - before]).toEqual([code, code === 303 ? 1 : 0]);
        }
        expect(Object.values(elsewhere.requests()).reduce((sum, count) => sum + count, 0)).toBe(0);
      } finally {
        await elsewhere.stop();
      }
    });
  });

  it("nothing at all, since it is down: nothing is on record, and it works again when it is up", async () => {
    await withPlace(async ({ mount, host, mint, orphans }) => {
      const { port } = host;
      await host.stop();
      const answer = await mint();
      expect([answer.status, answer.text]).toEqual([
        502,
        expect.stringMatching(
          /connection to the platform failed \(ECONNREFUSED\); check base_url/,
        ) as string,
      ]);
      expect(await orphans()).toBe(0);
      const again = await startCodeHost({ address: { host: "127.0.0.1", port } });
      try {
        expect(
          (await vault.ask("POST", `${mount}/token`, { body: { installation_id: 1001 } })).status,
        ).toBe(200);
      } finally {
        await again.stop();
      }
    });
  });

  it("its answer after the client has gone: the token is on record", async () => {
    await withPlace(async ({ host, mount, orphans }) => {
      host.faults.next("mint", { kind: "delay", ms: 400 });
      const leaving = new AbortController();
      const gone = fetch(`${vault.daemon.url}/v1/${mount}/token`, {
        method: "POST",
        headers: { "x-vault-token": vault.root },
        body: '{"installation_id":1001}',
        signal: leaving.signal,
      }).catch(() => undefined);
      await becomes(() => host.requests().mint, 1, 30_000);
      leaving.abort();
      await gone;
      // Nobody has the token: it is revoked, leased or an orphan, and never only alive.
      const recorded = async (): Promise<number> =>
        (((await vault.ask("LIST", `sys/leases/lookup/${mount}/token`)).json?.data?.keys?.length ??
          0) as number) + (await orphans());
      await becomes(
        async () => host.counts().minted === 1 && host.counts().live <= (await recorded()),
        true,
        30_000,
      );
    });
  });
});

describe.concurrent("a lookup of an installation that the platform answers with", () => {
  const direct: Readonly<Record<string, readonly [Fault, number, RegExp]>> = {
    "a refused JWT": [status(401, "A JSON web token could not be decoded"), 502, /prv_key/],
    "a limit": [
      status(429, "slow down", { "retry-after": "9" }),
      429,
      /the platform's rate limit is exceeded/,
    ],
    "a spent quota": [
      status(403, "API rate limit exceeded", {
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": inSeconds(120),
      }),
      429,
      /the platform's rate limit is exceeded/,
    ],
    "no answer": [{ kind: "hang" }, 504, /did not answer completely in time/],
    "a byte a second": [
      { kind: "drip", intervalMs: 1_000 },
      504,
      /did not answer completely in time/,
    ],
    "40 MiB": [{ kind: "oversize", bytes: 40 * 2 ** 20 }, 502, /too large/],
  };

  it.each(Object.entries(direct))("%s", async (_name, [fault, code, says]) => {
    await withPlace(async ({ host, mint, orphans }) => {
      host.faults.next("org_installation", fault);
      const answer = await mint({ org_name: "example-org" });
      expect([answer.status, answer.text]).toEqual([code, expect.stringMatching(says) as string]);
      expect(answer.text).not.toMatch(SECRETS);
      expect([host.requests().mint, await orphans()]).toEqual([0, 0]);
      expect((await mint({ org_name: "example-org" })).status).toBe(200);
    });
  });

  // As a proxy answers that knows only the paths it was told of.
  const refusing: Readonly<Record<string, readonly [Fault, number, RegExp]>> = {
    "403": [status(403, "blocked by policy"), 400, /403.*blocked by policy.*may not do this/],
    "a page with 403": [{ kind: "html", status: 403 }, 502, /403.*a page/],
    "500": [status(500), 502, /500.*the platform failed/],
    "502 with a page": [{ kind: "html" }, 502, /502.*the platform failed/],
    "a reset": [{ kind: "reset" }, 502, /connection to the platform failed/],
    "half an answer": [{ kind: "truncate" }, 502, /connection to the platform failed/],
  };

  it.each(Object.entries(refusing))(
    "%s: the list is asked, and the first refusal reported when that fails, too",
    async (_name, [fault, code, says]) => {
      await withPlace(async ({ host, mint }) => {
        host.faults.next("org_installation", fault);
        expect((await mint({ org_name: "example-org" })).status).toBe(200);
        expect(host.requests()).toMatchObject({ org_installation: 1, installations: 1, mint: 1 });
        host.faults.next("org_installation", fault);
        host.faults.next("installations", status(503, "second"));
        const answer = await mint({ org_name: "other-org" });
        expect([answer.status, answer.text]).toEqual([code, expect.stringMatching(says) as string]);
        expect(answer.text).not.toMatch(/second/);
        host.faults.next("org_installation", fault);
        const nobody = await mint({ org_name: "nobody" });
        expect([nobody.status, nobody.text]).toEqual([
          400,
          expect.stringMatching(/app not installed/) as string,
        ]);
      });
    },
  );

  const list: Readonly<Record<string, readonly [Fault, number, RegExp]>> = {
    "garbage in the list": [{ kind: "garbage" }, 502, /unable to list installations/],
    "a page for the list": [{ kind: "html", status: 200 }, 502, /not JSON/],
    "a list that is none": [{ kind: "patch", members: {} }, 502, /not a list/],
    "500 for the list": [status(500), 502, /the platform failed/],
    "no list": [{ kind: "hang" }, 504, /in time/],
  };

  it.each(Object.entries(list))("no direct answer, then %s", async (_name, [fault, code, says]) => {
    await withPlace(async ({ host, mint, orphans }) => {
      host.faults.next("org_installation", status(404));
      host.faults.next("installations", fault);
      const answer = await mint({ org_name: "example-org" });
      expect([answer.status, answer.text]).toEqual([code, expect.stringMatching(says) as string]);
      expect([host.requests().mint, await orphans()]).toEqual([0, 0]);
      expect((await mint({ org_name: "example-org" })).status).toBe(200);
    });
  });

  it("a page or a redirect elsewhere: the list is asked, here and nowhere else", async () => {
    await withPlace(async ({ host, mint }) => {
      const elsewhere = await startCodeHost();
      try {
        host.faults.next("org_installation", {
          kind: "redirect",
          location: `${elsewhere.url}/orgs/example-org/installation`,
        });
        expect((await mint({ org_name: "example-org" })).status).toBe(200);
        expect(Object.values(elsewhere.requests()).reduce((sum, count) => sum + count, 0)).toBe(0);
      } finally {
        await elsewhere.stop();
      }
    });
  });

  it("nobody of that name", async () => {
    await withPlace(async ({ mint }) => {
      const answer = await mint({ org_name: "nobody" });
      expect([answer.status, answer.text]).toEqual([
        400,
        expect.stringMatching(/app not installed in GitHub organization.*nobody/) as string,
      ]);
    });
  });
});

describe.concurrent("a revocation that the platform answers with", () => {
  it("success, 401 or 404: the lease is over", async () => {
    await withPlace(async ({ host, mint }) => {
      for (const fault of [
        undefined,
        status(401, "Bad credentials"),
        status(404, "Not Found"),
        { ...status(401), effect: true } as Fault,
      ]) {
        const id = (await mint()).json.lease_id as string;
        if (fault !== undefined) host.faults.next("revoke", fault);
        expect(
          (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: id } })).status,
        ).toBe(204);
        expect(
          (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).status,
        ).toBe(400);
      }
    });
  });

  const failing: Readonly<Record<string, readonly [Fault, number, RegExp]>> = {
    "403": [status(403, "Forbidden"), 400, /unable to revoke access token: 403/],
    "a limit": [
      status(429, "slow down", { "retry-after": "7" }),
      429,
      /the platform's rate limit is exceeded/,
    ],
    "500": [status(500), 502, /unable to revoke access token: 500/],
    "a page": [{ kind: "html" }, 502, /502/],
    "a redirect": [
      { kind: "redirect", location: "http://127.0.0.1:9/" },
      502,
      /redirects are not followed/,
    ],
    "a reset": [{ kind: "reset" }, 502, /connection to the platform failed/],
    "a reset though it was done": [
      { kind: "reset", effect: true },
      502,
      /connection to the platform failed/,
    ],
    "no answer": [{ kind: "hang" }, 504, /in time/],
  };

  it.each(Object.entries(failing))(
    "%s: the lease stays, and ends at the next try",
    async (_name, [fault, code, says]) => {
      await withPlace(async ({ host, mint }) => {
        const id = (await mint()).json.lease_id as string;
        host.faults.next("revoke", fault);
        const answer = await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: id } });
        expect([answer.status, answer.text]).toEqual([code, expect.stringMatching(says) as string]);
        expect(answer.text).not.toMatch(SECRETS);
        expect(
          (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).status,
        ).toBe(200);
        expect(
          (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: id } })).status,
        ).toBe(204);
        expect(host.counts().live).toBe(0);
      });
    },
  );

  it("nothing, for a while: it is tried again by itself", async () => {
    await withPlace(async ({ host, mint }) => {
      const id = (await mint()).json.lease_id as string;
      host.faults.next("revoke", status(503));
      const since = performance.now();
      expect(
        (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: id, sync: false } }))
          .status,
      ).toBe(202);
      await becomes(() => host.counts().revoked, 1, 30_000);
      // Ten seconds, half of it more or less (facts §1.6).
      expect(performance.now() - since).toBeGreaterThan(4_500);
      expect(performance.now() - since).toBeLessThan(30_000);
      await becomes(
        async () =>
          (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).status,
        400,
        30_000,
      );
    });
  });

  it("nothing, and an unmount or a prefix is asked for: the failure names the lease, and force lets go", async () => {
    await withPlace(async ({ host, mint, mount }) => {
      const id = (await mint()).json.lease_id as string;
      host.faults.next("revoke", status(500), Number.POSITIVE_INFINITY);
      const prefix = await vault.ask("PUT", `sys/leases/revoke-prefix/${mount}`);
      expect([prefix.status, prefix.text]).toEqual([
        502,
        expect.stringContaining(`failed to revoke \\"${id}\\"`) as string,
      ]);
      expect((await vault.ask("PUT", `sys/leases/revoke-force/${mount}`)).status).toBe(204);
      expect((await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).status).toBe(
        400,
      );
      expect((await vault.ask("DELETE", `sys/mounts/${mount}`)).status).toBe(204);
    });
  });
});

describe.concurrent("a platform whose clock is not ours", () => {
  it.each([-300_000, 300_000])(
    "by %i ms: mints all the same, and the lease lasts as long as the token",
    async (skewMs) => {
      await withPlace(
        async ({ mint, host }) => {
          for (const round of [1, 2]) {
            const answer = await mint();
            expect([round, answer.status]).toEqual([round, 200]);
            expect(answer.json.lease_duration).toBeGreaterThan(3_590);
            expect(answer.json.lease_duration).toBeLessThanOrEqual(3_602);
            expect(
              (
                await vault.ask("PUT", "sys/leases/revoke", {
                  body: { lease_id: answer.json.lease_id },
                })
              ).status,
            ).toBe(204);
          }
          expect(host.counts().live).toBe(0);
        },
        { skewMs },
      );
    },
  );

  it("by days: no Date is believed, and the machine's clock is named", async () => {
    await withPlace(
      async ({ host, mint, orphans }) => {
        const answer = await mint();
        expect([answer.status, answer.text]).toEqual([
          502,
          expect.stringMatching(/set this machine's clock/) as string,
        ]);
        expect([host.counts().minted, await orphans()]).toEqual([0, 0]);
      },
      { skewMs: 200_000_000 },
    );
  });

  it("and that says so without its time: the machine's clock is named", async () => {
    await withPlace(async ({ host, mint, orphans }) => {
      host.faults.next(
        "mint",
        status(401, "'Expiration time' claim ('exp') is too far in the future"),
        5,
      );
      const answer = await mint();
      expect([answer.status, answer.text]).toEqual([
        502,
        expect.stringMatching(/dates of our JWT wrong; set this machine's clock/) as string,
      ]);
      expect(await orphans()).toBe(0);
    });
  });
});

describe("a revocation that the platform does not answer with success", () => {
  it("but with a failure six times: the lease is shown as irrevocable with the reason, and can still be ended by hand", async () => {
    await withPlace(async ({ host, mint }) => {
      const id = (await mint()).json.lease_id as string;
      host.faults.next("revoke", status(500), Number.POSITIVE_INFINITY);
      await vi.waitFor(
        async () => {
          const { leases } = (await vault.ask("GET", "sys/leases?type=irrevocable")).json.data as {
            leases: { lease_id: string; error: string }[];
          };
          const shown = leases.find(({ lease_id }) => lease_id === id)?.error;
          // Asking again does not wait for the next try's time, and asks for nothing while a try is
          // under way.
          if (shown === undefined)
            expect(
              (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: id, sync: false } }))
                .status,
            ).toBe(202);
          expect(shown).toMatch(/unable to revoke access token: 500/);
        },
        { timeout: 60_000, interval: 100 },
      );
      expect(host.requests().revoke).toBeGreaterThanOrEqual(6);
      host.faults.clear("revoke");
      expect(
        (await vault.ask("GET", "sys/leases/count?type=irrevocable")).json.data.lease_count,
      ).toBe(1);
      expect(
        (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).json.data
          .irrevocable,
      ).toMatch(/500/);
      expect((await vault.ask("POST", "sys/leases/tidy")).status).toBe(202);
      await becomes(() => host.counts().revoked, 1, 30_000);
      await becomes(
        async () =>
          (await vault.ask("GET", "sys/leases/count?type=irrevocable")).json.data
            .lease_count as number,
        0,
        30_000,
      );
    });
  });
});
