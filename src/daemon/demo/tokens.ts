/**
 * The demo's simulated code host and a mount configured for it, so that tokens can be minted at
 * once and reach nothing real.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import { demoCodeHost, type DemoCodeHost } from "../../demo/code-host/demo.ts";
import type { CodeHostDeps } from "../../demo/code-host/code-host.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Tokens } from "../../tokens/service.ts";
import { runDemoRequests } from "./requests.ts";

const MOUNT = "github/";
/** A forgotten demo's root token expires. */
const ROOT_TTL_MS = 30 * 86_400_000;
const ROOT_LENGTH = 24;

/** The running code host and the demo's root token. */
export interface DemoTokens {
  readonly root: Secret;
  readonly organisation: string;
  /** Starts the simulated clients. */
  begin(): void;
  /** Stops them; resolves when the last request has finished. */
  end(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the host, creates a root token and configures `github/`. `given` is
 * `STEWARD_DEMO_ROOT_TOKEN`.
 */
export async function startDemoTokens(
  deps: CodeHostDeps & { readonly ids: Ids },
  tokens: Tokens,
  given: string | undefined,
): Promise<DemoTokens> {
  const host = await demoCodeHost(deps);
  await host.codeHost.start();
  try {
    const root = await demoRoot(tokens, deps.ids, given);
    // Tokens of an earlier demo ended with its code host.
    await tokens
      .manager()
      ?.leases.revokePrefix(MOUNT, { sync: true, force: true, expectsFailures: true });
    await configure(tokens, host, root);
    return running(deps, { gate: tokens.gate, host, root });
  } catch (error) {
    await host.codeHost.stop();
    throw error;
  }
}

function running(
  { clock, log }: CodeHostDeps,
  {
    gate,
    host,
    root,
  }: { readonly gate: Tokens["gate"]; readonly host: DemoCodeHost; readonly root: Secret },
): DemoTokens {
  const ended = new AbortController();
  let requests = Promise.resolve();
  return {
    root,
    organisation: host.organisation,
    begin() {
      requests = runDemoRequests(
        { clock, log, gate, root },
        { mount: MOUNT, organisation: host.organisation },
        ended.signal,
      );
    },
    async end() {
      ended.abort();
      await requests;
    },
    stop: () => host.codeHost.stop(),
  };
}

async function demoRoot(tokens: Tokens, ids: Ids, given: string | undefined): Promise<Secret> {
  const store = tokens.manager()?.tokens;
  if (store === undefined)
    throw new StewardError(
      "sealed",
      "the demo's store of tokens is sealed; remove the demo folder in the state folder",
    );
  const id = Secret.of(given ?? `hvs.${ids.base62(ROOT_LENGTH)}`, "demo");
  // The demo's state persists between starts, so a given token may already exist.
  if (store.lookup(id) === undefined) {
    await store.create({
      type: "service",
      id,
      policies: ["root"],
      path: "auth/token/root",
      displayName: "demo-root",
      numUses: 0,
      parent: undefined,
      ttlMs: ROOT_TTL_MS,
      explicitMaxTtlMs: 0,
      periodMs: 0,
      renewable: true,
    });
  }
  return id;
}

async function configure(
  tokens: Tokens,
  { codeHost, appId, privateKeyPem }: DemoCodeHost,
  token: Secret,
): Promise<void> {
  await tokens.gate.handle({
    verb: "write",
    path: `${MOUNT}config`,
    data: { app_id: appId, prv_key: privateKeyPem, base_url: codeHost.url, strict_scopes: true },
    token,
    remote: undefined,
    wrapTtlMs: undefined,
    signal: new AbortController().signal,
  });
}
