/**
 * Requests to a running daemon, end to end: how long a refusal takes says nothing about how much of
 * a credential was right, nor whether a role or accessor exists. Each sample has a connection and a
 * loopback address of its own; the time is from the request's last byte to the answer's first.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { smallArchive, writeFiles } from "../contract/corpus.ts";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { startVault, type VaultDaemon } from "../contract/vault.ts";
import { LEAKAGE_BAR, welch } from "../support/welch.ts";
import { isLongRun } from "../support/long-run.ts";

/** Of each class, in each try. */
const SAMPLES = isLongRun ? 5_000 : 1_000;
/** What leaks does so each time; a busy machine does not. */
const TRIES = isLongRun ? 3 : 5;
/** Of the control, whose tries are added up: beside other work one alone is too coarse. */
const CONTROL_TRIES = 40;
const WARM_UP = 50;
/** Of requests end to end, up to half are interrupted on a busy machine. */
const KEPT = 0.5;
const GATEWAY_TOKEN = randomBytes(24).toString("hex");

let vault: VaultDaemon;
let addresses = 0;

beforeAll(async () => {
  const papers = temporaryFolder();
  writeFiles(papers, smallArchive);
  vault = await startVault({
    env: { STEWARD_AUTH__TOKEN: GATEWAY_TOKEN, STEWARD_SERVICES__DEDUP: "true" },
    // A record that waits for the disk would hide what is looked for.
    config: `dedup: { archives: [{ name: papers, kind: folder, path: ${papers} }] }\ntokens: { audit: [{ file_path: discard }] }\n`,
  });
});

afterAll(async () => {
  await vault.daemon.stop();
  removeTemporaryFolders();
});

/** One kind of request; made anew for each sample, so that no two are equal. */
type Class = () => {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

function bytesOf({ method, path, headers = {}, body }: ReturnType<Class>): Buffer {
  const text = body === undefined ? "" : JSON.stringify(body);
  const lines = Object.entries({
    host: "localhost",
    connection: "close",
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
    ...headers,
  });
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${text}`,
  );
}

/**
 * Sends a request on a connection that stands; gives the nanoseconds until its answer begins, and
 * the status.
 */
async function sample(
  bytes: Buffer,
): Promise<{ readonly tookNs: number; readonly status: number }> {
  addresses += 1;
  const localAddress = `127.${1 + ((addresses >> 14) % 250)}.${(addresses >> 7) % 128}.${1 + (addresses % 128)}`;
  const socket = connect({
    host: "127.0.0.1",
    port: Number(new URL(vault.daemon.url).port),
    localAddress,
    noDelay: true,
  });
  await new Promise(
    (resolve, reject) => void socket.once("connect", resolve).once("error", reject),
  );
  return await new Promise((resolve, reject) => {
    const beganNs = process.hrtime.bigint();
    socket.once("error", reject).once("data", (answer) => {
      const tookNs = Number(process.hrtime.bigint() - beganNs);
      socket.destroy();
      resolve({ tookNs, status: Number(answer.toString("latin1").slice(9, 12)) });
    });
    socket.write(bytes);
  });
}

/**
 * The times of both classes, asked in turn in an order that changes; every answer has the status of
 * its class.
 */
async function timesOf(
  classes: readonly [Class, Class],
  statuses: readonly [number, number],
): Promise<readonly [Float64Array, Float64Array]> {
  const times = [new Float64Array(SAMPLES), new Float64Array(SAMPLES)] as const;
  const order = randomBytes(SAMPLES);
  for (let at = -WARM_UP; at < SAMPLES; at += 1) {
    for (let turn = 0; turn < 2; turn += 1) {
      // Both are made for each sample and one is sent, so that this side does the same for either
      // class.
      const made = [bytesOf(classes[0]()), bytesOf(classes[1]())] as const;
      const which = ((order[Math.max(0, at)] ?? 0) + turn) % 2 === 0 ? 0 : 1;
      const { tookNs, status } = await sample(made[which]);
      expect(status).toBe(statuses[which]);
      if (at >= 0) times[which][at] = tookNs;
    }
  }
  return times;
}

function joined(left: Float64Array, right: Float64Array): Float64Array<ArrayBuffer> {
  return Float64Array.from([...left, ...right]);
}

async function leastOf(
  classes: readonly [Class, Class],
  statuses: readonly [number, number],
): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < TRIES && least >= LEAKAGE_BAR; tries += 1)
    least = Math.min(least, Math.abs(welch(...(await timesOf(classes, statuses)), KEPT)));
  if (isLongRun)
    process.stdout.write(
      `${expect.getState().currentTestName ?? ""}: ${SAMPLES} requests of each class, |t| ${least.toFixed(2)}\n`,
    );
  return least;
}

const otherEnd = (text: string): string => text.slice(0, -1) + (text.endsWith("a") ? "b" : "a");
const wholly = (length: number): string => randomBytes(length).toString("hex").slice(0, length);
/** Of a live token's form and length. */
const unknownToken = (): string => `hvs.${wholly(24)}`;

const bearer =
  (token: () => string): Class =>
  () => ({ method: "GET", path: "/api/v1/jobs", headers: { authorization: `Bearer ${token()}` } });
const lookupSelf =
  (token: () => string): Class =>
  () => ({
    method: "GET",
    path: "/v1/auth/token/lookup-self",
    headers: { "x-vault-token": token() },
  });

describe("the time of a refusal", { timeout: 1_800_000 }, () => {
  it("does not say how much of the gateway's token was right", async () => {
    expect(
      await leastOf(
        [bearer(() => otherEnd(GATEWAY_TOKEN)), bearer(() => wholly(GATEWAY_TOKEN.length))],
        [401, 401],
      ),
    ).toBeLessThan(LEAKAGE_BAR);
  });

  it("does not say how much of a token of the secrets manager was right", async () => {
    const live = (await vault.ask("POST", "auth/token/create", { body: { ttl: "1h" } })).json.auth
      .client_token as string;
    expect(
      await leastOf([lookupSelf(() => otherEnd(live)), lookupSelf(unknownToken)], [403, 403]),
    ).toBeLessThan(LEAKAGE_BAR);
  });

  it("does not say whether an AppRole exists, nor how much of its secret id was right", async () => {
    await vault.ask("POST", "sys/auth/approle", { body: { type: "approle" } });
    await vault.ask("POST", "auth/approle/role/app", { body: { token_policies: "default" } });
    const roleId = (await vault.ask("GET", "auth/approle/role/app/role-id")).json.data
      .role_id as string;
    const secretId = (await vault.ask("POST", "auth/approle/role/app/secret-id", { body: {} })).json
      .data.secret_id as string;
    const login =
      (role: () => string, secret: () => string): Class =>
      () => ({
        method: "POST",
        path: "/v1/auth/approle/login",
        body: { role_id: role(), secret_id: secret() },
      });
    expect(
      await leastOf([login(() => roleId, randomUUID), login(randomUUID, randomUUID)], [400, 400]),
    ).toBeLessThan(LEAKAGE_BAR);
    expect(
      await leastOf(
        [
          login(
            () => roleId,
            () => otherEnd(secretId),
          ),
          login(() => roleId, randomUUID),
        ],
        [400, 400],
      ),
    ).toBeLessThan(LEAKAGE_BAR);
  });

  it("does not say to a token without rights whether an accessor exists", async () => {
    const { accessor } = (await vault.ask("POST", "auth/token/create", { body: { ttl: "1h" } }))
      .json.auth as { accessor: string };
    const weak = (
      await vault.ask("POST", "auth/token/create", { body: { ttl: "2h", policies: ["default"] } })
    ).json.auth.client_token as string;
    const lookup =
      (value: () => string): Class =>
      () => ({
        method: "POST",
        path: "/v1/auth/token/lookup-accessor",
        headers: { "x-vault-token": weak },
        body: { accessor: value() },
      });
    expect(
      await leastOf([lookup(() => accessor), lookup(() => wholly(24))], [403, 403]),
    ).toBeLessThan(LEAKAGE_BAR);
  });

  it("is measured finely enough to tell a few dozen microseconds of work", async () => {
    const mounts: Class = () => ({
      method: "GET",
      path: "/v1/sys/mounts",
      headers: { "x-vault-token": vault.root },
    });
    let most = 0;
    let all: readonly [Float64Array, Float64Array] = [new Float64Array(), new Float64Array()];
    for (let tries = 0; tries < CONTROL_TRIES && most <= LEAKAGE_BAR; tries += 1) {
      const more = await timesOf([mounts, lookupSelf(unknownToken)], [200, 403]);
      all = [joined(all[0], more[0]), joined(all[1], more[1])];
      most = Math.max(...[more, all].map((times) => Math.abs(welch(...times, KEPT))));
    }
    if (isLongRun)
      process.stdout.write(`a list of mounts and an unknown token: |t| ${most.toFixed(2)}\n`);
    expect(most).toBeGreaterThan(LEAKAGE_BAR);
  });
});
