/** Keys `flows`: the store of flows that the explorer shows. */
import { defineKeyGroup, keysOf } from "../../kernel/config/key-group.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { boolean, duration, oneOf } from "../../kernel/config/values/types.ts";
import type { FlowStoreOptions } from "../options.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MAX_RETENTION_MS = 24 * HOUR_MS;

export const flows = defineKeyGroup<FlowStoreOptions & { readonly enabled: boolean }>("flows", {
  enabled: {
    type: boolean,
    default: true,
    help: "Stores network traffic in memory, for /api/flows.json.",
  },
  retentionMs: {
    type: duration,
    default: 6 * HOUR_MS,
    rule: (ms): Complaint | undefined =>
      ms >= MINUTE_MS && ms <= MAX_RETENTION_MS
        ? undefined
        : { rule: "must be between 1m and 24h", remedy: "write e.g. 6h." },
    help: "How long flows are stored, 1m to 24h. A restart loses them.",
  },
  maxFutureSkewMs: {
    type: duration,
    default: 5 * MINUTE_MS,
    rule: (ms): Complaint | undefined =>
      ms <= HOUR_MS ? undefined : { rule: "must be at most 1h", remedy: "write e.g. 5m." },
    help: "Flows whose time is further ahead than this are not stored, at most 1h.",
  },
  capacityProfile: {
    type: oneOf<FlowStoreOptions["capacityProfile"]>(["compact", "default", "expanded"]),
    default: "default",
    help: "Limits of the store for one network: compact is half of default, expanded is twice.",
  },
});

export const flowSchema: Schema = keysOf(flows);
