/** Validates the profiling keys together and resolves the upload options. */
import type { Secret } from "../../kernel/base/secret.ts";
import { adminEnabled, adminToken } from "./admin-keys.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Finding } from "../../kernel/config/findings.ts";
import { authToken } from "../../../gateway/config.ts";
import { atKey, isChanged } from "../../kernel/config/checks/key-finding.ts";
import { isReadableByOthers } from "../../kernel/config/checks/rules.ts";
import { keysOf, readKeyGroup } from "../../kernel/config/key-group.ts";
import type { Key } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import { checkExporterFiles } from "../../kernel/telemetry/config/otlp-tls.ts";
import {
  profileEndpoint,
  profiler,
  profilerReload,
  profilerTls,
  profiling,
  spanProfiles,
} from "./profiling-keys.ts";
import { tracingEnabled } from "../../kernel/telemetry/config/tracing-keys.ts";

const MIN_RELOAD_MS = 5_000;

/** Resolved options of the profile upload. */
export interface PushOptions {
  readonly server: string;
  readonly uploadRateMs: number;
  /** By lower-case name, including the tenant's. */
  readonly headers: ReadonlyMap<string, Secret | string>;
  readonly basic: { readonly user: string; readonly password: Secret } | undefined;
  readonly tags: ReadonlyMap<string, string>;
  readonly tls: {
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
    readonly insecureSkipVerify: boolean;
  };
  /** Undefined: credentials are read once. */
  readonly reloadMs: number | undefined;
}

/** Undefined while the profiler is off. */
export function pushOptions(config: Config): PushOptions | undefined {
  const {
    enabled,
    serverAddress,
    basicAuthUser: user,
    basicAuthPassword: password,
    tenantId,
    uploadRate,
    headers,
    tags,
  } = readKeyGroup(config, profiler);
  if (!enabled) return undefined;
  const reload = readKeyGroup(config, profilerReload);
  return {
    server: serverAddress,
    uploadRateMs: uploadRate,
    tags,
    headers: new Map<string, Secret | string>([
      ...[...headers].map(([name, value]) => [name.toLowerCase(), value] as const),
      ...(tenantId === "" ? [] : [["x-scope-orgid", tenantId] as const]),
    ]),
    basic: user === "" || password === undefined ? undefined : { user, password },
    tls: readKeyGroup(config, profilerTls),
    reloadMs: reload.enabled ? reload.interval : undefined,
  };
}

/** Profiles reveal internals, so the endpoint requires an administrator's credential. */
export const checkProfileEndpoint: Check = {
  needs: [profileEndpoint.enabled, adminEnabled, adminToken, authToken],
  run(config) {
    if (!config.get(profileEndpoint.enabled)) return [];
    const refuse = (rule: string, remedy: string): Finding[] => [
      atKey(config, profileEndpoint.enabled, "error", { rule, remedy }),
    ];
    if (!config.get(adminEnabled))
      return refuse("needs admin.enabled", "switch that on, or this off.");
    const guarded = config.get(adminToken) !== undefined || config.get(authToken) !== undefined;
    return guarded
      ? []
      : refuse(
          "needs a token: there is neither admin.auth.token nor auth.token",
          "set STEWARD_ADMIN__AUTH__TOKEN_FILE, or set it to false.",
        );
  },
};

/** An enabled profiler has an endpoint, and complete credentials given once. */
export const checkProfiler: Check = {
  needs: [...keysOf(profiler, profilerTls, profilerReload, spanProfiles), tracingEnabled],
  run(config, _environment, readFile) {
    const findings = spanFindings(config);
    const options = pushOptions(config);
    if (options === undefined) return findings;
    const complain = (
      key: Key<unknown>,
      severity: Finding["severity"],
      rule: string,
      remedy: string,
    ): void => void findings.push(atKey(config, key, severity, { rule, remedy }));
    if (options.server === "")
      complain(
        profiler.serverAddress,
        "error",
        "is missing, and profiling.profiler.enabled is true",
        "write the address of the server, e.g. http://localhost:4040.",
      );
    if ((options.reloadMs ?? MIN_RELOAD_MS) < MIN_RELOAD_MS)
      complain(
        profilerReload.interval,
        "error",
        "must be at least 5s while profiling.profiler.credential_reload.enabled is true",
        "write 30s.",
      );
    findings.push(...headerFindings(config), ...credentialFindings(config, options));
    const { caFile, certFile, keyFile } = options.tls;
    findings.push(
      ...checkExporterFiles(
        {
          ca: { key: profilerTls.caFile.path, file: caFile },
          cert: { key: profilerTls.certFile.path, file: certFile },
          key: { key: profilerTls.keyFile.path, file: keyFile },
        },
        readFile,
      ),
    );
    return findings;
  },
};

/** Profile types that this runtime does not have. */
export const profilesUsed: Check = {
  needs: keysOf(profiling),
  run: (config) =>
    keysOf(profiling)
      .filter((key) => isChanged(config, key))
      .map((key) =>
        atKey(config, key, "warning", {
          rule: "is ignored: this runtime has no such profile",
          remedy: "remove it.",
        }),
      ),
};

function spanFindings(config: Config): Finding[] {
  if (!config.get(spanProfiles.enabled)) return [];
  if (!config.get(tracingEnabled) || !config.get(profiler.enabled)) {
    return [
      atKey(config, spanProfiles.enabled, "error", {
        rule: "needs tracing.enabled and profiling.profiler.enabled",
        remedy: "switch them on, or this off.",
      }),
    ];
  }
  return [
    atKey(config, spanProfiles.enabled, "warning", {
      rule: "is ignored: profiles of Steward carry no spans",
      remedy: "set it to false.",
    }),
  ];
}

/** Credentials and tenant have their own keys and are not allowed as headers. */
function headerFindings(config: Config): Finding[] {
  const owned: Readonly<Record<string, Key<unknown>>> = {
    ...(config.get(profiler.basicAuthUser) === "" &&
    config.get(profiler.basicAuthPassword) === undefined
      ? {}
      : { authorization: profiler.basicAuthUser }),
    ...(config.get(profiler.tenantId) === "" ? {} : { "x-scope-orgid": profiler.tenantId }),
  };
  return [...config.get(profiler.headers).keys()].flatMap((name) => {
    const owner = Object.hasOwn(owned, name.toLowerCase()) ? owned[name.toLowerCase()] : undefined;
    return owner === undefined
      ? []
      : [
          atKey(
            config,
            profiler.headers,
            "error",
            { rule: `repeats ${owner.path}`, remedy: "remove one of the two." },
            `.${name}`,
          ),
        ];
  });
}

function credentialFindings(config: Config, { server, basic, headers }: PushOptions): Finding[] {
  const half =
    basic === undefined &&
    (config.get(profiler.basicAuthUser) !== "" ||
      config.get(profiler.basicAuthPassword) !== undefined);
  if (half)
    return [
      atKey(config, profiler.basicAuthUser, "warning", {
        rule: "is ignored: it needs basic_auth_user and basic_auth_password",
        remedy: "set both.",
      }),
    ];
  const isSecret =
    basic !== undefined || [...headers.values()].some((value) => typeof value !== "string");
  if (isSecret && isReadableByOthers(server))
    return [
      atKey(config, profiler.serverAddress, "warning", {
        rule: "is plain HTTP: others on the network can read the credentials",
        remedy: "use https.",
      }),
    ];
  const hosted = URL.canParse(server) && new URL(server).hostname.endsWith(".grafana.net");
  if (!hosted || basic !== undefined || headers.has("authorization")) return [];
  return [
    atKey(config, profiler.serverAddress, "warning", {
      rule: "is a hosted server, which requires a password",
      remedy: "set basic_auth_user and STEWARD_PROFILING__PROFILER__BASIC_AUTH_PASSWORD_FILE.",
    }),
  ];
}
