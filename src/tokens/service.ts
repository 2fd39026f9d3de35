/**
 * The tokens service: store, seal, secrets manager and API surfaces, opened and closed together.
 * Independent of how it is served.
 */
import type { Clock } from "../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../kernel/base/errors.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import type { Service } from "../kernel/service.ts";
import type { Env, StateFactory } from "../kernel/state/types.ts";
import { whileReadable } from "../kernel/state/while-readable.ts";
import type { Health } from "../kernel/supervisor/component.ts";
import { overviewHandlers } from "./overview/overview-api.ts";
import { engineHandlers } from "./api/engine.ts";
import { logicalHandlers } from "./api/logical.ts";
import { systemHandlers } from "./api/system.ts";
import { createEngine, unreleased } from "./engine/engine.ts";
import { ENGINE_TYPE } from "./engine/type.ts";
import type { BuildInfo } from "./engine/types.ts";
import { createHttp } from "./engine/platform/http.ts";
import { unusableProxies, type ProxyOptions } from "./engine/platform/proxy.ts";
import { createBackend } from "./logical/backend.ts";
import { tokensStore } from "./stores.ts";
import { unobserved, watchSealGate, type TokensObserver } from "./telemetry/observer.ts";
import { watchRefusals } from "./telemetry/last-refusals.ts";
import type { TokensLevels } from "./telemetry/report.ts";
import type { AuditDeviceConfig } from "./vault/audit/audit.ts";
import { createSealGate, type SealGate } from "./vault/core/seal-gate.ts";
import { vaultRoute } from "./vault/http/route.ts";
import { openManager, type Manager, type ShowRoot } from "./vault/manager.ts";
import type { MountSpec } from "./vault/mounts/mounts.ts";
import { openSeal } from "./vault/seal/seal.ts";
import type { Seal, SealOptions } from "./vault/seal/types.ts";
import { vaultCors } from "./vault/system/cors.ts";
import type { SealControl } from "./vault/system/deps.ts";
import { statusPaths } from "./vault/system/status.ts";
import { tokenRows } from "./vault/token-store/tables.ts";
import { waitFor } from "../kernel/async/wait.ts";
import { createSerial } from "../kernel/async/serial.ts";

/** Vault version reported to clients, which enable features by it. */
const COMPATIBLE = "1.15.0";
/** Time that requests in progress have to finish when the store is sealed. */
const LEAVE_MS = 10_000;

export interface TokensDeps {
  readonly state: StateFactory;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Receives requests, mints, revocations and audit records. */
  readonly observe?: TokensObserver;
}

export interface TokensOptions {
  /** The state directory. */
  readonly directory: string;
  readonly version: string;
  /** Of a release; without it all build information is empty. */
  readonly build?: BuildInfo | undefined;
  readonly mounts: readonly MountSpec[];
  readonly seal: SealOptions;
  readonly audit: readonly AuditDeviceConfig[];
  readonly proxy: ProxyOptions;
  /** See `EngineOptions.allowLinkLocal`. */
  readonly allowLinkLocal?: boolean;
}

export interface Tokens {
  readonly service: Service;
  readonly gate: SealGate;
  readonly env: Env;
  /** Present while unsealed. */
  manager(): Manager | undefined;
  health(): Health;
  /** Gauges; costs a few lookups. */
  levels(): TokensLevels;
  /**
   * Creates and shows the first root token, now or when the store is unsealed. Before this call
   * there is none. Does nothing with key shares: `sys/init` returns the token.
   */
  showRoot(show: ShowRoot): Promise<void>;
  /** Call after rotating the audit files. */
  reopenAudit(): Promise<void>;
  /** Lets requests finish, stops the timers and closes the store. */
  close(deadlineMs: number): Promise<void>;
}

/**
 * Opens the store and, with its key, the manager. Throws when the store cannot be opened; without
 * the key it stays sealed.
 */
export async function openTokens(
  deps: TokensDeps,
  options: TokensOptions,
  signal: AbortSignal,
): Promise<Tokens> {
  for (const variable of unusableProxies(options.proxy))
    deps.log.warn("a proxy of the environment cannot be used; requests through it fail", {
      variable,
      remedy: `write ${variable} as http://HOST:PORT, and restart`,
    });
  const env = await deps.state.open(tokensStore, signal);
  try {
    const seal = await openSeal(
      { env, directory: options.directory, ids: deps.ids, log: deps.log.child("seal") },
      options.seal,
    );
    const tokens = new Inside(deps, options, { env, seal });
    await tokens.start();
    return tokens;
  } catch (error) {
    await env.close();
    throw error;
  }
}

class Inside implements Tokens {
  readonly service: Service;
  readonly gate: SealGate;
  readonly env: Env;
  readonly #deps: TokensDeps;
  readonly #options: TokensOptions;
  readonly #seal: Seal;
  readonly #control: SealControl;
  readonly #version: string;
  readonly #refusals: ReturnType<typeof watchRefusals>;
  #manager: Manager | undefined;
  #showRoot: ShowRoot | undefined;
  /** Serializes opening and closing. */
  readonly #inTurn = createSerial();

  constructor(
    deps: TokensDeps,
    options: TokensOptions,
    { env, seal }: { readonly env: Env; readonly seal: Seal },
  ) {
    this.#deps = deps;
    this.#options = options;
    this.env = env;
    this.#seal = seal;
    this.#refusals = watchRefusals(deps.clock, deps.observe ?? unobserved);
    this.#version = `${COMPATIBLE}+steward.${options.version}`;
    this.#control = {
      status: () => ({ ...seal.status(), sealed: !this.gate.isOpen() }),
      seal: () => this.#sleep(),
      unseal: (key) =>
        this.#inTurn(async () => {
          if (await seal.unseal(key)) await this.#wakeOrSeal();
        }),
      reset: () => seal.reset(),
      shared: seal.shared,
    };
    const shown = {
      seal: this.#control,
      clock: deps.clock,
      version: this.#version,
      cluster: () => this.#manager?.cluster ?? { name: "", id: "" },
    };
    this.gate = watchSealGate(
      createSealGate({
        status: createBackend({
          type: "system",
          paths: statusPaths(shown),
          help: "The state of the secrets manager.",
        }),
        ids: deps.ids,
      }),
      {
        clock: deps.clock,
        observe: this.#refusals.observe,
        mounts: () => this.#manager?.mounts,
      },
    );
    this.service = {
      name: "tokens",
      rpc: [
        logicalHandlers(this.gate),
        engineHandlers(this.gate),
        systemHandlers(shown, this.gate),
        overviewHandlers({
          env,
          clock: deps.clock,
          ids: deps.ids,
          manager: () => (this.gate.isOpen() ? this.#manager : undefined),
          refusals: () => this.#refusals.last(),
        }),
      ],
      plain: [vaultRoute({ core: this.gate, cors: () => vaultCors(env) })],
    };
  }

  async start(): Promise<void> {
    if (!this.#seal.status().sealed) await this.#inTurn(() => this.#wake());
  }

  manager(): Manager | undefined {
    return this.#manager;
  }

  health(): Health {
    const { healthy, reason } = this.env.status();
    if (!healthy)
      return { ok: false, unable: true, reason: reason ?? "the store of tokens is unavailable" };
    if (this.#manager === undefined)
      return {
        ok: false,
        reason: this.#seal.status().reason ?? "sealed: give the key to sys/unseal",
      };
    return this.#manager.health();
  }

  levels(): TokensLevels {
    const manager = this.#manager;
    if (manager === undefined || this.env.keyring?.status().sealed === true)
      return { sealed: true, inside: undefined };
    return { sealed: false, inside: whileReadable(() => this.#inside(manager)) };
  }

  #inside(manager: Manager): TokensLevels["inside"] {
    return {
      ...manager.leases.counts(),
      stored: this.env.read((snapshot) => snapshot.count(tokenRows)),
      quotas: manager.quotas.all(),
      cached: manager.mounts.all().flatMap(({ point: mount, backend }) => {
        const entries = backend.cached?.();
        return entries === undefined ? [] : [{ mount, entries }];
      }),
    };
  }

  async showRoot(show: ShowRoot): Promise<void> {
    // With key shares, sys/init returns it.
    if (this.#seal.shared !== undefined) return;
    this.#showRoot = show;
    await this.#inTurn(async () => await this.#manager?.makeRoot(show));
  }

  async reopenAudit(): Promise<void> {
    await this.#manager?.audit.reopen();
  }

  async close(deadlineMs: number): Promise<void> {
    await this.#leave(deadlineMs);
    await this.#inTurn(async () => {
      await this.#stopManager(deadlineMs);
      await this.env.close();
    });
  }

  /** A store that does not open is sealed again: its key or its shares have to be given again. */
  async #wakeOrSeal(): Promise<void> {
    try {
      await this.#wake();
    } catch (thrown) {
      const error = toStewardError(thrown);
      this.#deps.log.error("opening the store of tokens failed; it is sealed again", { error });
      this.#seal.seal(`opening the store failed (${error.message})`);
      throw thrown;
    }
  }

  async #wake(): Promise<void> {
    if (this.#manager !== undefined) return;
    const { clock, ids, log, observe = unobserved } = this.#deps;
    const { directory, audit, mounts, version, proxy } = this.#options;
    const { allowLinkLocal = false, build = unreleased } = this.#options;
    const manager = await openManager({
      env: this.env,
      directory,
      audit,
      seal: this.#control,
      declared: mounts,
      version: this.#version,
      clock,
      ids,
      log,
      observe,
      openHttp: (ca) => createHttp(clock, proxy, { allowLinkLocal, ca }),
      secrets: {
        [ENGINE_TYPE]: createEngine({ version, build, proxy, allowLinkLocal }),
      },
    });
    try {
      await manager.takeInitialRoot();
      if (this.#showRoot !== undefined) await manager.makeRoot(this.#showRoot);
    } catch (error) {
      await manager.stop(0);
      throw error;
    }
    this.#manager = manager;
    this.gate.open(manager.core);
  }

  /**
   * Rejects new requests; the keys are dropped when those in progress have finished, possibly
   * including the caller's.
   */
  #sleep(): Promise<void> {
    const left = this.#leave(LEAVE_MS);
    this.#inTurn(async () => {
      try {
        await left;
        // Requests admitted by an unseal in between must finish too.
        await this.#leave(LEAVE_MS);
        await this.#stopManager(LEAVE_MS);
      } finally {
        this.#seal.seal();
      }
    }).catch((thrown: unknown) =>
      this.#deps.log.error("sealing the store failed", { error: toStewardError(thrown) }),
    );
    return Promise.resolve();
  }

  async #leave(deadlineMs: number): Promise<void> {
    await waitFor(this.gate.close(), { clock: this.#deps.clock, timeoutMs: deadlineMs });
  }

  async #stopManager(deadlineMs: number): Promise<void> {
    const manager = this.#manager;
    this.#manager = undefined;
    await manager?.stop(deadlineMs);
  }
}

/** A configured mount in the form that mounts take. Throws `invalid` for an invalid path. */
export function declaredMount(row: {
  readonly path: string;
  readonly description: string;
  readonly defaultLeaseTtlMs: number;
  readonly maxLeaseTtlMs: number;
}): MountSpec {
  const plain = row.path.replaceAll(/^\/+|\/+$/g, "");
  if (plain === "")
    throw new StewardError("invalid", "tokens.mounts[].path must name a path such as github", {
      field: "tokens.mounts",
    });
  return {
    path: `${plain}/`,
    class: "secret",
    type: ENGINE_TYPE,
    description: row.description,
    defaultLeaseTtlMs: row.defaultLeaseTtlMs,
    maxLeaseTtlMs: row.maxLeaseTtlMs,
  };
}
