/** Keys that limit which series exist, and how many. */
import {
  defineKeyGroup,
  keysOf,
  type KeyField,
  type KeyGroup,
} from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { boolean, integer, oneOf } from "../../kernel/config/values/types.ts";
import type { CardinalityOptions } from "../options.ts";

type LimitSection = Omit<CardinalityOptions, "perEntity" | "flow">;
const MAX_SERIES = 100_000_000;
const on = (value: boolean, help: string): KeyField<boolean> => ({
  type: boolean,
  default: value,
  help,
});
const entity = (what: string): KeyField<boolean> =>
  on(true, `A series for each ${what}, in addition to the counts.`);

export const cardinality = defineKeyGroup<LimitSection>("cardinality", {
  metricLimit: {
    type: integer(-1, MAX_SERIES),
    default: 10_000,
    help: "Maximum series of one metric; further ones are added to an overflow series. 0 or less is no limit.",
  },
  warningThreshold: {
    type: integer(0, MAX_SERIES),
    default: 2_000,
    help: "Number of series of one metric from which the status page shows a warning; 0 is never.",
  },
  criticalThreshold: {
    type: integer(0, MAX_SERIES),
    default: 8_000,
    help: "Number of series of one metric from which the status page shows it as critical; 0 is never.",
  },
  labelValueSampleCap: {
    type: integer(0, 10_000),
    default: 100,
    help: "Number of example values kept for each label; 0 is none.",
  },
  derpRegionRollup: on(
    true,
    "Adds series per relay region: devices, preferring devices and lowest latency.",
  ),
  subnetRouteRollup: on(
    true,
    "Adds a series per subnet prefix: the number of devices that offer it.",
  ),
});

export const perEntity: KeyGroup<CardinalityOptions["perEntity"]> = defineKeyGroup<
  CardinalityOptions["perEntity"]
>("cardinality.per_entity", {
  device: entity("device"),
  user: entity("user"),
  key: entity("key"),
  webhook: entity("webhook endpoint"),
  service: entity("service"),
});

export const flowCardinality: KeyGroup<CardinalityOptions["flow"]> = defineKeyGroup<
  CardinalityOptions["flow"]
>("cardinality.flow", {
  metricsMode: {
    type: oneOf(["all", "rollup", "both"]),
    default: "rollup",
    help: "Flow metrics: all has a series per flow, rollup only for the busiest flows of each minute, both has both.",
  },
  rollupTopN: {
    type: integer(0, 1_000_000),
    default: 500,
    help: "Number of flows per minute that get their own series with rollup; the others are summed as __other__.",
  },
  sourcePort: on(false, "Counts by source port."),
  destinationPort: on(false, "Counts by destination port."),
  nodeDims: on(true, "Counts by node."),
  identityDims: on(false, "Counts by user and tags."),
  geoDims: on(
    false,
    "Counts by country and continent of public addresses; needs enrichment.geoip.",
  ),
  collapseExternal: on(true, "Counts all addresses outside the network as one."),
  exitNodeAttribution: on(true, "Attributes flows to the exit node they took."),
});

export const cardinalitySchema: Schema = keysOf(cardinality, perEntity, flowCardinality);
