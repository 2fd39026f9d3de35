/** Whether the stores that are open are well, for the status. */
import type { Env, StateFactory } from "../../kernel/state/types.ts";
import type { Health } from "../../kernel/supervisor/component.ts";

/** A factory whose stores are watched. */
export interface WatchedStores {
  readonly state: StateFactory;
  /** Well when every open store is; else which is not, and why. */
  health(): Health;
}

/** Watches what the factory opens until that is closed. */
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
      const ill = [...open].map((env) => env.status()).find(({ healthy }) => !healthy);
      return ill === undefined
        ? { ok: true }
        : { ok: false, reason: `${ill.name}: ${ill.reason ?? "unavailable"}` };
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
