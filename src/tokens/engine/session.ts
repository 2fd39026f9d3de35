/**
 * All that one configuration needs for its calls: key, JWT, platform, installations. A changed
 * configuration gets a new one, at once and whole.
 */
import type { StewardError } from "../../kernel/base/errors.ts";
import type { Host } from "../logical/types.ts";
import { logicalError } from "../logical/occurred.ts";
import { type AppJwt, createAppJwt } from "./app-jwt.ts";
import { type Base, parseBaseUrl } from "./base-url.ts";
import { createInstallations, type Installations } from "./platform/installations.ts";
import { createPlatform, type Platform, type PlatformDeps } from "./platform/platform.ts";
import { readPrivateKey } from "./private-key.ts";
import { loadConfig } from "./store.ts";
import type { EngineConfig } from "./types.ts";

/** A configuration at work. */
export interface Session {
  readonly config: EngineConfig;
  readonly base: Base;
  readonly jwt: AppJwt;
  readonly platform: Platform;
  readonly installations: Installations;
}

/** The present session. */
export interface Sessions {
  /**
   * Throws `invalid` (rule `not_configured`) before there is a configuration. What runs with an
   * older one goes on with it.
   */
  current(mountPoint: string): Promise<Session>;
  /** The stored configuration was changed. */
  drop(): void;
}

/** Nothing is loaded before the first use. */
export function createSessions(host: Host, deps: PlatformDeps): Sessions {
  let held: Promise<Session | undefined> | undefined;

  async function load(): Promise<Session | undefined> {
    const config = await loadConfig(host.storage);
    return config === undefined || config.appId === 0 || config.privateKey === ""
      ? undefined
      : openSession(config, host, deps);
  }

  function loading(): Promise<Session | undefined> {
    const started = load();
    // A failure is not kept: the next request tries again.
    started.catch(() => {
      if (held === started) held = undefined;
    });
    return started;
  }

  return {
    async current(mountPoint) {
      return (await (held ??= loading())) ?? fail(notConfigured(mountPoint));
    },
    drop() {
      held = undefined;
    },
  };
}

function openSession(config: EngineConfig, host: Host, deps: PlatformDeps): Session {
  const base = parseBaseUrl(config.baseUrl);
  const jwt = createAppJwt(config.appId, readPrivateKey(config.privateKey).object, host.clock);
  const platform = createPlatform(deps, base, jwt);
  return { config, base, jwt, platform, installations: createInstallations(platform, host.clock) };
}

/** The error of a mount without a configuration. */
function notConfigured(mountPoint: string): StewardError {
  return logicalError(`not configured: write app_id and prv_key to ${mountPoint}config first`, {
    rule: "not_configured",
  });
}

function fail(error: Error): never {
  throw error;
}
