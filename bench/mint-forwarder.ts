/**
 * The baseline of bench/tokens.ts: a bare Node server that signs one JWT, uses it until it is old, forwards each mint to the code host
 * and returns the answer's bytes. No tokens, no policy, no audit, no lease, no disk. `fork`ed; its argument is JSON.
 */
import { createPrivateKey, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";

interface ForwarderOptions {
  readonly codeHost: string;
  readonly appId: number;
  readonly privateKeyPem: string;
  readonly connections: number;
}

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

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part)).once("end", () => {
    const { installation_id: installation, ...scope } = JSON.parse(Buffer.concat(parts).toString("utf8")) as Record<string, unknown>;
    void pool.request({
      method: "POST", path: `/app/installations/${String(installation)}/access_tokens`, body: JSON.stringify(scope),
      headers: { authorization: authorization(), accept: "application/vnd.github+json", "content-type": "application/json", "user-agent": "bench", "x-github-api-version": "2022-11-28" },
    }).then(async (answer) => {
      const body = Buffer.from(await answer.body.arrayBuffer());
      response.writeHead(answer.statusCode, { "content-type": "application/json", "content-length": body.length }).end(body);
    }, (error: unknown) => response.writeHead(502).end(String(error)));
  });
});
server.listen(0, "127.0.0.1", () => process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
process.once("disconnect", () => process.exit(0));
