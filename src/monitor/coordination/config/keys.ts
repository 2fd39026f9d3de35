/** Keys `coordination`: replicas that share one lease, of which one monitors. */
import { atKey, isChanged } from "../../../kernel/config/checks/key-finding.ts";
import { httpUrl, isPlainRemote, timer } from "../../../kernel/config/checks/rules.ts";
import type { Config } from "../../../kernel/config/config.ts";
import type { Complaint, Finding } from "../../../kernel/config/findings.ts";
import { defineKeyGroup, keysOf, readKeyGroup } from "../../../kernel/config/key-group.ts";
import type { Key, Schema } from "../../../kernel/config/key.ts";
import type { Check } from "../../../kernel/config/load.ts";
import { checkExporterFiles, type NamedFile } from "../../../kernel/telemetry/config/otlp-tls.ts";
import {
  duration,
  listOf,
  oneOf,
  path,
  string,
  text,
} from "../../../kernel/config/values/types.ts";
import { isInPod } from "../kubernetes/pod.ts";
import type { CoordinationOptions, CoordinationTls } from "../options.ts";

type Mode = "none" | CoordinationOptions["mode"];

interface Section {
  readonly mode: Mode;
  readonly leaseName: string;
  readonly leaseTtlMs: number;
  readonly endpoints: readonly string[];
  readonly namespace: string;
  readonly tokenFile: string;
}

/** etcd grants no shorter lease, and both services count in whole seconds. */
const MIN_TTL_MS = 3_000;
const MAX_TTL_MS = 600_000;
const MAX_ENDPOINTS = 16;

export const coordination = defineKeyGroup<Section>("coordination", {
  mode: {
    type: oneOf(["none", "etcd", "kubernetes"]),
    default: "none",
    help: "Where replicas share the lease of the monitor; none: this process is the only one.",
  },
  leaseName: {
    type: text,
    default: "steward-monitor",
    rule: leaseName,
    help: "Name of the lease. Replicas with the same name monitor the same networks.",
  },
  leaseTtlMs: {
    type: duration,
    default: 15_000,
    rule: ttl,
    help: "How long a holder that is gone keeps the lease; another replica takes over after it.",
  },
  endpoints: {
    type: listOf(string),
    default: [],
    rule: addresses,
    warn: (all) =>
      all.some(isPlainRemote)
        ? { rule: "has an address without encryption", remedy: "use https." }
        : undefined,
    help: "Addresses of etcd, or of the API of Kubernetes; empty in a pod: those of its cluster.",
  },
  namespace: {
    type: text,
    default: "",
    rule: (given) => (given === "" ? undefined : leaseName(given)),
    help: "Namespace of the lease in Kubernetes, by default the pod's; first part of its key in etcd, by default steward.",
  },
  tokenFile: {
    type: path,
    default: "",
    help: "File with the bearer token for Kubernetes, read at each request; empty: the pod's.",
  },
});

const coordinationTls = defineKeyGroup<CoordinationTls>("coordination.tls", {
  caFile: {
    type: path,
    default: "",
    help: "PEM file of the CA certificates that the certificate of the endpoints is verified against; empty: those of the system, or of the pod.",
  },
  certFile: { type: path, default: "", help: "PEM client certificate." },
  keyFile: { type: path, default: "", help: "PEM key of the client certificate." },
});

export const coordinationSchema: Schema = keysOf(coordination, coordinationTls);

/** A name that is valid in both services (RFC 1123). */
function leaseName(name: string): Complaint | undefined {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name)
    ? undefined
    : {
        rule: "must be a name of up to 63 letters a-z, digits and -, with - only inside",
        remedy: "write e.g. steward-monitor.",
      };
}

function ttl(ms: number): Complaint | undefined {
  return (
    timer(ms) ??
    (ms >= MIN_TTL_MS && ms <= MAX_TTL_MS && ms % 1_000 === 0
      ? undefined
      : { rule: "must be whole seconds from 3s to 10m", remedy: "write e.g. 15s." })
  );
}

function addresses(all: readonly string[]): Complaint | undefined {
  if (all.length > MAX_ENDPOINTS) return { rule: `must have at most ${MAX_ENDPOINTS} entries` };
  for (const one of all) {
    const broken = httpUrl(one);
    if (broken !== undefined) return { ...broken, rule: `has an entry that ${broken.rule}` };
    const { pathname, search, hash } = new URL(one);
    if (pathname !== "/" || search !== "" || hash !== "")
      return {
        rule: "has an entry with more than scheme, host and port",
        remedy: "write e.g. https://etcd-1.example.org:2379.",
      };
  }
  return new Set(all.map((one) => new URL(one).protocol)).size > 1
    ? { rule: "must not mix http and https" }
    : undefined;
}

/** Undefined while this process is the only one. */
export function coordinationOptions(config: Config): CoordinationOptions | undefined {
  const { mode, leaseTtlMs, ...section } = readKeyGroup(config, coordination);
  if (mode === "none") return undefined;
  return { mode, ttlMs: leaseTtlMs, tls: readKeyGroup(config, coordinationTls), ...section };
}

/** The mode has what it needs, and what is set has an effect. */
export const checkCoordination: Check = {
  needs: coordinationSchema,
  run(config, environment, readFile) {
    const options = coordinationOptions(config);
    if (options === undefined) return unused(config);
    const named = (key: Key<string>): NamedFile => ({ key: key.path, file: config.get(key) });
    const files = {
      ca: named(coordinationTls.caFile),
      cert: named(coordinationTls.certFile),
      key: named(coordinationTls.keyFile),
    };
    return [
      ...(options.mode === "etcd"
        ? etcdFindings(config, options)
        : kubernetesFindings(config, options, isInPod(environment))),
      ...checkExporterFiles(files, readFile),
    ];
  },
};

function etcdFindings(config: Config, { endpoints }: CoordinationOptions): Finding[] {
  return [
    ...(endpoints.length > 0
      ? []
      : [
          needed(
            config,
            coordination.endpoints,
            "set it, e.g. to https://etcd-1.example.org:2379.",
          ),
        ]),
    ...(config.get(coordination.tokenFile) === ""
      ? []
      : [
          atKey(config, coordination.tokenFile, "warning", {
            rule: `is ignored with ${coordination.mode.path}: etcd`,
            remedy: `remove it; etcd takes ${coordinationTls.certFile.path}.`,
          }),
        ]),
  ];
}

function kubernetesFindings(
  config: Config,
  { endpoints, namespace, tokenFile, tls }: CoordinationOptions,
  inPod: boolean,
): Finding[] {
  if (endpoints.length > 1)
    return [
      atKey(config, coordination.endpoints, "error", {
        rule: `must have one entry with ${coordination.mode.path}: kubernetes`,
        remedy: "write the address of the API server, or none in a pod.",
      }),
    ];
  if (inPod) return [];
  return [
    ...(endpoints.length === 1
      ? []
      : [needed(config, coordination.endpoints, "set it to the API server's address.")]),
    ...(namespace === "" ? [needed(config, coordination.namespace, "set it.")] : []),
    ...(tokenFile === "" && tls.certFile === ""
      ? [needed(config, coordination.tokenFile, `set it, or ${coordinationTls.certFile.path}.`)]
      : []),
  ];
}

function needed(config: Config, key: Key<unknown>, remedy: string): Finding {
  const mode = config.get(coordination.mode);
  const where = mode === "kubernetes" ? " outside of a pod" : "";
  return atKey(config, key, "error", {
    rule: `is needed by ${coordination.mode.path}: ${mode}${where}`,
    remedy,
  });
}

function unused(config: Config): Finding[] {
  const written = coordinationSchema.find(
    (key) => key.path !== coordination.mode.path && isChanged(config, key),
  );
  return written === undefined
    ? []
    : [
        atKey(config, written, "warning", {
          rule: `is ignored: ${coordination.mode.path} is none`,
          remedy: "set it to etcd or kubernetes.",
        }),
      ];
}
