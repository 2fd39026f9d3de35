/** The port of the pull endpoint: opened by the telemetry thread, retried with backoff. */
import { delay } from "../../../base/clock.ts";
import { ownMessage } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { formatAddress, isLoopback } from "../../../config/values/address.ts";
import { createListener, type Listener, type ListenerSpec } from "../../../listen/listener.ts";
import type { PullView } from "../../status.ts";
import type { WirePull } from "../options.ts";
import { refusePull } from "./pull-auth.ts";
import type { PullStats } from "./pull-stats.ts";
import { createPullHandler, type PullHandlerDeps } from "./pull-handler.ts";
import { backoffMs, type Backoff } from "../../../async/backoff.ts";

const RETRY: Backoff = { firstMs: 1_000, maxMs: 60_000 };
/** Scrapers are few; more connections are a mistake or an attack. */
const MAX_CONNECTIONS = 64;
const STALL_MS = 30_000;
/** Concurrent requests without a valid credential; they are answered with an error. */
const MAX_UNAUTHORIZED_REQUESTS = 8;
/** Scrapes have no body. */
const NO_BODY = 0;

export interface PullServerDeps extends Omit<PullHandlerDeps, "stats"> {
  readonly log: Log;
  readonly stats: PullStats;
}

export interface PullServer {
  view(): PullView;
  /** Stops accepting, lets responses finish, then cuts the rest. Idempotent. */
  stop(deadlineMs: number): Promise<void>;
}

/** Opens the port now and retries until stopped. */
export function startPullServer(deps: PullServerDeps, options: WirePull): PullServer {
  const { stats, clock, log } = deps;
  const stopping = new AbortController();
  let listener: Listener | undefined;
  const open = async (): Promise<void> => {
    for (let attempt = 1; !stopping.signal.aborted; attempt += 1) {
      const next = createListener(specOf(deps, options), { clock, log });
      try {
        await next.start();
        if (stopping.signal.aborted) return await next.stop(0);
        listener = next;
        return stats.stand("serving", {
          address: formatAddress({ ...options.listen, port: next.port }),
        });
      } catch (error) {
        const reason = ownMessage(error);
        const waitMs = backoffMs(attempt, RETRY);
        stats.stand("failed", { reason });
        log.error("the pull endpoint cannot listen; retrying", { reason, waitMs });
        await next.stop(0);
        await delay(clock, waitMs, stopping.signal).catch(() => undefined);
      }
    }
  };
  const opening = open();
  return {
    view: () => stats.view(listener?.certificate()),
    async stop(deadlineMs) {
      stopping.abort();
      await opening;
      await listener?.stop(deadlineMs);
      stats.stand("stopped");
    },
  };
}

function specOf(deps: PullServerDeps, options: WirePull): ListenerSpec {
  const { listen, tls } = options;
  const clients =
    tls === undefined || tls.clientAuth === "none"
      ? {}
      : {
          clients: {
            mode: tls.clientAuth,
            ...(tls.clientCaFile === undefined ? {} : { caFile: tls.clientCaFile }),
          },
        };
  return {
    // Reachable from other machines without a token, it refuses every request, which is clearer
    // than a closed port.
    name: "metrics",
    setting: "scrape.listen",
    address: listen,
    credential: true,
    ...(tls === undefined
      ? {}
      : {
          tls: {
            certFile: tls.certFile,
            keyFile: tls.keyFile,
            ...(tls.reloadMs === undefined ? {} : { reloadMs: tls.reloadMs }),
            ...clients,
          },
        }),
    limits: {
      connections: MAX_CONNECTIONS,
      stallMs: STALL_MS,
      owner: { requests: MAX_CONNECTIONS, bodyBytes: NO_BODY, bodiesBytes: NO_BODY },
      stranger: {
        requests: MAX_UNAUTHORIZED_REQUESTS,
        requestsPerAddress: MAX_UNAUTHORIZED_REQUESTS / 2,
        bodyBytes: NO_BODY,
        bodiesBytes: NO_BODY,
      },
    },
    classify: ({ headers, socket }) => ({
      share: refusePull(options, headers.authorization) === undefined ? "owner" : "stranger",
      kind: "request",
      address: isLoopback(socket.remoteAddress ?? "") ? undefined : socket.remoteAddress,
    }),
    handle: createPullHandler(deps, options),
  };
}
