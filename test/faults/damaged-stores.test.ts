/**
 * The running daemon with a store that is damaged, of another schema, unreadable or missing: its
 * service refuses with the reason, the other one works, nothing is written to the file, and no root
 * token is made.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { JobService } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { SystemService } from "../../src/gen/steward/tokens/v1/system_pb.ts";
import { check } from "../../src/commands/check.ts";
import { dedupStores, mainStore, textStore } from "../../src/dedup/stores.ts";
import { FORMAT, IDENTITY, putMetadata } from "../../src/kernel/state/rows/store-metadata.ts";
import { openLmdbFile } from "../../src/kernel/state/file/lmdb-file.ts";
import type { EnvSpec } from "../../src/kernel/state/types.ts";
import { tokensStore, tokensStores } from "../../src/tokens/stores.ts";
import { createKeyRing } from "../../src/kernel/state/codec/key-ring.ts";
import { folderConfig, smallArchive, writeFiles } from "../contract/corpus.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import { grpcStream, grpcUnary } from "../contract/rpc.ts";
import { vaultRequest } from "../contract/vault.ts";
import { isLongRun } from "../support/long-run.ts";

const ROOT_LINE = /root token[^:]*: (\S+)/;
const UNAVAILABLE = 14;

let archive: string;
/** A state folder that a daemon used and closed; copied for each case. */
let whole: string;
let root: string;

function start(state: string): Promise<Daemon> {
  return startDaemon({ config: folderConfig(state, archive) });
}

beforeAll(async () => {
  archive = temporaryFolder();
  whole = join(temporaryFolder(), "state");
  writeFiles(archive, smallArchive);
  const daemon = await start(whole);
  root =
    daemon.stderr.map((line) => ROOT_LINE.exec(line)?.[1]).find((found) => found !== undefined) ??
    "";
  await runJob(daemon, "/api/v1/sync");
  expect(
    (
      await vaultRequest(daemon.url, "POST", "sys/policies/acl/kept", {
        token: root,
        body: { policy: 'path "a" { capabilities = ["read"] }' },
      })
    ).status,
  ).toBe(204);
  await daemon.stop();
});

afterAll(removeTemporaryFolders);

/** What is done to the file of a store, and what the refusal says. */
const damages: Readonly<
  Record<
    string,
    {
      readonly happens: (path: string, spec: Omit<EnvSpec, "directory">) => void | Promise<void>;
      readonly says: RegExp;
      /** `steward check` reads the file alone, which is whole. */
      readonly isWhole?: true;
    }
  >
> = {
  "has a wrong bit in a page": { happens: flipBit, says: /is damaged: / },
  "was cut in half": {
    happens: (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
    says: /is damaged: /,
  },
  "is empty": { happens: (path) => truncateSync(path, 0), says: /is damaged: / },
  "is another store": {
    happens: (path) =>
      copyFileSync(
        join(path, "..", path.endsWith("tokens.mdb") ? "dedup.mdb" : "tokens.mdb"),
        path,
      ),
    says: /is not the store/,
  },
  "has a newer schema": {
    happens: makeNewer,
    says: /has schema 9 .*; run Steward 9\.9\.9 or newer, or restore a backup/,
  },
  "cannot be read": {
    happens: (path) => (rmSync(path), mkdirSync(path)),
    says: /cannot be read \(EISDIR\); .*docs\/recovery\.md/,
  },
  "has a lock file that cannot be opened": {
    happens: (path) => (rmSync(`${path}-lock`, { force: true }), mkdirSync(`${path}-lock`)),
    says: /-lock cannot be opened \(it is no file\); .*stop Steward and delete it/,
    isWhole: true,
  },
  "is missing": {
    happens: (path) => rmSync(path),
    says: /is missing, and this state folder had that store; .*docs\/recovery\.md.*to begin with an empty store, remove .*\/stores\//,
  },
};

function flipBit(path: string): void {
  const bytes = readFileSync(path);
  // Page 2 and what follows are rows or free; the heads come before.
  const at = bytes.findIndex((byte, position) => position >= 2 * 4096 + 200 && byte !== 0);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
  for (let page = 2; page * 4096 < bytes.length; page += 1)
    bytes.writeUInt8(bytes.readUInt8(page * 4096 + 4000) ^ 0x10, page * 4096 + 4000);
  writeFileSync(path, bytes);
}

async function makeNewer(path: string, spec: Omit<EnvSpec, "directory">): Promise<void> {
  const file = openLmdbFile(path, {
    tables: spec.tables,
    ring: spec.tables.some(({ sealed }) => sealed) ? createKeyRing(spec.name) : undefined,
    maxBytes: spec.maxBytes,
  });
  await file.transact(() =>
    putMetadata(file, IDENTITY, { format: FORMAT, name: spec.name, schema: 9, writer: "9.9.9" }),
  );
  await file.close();
}

async function servingOf(daemon: Daemon, service: string): Promise<Status> {
  return (await grpcUnary(daemon.host, Health.method.check, { service })).status;
}

/** The bytes of what stands at a path, to be compared later. */
function contentOf(path: string): string {
  if (!existsSync(path)) return "missing";
  return lstatSync(path).isDirectory() ? "a folder" : readFileSync(path, "latin1");
}

async function documentsWork(daemon: Daemon): Promise<void> {
  expect((await rest(daemon, "GET", "/api/v1/ready")).status).toBe(200);
  expect((await runJob(daemon, "/api/v1/sync")).status).toBe("completed");
  expect((await rest(daemon, "GET", "/api/v1/documents")).json.meta.total).toBe(7);
  expect(await servingOf(daemon, "steward.dedup.v1.JobService")).toBe(Status.SERVING);
}

async function tokensWork(daemon: Daemon): Promise<void> {
  expect((await vaultRequest(daemon.url, "GET", "sys/health")).status).toBe(200);
  expect(
    (
      await vaultRequest(daemon.url, "POST", "sys/policies/acl/new", {
        token: root,
        body: { policy: 'path "b" { capabilities = ["read"] }' },
      })
    ).status,
  ).toBe(204);
  expect(
    (await vaultRequest(daemon.url, "LIST", "sys/policies/acl", { token: root })).json.data.keys,
  ).toContain("kept");
  expect(await servingOf(daemon, "steward.tokens.v1.LogicalService")).toBe(Status.SERVING);
}

async function documentsRefuse(daemon: Daemon, says: RegExp): Promise<void> {
  const ready = await rest(daemon, "GET", "/api/v1/ready");
  expect([
    ready.status,
    ready.json.error.code,
    ready.json.error.details[0].database.status,
  ]).toEqual([503, "NOT_READY", "error"]);
  expect(ready.json.error.details[0].database.error).toMatch(says);
  expect((await rest(daemon, "GET", "/api/v1/health")).status).toBe(200);
  for (const [method, path] of [
    ["GET", "/api/v1/duplicates"],
    ["POST", "/api/v1/sync"],
    ["GET", "/api/v1/documents"],
    ["GET", "/api/v1/jobs/abc/progress"],
  ] as const) {
    const { status, json } = await rest(daemon, method, path);
    expect([status, json.error.code, json.error.message]).toEqual([
      503,
      "SERVICE_UNAVAILABLE",
      expect.stringMatching(says),
    ]);
  }
  await expect(grpcUnary(daemon.host, JobService.method.listJobs, {})).rejects.toMatchObject({
    code: UNAVAILABLE,
    details: expect.stringMatching(says),
  });
  await expect(
    grpcStream(daemon.host, JobService.method.watchJob, { jobId: "x" }),
  ).rejects.toMatchObject({ code: UNAVAILABLE });
  expect(await servingOf(daemon, "steward.dedup.v1.JobService")).toBe(Status.NOT_SERVING);
}

async function tokensRefuse(daemon: Daemon, says: RegExp): Promise<void> {
  for (const [method, path] of [
    ["GET", "sys/health"],
    ["GET", "sys/seal-status"],
    ["PUT", "sys/unseal"],
    ["PUT", "sys/init"],
    ["POST", "github/token"],
    ["LIST", "sys/policies/acl"],
    ["GET", "nothing"],
  ] as const) {
    const { status, json } = await vaultRequest(daemon.url, method, path, { token: root });
    expect([method, path, status, json]).toEqual([
      method,
      path,
      503,
      { errors: [expect.stringMatching(says)] },
    ]);
  }
  expect(
    (await vaultRequest(daemon.url, "HEAD", "sys/health?sealedcode=200&uninitcode=200")).status,
  ).toBe(503);
  await expect(grpcUnary(daemon.host, SystemService.method.getHealth, {})).rejects.toMatchObject({
    code: UNAVAILABLE,
    details: expect.stringMatching(says),
  });
  expect(await servingOf(daemon, "steward.tokens.v1.LogicalService")).toBe(Status.NOT_SERVING);
}

const services = {
  dedup: { works: documentsWork, refuses: documentsRefuse },
  tokens: { works: tokensWork, refuses: tokensRefuse },
} as const;
/**
 * Each store with the service that refuses without it. A store is restored before the start at
 * which the next one is damaged, where its service works again: in that next row it is `other`.
 */
const stores = [
  { spec: mainStore, broken: "dedup", other: "tokens" },
  { spec: tokensStore, broken: "tokens", other: "dedup" },
  { spec: textStore, broken: "dedup", other: "tokens" },
] as const;

it("covers every primary store of the services", () => {
  expect(stores.map(({ spec }) => spec.name).sort()).toEqual(
    [...dedupStores, ...tokensStores]
      .filter(({ derived }) => !derived)
      .map(({ name }) => name)
      .sort(),
  );
});

/** Each damage to one of the stores, in turn; in the long run to all of them. */
const cases = Object.entries(damages).map(
  ([what, damage], at) =>
    [
      what,
      damage,
      isLongRun ? stores : stores.filter((_, store) => store === at % stores.length),
    ] as const,
);

describe.each(cases)(
  "a store whose file %s",
  (_what, { happens, says, isWhole }, damagedStores) => {
    it("keeps its service from work and no other one, until it is restored", async () => {
      const state = join(temporaryFolder(), "state");
      cpSync(whole, state, { recursive: true });
      for (const store of damagedStores) {
        const path = join(state, `${store.spec.name}.mdb`);
        const saved = join(temporaryFolder(), "saved");
        copyFileSync(path, saved);
        await happens(path, store.spec);
        const damaged = contentOf(path);
        await startsWithout(store, { state, path, says });
        expect(contentOf(path)).toBe(damaged);
        if (isWhole !== true) await checkNames(store.spec.name, { state, path });
        rmSync(path, { recursive: true, force: true });
        rmSync(`${path}-lock`, { recursive: true, force: true });
        copyFileSync(saved, path);
      }
      const again = await start(state);
      try {
        await documentsWork(again);
        await tokensWork(again);
      } finally {
        await again.stop();
      }
    });
  },
);

interface DamagedStore {
  readonly state: string;
  readonly path: string;
  readonly says: RegExp;
}

/** Starts the daemon: one service refuses with the reason everywhere, the other one works. */
async function startsWithout(
  { broken, other }: (typeof stores)[number],
  { state, path, says }: DamagedStore,
): Promise<void> {
  const audit = contentOf(join(state, "audit.log"));
  const daemon = await start(state);
  try {
    expect([
      (await rest(daemon, "GET", "/healthz")).status,
      (await rest(daemon, "GET", "/readyz")).text,
    ]).toEqual([200, "ok\n"]);
    const { status, text } = await rest(daemon, "GET", "/readyz?verbose=1");
    expect([status, text.split("\n").find((line) => line.startsWith(`${broken}:`))]).toEqual([
      200,
      expect.stringMatching(
        new RegExp(
          `^${broken}: refusing, .*${path}.*${says.source}`.replace(/is damaged: .*$/, ""),
        ),
      ),
    ]);
    expect(await servingOf(daemon, "")).toBe(Status.SERVING);
    await services[broken].refuses(daemon, says);
    if (broken === "tokens") expect(contentOf(join(state, "audit.log"))).toBe(audit);
    await services[other].works(daemon);
    const shown = (await rest(daemon, "GET", "/api/status.json")).json;
    expect(shown.services).toMatchObject({ [broken]: "refusing", [other]: "ready" });
    expect(shown.components.find(({ name }: { name: string }) => name === broken)).toMatchObject({
      failed: true,
      reason: expect.stringMatching(says),
    });
    expect((await rest(daemon, "GET", "/")).text).toContain("out of service");
  } finally {
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  }
  const logged = daemon.stderr.join("\n");
  expect(logged).toMatch(/the service refuses all requests/);
  expect(logged).not.toMatch(ROOT_LINE);
}

/** `steward check` calls the store damaged too; it reads no folder in place of a file. */
async function checkNames(
  name: string,
  { state, path }: Pick<DamagedStore, "state" | "path">,
): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  let stdout = "";
  const output = { stdout: (text: string) => void (stdout += text), stderr: () => {} };
  const code = await check({ directory: state, config: undefined, demo: false }, {}, output);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^${name}\\.mdb: DAMAGED`, "m")),
  ]);
}

describe("what the state folder holds beside its primary stores", () => {
  it("is made anew or passed over when it is damaged: signatures, locks, the reserve, the memory of stores", async () => {
    const state = join(temporaryFolder(), "state");
    cpSync(whole, state, { recursive: true });
    writeFileSync(join(state, "dedup-sketch.mdb"), "no store");
    for (const name of [
      "lock",
      "lock.pid",
      "reserve",
      "dedup.mdb-lock",
      "tokens.mdb-lock",
      "dedup.mdb.new",
      join("stores", "tokens"),
    ])
      writeFileSync(join(state, name), "damage ".repeat(2_000));
    const daemon = await start(state);
    expect((await rest(daemon, "GET", "/readyz")).text).toBe("ok\n");
    await tokensWork(daemon);
    await documentsWork(daemon);
    const { json, text } = await rest(daemon, "POST", "/api/v1/analysis");
    // The sync before may have started one.
    const id = json.data?.jobId ?? json.error?.details?.[0]?.jobId;
    expect(id, text).toBeTypeOf("string");
    expect((await jobEnd(daemon, id as string)).status).toBe("completed");
    await daemon.stop();
  });

  it("checkpoints: a damaged file is set aside whole and a new one made", async () => {
    const state = join(temporaryFolder(), "state");
    const config = `gateway: { listen: "127.0.0.1:0" }\nstate: { directory: ${state} }\nservices: { dedup: false, tokens: false }\nprovider: headscale\nheadscale: { url: "http://127.0.0.1:1", api_key: abcdefghij }\n`;
    await (await startDaemon({ config })).stop();
    const path = join(state, "checkpoints.mdb");
    for (const [number, damage] of [
      Buffer.alloc(0),
      readFileSync(path).subarray(0, 5_000),
      Buffer.from("no store"),
    ].entries()) {
      writeFileSync(path, damage);
      const daemon = await startDaemon({ config });
      expect((await rest(daemon, "GET", "/api/status.json")).text).toContain(
        `a damaged file was renamed to ${path}.corrupt`,
      );
      await daemon.stop();
      expect(
        readFileSync(`${path}.corrupt${number === 0 ? "" : `.${number + 1}`}`).equals(damage),
      ).toBe(true);
      expect((await runSteward(["check", state])).code).toBe(0);
    }
  });
});
