/** Connection pools: one for direct requests, and one for each proxy. */
import type { lookup as systemLookup } from "node:dns";
import { rootCertificates } from "node:tls";
import type { Dispatcher } from "undici";
import { guardedLookup } from "../forbidden-hosts.ts";
import { createProxyFor, isProxyAddress, type ProxyOptions } from "./proxy.ts";

/** Connections per origin; the platform limits concurrent requests to about 100. */
const CONNECTIONS = 64;

const CONNECT_MS = 2_500;

/** Allowed destinations. */
export interface ReachOptions {
  /** Whether link-local addresses and cloud metadata services are allowed; default false. */
  readonly allowLinkLocal?: boolean;
  /** PEM of authorities in addition to the system's; empty for none. */
  readonly ca?: string;
  /** Resolves names; the system's by default. */
  readonly lookup?: typeof systemLookup;
}

export interface Pools {
  /** Undefined when no request can go through the proxy for this origin. */
  pool(origin: string): Dispatcher | undefined;
  /** Aborts requests in progress. */
  destroy(): Promise<void>;
}

/** Loads the HTTP library; connects on first use. */
export async function openPools(
  proxy: ProxyOptions,
  { allowLinkLocal = false, ca = "", lookup }: ReachOptions,
): Promise<Pools> {
  const { Agent, ProxyAgent } = await import("undici");
  const tls = ca === "" ? {} : { ca: [...rootCertificates, ca] };
  const options = {
    // The client has its own timeouts. Idle connections close after a few seconds.
    connections: CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveMaxTimeout: 60_000,
  };
  const direct = new Agent({
    ...options,
    connect: {
      timeout: CONNECT_MS,
      ...tls,
      ...(allowLinkLocal ? {} : { lookup: guardedLookup(lookup) }),
    },
  });
  const proxied = new Map<string, Dispatcher>();
  const proxyFor = createProxyFor(proxy);
  return {
    pool(origin) {
      const uri = proxyFor(origin);
      if (uri === undefined) return direct;
      if (!isProxyAddress(uri)) return undefined;
      let pool = proxied.get(uri);
      if (pool === undefined) {
        pool = new ProxyAgent({ ...options, uri, ...(ca === "" ? {} : { requestTls: tls }) });
        proxied.set(uri, pool);
      }
      return pool;
    },
    async destroy() {
      await Promise.all([direct, ...proxied.values()].map((pool) => pool.destroy()));
    },
  };
}
