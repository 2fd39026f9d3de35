/**
 * A daemon with the tokens service, called over Vault's API, and a simulated code host beside it.
 */
import { generateKeyPairSync } from "node:crypto";
import { request as httpRequest } from "node:http";
import { createCodeHost } from "../../src/demo/code-host/code-host.ts";
import type { CodeHostOptions, InstallationSpec } from "../../src/demo/code-host/types.ts";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { type Daemon, readLines, startDaemon, temporaryFolder } from "./daemon.ts";

/** An answer of the Vault API. */
export interface VaultAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined for none or for another type. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly json: any;
}

/** How to ask. */
export interface Asking {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is. */
  readonly body?: unknown;
  /** The loopback address to send from: failed attempts are counted by it. */
  readonly from?: string;
}

/** Sends one request, with any method at all. */
export function vaultRequest(
  url: string,
  method: string,
  path: string,
  { token, headers, body, from }: Asking = {},
): Promise<VaultAnswer> {
  const text =
    body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    // The path goes out as it is written: a URL would resolve its dots.
    const sent = httpRequest(
      {
        host: hostname,
        port,
        path: `/v1/${path}`,
        method,
        agent: false,
        ...(from === undefined ? {} : { localAddress: from }),
        headers: {
          ...(token === undefined ? {} : { "x-vault-token": token }),
          ...(text === undefined
            ? {}
            : {
                "content-type": "application/json",
                "content-length": String(Buffer.byteLength(text)),
              }),
          ...headers,
        },
      },
      (answer) => {
        const parts: Buffer[] = [];
        answer
          .on("data", (part: Buffer) => parts.push(part))
          .on("error", reject)
          .on("end", () => {
            const whole = Buffer.concat(parts).toString("utf8");
            const json: unknown =
              whole !== "" &&
              answer.headers["content-type"]?.startsWith("application/json") === true
                ? JSON.parse(whole)
                : undefined;
            const { statusCode: status = 0, headers: received } = answer;
            void readLines().then(() => resolve({ status, headers: received, text: whole, json }));
          });
      },
    );
    sent.on("error", reject);
    sent.end(text);
  });
}

/** A daemon with its root token. */
export interface VaultDaemon {
  readonly daemon: Daemon;
  readonly root: string;
  readonly state: string;
  /** Asks as root unless told otherwise. */
  ask(method: string, path: string, asking?: Asking): Promise<VaultAnswer>;
}

/** The line that shows the root token, once. */
const ROOT_LINE = /root token[^:]*: (\S+)/;

/**
 * Starts a daemon with only its secrets manager, and reads the root token that its first start
 * shows.
 */
export async function startVault(
  options: {
    readonly state?: string;
    readonly config?: string;
    readonly services?: Readonly<Record<string, boolean>>;
    readonly env?: Readonly<Record<string, string>>;
    readonly root?: string;
  } = {},
): Promise<VaultDaemon> {
  const state = options.state ?? temporaryFolder();
  const daemon = await startDaemon({
    config: `gateway: { listen: "127.0.0.1:0" }\nstate: { directory: ${state} }\nservices: ${JSON.stringify(options.services ?? { dedup: false, monitor: false })}\n${options.config ?? ""}`,
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const root =
    options.root ??
    daemon.stderr.map((line) => ROOT_LINE.exec(line)?.[1]).find((found) => found !== undefined) ??
    "";
  return {
    daemon,
    root,
    state,
    ask: (method, path, asking = {}) =>
      vaultRequest(daemon.url, method, path, { token: root, ...asking }),
  };
}

/** One app's key for a whole test file: making one takes long. */
export const appKey: { readonly privateKey: string; readonly publicKey: string } =
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });

/** Two installations with believable repositories. */
const installations: readonly InstallationSpec[] = [
  {
    id: 1001,
    account: { login: "example-org", type: "Organization" },
    permissions: { metadata: "read", contents: "write", issues: "write" },
    repositories: [
      { id: 11, name: "web" },
      { id: 12, name: "api" },
    ],
  },
  {
    id: 1002,
    account: { login: "other-org", type: "Organization" },
    permissions: { metadata: "read" },
    repositories: [{ id: 21, name: "docs" }],
  },
];

/** A running code host with app 7 on `example-org` (1001) and `other-org` (1002). */
export async function startCodeHost(options: Partial<CodeHostOptions> = {}): Promise<CodeHost> {
  const host = createCodeHost(
    {
      clock: systemClock,
      ids: systemIds,
      log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
    },
    {
      apps: [
        {
          id: 7,
          clientId: "Iv1.0123456789abcdef",
          slug: "estate",
          publicKeys: [appKey.publicKey],
          installations,
        },
      ],
      ...options,
    },
  );
  await host.start();
  return host;
}

/** Configures the engine at `github/` for that host. */
export async function configure(
  vault: VaultDaemon,
  host: CodeHost,
  more: Readonly<Record<string, unknown>> = {},
): Promise<VaultAnswer> {
  return await vault.ask("POST", "github/config", {
    body: { app_id: 7, prv_key: appKey.privateKey, base_url: host.url, ...more },
  });
}
