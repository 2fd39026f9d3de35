/** Health of the open stores, for the status. */
import type { Env, StateFactory } from "../../kernel/state/types.ts";
import type { Health } from "../../kernel/supervisor/component.ts";

export interface WatchedStores {
  readonly state: StateFactory;
  /** Healthy when every open store is; else names the first unhealthy one and why. */
  health(): Health;
}

/** Watches stores that the factory opens, until each is closed. */
export function watchStores(state: StateFactory): WatchedStores {
  const open = new Set<Env>();
  return {
    state: {
      async open(spec, signal) {
        const env = await state.open(spec, signal);
        open.add(env);
        return closing(env, () => open.delete(env));
      },
    },
    health() {
      const unhealthy = [...open].map((env) => env.status()).find(({ healthy }) => !healthy);
      return unhealthy === undefined
        ? { ok: true }
        : { ok: false, reason: `${unhealthy.name}: ${unhealthy.reason ?? "unavailable"}` };
    },
  };
}

function closing(env: Env, closed: () => void): Env {
  return {
    name: env.name,
    keyring: env.keyring,
    write: (change, options) => env.write(change, options),
    read: (view) => env.read(view),
    scan: (table, each, options) => env.scan(table, each, options),
    status: () => env.status(),
    backup: (directory, signal) => env.backup(directory, signal),
    close() {
      closed();
      return env.close();
    },
  };
}
