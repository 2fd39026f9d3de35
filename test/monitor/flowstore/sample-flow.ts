/** A stored flow and stores over a clock that moves by hand. */
import type { FlowStoreOptions, PrivacyOptions } from "../../../src/monitor/options.ts";
import { flowCapacity, MAX_ENTRIES } from "../../../src/monitor/flowstore/capacity.ts";
import { EntryBudget } from "../../../src/monitor/flowstore/entry-budget.ts";
import type { FlowFilter, FlowStore } from "../../../src/monitor/flowstore/flow-store.ts";
import {
  createMemoryStore,
  type FlowStoreDeps,
} from "../../../src/monitor/flowstore/memory-store.ts";
import type { FlowObservation } from "../../../src/monitor/flowstore/types.ts";

export const NOW_MS = Date.parse("2026-05-04T12:00:30Z");

export const storeOptions: FlowStoreOptions = {
  retentionMs: 3_600_000,
  maxFutureSkewMs: 60_000,
  capacityProfile: "compact",
};

/** Nothing is hidden. */
export const shownPrivacy = new Proxy({} as PrivacyOptions, {
  get: () => true,
  ownKeys: () => [],
});

export const noFilter: FlowFilter = {
  device: "",
  addr: "",
  service: "",
  identity: "",
  type: "",
  verdict: "",
  path: "",
};

export function openMemory(deps: Pick<FlowStoreDeps, "clock" | "nextSeq">): FlowStore {
  const limits = flowCapacity(storeOptions.capacityProfile);
  const budget = new EntryBudget(MAX_ENTRIES);
  return createMemoryStore({ ...deps, limits, budget }, "lab", storeOptions);
}

/** From alpha to beta, now. */
export function sampleFlow(given: Partial<FlowObservation> = {}): FlowObservation {
  return {
    timeMs: NOW_MS,
    trafficType: "virtual",
    transport: "tcp",
    srcAddr: "100.64.0.7",
    dstAddr: "100.64.0.9",
    srcNode: "alpha",
    dstNode: "beta",
    dstPort: "443",
    dstService: "https",
    srcUser: "ada@corp.test",
    dstUser: "",
    srcTags: "",
    dstTags: "tag:db,tag:web",
    srcOs: "linux",
    dstOs: "linux",
    reporterNodeId: "nA",
    reporterTrust: "unconfigured",
    reporterConsistency: "match",
    path: "",
    derpRegion: "",
    verdict: "",
    reversed: false,
    rule: -1,
    policyVersion: "",
    txBytes: 100,
    rxBytes: 10,
    txPackets: 4,
    rxPackets: 2,
    ...given,
  };
}
