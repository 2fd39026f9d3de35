/** Configuration keys of the tokens service: mounts, seal and audit. */
import { StewardError } from "../kernel/base/errors.ts";
import type { Complaint } from "../kernel/config/findings.ts";
import { defineKey, type Key, type Schema } from "../kernel/config/key.ts";
import { listOfObjects } from "../kernel/config/values/objects.ts";
import { boolean, duration, oneOf, path, string, text } from "../kernel/config/values/types.ts";
import { assertFreePath } from "./vault/mounts/rules.ts";

/** An engine mounted at every start. */
export interface TokensMountConfig {
  /** As written, e.g. `github` or `github/`. */
  readonly path: string;
  readonly description: string;
  /** Milliseconds; 0 uses the system default. */
  readonly default_lease_ttl: number;
  readonly max_lease_ttl: number;
}

export interface TokensAuditConfig {
  /** Absolute, or relative to the state directory. */
  readonly file_path: string;
  readonly format: "json";
  readonly hmac_accessor: boolean;
  readonly elide_list_responses: boolean;
}

/** Mounts that exist at every start. */
export const tokensMounts = defineKey({
  path: "tokens.mounts",
  type: listOfObjects<TokensMountConfig>({
    limit: 100,
    fields: {
      path: {
        type: string,
        rule: mountPath,
        help: "Mount path, e.g. github. The app's credentials are written through the API.",
      },
      description: { type: text, default: "", help: "Shown in the list of mounts." },
      default_lease_ttl: {
        type: duration,
        default: 0,
        help: "Default lease TTL; 0 leaves it to PATH/tune, at first the system's 768h.",
      },
      max_lease_ttl: {
        type: duration,
        default: 0,
        help: "Maximum lease TTL; 0 leaves it to PATH/tune, at first the system's 768h.",
      },
    },
    rule: ({ default_lease_ttl: usual, max_lease_ttl: most }) =>
      most > 0 && usual > most
        ? { field: "default_lease_ttl", rule: "must not be longer than max_lease_ttl" }
        : undefined,
  }),
  default: [{ path: "github", description: "", default_lease_ttl: 0, max_lease_ttl: 0 }],
  rule: apart,
  help: "Engines mounted at every start; others are mounted through the API. Default: one at github/.",
});

/** How the store obtains its key. */
export const tokensSealType: Key<"file" | "shamir"> = defineKey({
  path: "tokens.seal.type",
  type: oneOf(["file", "shamir"]),
  default: "file",
  help: "file: a key file unseals the store at every start. shamir: the store is sealed at every start, until enough holders of key shares unseal it; sys/init makes the shares. A store keeps the type that it was made with. The demo always uses file.",
});

export const tokensSealKeyFile = defineKey({
  path: "tokens.seal.key_file",
  type: path,
  default: "",
  help: "File with the store's key: 32 bytes in hexadecimal or base64, for Steward's user only. Default: the systemd credential tokens.key, else tokens.key in the state folder, made at the first start.",
});

export const tokensAudit = defineKey({
  path: "tokens.audit",
  type: listOfObjects<TokensAuditConfig>({
    limit: 10,
    fields: {
      file_path: {
        type: string,
        rule: auditPath,
        help: "Absolute, or relative to the state folder. Reopened on SIGHUP.",
      },
      format: {
        type: oneOf(["json"], { jsonx: 'is "jsonx", which this version does not write' }),
        default: "json",
        help: "json: one JSON object per line.",
      },
      hmac_accessor: { type: boolean, default: true, help: "Writes token accessors as HMACs." },
      elide_list_responses: {
        type: boolean,
        default: false,
        help: "Writes lists in responses as their length only.",
      },
    },
  }),
  default: [
    { file_path: "audit.log", format: "json", hmac_accessor: true, elide_list_responses: false },
  ],
  rule: differentFiles,
  warn: (devices) =>
    devices.length > 0
      ? undefined
      : {
          rule: "is empty: no record shows who got which token",
          remedy: "leave the key out, or name a file.",
        },
  help: "Audit files: every request is recorded before it takes effect, every response before it is sent. Default: audit.log in the state folder; [] disables auditing.",
});

/** Whether engines may call link-local addresses and cloud metadata services. */
export const tokensAllowLinkLocalBaseUrl = defineKey({
  path: "tokens.allow_link_local_base_url",
  type: boolean,
  default: false,
  help: "Allows base_url of a mount to resolve to link-local addresses and cloud metadata services. These are refused otherwise, by name and by address.",
});

export const tokensKeys: Schema = [
  tokensMounts,
  tokensSealType,
  tokensSealKeyFile,
  tokensAudit,
  tokensAllowLinkLocalBaseUrl,
];

/** Normalises `github`, `/github` and `github/`. */
function mountPoint(written: string): string {
  return `${written.replaceAll(/^\/+|\/+$/g, "")}/`;
}

function mountPath(written: string): Complaint | undefined {
  return complaintOf(() => assertFreePath({ path: mountPoint(written), class: "secret" }, []));
}

function apart(mounts: readonly TokensMountConfig[]): Complaint | undefined {
  const taken: string[] = [];
  for (const { path: written } of mounts) {
    const point = mountPoint(written);
    const other = taken.find((one) => one.startsWith(point) || point.startsWith(one));
    if (other !== undefined)
      return {
        rule:
          other === point
            ? `must have different paths, ${point} is there twice`
            : `must not have nested paths: ${point} and ${other}`,
        remedy: "rename one of them.",
      };
    taken.push(point);
  }
  return undefined;
}

function auditPath(written: string): Complaint | undefined {
  if (written.startsWith("~") || written.includes("\0"))
    return {
      rule: `must be a path without ~ (only a shell expands it), got ${JSON.stringify(written.slice(0, 80))}`,
    };
  return written.endsWith("/")
    ? { rule: "must be a file, not a folder", remedy: "add a name, e.g. audit.log." }
    : undefined;
}

function differentFiles(devices: readonly TokensAuditConfig[]): Complaint | undefined {
  const twice = devices
    .map((device) => device.file_path)
    .find((file, index, all) => all.indexOf(file) !== index);
  return twice === undefined
    ? undefined
    : { rule: `must have different files, ${twice} is there twice`, remedy: "remove one of them." };
}

function complaintOf(check: () => void): Complaint | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof StewardError) return { rule: `is not usable: ${error.message}` };
    throw error;
  }
}
