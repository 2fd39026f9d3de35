/**
 * A code host to test against: two apps with keys of their own, JWTs signed for them, and a client
 * that sends exactly what it is told.
 */
import { generateKeyPairSync, sign, type KeyPairKeyObjectResult } from "node:crypto";
import { request, type IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";
import { createCodeHost } from "../../../src/demo/code-host/code-host.ts";
import type {
  AppSpec,
  CodeHostOptions,
  InstallationSpec,
} from "../../../src/demo/code-host/types.ts";
import type { CodeHost } from "../../../src/demo/code-host/code-host.ts";
import { systemClock, type Clock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog, type Log } from "../../../src/kernel/base/log.ts";

/** The keys of the first app and of the second. */
export const keys: readonly [KeyPairKeyObjectResult, KeyPairKeyObjectResult] = [
  generateKeyPairSync("rsa", { modulusLength: 2048 }),
  generateKeyPairSync("rsa", { modulusLength: 2048 }),
];

/** Says nothing. */
export const silent: Log = createLog({
  level: "error",
  format: "text",
  write: () => undefined,
  now: () => 0,
});

/** Wall time that stands still until it is moved. */
export interface SetClock extends Clock {
  advance(ms: number): void;
}

/** Timers stay the machine's. */
export function setClock(nowMs: number = Date.UTC(2026, 0, 2, 3, 4, 5)): SetClock {
  let wall = nowMs;
  return { ...systemClock, now: () => wall, advance: (ms) => void (wall += ms) };
}

/** The installation most tests mint for. */
export const HOME: InstallationSpec = {
  id: 1001,
  account: { id: 77, login: "Example-Org", type: "Organization", formerLogins: ["old-org"] },
  permissions: {
    contents: "write",
    issues: "read",
    metadata: "read",
    members: "read",
    workflows: "write",
    single_file: "read",
  },
  repositories: [
    { id: 1, name: "web" },
    { id: 2, name: "api" },
    { id: 3, name: "Site", private: false },
  ],
  singleFilePaths: [".github/a.yml", "b.yml"],
};

/** Two apps, of which the second has one installation. */
export function twoApps(more: readonly InstallationSpec[] = []): AppSpec[] {
  return [
    {
      id: 1,
      clientId: "Iv23liFirst",
      slug: "first",
      publicKeys: [keys[0].publicKey.export({ type: "spki", format: "pem" }).toString()],
      installations: [HOME, ...more],
    },
    {
      id: 2,
      clientId: "Iv23liSecond",
      slug: "second",
      publicKeys: [keys[1].publicKey],
      installations: [
        {
          id: 2001,
          account: { login: "other", type: "User" },
          permissions: { contents: "read" },
          repositories: [{ id: 21, name: "own" }],
        },
      ],
    },
  ];
}

/** One answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  /** The body as JSON; undefined when it is none. */
  readonly json: any;
}

/** What to send beside method and path. */
export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
  readonly as?: string;
}

/** A started host with its client. */
export interface Bench {
  readonly host: CodeHost;
  readonly clock: SetClock;
  readonly call: (method: string, path: string, sent?: Sent) => Promise<Answer>;
  /** A JWT of the first app; claims override. */
  readonly jwt: (
    claims?: Readonly<Record<string, unknown>>,
    options?: { key?: 0 | 1; header?: object },
  ) => string;
  /** Mints for `HOME` and returns the answer. */
  readonly mint: (body?: object, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
}

/** Starts a host that ends with the test. */
export async function startHost(options: Partial<CodeHostOptions> = {}): Promise<Bench> {
  const clock = setClock();
  const host = createCodeHost(
    { clock, ids: systemIds, log: silent },
    { apps: twoApps(), ...options },
  );
  await host.start();
  onTestFinished(() => host.stop());
  const jwt: Bench["jwt"] = (
    claims = {},
    { key = 0, header = { alg: "RS256", typ: "JWT" } } = {},
  ) => signJwt(header, { ...times(clock), iss: 1, ...claims }, key);
  const call: Bench["call"] = (method, path, sent) => ask(host.url, method, path, sent);
  return {
    host,
    clock,
    call,
    jwt,
    mint: (body, headers = {}) =>
      call("POST", "/app/installations/1001/access_tokens", {
        as: jwt(),
        headers,
        ...(body === undefined ? {} : { body }),
      }),
  };
}

function times(clock: Clock): { iat: number; exp: number } {
  const nowS = Math.floor(clock.now() / 1000);
  return { iat: nowS - 60, exp: nowS + 540 };
}

function signJwt(header: object, claims: object, key: 0 | 1): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), keys[key].privateKey).toString("base64url")}`;
}

/** Sends one request on a connection of its own. Rejects when the answer does not come whole. */
export function ask(
  url: string,
  method: string,
  path: string,
  { headers = {}, body, as }: Sent = {},
): Promise<Answer> {
  const text = typeof body === "object" ? JSON.stringify(body) : body;
  return new Promise((resolve, reject) => {
    const sent = {
      "user-agent": "test",
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      ...headers,
    };
    const kept = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ""));
    const outgoing = request(
      `${url}${path}`,
      {
        method,
        agent: false,
        headers: {
          ...kept,
          ...(text === undefined || "transfer-encoding" in headers
            ? {}
            : { "content-length": Buffer.byteLength(text) }),
        },
      },
      (incoming) => {
        const pieces: Buffer[] = [];
        incoming
          .on("data", (piece: Buffer) => pieces.push(piece))
          .once("error", reject)
          .once("end", () => {
            const raw = Buffer.concat(pieces);
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              raw,
              json: parse(raw),
            });
          });
      },
    );
    outgoing.once("error", reject).end(text);
  });
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString());
  } catch {
    return undefined;
  }
}
