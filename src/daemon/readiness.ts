/** Whether the process may take traffic, and if not, the one-line reason (docs/readiness.md). */
import type { ProbeResult } from "../../gateway/probe.ts";
import type { ComponentState, Supervisor } from "../kernel/supervisor/component.ts";
import { INGRESS } from "../monitor/ingress/states.ts";
import { RECEIVERS } from "../monitor/receivers/names.ts";
import type { HostedMonitor } from "./services/monitor.ts";

/** Components that open a port. */
const LISTENERS: ReadonlySet<string> = new Set(["gateway", "admin", "metrics", ...RECEIVERS]);
const READY: ProbeResult = { ok: true, reasons: [] };

/** Reads memory only. */
export interface ReadinessSources {
  readonly supervisor: Pick<Supervisor, "ready" | "states">;
  readonly monitor: Pick<HostedMonitor, "running" | "ready" | "receivers"> | undefined;
}

/**
 * The first reason that applies: stopping; the ingress log is not ready; a component has not
 * started; a component is broken.
 */
export function readinessOf({ supervisor, monitor }: ReadinessSources): ProbeResult {
  const states = [...supervisor.states(), ...(monitor?.receivers() ?? [])];
  const [first] = supervisor.ready().reasons;
  if (first === "stopping") return unready(first);
  const ingress = states.find(({ name }) => name === INGRESS);
  if (ingress !== undefined && ingress.phase !== "ready")
    return unready(`${INGRESS}: ${ingress.reason ?? ingress.phase}`);
  const failures = states.filter((state) => isBroken(state, monitor));
  // A thread that failed before its first collection is reported as broken, not as starting.
  const collected = failures.some(({ name }) => name === "monitor") ? undefined : monitor?.ready();
  if (collected?.ok === false) return { ok: false, reasons: collected.reasons };
  const waiting = states
    .filter((state) => LISTENERS.has(state.name) && isStarting(state))
    .map(({ name }) => name);
  if (waiting.length > 0) return unready(`starting: waiting for listener: ${waiting.join(", ")}`);
  if (failures.length > 0)
    return unready(
      `component failure: ${failures.map(({ name, phase, reason }) => `${name}: ${reason ?? phase}`).join("; ")}`,
    );
  return first === undefined ? READY : unready(first);
}

/**
 * A required component that is unhealthy, or a store that takes no writes. The monitor counts only
 * when its thread is down.
 */
function isBroken(
  { name, phase, readiness }: ComponentState,
  monitor: ReadinessSources["monitor"],
): boolean {
  if (phase !== "degraded" && phase !== "failed") return false;
  return readiness === "required" || (name === "monitor" && monitor?.running() === false);
}

function isStarting({ phase }: ComponentState): boolean {
  return phase === "idle" || phase === "starting";
}

function unready(reason: string): ProbeResult {
  return { ok: false, reasons: [reason] };
}
