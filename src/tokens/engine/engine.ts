/** The GitHub installation-token engine as a backend: its paths and its secret type. */
import { createBackend } from "../logical/backend.ts";
import type { BackendFactory } from "../logical/types.ts";
import { createInFlight, type EngineContext } from "./context.ts";
import { createEngineMetrics } from "./metrics/engine-metrics.ts";
import { configPath } from "./paths/config.ts";
import { doctorPath } from "./paths/doctor.ts";
import { infoPath } from "./paths/info.ts";
import { installationsPath } from "./paths/installations.ts";
import { metricsPath } from "./paths/metrics.ts";
import { permissionSetPath, permissionSetsPath } from "./paths/permission-set.ts";
import { permissionSetTokenPath, tokenPath } from "./paths/token.ts";
import { Headroom } from "./platform/headroom.ts";
import { createHttp } from "./platform/http.ts";
import type { ProxyOptions } from "./platform/proxy.ts";
import { createTokenSecret } from "./secret.ts";
import { createSessions } from "./session.ts";
import { CONFIG_KEY } from "./store.ts";
import { ENGINE_TYPE } from "./type.ts";
import type { BuildInfo } from "./types.ts";
import { createSerial } from "../../kernel/async/serial.ts";

/** Options common to all mounts. */
export interface EngineOptions {
  /** Steward's version, for `User-Agent: steward/<version>`. */
  readonly version: string;
  readonly build: BuildInfo;
  /** Proxies from the environment, see `proxyOf`. */
  readonly proxy: ProxyOptions;
  /** Whether calls may go to link-local addresses and cloud metadata services; default false. */
  readonly allowLinkLocal?: boolean;
}

/** Build information of an unreleased build. */
export const unreleased: BuildInfo = {
  projectName: "",
  projectDocs: "",
  version: "",
  revision: "",
  branch: "",
  date: "",
  user: "",
};

/** Creates one engine per mount, with its own configuration, connections and metrics. */
export function createEngine(options: EngineOptions): BackendFactory {
  const { allowLinkLocal = false } = options;
  return (host) => {
    const http = createHttp(host.clock, options.proxy, { allowLinkLocal });
    const platform = { http, clock: host.clock, userAgent: `steward/${options.version}` };
    const sessions = createSessions(host, platform);
    const context: EngineContext = {
      host,
      build: options.build,
      platform,
      sessions,
      metrics: createEngineMetrics(host.clock, options.build),
      allowLinkLocal,
      inFlight: createInFlight(),
      headroom: host.quota && new Headroom({ clock: host.clock, platform, found: host.quota }),
      changing: createSerial(),
    };
    return Promise.resolve(
      createBackend({
        type: ENGINE_TYPE,
        help: "The GitHub secrets engine mints short-lived installation tokens of a GitHub App, under leases that revoke them.",
        paths: [
          infoPath,
          metricsPath,
          configPath,
          tokenPath,
          permissionSetTokenPath,
          permissionSetPath,
          permissionSetsPath,
          installationsPath,
          doctorPath,
        ].map((path) => path(context)),
        secrets: [createTokenSecret(context)],
        invalidate: (key) => {
          if (key === CONFIG_KEY) sessions.drop();
        },
        cached: () => sessions.cached(),
        close: () => http.close(),
      }),
    );
  };
}
