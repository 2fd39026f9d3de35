/** Limits of one stream request that no configuration changes. */

/** Records of a body, dropped values included. */
export const MAX_RECORDS = 500_000;
/** Connections of all flow records of a body. */
export const MAX_CONNECTIONS = 500_000;
/** From the request's head to its answer. */
export const PROCESSING_MS = 30_000;

/** The members of a flow record that list connections. */
export const trafficMembers = [
  "virtualTraffic",
  "subnetTraffic",
  "exitTraffic",
  "physicalTraffic",
] as const;
