/** Profiling as configured: routes, components, and its part of the status. */
import { readFileSync } from "node:fs";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { profileEndpoint, profiler } from "../config/profiling-keys.ts";
import { pushOptions, type PushOptions } from "../config/profiling-options.ts";
import { secretFile } from "../../kernel/config/values/types.ts";
import { createHeapSampler } from "../../profiling/heap.ts";
import { createProfiles } from "../../profiling/profiles.ts";
import { createProfiler, type ProfilerOptions } from "../../profiling/push.ts";
import { profileRoutes } from "../../profiling/routes.ts";
import { canonicalHeader, type ProfilingStatus } from "../../profiling/status.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { WireReload } from "../../kernel/telemetry/thread/options.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { profilerNetwork } from "./profiler-network.ts";
import { processScope } from "./telemetry-options.ts";

const APPLICATION = "steward";

export interface ProfilingDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
  /** Environment of the process. */
  readonly environment: Environment;
  /** The process's own scope. */
  readonly scope: Pick<Scope, "add" | "gauge" | "record">;
}

export interface ProcessProfiling {
  /** Empty while the endpoint and the profiler are off. */
  readonly components: readonly Component[];
  /** Routes for the gateway. */
  readonly routes: readonly PlainRoute[];
  readonly status: () => ProfilingStatus;
}

/** Throws when a certificate file cannot be read. */
export function configureProfiling(deps: ProfilingDeps): ProcessProfiling {
  const { config, clock } = deps;
  const push = pushOptions(config);
  const endpoint = config.get(profileEndpoint.enabled);
  const heap = createHeapSampler(clock);
  const pushing = push && createProfiler({ ...deps, heap }, profilerOptions(deps, push));
  return {
    components: [
      ...(endpoint || pushing !== undefined ? [heap] : []),
      ...(pushing === undefined ? [] : [pushing]),
    ],
    routes: endpoint ? profileRoutes(createProfiles({ clock, heap }), process.argv) : [],
    status: () => ({
      ...configured(config, push),
      profileEndpointEnabled: endpoint,
      profilerUpload: pushing?.status(),
    }),
  };
}

type Configured = Omit<ProfilingStatus, "profileEndpointEnabled" | "profilerUpload">;

function configured(config: Config, push: PushOptions | undefined): Configured {
  const headers = [
    ...(push?.headers.keys() ?? []),
    ...(push?.basic === undefined ? [] : ["authorization"]),
  ];
  return {
    profilerEnabled: push !== undefined,
    profilerServer: config.get(profiler.serverAddress),
    profilerHeaderNames: headers.map(canonicalHeader).toSorted(),
    profilerTlsClientCert: (push?.tls.certFile ?? "") !== "",
    profilerTlsCustomCa: (push?.tls.caFile ?? "") !== "",
    profilerTlsInsecureSkipVerify: push?.tls.insecureSkipVerify ?? false,
    profilerAuthSet: headers.includes("authorization"),
  };
}

function profilerOptions(deps: ProfilingDeps, push: PushOptions): ProfilerOptions {
  const { server, headers, basic, tls } = push;
  const read = (file: string): string => readFileSync(file, "utf8");
  return {
    uploadRateMs: push.uploadRateMs,
    reload: reloadOf(push),
    target: {
      server,
      application: APPLICATION,
      tags: tagsOf(deps, push),
      headers: {
        ...Object.fromEntries([...headers].map(([name, value]) => [name, open(value)])),
        ...(basic === undefined
          ? {}
          : {
              authorization: `Basic ${Buffer.from(`${basic.user}:${open(basic.password)}`).toString("base64")}`,
            }),
      },
      tls: {
        insecureSkipVerify: tls.insecureSkipVerify,
        ...(tls.caFile === "" ? {} : { ca: read(tls.caFile) }),
        ...(tls.certFile === "" ? {} : { cert: read(tls.certFile) }),
        ...(tls.keyFile === "" ? {} : { key: read(tls.keyFile) }),
      },
    },
  };
}

/** Identifies this process with the same attributes as its metrics. */
function tagsOf(
  { config, version, environment }: ProfilingDeps,
  { tags }: PushOptions,
): ReadonlyMap<string, string> {
  const instance = processScope(config, { version, environment }).resource["service.instance.id"];
  const network = profilerNetwork(config);
  return new Map([
    ...tags,
    ["service_version", version],
    ["service_instance_id", String(instance).replace(/[,={}\p{Cc}]/gu, "_")],
    ...(network === undefined ? [] : [["network", network] as const]),
  ]);
}

/** Only values read from files are reloaded. */
function reloadOf({ reloadMs, headers, basic, tls }: PushOptions): WireReload | undefined {
  if (reloadMs === undefined) return undefined;
  const given = (file: string): string | undefined => (file === "" ? undefined : file);
  const passwordFile = basic && secretFile(basic.password);
  return {
    everyMs: reloadMs,
    caFile: given(tls.caFile),
    certFile: given(tls.certFile),
    keyFile: given(tls.keyFile),
    headerFiles: Object.fromEntries(
      [...headers].flatMap(([name, value]) => {
        const file = value instanceof Secret ? secretFile(value) : undefined;
        return file === undefined ? [] : [[name, file]];
      }),
    ),
    basic:
      basic === undefined || passwordFile === undefined
        ? undefined
        : { user: basic.user, passwordFile },
  };
}

function open(value: Secret | string): string {
  return value instanceof Secret ? value.use((opened) => opened) : value;
}
