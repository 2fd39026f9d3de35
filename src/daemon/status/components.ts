/**
 * Rows of the status for the components that can fail independently, and the state of each service.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ComponentSchema } from "../../gen/steward/monitor/v1/status_pb.ts";
import { adminEnabled, adminListen } from "../config/admin-keys.ts";
import type { Config } from "../../kernel/config/config.ts";
import { servicesDedup, servicesMonitor, servicesTokens } from "../config/process-keys.ts";
import { scrapeEnabled } from "../../kernel/telemetry/config/scrape-keys.ts";
import { coordination } from "../../monitor/coordination/config/keys.ts";
import { ingressWal } from "../../monitor/ingress/config/ingress-keys.ts";
import { INGRESS } from "../../monitor/ingress/states.ts";
import { streaming } from "../../monitor/receivers/config/stream-keys.ts";
import { webhook } from "../../monitor/receivers/config/webhook-keys.ts";
import { COORDINATION } from "../services/coordination.ts";
import type { ComponentState, Health } from "../../kernel/supervisor/component.ts";

type Row = MessageInitShape<typeof ComponentSchema>;

export interface ComponentFacts {
  readonly config: Config;
  readonly states: readonly ComponentState[];
  /** Healthy when every open store is. */
  readonly stores: Health;
  /** The monitor has neither a network to collect nor a receiver. */
  readonly idle: boolean;
}

/** Rows in a fixed order; `enabled` is false for what is off. */
export function componentRows({ config, states, stores }: ComponentFacts): Row[] {
  const row = (name: string, enabled: boolean, component: string = name): Row => ({
    name,
    enabled,
    ...(enabled ? failureOf(states, component) : {}),
  });
  return [
    row(
      "admin",
      config.get(adminEnabled),
      config.get(adminListen) === undefined ? "gateway" : "admin",
    ),
    row("metrics", config.get(scrapeEnabled)),
    row("stream", config.get(streaming.enabled)),
    row("webhook", config.get(webhook.enabled)),
    row(INGRESS, config.get(ingressWal.enabled)),
    coordinationRow({ config, states }),
    row("gateway", true),
    {
      name: "state",
      enabled: true,
      failed: !stores.ok,
      ...(stores.reason === undefined ? {} : { reason: stores.reason }),
    },
    row("pool", true),
    row("dedup", config.get(servicesDedup)),
    row("tokens", config.get(servicesTokens)),
  ];
}

/** Also a healthy replica says what its role is. */
function coordinationRow({ config, states }: Pick<ComponentFacts, "config" | "states">): Row {
  const state = states.find(({ name }) => name === COORDINATION);
  return {
    name: COORDINATION,
    enabled: config.get(coordination.mode) !== "none",
    ...(state === undefined ? {} : failureOf(states, COORDINATION)),
    ...(state?.reason === undefined ? {} : { reason: state.reason }),
  };
}

/** State of each service: `off`, `idle`, or the phase of its component. */
export function serviceStates({ config, states, idle }: ComponentFacts): Record<string, string> {
  const phase = (name: string): string =>
    states.find((state) => state.name === name)?.phase ?? "off";
  return {
    monitor: config.get(servicesMonitor)
      ? idle && phase("monitor") === "ready"
        ? "idle"
        : phase("monitor")
      : "off",
    dedup: config.get(servicesDedup) ? phase("dedup") : "off",
    tokens: config.get(servicesTokens) ? phase("tokens") : "off",
  };
}

function failureOf(
  states: readonly ComponentState[],
  name: string,
): Pick<Row, "failed" | "reason"> {
  const state = states.find((each) => each.name === name);
  const failed =
    state?.phase === "degraded" || state?.phase === "refusing" || state?.phase === "failed";
  return { failed, ...(failed ? { reason: state.reason ?? state.phase } : {}) };
}
