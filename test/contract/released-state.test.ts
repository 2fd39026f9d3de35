/**
 * The state folder that a release left, opened by this version: what was decided, minted and
 * configured is there, over HTTP, and no store is changed in a way that the release could not read.
 * `STEWARD_TEST_STATE=1` makes the folder of the present version, which belongs to its release.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { daemonStores } from "../../src/daemon/stores.ts";
import { mainStore } from "../../src/dedup/stores.ts";
import { openEnv } from "../kernel/state/fixtures/tables.ts";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { smallArchive, writeFiles } from "./corpus.ts";
import { startEstate } from "./monitor-estate.ts";
import { appKey, startCodeHost, vaultRequest } from "./vault.ts";

afterAll(removeTemporaryFolders);

const states = join(import.meta.dirname, "states");
const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"),
) as { readonly version: string };

/** What the folder is known to hold; in its archive as `expected.json`. */
interface Expected {
  /** Schemas by store. */
  readonly schemas: Readonly<Record<string, number>>;
  readonly rootToken: string;
  readonly roleId: string;
  readonly documents: number;
  /** Sorted by title of the primary. */
  readonly groups: readonly { readonly id: string; readonly status: string }[];
  readonly rejectedPairs: number;
}

/** A control plane that does not answer: what is shown comes from the state. */
const DEAD = {
  url: "http://127.0.0.1:9",
  credentials: { clientId: "k1", clientSecret: "unused" },
};

function configuration(
  folder: string,
  {
    url,
    credentials: { clientId, clientSecret },
  }: {
    readonly url: string;
    readonly credentials: { readonly clientId: string; readonly clientSecret: string };
  },
): string {
  return JSON.stringify({
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: join(folder, "state") },
    dedup: {
      archives: [{ name: "papers", kind: "folder", path: join(folder, "papers") }],
    },
    vpn: { url, http: { retry: { max_attempts: 1 } } },
    networks: [
      {
        name: "corp.test",
        auth: { oauth: { client_id: clientId, client_secret: clientSecret } },
      },
    ],
    version_checks: { devices: { enabled: false } },
  });
}

async function groupsOf(daemon: Daemon): Promise<Expected["groups"]> {
  const { json } = await rest(
    daemon,
    "GET",
    "/api/v1/duplicates?status=pending,ignored,false_positive&limit=100",
  );
  const groups = json.data as { id: string; status: string; primaryTitle: string }[];
  return groups
    .map(({ id, status }) => ({ id, status }))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

describe.runIf(process.env["STEWARD_TEST_STATE"] === "1")("the state of this version", () => {
  it("is made", async () => {
    const folder = temporaryFolder();
    writeFiles(join(folder, "papers"), {
      ...smallArchive,
      "notes/lone-copy.html": smallArchive["notes/lone.html"] ?? "",
    });
    await using estate = await startEstate();
    const host = await startCodeHost();
    onTestFinished(() => host.stop());
    const daemon = await startDaemon({
      config: configuration(folder, estate.tailscale),
    });
    const rootToken = /root token[^:]*: (\S+)/.exec(daemon.stderr.join("\n"))?.[1] ?? "";
    const write = async (path: string, body: object): Promise<any> =>
      (await vaultRequest(daemon.url, "POST", path, { token: rootToken, body })).json;
    await write("github/config", { app_id: 7, prv_key: appKey.privateKey, base_url: host.url });
    await write("github/permissionset/ci", {
      org_name: "corp.test",
      permissions: { contents: "read" },
    });
    await write("sys/policies/acl/ci", {
      policy: 'path "github/token/ci" { capabilities = ["update"] }',
    });
    await write("sys/auth/approle", { type: "approle" });
    await write("auth/approle/role/ci", { token_policies: "ci", token_ttl: "15m" });
    const role = await vaultRequest(daemon.url, "GET", "auth/approle/role/ci/role-id", {
      token: rootToken,
    });
    const sync = await rest(daemon, "POST", "/api/v1/sync", {});
    await jobEnd(daemon, sync.json.data.jobId as string);
    const jobs = await rest(daemon, "GET", "/api/v1/jobs?type=analysis");
    for (const { id } of jobs.json.data) await jobEnd(daemon, id as string);
    const [first, second] = await groupsOf(daemon);
    await rest(daemon, "PUT", `/api/v1/duplicates/${first?.id}/status`, {
      status: "false_positive",
    });
    await rest(daemon, "PUT", `/api/v1/duplicates/${second?.id}/status`, { status: "ignored" });
    await rest(daemon, "PUT", "/api/v1/config/dedup", { numBands: 16 });
    await vi.waitFor(
      async () => {
        const { json } = await rest(daemon, "GET", "/api/status.json");
        expect(json.devices.length).toBeGreaterThan(0);
      },
      { timeout: 60_000, interval: 200 },
    );
    const documents = await rest(daemon, "GET", "/api/v1/documents?limit=1");
    const pairs = await rest(daemon, "GET", "/api/v1/pairs");
    const expected: Expected = {
      schemas: Object.fromEntries(daemonStores.map(({ name, schema }) => [name, schema])),
      rootToken,
      roleId: role.json.data.role_id as string,
      documents: documents.json.meta.total as number,
      groups: await groupsOf(daemon),
      rejectedPairs: pairs.json.data.length as number,
    };
    await daemon.stop();
    // It holds nothing, and is made anew.
    rmSync(join(folder, "state/reserve"));
    writeFileSync(join(folder, "expected.json"), JSON.stringify(expected, null, 2));
    execFileSync("tar", [
      "-C",
      folder,
      "-cJf",
      join(states, `${version}.tar.xz`),
      "expected.json",
      "papers",
      "state",
    ]);
  });
});

const archives = readdirSync(states).filter((name) => name.endsWith(".tar.xz"));

describe.each(archives)("the state of %s", (archive) => {
  function unpacked(): { readonly folder: string; readonly expected: Expected } {
    const folder = temporaryFolder();
    execFileSync("tar", ["-C", folder, "-xJf", join(states, archive)]);
    return {
      folder,
      expected: JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Expected,
    };
  }

  it("has all that it had, and check finds nothing wrong after it", async () => {
    const { folder, expected } = unpacked();
    const config = configuration(folder, DEAD);
    const daemon = await startDaemon({ config });
    await vi.waitFor(
      async () => {
        const { json } = await rest(daemon, "GET", "/api/status.json");
        expect(json.services).toMatchObject({ dedup: "ready", tokens: "ready" });
      },
      { timeout: 60_000, interval: 100 },
    );
    expect((await rest(daemon, "GET", "/api/v1/documents?limit=1")).json.meta.total).toBe(
      expected.documents,
    );
    expect(await groupsOf(daemon)).toEqual(expected.groups);
    expect(new Set(expected.groups.map(({ status }) => status))).toEqual(
      new Set(["false_positive", "ignored"]),
    );
    expect((await rest(daemon, "GET", "/api/v1/pairs")).json.data).toHaveLength(
      expected.rejectedPairs,
    );
    expect((await rest(daemon, "GET", "/api/v1/config/dedup")).json.data.numBands).toBe(16);
    const asRoot = async (method: string, path: string): Promise<any> =>
      (await vaultRequest(daemon.url, method, path, { token: expected.rootToken })).json?.data;
    expect(await asRoot("GET", "github/config")).toMatchObject({ app_id: 7 });
    expect(await asRoot("GET", "github/permissionset/ci")).toMatchObject({
      org_name: "corp.test",
    });
    expect(await asRoot("GET", "auth/approle/role/ci/role-id")).toEqual({
      role_id: expected.roleId,
    });
    expect(await asRoot("GET", "sys/policies/acl/ci")).toMatchObject({ name: "ci" });
    const { json: status } = await rest(daemon, "GET", "/api/status.json");
    expect(status.health_reasons.join()).not.toContain("checkpoint");
    // A sync finds the same documents, and the decisions still hold.
    const sync = await rest(daemon, "POST", "/api/v1/sync", {});
    expect(await jobEnd(daemon, sync.json.data.jobId as string)).toMatchObject({
      status: "completed",
      result: expect.objectContaining({ inserted: 0, reconciled: 0 }),
    });
    expect(await groupsOf(daemon)).toEqual(expected.groups);
    await daemon.stop();
    expect(readdirSync(join(folder, "state")).filter((name) => name.includes("corrupt"))).toEqual(
      [],
    );
    const file = join(folder, "steward.yaml");
    writeFileSync(file, config, { mode: 0o600 });
    expect(await runSteward(["check", "--config", file])).toMatchObject({ code: 0 });
  });

  it("can still be read by the release, or docs/upgrade.md names the stores of which this is not so", () => {
    const { expected } = unpacked();
    const page = readFileSync(join(import.meta.dirname, "../../docs/upgrade.md"), "utf8");
    const raised = daemonStores.filter(
      ({ name, schema, derived }) => !derived && schema > (expected.schemas[name] ?? schema),
    );
    for (const { name } of raised) expect(page).toContain(`\`${name}.mdb\``);
    for (const { name, schema } of daemonStores)
      expect(schema, name).toBeGreaterThanOrEqual(expected.schemas[name] ?? 0);
  });

  it("says which version reads a store that a newer one has changed; the other services run", async () => {
    const { folder, expected } = unpacked();
    const newer = { from: mainStore.schema, tables: [], step: () => undefined };
    const state = join(folder, "state");
    const store = await openEnv(state, {
      ...mainStore,
      schema: mainStore.schema + 1,
      migrations: [newer],
      version: "9.9.0",
    });
    await store.close();
    const daemon = await startDaemon({ config: configuration(folder, DEAD) });
    await vi.waitFor(
      async () =>
        expect((await rest(daemon, "GET", "/api/status.json")).json.services).toMatchObject({
          tokens: "ready",
        }),
      { timeout: 60_000, interval: 100 },
    );
    const { json } = await rest(daemon, "GET", "/api/status.json");
    expect(json.services.dedup).not.toBe("ready");
    const said = daemon.stderr.join("\n");
    expect(said).toContain(
      `dedup.mdb has schema ${mainStore.schema + 1} (format 1); this Steward ${version} reads schema ${mainStore.schema} (format 1)`,
    );
    expect(said).toContain("run Steward 9.9.0 or newer, or restore a backup of schema");
    const { json: config } = await vaultRequest(daemon.url, "GET", "github/config", {
      token: expected.rootToken,
    });
    expect(config.data).toMatchObject({ app_id: 7 });
    await daemon.stop();
    // Nothing was done to the store: the newer version still opens it.
    const again = await openEnv(state, { ...mainStore, schema: mainStore.schema + 1 });
    expect(again.status().rows["documents"]).toBe(expected.documents);
    await again.close();
  });
});
