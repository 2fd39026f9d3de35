/** The resource of the process, by OpenTelemetry's semantic conventions. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { arch, hostname, platform, release, type } from "node:os";
import type { Attributes } from "./types.ts";

export interface ResourceOptions {
  /** `service.version`. */
  readonly version: string;
  /** `service.instance.id`; defaults to the host name. */
  readonly instanceId?: string;
  /** False omits the host name and hashes the instance id derived from it. */
  readonly hostnames?: boolean;
  /** Further attributes. `service.*` is reserved, except `service.namespace`. */
  readonly attributes?: Attributes;
}

const HASH_CHARACTERS = 12;

/** Names of the conventions that differ from Node's. */
const ARCHITECTURES: Readonly<Partial<Record<string, string>>> = {
  x64: "amd64",
  arm: "arm32",
  ia32: "x86",
};
const SYSTEMS: Readonly<Partial<Record<string, string>>> = { win32: "windows", sunos: "solaris" };

/**
 * The resource of metrics; with `processIdentity` that of logs and spans. The telemetry thread adds
 * `telemetry.sdk.*`.
 */
export function processResource(options: ResourceOptions): Attributes {
  const { hostnames = true, attributes = {} } = options;
  const host = hostname();
  const shownHost = hostnames
    ? host
    : createHash("sha256").update(host).digest("hex").slice(0, HASH_CHARACTERS);
  const own = Object.entries(attributes).filter(
    ([name]) => !name.startsWith("service.") || name === "service.namespace",
  );
  return {
    ...Object.fromEntries(own),
    "service.name": "steward",
    "service.version": options.version,
    "service.instance.id": options.instanceId ?? shownHost,
    "os.type": SYSTEMS[platform()] ?? platform(),
    "os.version": release(),
    "os.description": osDescription(),
    "host.arch": hostArchitecture(arch()),
    "process.executable.name": "steward",
    "process.runtime.name": "nodejs",
    "process.runtime.version": process.versions.node,
    ...(hostnames ? { "host.name": host } : {}),
  };
}

/**
 * Resource attributes of logs and spans only: on metrics each restart would create another
 * `target_info` series.
 */
export function processIdentity(): Attributes {
  return { "process.pid": process.pid };
}

/** `host.arch` for one of Node's architecture names. */
export function hostArchitecture(architecture: string): string {
  return ARCHITECTURES[architecture] ?? architecture;
}

/**
 * The distribution from os-release(5), if present, and the kernel. Not `uname`'s full text, which
 * includes the host name.
 */
function osDescription(): string {
  const kernel = `${type()} ${release()}`;
  const distribution = distributionName();
  return distribution === undefined ? kernel : `${distribution} (${kernel})`;
}

function distributionName(): string | undefined {
  for (const file of ["/etc/os-release", "/usr/lib/os-release"]) {
    try {
      const name = /^PRETTY_NAME=(["']?)(.+)\1$/m.exec(readFileSync(file, "utf8"))?.[2];
      if (name !== undefined) return name;
    } catch {
      // Not every system has the file.
    }
  }
  return undefined;
}
