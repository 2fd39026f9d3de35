/**
 * Keys of the profile endpoint and the profile upload. `profiling-options.ts` validates them
 * together.
 */
import type { Secret } from "../../kernel/base/secret.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import { defineKeyGroup, keysOf } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { mapOfSecrets, mapOfTexts } from "../../kernel/config/values/maps.ts";
import { baseUrl, optionally } from "../../kernel/config/checks/rules.ts";
import {
  boolean,
  duration,
  integer,
  oneOf,
  path,
  secret,
  text,
} from "../../kernel/config/values/types.ts";

interface ProfilingSection {
  readonly mutexProfileFraction: number;
  readonly blockProfileRate: number;
}
interface EnabledSection {
  readonly enabled: boolean;
}
interface ProfilerSection {
  readonly enabled: boolean;
  readonly serverAddress: string;
  readonly basicAuthUser: string;
  readonly basicAuthPassword: Secret | undefined;
  readonly tenantId: string;
  readonly uploadRate: number;
  readonly headers: ReadonlyMap<string, Secret>;
  readonly tags: ReadonlyMap<string, string>;
  readonly networkLabel: "off" | "hashed" | "name";
}
interface ProfilerTlsSection {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly insecureSkipVerify: boolean;
}
interface ReloadSection {
  readonly enabled: boolean;
  readonly interval: number;
}

const MIN_RATE_MS = 1_000;
const MAX_RATE_MS = 600_000;
const MAX_INTERVAL_MS = 86_400_000;
/** Set by Steward, or by the backend. */
const RESERVED_TAGS: ReadonlySet<string> = new Set([
  "service_version",
  "service_instance_id",
  "service_name",
  "network",
  "thread",
]);

export const profiling = defineKeyGroup<ProfilingSection>("profiling", {
  mutexProfileFraction: {
    type: integer(0, 1_000_000),
    default: 5,
    help: "Accepted but ignored: this runtime has no mutex profile.",
  },
  blockProfileRate: {
    type: integer(0, 1_000_000_000),
    default: 100_000,
    help: "Accepted but ignored: this runtime has no block profile.",
  },
});

export const profileEndpoint = defineKeyGroup<EnabledSection>("profiling.profile_endpoint", {
  enabled: {
    type: boolean,
    default: false,
    help: "Serves profiles of this process to administrators below /debug/pprof/. Needs admin.auth.token or auth.token.",
  },
});

export const profiler = defineKeyGroup<ProfilerSection>("profiling.profiler", {
  enabled: {
    type: boolean,
    default: false,
    help: "Profiles this process continuously and sends the profiles to server_address.",
  },
  serverAddress: {
    type: text,
    default: "",
    rule: optionally(baseUrl),
    help: "Base URL of a server with Pyroscope's ingest API, e.g. http://localhost:4040.",
  },
  basicAuthUser: { type: text, default: "", help: "HTTP Basic user for that server." },
  basicAuthPassword: {
    type: secret,
    default: undefined,
    secret: true,
    help: "HTTP Basic password for that server.",
  },
  tenantId: {
    type: text,
    default: "",
    rule: headerText,
    help: "Tenant id, sent as X-Scope-OrgID. Empty: none.",
  },
  uploadRate: {
    type: duration,
    default: 60_000,
    rule: uploadTime,
    help: "Duration that one profile covers, from 1s to 10m.",
  },
  headers: {
    type: mapOfSecrets({ limit: 64 }),
    default: new Map(),
    rule: headerNames,
    help: "Additional headers of each upload; their values are secret.",
  },
  tags: {
    type: mapOfTexts({ limit: 32 }),
    default: new Map(),
    rule: tagsRule,
    help: "Tags of every profile, in addition to service_version and service_instance_id.",
  },
  networkLabel: {
    type: oneOf(["off", "hashed", "name"]),
    default: "off",
    help: "Tags profiles with the collected network: off not at all, hashed with twelve characters of its hash, name with its name where pii_filter.network_name allows it. Not available with several networks.",
  },
});

export const profilerTls = defineKeyGroup<ProfilerTlsSection>("profiling.profiler.tls", {
  caFile: {
    type: path,
    default: "",
    help: "PEM file of the CA certificates that the server's certificate is verified against. Empty: public CAs.",
  },
  certFile: { type: path, default: "", help: "PEM client certificate." },
  keyFile: { type: path, default: "", help: "PEM key of the client certificate." },
  insecureSkipVerify: {
    type: boolean,
    default: false,
    help: "Accepts any certificate of the server.",
  },
});

export const spanProfiles = defineKeyGroup<EnabledSection>("profiling.profiler.span_profiles", {
  enabled: {
    type: boolean,
    default: false,
    help: "Accepted while tracing and the profiler are on, but ignored: profiles carry no spans.",
  },
});

export const profilerReload = defineKeyGroup<ReloadSection>(
  "profiling.profiler.credential_reload",
  {
    enabled: {
      type: boolean,
      default: false,
      help: "Reloads the files of headers, password and certificates while Steward runs; when a file cannot be used, the last good value stays in use.",
    },
    interval: {
      type: duration,
      default: 30_000,
      rule: (ms) => (ms > MAX_INTERVAL_MS ? { rule: "must be at most 24h" } : undefined),
      help: "Time between checks of those files, at least 5s.",
    },
  },
);

export const profilingKeys: Schema = keysOf(
  profiling,
  profileEndpoint,
  profiler,
  profilerTls,
  spanProfiles,
  profilerReload,
);

function uploadTime(ms: number): Complaint | undefined {
  return ms >= MIN_RATE_MS && ms <= MAX_RATE_MS ? undefined : { rule: "must be from 1s to 10m" };
}

function headerText(value: string): Complaint | undefined {
  return /^[\x20-\x7e]*$/.test(value) && value.trim() === value
    ? undefined
    : { rule: "must be plain ASCII without spaces around it" };
}

/** Headers set by the transport itself are not allowed. */
function headerNames(headers: ReadonlyMap<string, Secret>): Complaint | undefined {
  for (const [name, value] of headers) {
    if (!value.use((text) => /^[\t\x20-\x7e]*$/.test(text)))
      return {
        rule: `the value of ${JSON.stringify(name.slice(0, 60))} holds characters that a header cannot carry`,
      };
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
      return { rule: `${JSON.stringify(name.slice(0, 60))} is no name of a header` };
    if (
      /^(?:host|content-type|content-length|transfer-encoding|connection|cookie|user-agent|expect|upgrade|keep-alive|te|trailer)$/i.test(
        name,
      )
    )
      return { rule: `must not have ${name}: it is set by Steward`, remedy: "remove it." };
  }
  return undefined;
}

/** Names must be Prometheus label names, and values must fit the form `{name=value,…}`. */
function tagsRule(tags: ReadonlyMap<string, string>): Complaint | undefined {
  for (const [name, value] of tags) {
    const shown = JSON.stringify(name.slice(0, 60));
    if (!/^[A-Za-z_]\w{0,63}$/.test(name) || name.startsWith("__"))
      return { rule: `${shown} must be of letters, digits and underscores` };
    if (RESERVED_TAGS.has(name))
      return { rule: `${shown} is set by Steward`, remedy: "remove it." };
    if (!isTagValue(value))
      return {
        rule: `the value of ${shown} must be 1 to 128 characters without control characters and without , = { }`,
      };
  }
  return undefined;
}

export function isTagValue(value: string): boolean {
  return /^[^,={}\p{Cc}]{1,128}$/u.test(value);
}
