/** Creates and starts a service with its components in the current thread. */
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../base/clock.ts";
import { assert } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Service } from "../service.ts";
import type { Supervisor } from "../supervisor/component.ts";
import { createSupervisor } from "../supervisor/supervisor.ts";
import type { CreateHostedService } from "./hosted-service.ts";

export interface ServiceInstanceDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly publish: (topic: string, body: Uint8Array) => void;
  readonly ports: Readonly<Record<string, MessagePort>>;
}

type Ports = ServiceInstanceDeps["ports"];

/** Location of its code, as data. */
export interface ServiceCode {
  readonly name: string;
  readonly file: string;
  readonly export: string;
}

/** A running service. */
export interface ServiceInstance {
  readonly service: Service;
  readonly supervisor: Supervisor;
  /** Passes new ports to the service. */
  readonly renewPorts: (ports: Ports) => void;
}

/** Imports, creates and starts the service. On failure, started components are stopped again. */
export async function startServiceInstance(
  deps: ServiceInstanceDeps,
  code: ServiceCode,
  options: unknown,
  signal: AbortSignal,
): Promise<ServiceInstance> {
  const module = (await import(code.file)) as Readonly<Record<string, unknown>>;
  const make = module[code.export];
  assert(typeof make === "function", `${code.file} exports ${code.export}`);
  const supervisor = createSupervisor({ clock: deps.clock, log: deps.log });
  let handler: (ports: Ports) => void = () => undefined;
  const service = await (make as CreateHostedService<unknown>)(
    {
      ...deps,
      add: (component) => supervisor.add(component),
      onPorts: (onRenewed) => void (handler = onRenewed),
    },
    options,
  );
  const stop = (): void => void supervisor.stop(0);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    await supervisor.start();
    return { service, supervisor, renewPorts: (ports) => handler(ports) };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
