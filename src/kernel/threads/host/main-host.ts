/** Hosts a service on the main thread behind the same interface as `worker-host.ts`. */
import type { MessagePort } from "node:worker_threads";
import { StewardError } from "../../base/errors.ts";
import { createCall, type Service } from "../../service.ts";
import type { ComponentState, Health } from "../../supervisor/component.ts";
import { createAnswers, type Answer } from "../calls/answers.ts";
import { HostBase, healthOf } from "./host-base.ts";
import { CALL_MS, type HostDeps, type HostSpec } from "./host-spec.ts";
import type { CallOptions, PlacementStatus, ThreadHost, ThreadReply } from "../hosted-service.ts";
import { startServiceInstance, type ServiceInstance } from "../service-instance.ts";
import { withDeadline } from "../../async/deadline.ts";

export class MainHost extends HostBase implements ThreadHost {
  #instance: (ServiceInstance & { readonly answer: Answer }) | undefined;
  /** The ports currently in use. */
  #ports: readonly MessagePort[] = [];
  #isStarting = false;
  /** `renewPorts` was called while it starts. */
  #hasOldPorts = false;
  #inFlight = 0;
  #calls = 0;

  constructor(deps: HostDeps, spec: HostSpec) {
    super(deps, spec, () => undefined);
  }

  async start(signal: AbortSignal): Promise<void> {
    const { clock, ids } = this.deps;
    this.topics.open();
    // Cloned as for a thread, so that a service cannot come to rely on sharing them.
    const options: unknown = structuredClone(this.spec.options);
    const publish = (topic: string, body: Uint8Array): void =>
      this.topics.publish(topic, new Uint8Array(body));
    this.#isStarting = true;
    this.#hasOldPorts = false;
    try {
      const instance = await startServiceInstance(
        { clock, ids, log: this.deps.log.child(this.name), publish, ports: this.#newPorts() },
        this.spec.code,
        options,
        signal,
      );
      this.#instance = { ...instance, answer: createAnswers(instance.service) };
    } finally {
      this.#isStarting = false;
    }
    if (this.#hasOldPorts) this.renewPorts();
  }

  async stop(deadlineMs: number): Promise<void> {
    const instance = this.#instance;
    this.#instance = undefined;
    this.topics.close();
    if (instance === undefined) return this.#closePorts();
    const endsAtMs = this.deps.clock.monotonic() + deadlineMs;
    await instance.supervisor.stop(deadlineMs);
    await this.drained(endsAtMs);
    this.#closePorts();
  }

  health(): Health {
    return healthOf(this.#instance?.supervisor.ready());
  }

  service(): Service {
    return this.#running().service;
  }

  async call(method: string, body: Uint8Array, options: CallOptions): Promise<ThreadReply> {
    const { answer } = this.#running();
    const { clock } = this.deps;
    const { signal, encoding, requestId, caller, deadlineMs = CALL_MS } = options;
    signal.throwIfAborted();
    this.#calls += 1;
    this.#inFlight += 1;
    return await withDeadline(
      {
        clock,
        timeoutMs: deadlineMs,
        signal,
        reason: () =>
          new StewardError("deadline", `${this.name} did not answer within ${deadlineMs} ms`),
      },
      (ending) => {
        // A stream outlives the call and its deadline, and ends with the caller's signal.
        const both = AbortSignal.any([signal, ending]);
        const call = createCall({ signal: both, requestId, ...caller });
        return answer(method, body, encoding, call).finally(() => (this.#inFlight -= 1));
      },
    );
  }

  renewPorts(): void {
    if (this.#isStarting) this.#hasOldPorts = true;
    if (this.#instance === undefined) return;
    const before = this.#ports;
    this.#instance.renewPorts(this.#newPorts());
    for (const port of before) port.close();
  }

  states(): readonly ComponentState[] {
    return this.#instance?.supervisor.states() ?? [];
  }

  status(): PlacementStatus {
    return {
      on: "main",
      inFlight: this.#inFlight,
      calls: this.#calls,
      dropped: 0,
      missedEvents: this.topics.missed,
    };
  }

  #newPorts(): Readonly<Record<string, MessagePort>> {
    const ports = this.deps.ports?.() ?? {};
    this.#ports = Object.values(ports);
    return ports;
  }

  /** A thread's ports close with it; these must be closed explicitly. */
  #closePorts(): void {
    for (const port of this.#ports) port.close();
    this.#ports = [];
  }

  #running(): ServiceInstance & { readonly answer: Answer } {
    if (this.#instance === undefined) throw this.notRunning();
    return this.#instance;
  }
}
