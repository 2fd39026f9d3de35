/** The resource of the process, by the names of the semantic conventions. */
import { createHash } from "node:crypto";
import { arch, hostname, platform, release } from "node:os";
import type { Attributes } from "./types.ts";

/** What a resource is made from. */
export interface ResourceOptions {
  /** `service.instance.id`; the host's name unless given. */
  readonly instanceId?: string;
  /** False leaves the host's name out and hashes the instance id made from it. */
  readonly hostnames?: boolean;
  /** Further attributes. Those under `service.` are ours, but for `service.namespace`. */
  readonly attributes?: Attributes;
}

const HASH_CHARACTERS = 12;

/** The resource of metrics. The version is not on it: `svc.build_info` carries it, so that an update ends no series. */
export function processResource(options: ResourceOptions = {}): Attributes {
  const { hostnames = true, attributes = {} } = options;
  const host = hostname();
  const shownHost = hostnames ? host : createHash("sha256").update(host).digest("hex").slice(0, HASH_CHARACTERS);
  const own = Object.entries(attributes).filter(([name]) => !name.startsWith("service.") || name === "service.namespace");
  return {
    ...Object.fromEntries(own),
    "service.name": "steward", "service.instance.id": options.instanceId ?? shownHost,
    "telemetry.sdk.name": "opentelemetry", "telemetry.sdk.language": "nodejs",
    "os.type": platform(), "os.version": release(), "host.arch": arch(), "process.pid": process.pid, "process.executable.name": "steward",
    "process.runtime.name": "nodejs", "process.runtime.version": process.versions.node,
    ...(hostnames ? { "host.name": host } : {}),
  };
}
