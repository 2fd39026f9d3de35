/**
 * Accumulates counts of one slice and writes them at its end, to save a series lookup per
 * connection.
 */
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  exitNodeIo,
  exitNodePackets,
  networkDataQuality,
  networkDedupConflicts,
  networkFieldObservations,
  networkFlowLogsDropped,
  networkFlows,
  networkReporterObservations,
} from "../catalogue/flows.ts";
import { transportName } from "../enrich/transports.ts";
import { trafficTypes } from "./record.ts";
import type { Connection, Counters, RefusalReason } from "./record.ts";
import type { Consistency, Trust } from "./reporter.ts";
import type { IngestSource } from "./types.ts";

const fieldClasses = [
  "source",
  "destination",
  "protocol",
  "source_port",
  "destination_port",
] as const;
const states = ["missing", "present"] as const;
const NODES_AT_ONCE = 1_024;

export class Tallies {
  readonly #scope: Pick<Scope, "add">;
  /** By traffic type, field class and state. */
  readonly #fields = new Uint32Array(trafficTypes.length * fieldClasses.length * states.length);
  /** By protocol and traffic type. */
  readonly #flows = new Map<number, number>();
  readonly #exits = new Map<string, Counters>();

  constructor(scope: Pick<Scope, "add">) {
    this.#scope = scope;
  }

  connection({ type, protocol, source, destination }: Connection): void {
    const flow = (protocol ?? 0) * trafficTypes.length + type;
    this.#flows.set(flow, (this.#flows.get(flow) ?? 0) + 1);
    this.#field(type, 0, source !== undefined);
    this.#field(type, 1, destination !== undefined);
    this.#field(type, 2, protocol !== undefined);
    this.#field(type, 3, source !== undefined && source.port > 0);
    this.#field(type, 4, destination !== undefined && destination.port > 0);
  }

  exit(node: string, more: Counters): void {
    const sum = this.#exits.get(node) ?? { txBytes: 0, rxBytes: 0, txPackets: 0, rxPackets: 0 };
    this.#exits.set(node, {
      txBytes: sum.txBytes + more.txBytes,
      rxBytes: sum.rxBytes + more.rxBytes,
      txPackets: sum.txPackets + more.txPackets,
      rxPackets: sum.rxPackets + more.rxPackets,
    });
    if (this.#exits.size >= NODES_AT_ONCE) this.#writeExits();
  }

  /** Rare enough to be written at once, as the following ones are. */
  refused(source: IngestSource, reasons: readonly RefusalReason[]): void {
    for (const reason of reasons) this.#scope.add(networkDataQuality, 1, { source, reason });
  }

  conflict(scope: "poll_boundary" | "cross_source", type: Connection["type"]): void {
    this.#scope.add(networkDedupConflicts, 1, { scope, "vpn.traffic_type": trafficTypes[type] });
  }

  reporter(trust: Trust, consistency: Consistency): void {
    this.#scope.add(networkReporterObservations, 1, { trust, consistency });
  }

  withheld(records: number): void {
    this.#scope.add(networkFlowLogsDropped, records, {});
  }

  /** Writes the accumulated counts. */
  write(): void {
    for (const [flow, count] of this.#flows) {
      this.#scope.add(networkFlows, count, {
        "network.transport": transportName(Math.floor(flow / trafficTypes.length)),
        "vpn.traffic_type": trafficTypes[flow % trafficTypes.length],
      });
    }
    this.#flows.clear();
    this.#writeFields();
    this.#writeExits();
  }

  #field(type: number, field: number, present: boolean): void {
    const at = (type * fieldClasses.length + field) * states.length + (present ? 1 : 0);
    this.#fields[at] = (this.#fields[at] ?? 0) + 1;
  }

  #writeFields(): void {
    for (const [at, count] of this.#fields.entries()) {
      if (count === 0) continue;
      const field = Math.floor(at / states.length);
      this.#scope.add(networkFieldObservations, count, {
        "vpn.traffic_type": trafficTypes[Math.floor(field / fieldClasses.length)],
        field_class: fieldClasses[field % fieldClasses.length],
        state: states[at % states.length],
      });
    }
    this.#fields.fill(0);
  }

  #writeExits(): void {
    for (const [node, sum] of this.#exits) {
      const transmit = { "vpn.exit_node": node, "network.io.direction": "transmit" };
      const receive = { "vpn.exit_node": node, "network.io.direction": "receive" };
      this.#scope.add(exitNodeIo, sum.txBytes, transmit);
      this.#scope.add(exitNodeIo, sum.rxBytes, receive);
      this.#scope.add(exitNodePackets, sum.txPackets, transmit);
      this.#scope.add(exitNodePackets, sum.rxPackets, receive);
    }
    this.#exits.clear();
  }
}
