/**
 * The demo's code host, and a mount configured for it: a token can be minted a second after the
 * start, and reaches nothing real.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import { demoCodeHost, type DemoCodeHost } from "../../demo/code-host/demo.ts";
import type { CodeHostDeps } from "../../demo/code-host/code-host.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Tokens } from "../../tokens/service.ts";
import { runDemoRequests } from "./requests.ts";

const MOUNT = "github/";
/** A forgotten demo's token ends by itself. */
const ROOT_TTL_MS = 30 * 86_400_000;
const ROOT_LENGTH = 24;

/** The running host, with the token that may do everything. */
export interface DemoTokens {
  readonly root: Secret;
  readonly organisation: string;
  /** Begins to mint tokens, and to have one refused, as jobs would. */
  begin(): void;
  /** Ends that; resolves when the last request has its answer. */
  end(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the host, makes a root token and configures `github/`. `given` is
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
    // What an earlier demo minted is gone with its host.
    await tokens.manager()?.leases.revokePrefix(MOUNT, { sync: true, force: true });
    await configure(tokens, host, root);
    return running(deps, { front: tokens.front, host, root });
  } catch (error) {
    await host.codeHost.stop();
    throw error;
  }
}

function running(
  { clock, log }: CodeHostDeps,
  {
    front,
    host,
    root,
  }: { readonly front: Tokens["front"]; readonly host: DemoCodeHost; readonly root: Secret },
): DemoTokens {
  const ended = new AbortController();
  let requests = Promise.resolve();
  return {
    root,
    organisation: host.organisation,
    begin() {
      requests = runDemoRequests(
        { clock, log, front, root },
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
  // The demo's state stays between starts, and a given token may be there already.
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
  await tokens.front.handle({
    verb: "write",
    path: `${MOUNT}config`,
    data: { app_id: appId, prv_key: privateKeyPem, base_url: codeHost.url, strict_scopes: true },
    token,
    remote: undefined,
    wrapTtlMs: undefined,
    signal: new AbortController().signal,
  });
}
