/** Hosts a service on the main thread or in its own thread. */
import { MainHost } from "./main-host.ts";
import type { HostDeps, HostSpec } from "./host-spec.ts";
import type { Placement, ServiceModule, ThreadHost } from "../hosted-service.ts";
import { assertNoSecret } from "../secrets.ts";
import { WorkerHost } from "./worker-host.ts";

export interface ServiceHostOptions<O> {
  readonly on: Placement;
  /** Plain data, cloned; secrets by `sendSecret`. */
  readonly options: O;
  readonly needs?: readonly string[];
  /** Default `required`. */
  readonly readiness?: ThreadHost["readiness"];
  /** For its own thread: maximum heap. */
  readonly heapMb?: number;
  /**
   * For its own thread: prefixes of variables that a library in it reads itself, e.g. cloud
   * credentials.
   */
  readonly variables?: readonly string[];
}

/** Nothing runs before the component starts. */
export function createServiceHost<O>(
  deps: HostDeps,
  module: ServiceModule<O>,
  host: ServiceHostOptions<O>,
): ThreadHost {
  assertNoSecret(host.options);
  const spec: HostSpec = {
    code: { name: module.name, file: module.file.href, export: module.export },
    descriptors: module.descriptors,
    options: host.options,
    needs: host.needs ?? [],
    readiness: host.readiness ?? "required",
    heapMb: host.heapMb,
    variables: host.variables ?? [],
  };
  return host.on === "main" ? new MainHost(deps, spec) : new WorkerHost(deps, spec);
}
