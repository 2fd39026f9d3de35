/** Puts a service on the main thread or in one of its own; which, is one word. */
import { MainHost } from "./main-host.ts";
import type { HostDeps, HostSpec } from "./host-spec.ts";
import type { Placement, ServiceModule, ThreadHost } from "./hosted-service.ts";
import { assertNoSecret } from "./secrets.ts";
import { WorkerHost } from "./worker-host.ts";

/** Where and how a service runs. */
export interface ServiceHostOptions<O> {
  readonly on: Placement;
  /** Plain data, copied; secrets by `sendSecret`. */
  readonly options: O;
  readonly needs?: readonly string[];
  /** `required` unless said otherwise. */
  readonly readiness?: ThreadHost["readiness"];
  /** For a thread of its own: its largest heap. */
  readonly heapMb?: number;
  /**
   * For a thread of its own: beginnings of variables that a library in it reads by itself, e.g.
   * credentials of the machine.
   */
  readonly variables?: readonly string[];
}

/** A service in its place; nothing runs before the component starts. */
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
