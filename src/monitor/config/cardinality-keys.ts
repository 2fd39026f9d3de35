/** The keys that say which series there may be, and how many (facts, monitor-api §8.2). */
import { defineKeyGroup, keysOf, type KeyField, type KeyGroup } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { boolean, integer, oneOf } from "../../kernel/config/types.ts";
import type { CardinalityOptions } from "../options.ts";

type LimitSection = Omit<CardinalityOptions, "perEntity" | "flow">;
const MOST_SERIES = 100_000_000;
const on = (value: boolean, help: string): KeyField<boolean> => ({ type: boolean, default: value, help });
const entity = (what: string): KeyField<boolean> => on(true, `A series for each ${what}, beside the counts.`);

/** `cardinality` */
export const cardinality: KeyGroup<LimitSection> = defineKeyGroup<LimitSection>("cardinality", {
  metricLimit: { type: integer(-1, MOST_SERIES), default: 10_000, help: "Most series of one metric; what comes after adds to an overflow series. 0 or less is no limit." },
  warningThreshold: { type: integer(0, MOST_SERIES), default: 2_000, help: "Series of one metric from which the status page warns; 0 never." },
  criticalThreshold: { type: integer(0, MOST_SERIES), default: 8_000, help: "Series of one metric from which the status page calls it critical; 0 never." },
  labelValueSampleCap: { type: integer(0, 10_000), default: 100, help: "Values of each label that are kept as examples; 0 is none." },
  derpRegionRollup: on(true, "Relay regions that are not the preferred one are counted together."),
  subnetRouteRollup: on(true, "Routes are counted by kind instead of one by one."),
});

/** `cardinality.per_entity` */
export const perEntity: KeyGroup<CardinalityOptions["perEntity"]> = defineKeyGroup<CardinalityOptions["perEntity"]>("cardinality.per_entity", {
  device: entity("device"), user: entity("user"), key: entity("key"), webhook: entity("webhook endpoint"), service: entity("service"),
});

/** `cardinality.flow` */
export const flowCardinality: KeyGroup<CardinalityOptions["flow"]> = defineKeyGroup<CardinalityOptions["flow"]>("cardinality.flow", {
  metricsMode: { type: oneOf(["all", "rollup", "both"]), default: "rollup", help: "Whether flows are counted each for itself, as the largest of a minute, or both." },
  rollupTopN: { type: integer(0, 1_000_000), default: 500, help: "Flows of a minute that are counted for themselves with rollup; the rest is one." },
  sourcePort: on(false, "Counts by source port."),
  destinationPort: on(false, "Counts by destination port."),
  nodeDims: on(true, "Counts by node."),
  identityDims: on(false, "Counts by user and tags."),
  geoDims: { ...on(false, "Counts by country and network of the other side. This version has no database for it."), rule: (wanted) => (wanted ? { rule: "needs enrichment.geoip, which this version does not have", remedy: "remove it." } : undefined) },
  collapseExternal: on(true, "Counts all addresses outside the network together."),
  exitNodeAttribution: on(true, "Says which exit node a flow took."),
});

/** All of the above. */
export const cardinalitySchema: Schema = keysOf(cardinality, perEntity, flowCardinality);
