/**
 * The baseline of bench/tokens.ts: a bare Node server that signs one JWT, uses it until it is old,
 * forwards each mint to the code host and returns the answer's bytes. No tokens, no policy, no
 * audit, no lease, no disk. With `flushed` it does one thing more, what whoever promises a record
 * before the effect and another before the answer cannot do without: it waits twice until some
 * bytes are on the disk, one flush for all that wait. `fork`ed; its argument is JSON.
 */
import { createPrivateKey, sign } from "node:crypto";
import { closeSync, constants, openSync, rmSync, write } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";

interface ForwarderOptions {
  readonly codeHost: string;
  readonly appId: number;
  readonly privateKeyPem: string;
  readonly connections: number;
  /** A file to be made, written and removed. */
  readonly flushed?: string;
}

/** About what a line of the audit has. */
const RECORD: Buffer = Buffer.alloc(700, "x");

const options = JSON.parse(process.argv[2] ?? "{}") as ForwarderOptions;
const key = createPrivateKey(options.privateKeyPem);
const pool = new Pool(options.codeHost, { connections: options.connections });
const JWT_LIFE_S = 540;
let jwt = "";
let jwtUntilMs = 0;

function authorization(): string {
  if (Date.now() < jwtUntilMs) return jwt;
  const nowS = Math.floor(Date.now() / 1000);
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss: String(options.appId), iat: nowS - 60, exp: nowS + JWT_LIFE_S })}`;
  jwt = `Bearer ${head}.${sign("sha256", Buffer.from(head), key).toString("base64url")}`;
  jwtUntilMs = Date.now() + (JWT_LIFE_S - 60) * 1000;
  return jwt;
}

/** Gives a function that resolves when a record of the caller is on the disk. */
function recorder(path: string): () => Promise<void> {
  const file = openSync(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_DSYNC,
    0o600,
  );
  process.once("exit", () => {
    closeSync(file);
    rmSync(path, { force: true });
  });
  let waiting: ((failed: Error | null) => void)[] = [];
  let writing = false;
  const store = (): void => {
    const group = waiting;
    waiting = [];
    write(file, Buffer.concat(group.map(() => RECORD)), (failed) => {
      for (const settle of group) settle(failed);
      writing = waiting.length > 0;
      if (writing) setImmediate(store);
    });
  };
  return () =>
    new Promise((resolve, reject) => {
      waiting.push((failed) => (failed === null ? resolve() : reject(failed)));
      if (writing) return;
      writing = true;
      setImmediate(store);
    });
}

const record = options.flushed === undefined ? undefined : recorder(options.flushed);

async function mint(body: Buffer): Promise<{ status: number; body: Buffer }> {
  const { installation_id: installation, ...scope } = JSON.parse(body.toString("utf8")) as Record<
    string,
    unknown
  >;
  await record?.();
  const answer = await pool.request({
    method: "POST",
    path: `/app/installations/${String(installation)}/access_tokens`,
    body: JSON.stringify(scope),
    headers: {
      authorization: authorization(),
      accept: "application/vnd.github+json",
      "content-type": "application/json",
      "user-agent": "bench",
      "x-github-api-version": "2022-11-28",
    },
  });
  const minted = Buffer.from(await answer.body.arrayBuffer());
  await record?.();
  return { status: answer.statusCode, body: minted };
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request
    .on("data", (part: Buffer) => parts.push(part))
    .once("end", () => {
      mint(Buffer.concat(parts)).then(
        ({ status, body }) =>
          response
            .writeHead(status, {
              "content-type": "application/json",
              "content-length": body.length,
            })
            .end(body),
        (error: unknown) => response.writeHead(502).end(String(error)),
      );
    });
});
server.listen(0, "127.0.0.1", () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
process.once("disconnect", () => process.exit(0)).once("SIGTERM", () => process.exit(0));
