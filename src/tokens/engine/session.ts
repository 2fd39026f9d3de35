/**
 * Everything derived from one configuration: key, JWT, platform client, installations. A changed
 * configuration gets a new session.
 */
import type { StewardError } from "../../kernel/base/errors.ts";
import type { Host } from "../logical/types.ts";
import { logicalError } from "../logical/occurred.ts";
import { type AppJwt, createAppJwt } from "./app-jwt.ts";
import { type Base, parseBaseUrl } from "./base-url.ts";
import { TokenCache } from "./cache/token-cache.ts";
import { createInstallations, type Installations } from "./platform/installations.ts";
import { createPlatform, type Platform, type PlatformDeps } from "./platform/platform.ts";
import { readPrivateKey } from "./private-key.ts";
import { loadConfig } from "./store.ts";
import type { EngineConfig } from "./types.ts";

export interface Session {
  readonly config: EngineConfig;
  readonly base: Base;
  readonly jwt: AppJwt;
  readonly platform: Platform;
  readonly installations: Installations;
  /** Undefined unless configured. */
  readonly cache: TokenCache | undefined;
}

export interface Sessions {
  /**
   * Throws `invalid` (rule `not_configured`) without a configuration. Requests in progress keep
   * their session.
   */
  current(mountPoint: string): Promise<Session>;
  /** Call after a configuration change. */
  drop(): void;
  /** Call after a change of a permission set. */
  forgetSet(name: string): void;
  /** Tokens for equal requests; undefined without a token cache. */
  cached(): number | undefined;
}

/** Loads on first use. */
export function createSessions(host: Host, deps: PlatformDeps): Sessions {
  let held: Promise<Session | undefined> | undefined;

  let cache: TokenCache | undefined;

  async function load(): Promise<Session | undefined> {
    const config = await loadConfig(host.storage);
    return config === undefined || config.appId === 0 || config.privateKey === ""
      ? undefined
      : openSession(config, host, deps);
  }

  function loading(): Promise<Session | undefined> {
    const started = load();
    started.then(
      (session) => {
        if (held === started) cache = session?.cache;
      },
      // Failures are not cached: the next request tries again.
      () => {
        if (held === started) held = undefined;
      },
    );
    return started;
  }

  return {
    async current(mountPoint) {
      return (await (held ??= loading())) ?? fail(notConfigured(mountPoint));
    },
    drop() {
      held = undefined;
      cache = undefined;
    },
    forgetSet: (name) => cache?.forget(name),
    cached: () => cache?.size,
  };
}

function openSession(config: EngineConfig, host: Host, deps: PlatformDeps): Session {
  const base = parseBaseUrl(config.baseUrl);
  const jwt = createAppJwt(config.appId, readPrivateKey(config.privateKey).object, host.clock);
  const platform = createPlatform(deps, base, jwt);
  const { sharing } = host;
  return {
    config,
    base,
    jwt,
    platform,
    installations: createInstallations(platform, host.clock),
    cache:
      sharing === undefined || config.tokenCacheMinTtlMs === 0
        ? undefined
        : new TokenCache({ sharing, nowMs: () => jwt.platformNowMs() }, config.tokenCacheMinTtlMs),
  };
}

function notConfigured(mountPoint: string): StewardError {
  return logicalError(`not configured: write app_id and prv_key to ${mountPoint}config first`, {
    rule: "not_configured",
  });
}

function fail(error: Error): never {
  throw error;
}
