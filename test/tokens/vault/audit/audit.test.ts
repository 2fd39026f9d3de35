import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import type { AuditService } from "../../../../src/tokens/vault/audit/audit.ts";
import { auditSalts } from "../../../../src/tokens/vault/audit/tables.ts";
import { mountSmallDisk, noSmallDisk } from "../../../kernel/state/fixtures/small-disk.ts";
import { temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { memoryLog } from "../../../kernel/telemetry/fixtures.ts";
import type { AuditRequest, TokenEntry } from "../../../../src/tokens/vault/types.ts";
import { createAuditBench, entry, plain, request, tokenId } from "./fixtures/bench.ts";

describe("the audit", () => {
  it("begins with a test request, writes requests and answers as Vault does, and is readable by nobody else", async () => {
    const { audit, clock, directory, lines } = await createAuditBench();
    await audit.request(request);
    await audit.response(request, {
      data: { token: "ghs_secret", expires_at: "2026-11-21T04:17:54Z", installation_id: 5 },
      leaseId: "github/token/abc",
      warnings: ["careful"],
    });
    const [first, isRead, answered] = lines();
    const hash = (text: string) => audit.hash("file/", text);
    expect(first).toMatchObject({
      type: "request",
      auth: { token_type: "default" },
      request: { operation: "update", path: "sys/audit/test", namespace: { id: "root" } },
    });
    expect(isRead).toEqual({
      time: new Date(clock.now()).toISOString(),
      type: "request",
      auth: {
        client_token: await hash("hvs.the-token-itself"),
        accessor: await hash("accessor-of-it"),
        display_name: "token-ci",
        policies: ["default", "ci"],
        token_policies: ["default", "ci"],
        policy_results: {
          allowed: true,
          granting_policies: [{ name: "ci", namespace_id: "root", type: "acl" }],
        },
        metadata: { team: "web" },
        token_type: "service",
        token_ttl: 3_600,
        token_issue_time: "2023-11-14T22:13:20.000Z",
      },
      request: {
        id: request.id,
        operation: "create",
        mount_point: "github/",
        mount_type: "github",
        mount_accessor: "github_1a2b",
        mount_class: "secret",
        client_token: await hash("hvs.the-token-itself"),
        client_token_accessor: await hash("accessor-of-it"),
        namespace: { id: "root" },
        path: "github/token",
        data: {
          installation_id: 5,
          repositories: [await hash("web"), await hash("api")],
          permissions: { contents: await hash("read") },
        },
        remote_address: "127.0.0.1",
        remote_port: 54_321,
      },
    });
    expect(answered).toMatchObject({
      type: "response",
      auth: isRead.auth,
      request: isRead.request,
      response: {
        mount_point: "github/",
        mount_type: "github",
        mount_class: "secret",
        mount_accessor: "github_1a2b",
        secret: { lease_id: "github/token/abc" },
        warnings: ["careful"],
        data: {
          token: await hash("ghs_secret"),
          expires_at: "2026-11-21T04:17:54Z",
          installation_id: 5,
        },
      },
    });
    const path = join(directory, "audit.log");
    expect(readFileSync(path, "utf8")).not.toMatch(/the-token-itself|accessor-of-it|ghs_secret/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(audit.devices()).toEqual([
      {
        path: "file/",
        type: "file",
        description: "",
        options: {
          file_path: "audit.log",
          format: "json",
          hmac_accessor: "true",
          elide_list_responses: "false",
          mode: "0600",
        },
      },
    ]);
  });

  it("writes who was refused and why, who asked without a token, and whose token nobody knows", async () => {
    const { audit, lines } = await createAuditBench();
    await audit.request({ ...request, allowed: false, granting: [] }, "permission denied");
    await audit.response(
      { ...request, allowed: false, granting: [] },
      { error: "permission denied" },
    );
    await audit.request({
      ...request,
      token: undefined,
      mount: undefined,
      remote: undefined,
      data: undefined,
      granting: [],
    });
    await audit.request({
      ...request,
      token: { id: Secret.of("hvs.unknown", "test"), entry: undefined },
    });
    const [, refused, answer, open, foreign] = lines();
    expect([refused.error, refused.auth.policy_results, answer.response.data]).toEqual([
      "permission denied",
      { allowed: false },
      { error: await audit.hash("file/", "permission denied") },
    ]);
    expect(open).toEqual({
      time: expect.any(String),
      type: "request",
      auth: { policy_results: { allowed: true }, token_type: "default" },
      request: {
        id: request.id,
        operation: "create",
        namespace: { id: "root" },
        path: "github/token",
      },
    });
    expect(foreign.auth).toMatchObject({
      client_token: await audit.hash("file/", "hvs.unknown"),
      token_type: "default",
    });
  });

  it("writes each device's own words of a request, and a copy of it with other content anew", async () => {
    const { audit, directory, lines } = await createAuditBench([
      plain,
      { ...plain, filePath: "second.log", hmacAccessor: false },
    ]);
    await audit.request(request);
    await audit.response(
      { ...request, allowed: false, granting: [] },
      { error: "permission denied" },
    );
    const [, isRead, answered] = lines();
    expect([isRead.auth.policy_results.allowed, answered.auth.policy_results]).toEqual([
      true,
      { allowed: false },
    ]);
    const second = readFileSync(join(directory, "second.log"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(second.slice(1).map((line) => line.auth.accessor)).toEqual([
      "accessor-of-it",
      "accessor-of-it",
    ]);
  });

  it("hashes with a salt of the device's own that is stored sealed and stays", async () => {
    const { again, audit, env } = await createAuditBench([
      plain,
      { ...plain, filePath: "second.log" },
    ]);
    const salt = Buffer.from(env.read((snapshot) => snapshot.get(auditSalts, "audit.log")) ?? []);
    expect(await audit.hash("file/", "x")).toBe(
      `hmac-sha256:${createHmac("sha256", salt).update("x").digest("hex")}`,
    );
    expect(await audit.hash("file-2/", "x")).not.toBe(await audit.hash("file/", "x"));
    expect(await audit.hash("nothing/", "x")).toBeUndefined();
    await audit.close();
    expect(await (await again()).hash("file/", "x")).toBe(await audit.hash("file/", "x"));
    expect(readFileSync(env.status().path).includes(salt)).toBe(false);
  });

  it("does as its options say: accessors in clear, lists as lengths, a prefix, a file elsewhere", async () => {
    const elsewhere = join(temporaryFolder(), "x.log");
    const { audit } = await createAuditBench([
      {
        ...plain,
        filePath: elsewhere,
        hmacAccessor: false,
        elideListResponses: true,
        prefix: "@cee: ",
      },
    ]);
    await audit.request(request);
    await audit.response(
      { ...request, operation: "list" },
      { data: { keys: ["a", "b"], key_info: { a: 1 } } },
    );
    await audit.response(request, {
      data: { keys: ["a"] },
      wrap: { token: tokenId, accessor: "wrapping", ttlMs: 60_000, creationPath: "github/token" },
    });
    const text = readFileSync(elsewhere, "utf8").trim().split("\n");
    const [, isRead, listed, wrapped] = text.map((line) => JSON.parse(line.slice("@cee: ".length)));
    expect([
      isRead.auth.accessor,
      isRead.request.client_token_accessor,
      listed.response.data,
    ]).toEqual(["accessor-of-it", "accessor-of-it", { keys: 2, key_info: 1 }]);
    expect(wrapped.response).toMatchObject({
      data: { keys: [await audit.hash("file/", "a")] },
      wrap_info: {
        ttl: 60,
        token: await audit.hash("file/", "hvs.the-token-itself"),
        accessor: "wrapping",
        creation_path: "github/token",
      },
    });
  });

  it("shares one flush among many, waits for the disk, and gathers while a flush runs", async () => {
    const flushes: (() => void)[] = [];
    const { audit, lines } = await createAuditBench([plain], {
      flush: () =>
        new Promise((resolve) => (flushes.length === 0 ? resolve() : flushes.push(resolve))),
    });
    flushes.push(() => {});
    let done = 0;
    const send = (count: number) =>
      Array.from({ length: count }, () => audit.request(request).then(() => (done += 1)));
    const first = send(50);
    await until(() => flushes.length === 2);
    const second = send(70);
    await new Promise(setImmediate);
    expect(done).toBe(0);
    flushes[1]?.();
    await Promise.all(first);
    await until(() => flushes.length === 3);
    expect(done).toBe(50);
    flushes[2]?.();
    await Promise.all(second);
    expect([done, flushes.length, lines().length]).toEqual([120, 3, 121]);
  });

  it("writes of a request with a million values the first ones and one hash", async () => {
    const { audit, lines } = await createAuditBench();
    const data = { values: Array.from({ length: 1_000_000 }, () => "a"), token: "t" };
    await audit.request({ ...request, data });
    const { values, token } = lines()[1].request.data;
    expect([values.length, values[0], values.at(-1), token]).toEqual([
      257,
      await audit.hash("file/", "a"),
      {
        too_many_values: {
          count: 1_000_000 - 256,
          hash: await audit.hash("file/", JSON.stringify(data.values.slice(256))),
        },
      },
      await audit.hash("file/", "t"),
    ]);
  });

  it("has no line of more than 64 KiB, whatever its token, its policies, its warnings and its data are", async () => {
    const { audit, directory } = await createAuditBench();
    const many = (count: number, length: number): string[] =>
      Array.from({ length: count }, (_, index) => `${index}-${"x".repeat(length)}`);
    const wide: TokenEntry = {
      ...entry,
      key: "wide",
      displayName: "d".repeat(100_000),
      policies: many(10_000, 50),
      meta: Object.fromEntries(many(2_000, 100).map((name) => [name, name])),
    };
    const isRead: AuditRequest = {
      ...request,
      path: `github/${'"'.repeat(1_390)}`,
      granting: many(5_000, 50),
      token: { id: tokenId, entry: wide },
      data: {
        token: "t",
        repositories: many(5_000, 20),
        ...Object.fromEntries(many(500, 200).map((name) => [name, "v"])),
      },
    };
    await audit.request(isRead);
    await audit.response(isRead, {
      data: { hashed_token: "h", accessor: "a", keys: many(3_000, 300) },
      warnings: many(2_000, 100),
      leaseId: `${isRead.path}/${"x".repeat(24)}`,
      auth: { id: tokenId, entry: wide },
    });
    await audit.response(request, {
      data: Object.fromEntries(
        many(300, 200).map((name) => [`${name}${"\u0001".repeat(55)}`, "v"]),
      ),
      warnings: ["w"],
    });
    const [, first, second, third] = readFileSync(join(directory, "audit.log"), "utf8")
      .trim()
      .split("\n");
    for (const line of [first, second, third])
      expect(Buffer.byteLength(line ?? "")).toBeLessThanOrEqual(65_536);
    expect(JSON.parse(first ?? "").request.data.token).toBe(await audit.hash("file/", "t"));
    expect(JSON.parse(second ?? "").response.data).toMatchObject({
      hashed_token: await audit.hash("file/", "h"),
      accessor: await audit.hash("file/", "a"),
    });
    expect(JSON.parse(second ?? "").auth.policies.at(-1)).toMatch(/^\d+ more: hmac-sha256:/);
    expect(JSON.parse(third ?? "").response.warnings).toEqual(["w"]);
  });

  it("sums up failed requests in the shape of a request", async () => {
    const { audit, clock, lines } = await createAuditBench();
    await audit.summary({
      address: "192.0.2.1",
      count: 990,
      firstMs: clock.now() - 5_000,
      lastMs: clock.now(),
    });
    await audit.summary({
      address: undefined,
      count: 1,
      firstMs: clock.now(),
      lastMs: clock.now(),
    });
    const time = (agoMs: number): string => new Date(clock.now() - agoMs).toISOString();
    expect(lines()[1]).toEqual({
      time: time(0),
      type: "request",
      auth: { token_type: "default" },
      error: "990 more requests without a live token failed",
      request: {
        id: expect.any(String) as string,
        operation: "update",
        namespace: { id: "root" },
        path: "sys/audit/refused",
        data: { count: 990, first_time: time(5_000), last_time: time(0) },
        remote_address: "192.0.2.1",
      },
    });
    expect(lines()[2].request.remote_address).toBeUndefined();
  });

  it("takes nothing after its end, and says so", async () => {
    const { audit } = await createAuditBench();
    await audit.close();
    await expect(audit.request(request)).rejects.toMatchObject({ code: "not_ready" });
  });
});

describe("an audit file", () => {
  it("that a crash tore keeps what it has, and the next record stands on its own line", async () => {
    const { again, audit, directory } = await createAuditBench();
    await audit.close();
    appendFileSync(join(directory, "audit.log"), '{"time":"2026-11-');
    await (await again()).request(request);
    const text = readFileSync(join(directory, "audit.log"), "utf8").split("\n");
    expect([text.length, text[1], JSON.parse(text[2] ?? "").request.id, text[3]]).toEqual([
      4,
      '{"time":"2026-11-',
      request.id,
      "",
    ]);
  });

  it("is made anew after a rotation, when told and when it is gone; no record is lost in between", async () => {
    const { audit, clock, directory, lines } = await createAuditBench();
    const path = join(directory, "audit.log");
    const sent = Array.from({ length: 20 }, () => audit.request(request));
    renameSync(path, `${path}.1`);
    await audit.reopen();
    await Promise.all([...sent, audit.request(request)]);
    expect(lines("audit.log.1").length + lines().length).toBe(22);
    expect(lines().length).toBeGreaterThan(0);
    rmSync(path);
    await clock.advance(2_000);
    await audit.request(request);
    expect(lines().length).toBe(1);
  });

  it("is made anew by many signals at once beside its writers, and refuses no record", async () => {
    const { audit, lines } = await createAuditBench();
    const made = { records: 0, ends: false };
    const writers = Array.from({ length: 4 }, async () => {
      for (; !made.ends; made.records += 1) await audit.request(request);
    });
    for (let pair = 0; pair < 100; pair += 1) {
      const first = audit.reopen();
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([first, audit.reopen()]);
    }
    made.ends = true;
    await Promise.all(writers);
    // The first line of a file tells of the audit itself.
    expect(lines()).toHaveLength(made.records + 1);
  });

  it("is opened anew in the middle of a write without an empty line", async () => {
    let written = (): void => undefined;
    let release: Promise<void> | undefined;
    const { audit, directory } = await createAuditBench([plain], {
      flush: async () => {
        written();
        await release;
      },
    });
    const path = join(directory, "audit.log");
    const disk = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    [written, release] = [begun.resolve, disk.promise];
    const sent = audit.request(request);
    await begun.promise;
    const whole = readFileSync(path);
    truncateSync(path, whole.length - 20); // as a reader sees it before the last page of a write
    await audit.reopen();
    appendFileSync(path, whole.subarray(-20));
    disk.resolve();
    await sent;
    await audit.request(request);
    const text = readFileSync(path, "utf8");
    expect(text.startsWith(whole.toString())).toBe(true);
    expect(
      text
        .trim()
        .split("\n")
        .map((line) => line[0]),
    ).toEqual(["{", "{", "{"]);
  });

  it("acknowledges no record that only a deleted file has: it is written again into a new file, and the log says so", async () => {
    const said: string[] = [];
    const log = createLog({
      level: "warn",
      format: "json",
      write: (line) => said.push(line),
      now: () => 0,
    });
    const { audit, directory, lines } = await createAuditBench([plain], { log });
    const path = join(directory, "audit.log");
    rmSync(path);
    await audit.request(request);
    expect(lines().map((line) => line.request.id)).toEqual([request.id]);
    writeFileSync(`${path}.new`, "");
    renameSync(`${path}.new`, path);
    await Promise.all([audit.request(request), audit.request(request)]);
    expect(lines().length).toBe(2);
    expect(
      said.filter((line) => line.includes("the audit file was deleted while it was in use")),
    ).not.toHaveLength(0);
  });

  it("refuses requests while its folder is gone, and takes them again when that is back", async () => {
    const directory = join(temporaryFolder(), "logs");
    mkdirSync(directory);
    const { audit, lines } = await createAuditBench([plain], { directory });
    rmSync(directory, { recursive: true });
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expect(audit.request(request)).rejects.toMatchObject({ rule: "audit" });
    expect(audit.health().ok).toBe(false);
    mkdirSync(directory);
    await audit.request(request);
    expect([lines().length, audit.health().ok]).toEqual([1, true]);
  });

  it("goes on in a new one when it was renamed and no signal came within half a minute", async () => {
    const { audit, clock, directory, lines } = await createAuditBench();
    const path = join(directory, "audit.log");
    renameSync(path, `${path}.1`);
    await clock.advance(2_000);
    for (let seconds = 0; seconds < 30; seconds += 2) {
      await audit.request(request);
      await clock.advance(2_000);
    }
    expect([existsSync(path), lines("audit.log.1").length]).toEqual([false, 16]);
    await audit.request(request);
    expect([lines().length, lines("audit.log.1").length]).toEqual([1, 16]);
  });

  it("that was cut goes on, and the log says so", async () => {
    const said: string[] = [];
    const { audit, directory, lines } = await createAuditBench([plain], {
      log: createLog({
        level: "warn",
        format: "json",
        write: (line) => said.push(line),
        now: () => 0,
      }),
    });
    await audit.request(request);
    await audit.request(request);
    truncateSync(join(directory, "audit.log"));
    await audit.request(request);
    expect([
      lines().length,
      said.filter((line) => line.includes("the audit file was truncated")).length,
    ]).toEqual([1, 1]);
  });

  it("goes on in the old one when the new one is a link or cannot be had", async () => {
    const { audit, directory, lines } = await createAuditBench();
    const path = join(directory, "audit.log");
    renameSync(path, `${path}.1`);
    symlinkSync("/etc/hostname", path);
    await expect(audit.reopen()).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(path) as string,
      remedy: expect.stringContaining("symbolic link") as string,
    });
    await audit.request(request);
    expect(lines("audit.log.1").length).toBe(2);
  });

  it("is refused when it is a link, a folder or in no folder, and one that others may read is closed to them", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "real"), "");
    symlinkSync(join(folder, "real"), join(folder, "link"));
    mkdirSync(join(folder, "folder"));
    for (const name of ["link", "folder", "none/audit.log"])
      await expect(
        createAuditBench([{ ...plain, filePath: join(folder, name) }]),
      ).rejects.toMatchObject({
        code: "invalid",
        rule: "audit file",
        remedy: expect.any(String) as string,
      });
    chmodSync(join(folder, "real"), 0o644);
    await createAuditBench([{ ...plain, filePath: join(folder, "real") }]);
    expect(statSync(join(folder, "real")).mode & 0o777).toBe(0o600);
  });
});

describe("a device that does not take records", () => {
  it("refuses the request and names itself, is well again with the next record that it takes, and says how long it took none", async () => {
    let broken = false;
    const log = memoryLog();
    const { audit, clock } = await createAuditBench([plain], {
      log,
      flush: () =>
        broken
          ? Promise.reject(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }))
          : Promise.resolve(),
    });
    broken = true;
    await expect(audit.request(request)).rejects.toMatchObject({
      code: "not_ready",
      message: expect.stringMatching(
        /audit device file\/ \(audit\.log\).*input\/output errors/,
      ) as string,
      rule: "audit",
    });
    expect(audit.health()).toMatchObject({ ok: false });
    await clock.advance(999); // before it is probed
    await expect(audit.request(request)).rejects.toMatchObject({ rule: "audit" });
    broken = false;
    await audit.request(request);
    expect(audit.health()).toEqual({ ok: true });
    expect(log.lines.at(-1)).toBe(
      'info an audit device accepts records again {"device":"file/","failed_for":"1s"}',
    );
  });

  it("does not stop the others: a request goes on while one device has its record, and no further", async () => {
    const inodes: number[] = [];
    let broken = 0;
    const { audit, lines } = await createAuditBench([plain, { ...plain, filePath: "second.log" }], {
      async flush(file) {
        const { ino } = await file.stat();
        if (!inodes.includes(ino)) inodes.push(ino);
        if (inodes.indexOf(ino) < broken) throw new Error("no");
      },
    });
    broken = 1;
    await audit.request(request);
    expect(audit.health().ok).toBe(false);
    expect(lines("second.log").length).toBe(2);
    broken = 2;
    await expect(audit.request(request)).rejects.toMatchObject({ code: "internal" });
  });

  it("refuses more than it can hold while its disk hangs", async () => {
    const { promise: hanging, resolve: free } = Promise.withResolvers<void>();
    let hang = false;
    const { audit } = await createAuditBench([plain], {
      flush: () => (hang ? hanging : Promise.resolve()),
    });
    hang = true;
    const data = { values: Array.from({ length: 250 }, (_, at) => `value ${at}`) };
    const sent = Array.from({ length: 1_100 }, () => audit.request({ ...request, data }));
    const refused = await Promise.any(
      sent.map((one) =>
        one.then(
          () => Promise.reject(new Error("taken")),
          (error: unknown) => error,
        ),
      ),
    );
    expect(refused).toMatchObject({ code: "exhausted", retryAfterMs: 1_000 });
    free();
    const taken = (await Promise.allSettled(sent)).filter(
      (end) => end.status === "fulfilled",
    ).length;
    expect(taken).toBeGreaterThan(10);
    expect(taken).toBeLessThan(1_100);
  });
});

describe.skipIf(noSmallDisk !== undefined)("a full disk", () => {
  it("refuses requests as such, keeps every record it took, and takes them again once there is room", async () => {
    const disk = mountSmallDisk(1);
    const { audit, directory } = await createAuditBench([plain], { directory: disk });
    writeFileSync(join(disk, "ballast"), new Uint8Array(700_000));
    const { taken, failure } = await fill(audit);
    expect(failure).toMatchObject({
      code: "disk_full",
      message: expect.stringContaining("file/") as string,
      remedy: expect.stringContaining("free space") as string,
    });
    await expect(audit.response(request, {})).rejects.toMatchObject({ code: "disk_full" });
    rmSync(join(disk, "ballast"));
    expect(statfsSync(disk).bavail).toBeGreaterThan(10);
    await audit.request(request);
    const lines = readFileSync(join(directory, "audit.log"), "utf8").trim().split("\n");
    const whole = lines.filter((line) => line.startsWith("{") && line.endsWith("}}"));
    expect(whole.length).toBeGreaterThanOrEqual(taken + 2);
    expect(JSON.parse(lines.at(-1) ?? "").request.id).toBe(request.id);
  });
});

/** Sends requests until one is refused. */
async function fill(audit: AuditService): Promise<{ taken: number; failure: unknown }> {
  for (let taken = 0; ; taken += 1) {
    const failure = await audit.request(request).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure !== undefined) return { taken, failure };
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}
