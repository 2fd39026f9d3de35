/**
 * What requests create that are in progress while their mount goes: nothing of it may stay live,
 * since nothing could revoke it afterwards.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { removeTemporaryFolders } from "./daemon.ts";
import { appKey, startVault, type VaultAnswer, type VaultDaemon } from "./vault.ts";

let vault: VaultDaemon;

beforeAll(async () => {
  vault = await startVault();
});
afterAll(async () => {
  await vault.daemon.stop();
  removeTemporaryFolders();
});

const post = (path: string, body: unknown): Promise<VaultAnswer> =>
  vault.ask("POST", path, { body });

/** A server that answers when the test says so. */
interface HeldServer {
  readonly url: string;
  /** Requests of this method wait until `release`. Resolves when one waits. */
  hold(method: string): Promise<void>;
  release(method: string): void;
}

async function startHeldServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<HeldServer> {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const arrivals = new Map<string, () => void>();
  const release = (method: string): void => {
    gates.get(method)?.resolve();
    gates.delete(method);
  };
  const server = createServer((request, response) => {
    const method = request.method ?? "";
    const gate = gates.get(method)?.promise;
    if (gate !== undefined) arrivals.get(method)?.();
    request.resume();
    void Promise.resolve(gate).then(() => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const method of gates.keys()) release(method);
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(method) {
      gates.set(method, Promise.withResolvers());
      return new Promise((resolve) => void arrivals.set(method, resolve));
    },
    release,
  };
}

const sendJson = (response: ServerResponse, status: number, body: unknown): void =>
  void response
    .writeHead(status, { "content-type": "application/json" })
    .end(status === 204 ? undefined : JSON.stringify(body));

/** GitHub's API as far as minting and revoking need it. */
async function startPlatform(): Promise<HeldServer & { readonly live: ReadonlySet<string> }> {
  const live = new Set<string>();
  const server = await startHeldServer((request, response) => {
    if (request.method === "DELETE") {
      const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
      return sendJson(response, live.delete(token) ? 204 : 401, {});
    }
    if (request.method !== "POST") return sendJson(response, 404, {});
    const token = `ghs_${live.size}${"x".repeat(36)}`;
    live.add(token);
    return sendJson(response, 201, {
      token,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      permissions: { contents: "read" },
      repository_selection: "all",
    });
  });
  return { ...server, live };
}

/** Resolves when requests to a path find no mount. */
const isUnmounted = (path: string): Promise<void> =>
  vi.waitFor(async () => expect((await vault.ask("GET", path)).status).toBe(404), {
    timeout: 20_000,
  });

const mint = (mount: string): Promise<VaultAnswer> =>
  post(`${mount}/token`, { installation_id: 1001 });

async function configured(mount: string, url: string): Promise<void> {
  await post(`sys/mounts/${mount}`, { type: "github" });
  const answer = await post(`${mount}/config`, {
    app_id: 7,
    prv_key: appKey.privateKey,
    base_url: url,
  });
  expect(answer.status).toBe(204);
}

describe("a mint in progress while its mount goes", () => {
  it.each([
    ["unmounted", "gone", () => vault.ask("DELETE", "sys/mounts/gone"), 204],
    ["moved", "from", () => post("sys/remount", { from: "from", to: "to" }), 200],
  ] as const)("leaves no live token when the mount is %s", async (_how, mount, go, status) => {
    const platform = await startPlatform();
    await configured(mount, platform.url);
    expect((await mint(mount)).status).toBe(200);
    const isMinting = platform.hold("POST");
    const late = mint(mount);
    await isMinting;
    // The first token takes long to revoke.
    void platform.hold("DELETE");
    const going = go();
    await isUnmounted(`${mount}/info`);
    platform.release("POST");
    expect((await late).status).toBe(200);
    platform.release("DELETE");
    expect((await going).status).toBe(status);
    expect([...platform.live]).toEqual([]);
    const { lease_id: lease } = (await late).json;
    expect((await post("sys/leases/lookup", { lease_id: lease })).status).toBe(400);
  });
});

describe("a login in progress while its auth method goes", () => {
  it("gives a token that is revoked with the others", async () => {
    const { privateKey, publicKey } = await generateKeyPair("RS256");
    const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "k", use: "sig" }] };
    const issuer = await startHeldServer((_request, response) => sendJson(response, 200, keys));
    await post("sys/auth/ci", { type: "jwt" });
    const config = { jwks_url: `${issuer.url}/keys`, default_role: "job" };
    expect((await post("auth/ci/config", config)).status).toBe(200);
    await post("auth/ci/role/job", {
      role_type: "jwt",
      user_claim: "sub",
      bound_audiences: "steward",
      bound_subject: "job-1",
      token_policies: "default",
      token_ttl: "1h",
    });
    const jwt = await new SignJWT({ sub: "job-1", aud: "steward" })
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(privateKey);
    // The first login fetches the keys.
    const isFetching = issuer.hold("GET");
    const late = post("auth/ci/login", { role: "job", jwt });
    await isFetching;
    const going = vault.ask("DELETE", "sys/auth/ci");
    await isUnmounted("auth/ci/config");
    issuer.release("GET");
    expect([(await late).status, (await going).status]).toEqual([200, 204]);
    expect(await lookupSelf((await late).json.auth.client_token as string)).toBe(403);
  });

  it("gives none that outlives it, however many clients log in", async () => {
    await post("sys/auth/apps", { type: "approle" });
    await post("auth/apps/role/app", { token_policies: "default", token_ttl: "1h" });
    const { role_id } = (await vault.ask("GET", "auth/apps/role/app/role-id")).json.data;
    const { secret_id } = (await post("auth/apps/role/app/secret-id", {})).json.data;
    const tokens: string[] = [];
    let isOver = false;
    const client = async (): Promise<void> => {
      while (!isOver) {
        const answer = await post("auth/apps/login", { role_id, secret_id });
        if (answer.status === 200) tokens.push(answer.json.auth.client_token as string);
        else isOver = true;
      }
    };
    const clients = Array.from({ length: 40 }, client);
    await vi.waitFor(() => expect(tokens.length).toBeGreaterThan(200), { timeout: 60_000 });
    expect((await vault.ask("DELETE", "sys/auth/apps")).status).toBe(204);
    await Promise.all(clients);
    const statuses = new Set<number>();
    for (const token of tokens) statuses.add(await lookupSelf(token));
    expect([...statuses]).toEqual([403]);
  });
});

async function lookupSelf(token: string): Promise<number> {
  return (await vault.ask("GET", "auth/token/lookup-self", { token })).status;
}
