/**
 * Files of the state folder are deleted, renamed or replaced under the running daemon: no write is
 * acknowledged that the next start would not find, the daemon says so everywhere, and the next
 * start makes no empty store in silence.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
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
import { grpcUnary } from "../contract/rpc.ts";
import { vaultRequest } from "../contract/vault.ts";

const ROOT_LINE = /root token[^:]*: (\S+)/;
const WRITES = 5;

/**
 * A state folder that a daemon used and closed, with the archive that it read; copied for each
 * case.
 */
let made: string;
let root: string;

interface Place {
  readonly state: string;
  readonly archive: string;
}

function copyOfMade(): Place {
  const folder = join(temporaryFolder(), "copy");
  cpSync(made, folder, { recursive: true });
  return { state: join(folder, "state"), archive: join(folder, "archive") };
}

function start({ state, archive }: Place): Promise<Daemon> {
  return startDaemon({ config: folderConfig(state, archive) });
}

beforeAll(async () => {
  made = temporaryFolder();
  const place = { state: join(made, "state"), archive: join(made, "archive") };
  writeFiles(place.archive, smallArchive);
  const daemon = await start(place);
  root =
    daemon.stderr.map((line) => ROOT_LINE.exec(line)?.[1]).find((found) => found !== undefined) ??
    "";
  await runJob(daemon, "/api/v1/sync");
  await daemon.stop();
});

afterAll(removeTemporaryFolders);

/** A service's own writes and reads, as its users make them. */
interface Writer {
  readonly service: "dedup" | "tokens";
  readonly health: string;
  /** Whether the write was acknowledged; else what was answered. */
  write(
    daemon: Daemon,
    place: Place,
    name: string,
  ): Promise<true | { readonly status: number; readonly text: string }>;
  /** Names of the writes that are there. */
  stored(daemon: Daemon): Promise<readonly string[]>;
}

const policies: Writer = {
  service: "tokens",
  health: "steward.tokens.v1.LogicalService",
  async write(daemon, _place, name) {
    const { status, text } = await vaultRequest(daemon.url, "POST", `sys/policies/acl/${name}`, {
      token: root,
      body: { policy: 'path "a" { capabilities = ["read"] }' },
    });
    return status === 204 ? true : { status, text };
  },
  stored: async (daemon) =>
    (
      (await vaultRequest(daemon.url, "LIST", "sys/policies/acl", { token: root })).json.data
        .keys as string[]
    ).filter((key) => key.startsWith("w")),
};

const documents: Writer = {
  service: "dedup",
  health: "steward.dedup.v1.JobService",
  async write(daemon, { archive }, name) {
    writeFileSync(
      join(archive, `${name}.txt`),
      `${name} is a document of its own with enough words to be read, written while Steward runs.`,
    );
    const started = await rest(daemon, "POST", "/api/v1/sync");
    if (started.status !== 202) return { status: started.status, text: started.text };
    const job = await jobEnd(daemon, started.json.data.jobId as string);
    return job?.status === "completed" ? true : { status: 503, text: JSON.stringify(job) };
  },
  stored: async (daemon) =>
    ((await rest(daemon, "GET", "/api/v1/documents?limit=100")).json.data as { title: string }[])
      .map(({ title }) => title)
      .filter((title) => /^w\d/.test(title)),
};

const stores: Readonly<Record<string, Writer>> = {
  tokens: policies,
  dedup: documents,
  "dedup-text": documents,
};

async function lineOf(daemon: Daemon, service: string): Promise<string> {
  return (
    (await rest(daemon, "GET", "/readyz?verbose=1")).text
      .split("\n")
      .find((line) => line.startsWith(`${service}:`)) ?? ""
  );
}

describe.each(Object.keys(stores))("the file of %s under the running daemon", (name) => {
  const writer = stores[name] as Writer;

  async function writeSome(daemon: Daemon, place: Place): Promise<string[]> {
    const acknowledged: string[] = [];
    for (let number = 0; number < WRITES; number += 1) {
      expect(await writer.write(daemon, place, `w${number}`)).toBe(true);
      acknowledged.push(`w${number}`);
    }
    return acknowledged;
  }

  /** Nothing is acknowledged, and health, readiness and the log say so. */
  async function refuses(daemon: Daemon, place: Place, says: RegExp): Promise<void> {
    for (const late of ["x1", "x2"]) {
      const answer = await writer.write(daemon, place, late);
      expect(answer).toMatchObject({ status: 503, text: expect.stringMatching(says) });
    }
    expect([
      (await rest(daemon, "GET", "/healthz")).status,
      (await rest(daemon, "GET", "/readyz")).status,
    ]).toEqual([200, 503]);
    expect((await rest(daemon, "GET", "/readyz")).text).toMatch(
      new RegExp(`^component failure: ${writer.service}: .*${says.source}`),
    );
    expect(await lineOf(daemon, writer.service)).toMatch(
      new RegExp(`^${writer.service}: degraded, .*${says.source}.*restore a backup`),
    );
    expect(
      (await grpcUnary(daemon.host, Health.method.check, { service: writer.health })).status,
    ).toBe(Status.NOT_SERVING);
    if (writer.service === "dedup")
      expect((await rest(daemon, "GET", "/api/v1/ready")).status).toBe(503);
    expect(
      (await rest(daemon, "GET", "/api/status.json")).json.components.find(
        (row: { name: string }) => row.name === writer.service,
      ),
    ).toMatchObject({ failed: true, reason: expect.stringMatching(says) });
    expect(daemon.stderr.join("\n")).toMatch(
      /error .*the store file is missing or was replaced; writes are refused/,
    );
  }

  it("deleted: refuses writes, refuses after the restart with the remedy, and is whole again from the descriptor or a backup", async () => {
    const place = copyOfMade();
    const path = join(place.state, `${name}.mdb`);
    const daemon = await start(place);
    const acknowledged = await writeSome(daemon, place);
    rmSync(path);
    await refuses(daemon, place, /was deleted or renamed while Steward had it open/);
    // What docs/recovery.md tells to do while the daemon still runs.
    const rescued = join(temporaryFolder(), "rescued");
    const open =
      process.platform === "linux"
        ? readdirSync(`/proc/${daemon.pid}/fd`).find(
            (fd) => linkOf(daemon.pid, fd) === `${path} (deleted)`,
          )
        : undefined;
    if (open !== undefined) copyFileSync(`/proc/${daemon.pid}/fd/${open}`, rescued);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(existsSync(path)).toBe(false);

    const refusing = await start(place);
    expect(await lineOf(refusing, writer.service)).toMatch(
      new RegExp(
        `^${writer.service}: refusing, .*${path} is missing, and this state folder had that store; .*restore a backup .docs/recovery.md.; to begin with an empty store, remove ${join(place.state, "stores", name)}$`,
      ),
    );
    expect((await rest(refusing, "GET", "/readyz")).status).toBe(200);
    expect(refusing.stderr.join("\n")).not.toMatch(ROOT_LINE);
    await refusing.stop();
    expect(existsSync(path)).toBe(false);

    if (open === undefined) return;
    copyFileSync(rescued, path);
    const again = await start(place);
    expect(
      (await writer.stored(again)).filter((each) => acknowledged.includes(each)).sort(),
    ).toEqual(acknowledged);
    expect(await writer.write(again, place, "after")).toBe(true);
    await again.stop();
  });

  it("renamed: refuses writes, and takes them again without a restart when it is back, with all that was acknowledged", async () => {
    const place = copyOfMade();
    const path = join(place.state, `${name}.mdb`);
    const daemon = await start(place);
    const acknowledged = await writeSome(daemon, place);
    renameSync(path, `${path}.aside`);
    await refuses(daemon, place, /was deleted or renamed while Steward had it open/);
    renameSync(`${path}.aside`, path);
    // At once, or with the next attempt where the file was renamed during a commit.
    await vi.waitFor(async () => expect((await rest(daemon, "GET", "/readyz")).status).toBe(200), {
      timeout: 60_000,
      interval: 100,
    });
    expect(await writer.write(daemon, place, "w9")).toBe(true);
    await daemon.stop("SIGKILL");
    const again = await start(place);
    expect(
      (await writer.stored(again)).filter((each) => each !== "x1" && each !== "x2").sort(),
    ).toEqual([...acknowledged, "w9"]);
    await again.stop();
  });

  it("replaced: refuses writes, writes nothing into the new file, and the next start takes that", async () => {
    const place = copyOfMade();
    const path = join(place.state, `${name}.mdb`);
    const daemon = await start(place);
    await writeSome(daemon, place);
    copyFileSync(join(made, "state", `${name}.mdb`), `${path}.restored`);
    renameSync(`${path}.restored`, path);
    const restored = readFileSync(path);
    await refuses(daemon, place, /was replaced by another file while Steward had it open/);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(readFileSync(path).equals(restored)).toBe(true);
    const again = await start(place);
    expect((await rest(again, "GET", "/readyz")).status).toBe(200);
    await again.stop();
  });
});

function linkOf(pid: number, descriptor: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return "";
  }
}

describe("a state folder in use", () => {
  it.runIf(process.platform === "linux")(
    "stays refused to others when the lock's files are deleted, until its holder ends, however that is",
    async () => {
      const place = copyOfMade();
      const daemon = await start(place);
      for (const file of ["lock", "lock.pid"]) rmSync(join(place.state, file));
      await expect(start(place)).rejects.toThrow(
        `the state folder ${place.state} is in use by process ${daemon.pid}; stop that process`,
      );
      expect(await runSteward(["check", place.state])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`is in use by process ${daemon.pid}`),
      });
      await daemon.stop("SIGKILL");
      await (await start(place)).stop();
    },
  );

  it("is locked without a write through a link at lock.pid", async () => {
    const place = copyOfMade();
    const target = join(temporaryFolder(), "target");
    writeFileSync(target, "precious");
    symlinkSync(target, join(place.state, "lock.pid"));
    const daemon = await start(place);
    expect(readFileSync(join(place.state, "lock.pid"), "utf8")).toBe(`${daemon.pid}\n`);
    await daemon.stop();
    expect(readFileSync(target, "utf8")).toBe("precious");
  });

  it("that is deleted whole is a new one at the next start: that is how one begins anew", async () => {
    const place = copyOfMade();
    rmSync(place.state, { recursive: true });
    const daemon = await start(place);
    expect(daemon.stderr.join("\n")).toMatch(ROOT_LINE);
    await daemon.stop();
    expect(readdirSync(join(place.state, "stores")).sort()).toEqual([
      "dedup",
      "dedup-text",
      "history",
      "tokens",
    ]);
  });

  it("moved as a whole works in its new place, and one that an older Steward left remembers its stores from the first start on", async () => {
    const place = copyOfMade();
    const moved = { ...place, state: `${place.state}-moved` };
    renameSync(place.state, moved.state);
    rmSync(join(moved.state, "stores"), { recursive: true });
    const daemon = await start(moved);
    expect((await rest(daemon, "GET", "/readyz")).status).toBe(200);
    await daemon.stop();
    expect(readdirSync(join(moved.state, "stores")).sort()).toEqual([
      "dedup",
      "dedup-text",
      "history",
      "tokens",
    ]);
  });
});

it("a lost store is named by check, backup and root-token, and removing its entry begins an empty one", async () => {
  const place = copyOfMade();
  rmSync(join(place.state, "tokens.mdb"));
  const config = join(temporaryFolder(), "steward.yaml");
  writeFileSync(config, folderConfig(place.state, place.archive), { mode: 0o600 });
  const lost = new RegExp(
    `${join(place.state, "tokens.mdb")} is missing, and this state folder had that store`,
  );
  expect(await runSteward(["check", place.state])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(lost),
  });
  expect(
    await runSteward(["backup", "--config", config, join(temporaryFolder(), "copy")]),
  ).toMatchObject({ code: 1, stderr: expect.stringMatching(lost) });
  expect(await runSteward(["root-token", "--config", config])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(lost),
  });
  rmSync(join(place.state, "stores", "tokens"));
  const daemon = await start(place);
  expect(daemon.stderr.join("\n")).toMatch(ROOT_LINE);
  await daemon.stop();
});

it("an audit file deleted under the daemon takes no acknowledged record with it, and the log says so", async () => {
  const place = copyOfMade();
  const daemon = await start(place);
  rmSync(join(place.state, "audit.log"));
  expect(await policies.write(daemon, place, "audited")).toBe(true);
  const records = readFileSync(join(place.state, "audit.log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(
    records
      .filter(({ request }) => request.path === "sys/policies/acl/audited")
      .map(({ type }) => type),
  ).toEqual(["request", "response"]);
  expect(daemon.stderr.join("\n")).toMatch(/the audit file was deleted while it was in use/);
  await daemon.stop();
});
