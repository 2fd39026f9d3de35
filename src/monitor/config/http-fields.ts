/**
 * HTTP settings of a control plane: the keys of `vpn.http`, `headscale.http` and `networks[].http`,
 * and their precedence.
 */
import type { Config } from "../../kernel/config/config.ts";
import type { Fields } from "../../kernel/config/values/fields.ts";
import { defineKeyGroup, readKeyGroup, type KeyGroup } from "../../kernel/config/key-group.ts";
import { groupOfFields } from "../../kernel/config/values/objects.ts";
import { timer } from "../../kernel/config/checks/rules.ts";
import { decimal, duration, integer } from "../../kernel/config/values/types.ts";
import type { HttpOptions } from "../options.ts";

type CallOptions = Pick<HttpOptions, "timeoutMs" | "rateLimit">;
type RetryOptions = Pick<HttpOptions, "maxAttempts" | "baseDelayMs" | "maxDelayMs">;
type Partly<T> = { readonly [K in keyof T]: T[K] | undefined };

export interface HttpKeys {
  readonly call: KeyGroup<CallOptions>;
  readonly retry: KeyGroup<RetryOptions>;
}

/** Settings a network may override; undefined inherits from its control plane's section. */
export type NetworkHttp = Partly<CallOptions> & { readonly retry: Partly<RetryOptions> };

const MAX_REQUESTS_PER_SECOND = 100_000;

const callFields: Fields<CallOptions> = {
  timeoutMs: {
    type: duration,
    default: 30_000,
    rule: timer,
    help: "Timeout of one attempt of a call.",
  },
  rateLimit: {
    type: decimal(0, MAX_REQUESTS_PER_SECOND),
    default: 0,
    help: "Maximum calls per second over all collectors of a network; 0 is no limit.",
  },
};

const retryFields: Fields<RetryOptions> = {
  maxAttempts: {
    type: integer(1, 100),
    default: 4,
    help: "Attempts of a call, including the first.",
  },
  baseDelayMs: {
    type: duration,
    default: 500,
    rule: timer,
    help: "Wait before the second attempt; it doubles with each further attempt.",
  },
  maxDelayMs: {
    type: duration,
    default: 10_000,
    rule: timer,
    help: "Maximum wait between attempts, even when the control plane asks for a longer one.",
  },
};

/** Declares `<prefix>.http`. */
export function defineHttpKeys(prefix: string): HttpKeys {
  return {
    call: defineKeyGroup<CallOptions>(`${prefix}.http`, callFields),
    retry: defineKeyGroup<RetryOptions>(`${prefix}.http.retry`, retryFields),
  };
}

export const networkHttpFields: Fields<NetworkHttp> = {
  ...inherited<CallOptions>(callFields),
  retry: {
    type: groupOfFields({ fields: inherited<RetryOptions>(retryFields) }),
    help: "How failed calls are retried.",
  },
};

export function httpOptions(config: Config, keys: HttpKeys): HttpOptions {
  return { ...readKeyGroup(config, keys.call), ...readKeyGroup(config, keys.retry) };
}

/** Overrides each setting of the section separately. */
export function inheritHttp(shared: HttpOptions, { retry, ...call }: NetworkHttp): HttpOptions {
  const own = Object.entries({ ...call, ...retry }).filter(([, value]) => value !== undefined);
  return { ...shared, ...Object.fromEntries(own) };
}

function inherited<T extends object>(fields: Fields<T>): Fields<Partly<T>> {
  const entries = Object.entries<object>(fields as Readonly<Record<string, object>>).map(
    ([name, field]) => {
      const { default: _, ...rest } = field as { readonly default?: unknown };
      return [name, { ...rest, optional: true }];
    },
  );
  return Object.fromEntries(entries) as Fields<Partly<T>>;
}
