/** Metrics of the monitor: devices, their keys, routes and connectivity. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";
import { ageSeconds } from "./bounds.ts";

const DAYS_LEFT = [0, 7, 30, 90, 180, 365] as const;

export const derpRegionDevices = defineMetric({
  name: "vpn.derp.region.devices",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.derp.region"],
  group: "Devices",
  help: "Devices reporting latency to a relay region.",
  when: "cardinality.derp_region_rollup",
});
export const derpRegionLatencyMin = defineMetric({
  name: "vpn.derp.region.latency_min",
  kind: "gauge",
  unit: "s",
  attributes: ["vpn.derp.region"],
  group: "Devices",
  help: "Lowest device latency seen to a relay region.",
  when: "cardinality.derp_region_rollup",
});
export const derpRegionPreferred = defineMetric({
  name: "vpn.derp.region.preferred",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.derp.region"],
  group: "Devices",
  help: "Devices preferring a relay region.",
  when: "cardinality.derp_region_rollup",
});
export const deviceAttribute = defineMetric({
  name: "vpn.device.attribute",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "attribute"],
  group: "Devices",
  help: "Posture attribute with a numeric or boolean value.",
  when: "collectors.devices.collect_posture and attribute_namespaces",
});
export const deviceAttributeExpiry = defineMetric({
  name: "vpn.device.attribute.expiry",
  kind: "gauge",
  unit: "s",
  attributes: ["host.name", "host.id", "attribute"],
  group: "Devices",
  help: "Expiry time of a posture attribute that has one.",
  when: "collectors.devices.collect_posture and attribute_namespaces",
});
export const deviceAttributeInfo = defineMetric({
  name: "vpn.device.attribute.info",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "attribute", "value"],
  group: "Devices",
  help: "Constant 1 for a posture attribute with a string value, value as label.",
  when: "collectors.devices.collect_posture and attribute_namespaces",
});
export const deviceBlocksIncomingConnections = defineMetric({
  name: "vpn.device.blocks_incoming_connections",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "1 when the device refuses inbound connections.",
  when: "cardinality.per_entity.device; not headscale",
});
export const deviceConnectivityDirectCapable = defineMetric({
  name: "vpn.device.connectivity.direct_capable",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id"],
  group: "Devices",
  help: "1 when UDP works and the NAT is not hard.",
  when: "collectors.devices.collect_connectivity and cardinality.per_entity.device; udp reported",
});
export const deviceConnectivityEndpoints = defineMetric({
  name: "vpn.device.connectivity.endpoints",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id"],
  group: "Devices",
  help: "Number of advertised UDP endpoints.",
  when: "collectors.devices.collect_connectivity and cardinality.per_entity.device",
});
export const deviceConnectivityHardNat = defineMetric({
  name: "vpn.device.connectivity.hard_nat",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id"],
  group: "Devices",
  help: "1 when the NAT mapping varies by destination.",
  when: "collectors.devices.collect_connectivity and cardinality.per_entity.device",
});
export const deviceConnectivityIpv6 = defineMetric({
  name: "vpn.device.connectivity.ipv6",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id"],
  group: "Devices",
  help: "1 when the OS supports IPv6.",
  when: "collectors.devices.collect_connectivity and cardinality.per_entity.device; ipv6 reported",
});
export const deviceConnectivityUdp = defineMetric({
  name: "vpn.device.connectivity.udp",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id"],
  group: "Devices",
  help: "1 when UDP works.",
  when: "collectors.devices.collect_connectivity and cardinality.per_entity.device; udp reported",
});
export const deviceDerpLatency = defineMetric({
  name: "vpn.device.derp.latency",
  kind: "gauge",
  unit: "s",
  attributes: ["host.name", "host.id", "vpn.derp.region", "vpn.derp.preferred"],
  group: "Devices",
  help: "Latency from device to each relay region (milliseconds divided by 1000).",
  when: "cardinality.per_entity.device",
});
export const deviceDistro = defineMetric({
  name: "vpn.device.distro",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "vpn.distro.name", "vpn.distro.codename"],
  group: "Devices",
  help: "Constant 1 with device identity and distribution.",
  when: "cardinality.per_entity.device; device reports a distribution",
});
export const deviceExitNode = defineMetric({
  name: "vpn.device.exit_node",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "vpn.exit_node.enabled"],
  group: "Devices",
  help: "Constant 1 per device offering a default route; label tells whether it is approved.",
  when: "cardinality.per_entity.device",
});
export const deviceKeyExpiry = defineMetric({
  name: "vpn.device.key.expiry",
  kind: "gauge",
  unit: "s",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "Node key expiry time; skipped when expiry is disabled or empty.",
  when: "cardinality.per_entity.device",
});
export const deviceKeyExpiryDisabled = defineMetric({
  name: "vpn.device.key_expiry_disabled",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "1 when the node key never expires.",
  when: "cardinality.per_entity.device; not headscale",
});
export const deviceLastSeen = defineMetric({
  name: "vpn.device.last_seen",
  kind: "gauge",
  unit: "s",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "lastSeen as unix seconds; skipped when empty.",
  when: "cardinality.per_entity.device",
});
export const deviceMultipleConnections = defineMetric({
  name: "vpn.device.multiple_connections",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "1 when several clients use the same device identity.",
  when: "cardinality.per_entity.device; not headscale",
});
export const deviceOnline = defineMetric({
  name: "vpn.device.online",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "1 when connectedToControl is true.",
  when: "cardinality.per_entity.device",
});
export const devicePosture = defineMetric({
  name: "vpn.device.posture",
  kind: "gauge",
  unit: "1",
  attributes: [
    "host.name",
    "host.id",
    "os",
    "os_version",
    "ts_version",
    "auto_update",
    "encrypted",
    "track",
  ],
  group: "Devices",
  help: "Constant 1 with six posture values as labels.",
  when: "collectors.devices.collect_posture",
});
export const devicePostureIdentityDisabled = defineMetric({
  name: "vpn.device.posture_identity.disabled",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "1 when posture identity is disabled; only when the object is present.",
  when: "cardinality.per_entity.device",
});
export const deviceRoutesAdvertised = defineMetric({
  name: "vpn.device.routes.advertised",
  kind: "gauge",
  unit: "{route}",
  attributes: ["host.name", "host.id"],
  group: "Devices",
  help: "Count of routes offered by the device.",
  when: "cardinality.per_entity.device and collectors.devices.collect_routes",
});
export const deviceRoutesEnabled = defineMetric({
  name: "vpn.device.routes.enabled",
  kind: "gauge",
  unit: "{route}",
  attributes: ["host.name", "host.id"],
  group: "Devices",
  help: "Count of routes approved for the device.",
  when: "cardinality.per_entity.device and collectors.devices.collect_routes",
});
export const deviceSshEnabled = defineMetric({
  name: "vpn.device.ssh_enabled",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "1 when the built-in SSH server is on.",
  when: "cardinality.per_entity.device; not headscale",
});
export const deviceUpdateAvailable = defineMetric({
  name: "vpn.device.update_available",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "1 when the client has an update waiting.",
  when: "cardinality.per_entity.device; not headscale",
});
export const deviceVersionSkew = defineMetric({
  name: "vpn.device.version_skew",
  kind: "gauge",
  unit: "1",
  attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"],
  group: "Devices",
  help: "Minor releases behind the latest stable client.",
  when: "version_checks.devices.enabled, latest known, cardinality.per_entity.device",
});
export const deviceInvitesCount = defineMetric({
  name: "vpn.device_invites.count",
  kind: "gauge",
  unit: "1",
  attributes: [
    "vpn.device_invite.accepted",
    "vpn.device_invite.allow_exit_node",
    "vpn.device_invite.multi_use",
    "vpn.device_invite.delivery",
  ],
  group: "Devices",
  help: "Device share invites grouped by acceptance, exit-node flag, multi-use flag and delivery (emailed, manual_link, unknown).",
  when: "collectors.devices.collect_device_invites",
});
export const deviceInvitesPendingAge = defineMetric({
  name: "vpn.device_invites.pending_age",
  kind: "histogram",
  unit: "s",
  bounds: ageSeconds,
  group: "Devices",
  help: "Age of invites not accepted yet.",
  when: "collectors.devices.collect_device_invites",
});
export const devicesAge = defineMetric({
  name: "vpn.devices.age",
  kind: "histogram",
  unit: "s",
  bounds: ageSeconds,
  group: "Devices",
  help: "Age of devices since creation; empty creation skipped.",
});
export const devicesByCountry = defineMetric({
  name: "vpn.devices.by_country",
  kind: "gauge",
  unit: "1",
  attributes: ["geo.country.iso_code", "geo.continent.code"],
  group: "Devices",
  help: "Devices per country and continent from the first public endpoint.",
  when: "enrichment.geoip.enabled and collectors.devices.collect_connectivity",
});
export const devicesByDistro = defineMetric({
  name: "vpn.devices.by_distro",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.distro.name", "vpn.distro.codename"],
  group: "Devices",
  help: "Devices per distribution and codename (lower case); top 50, the rest as __other__.",
});
export const devicesByTag = defineMetric({
  name: "vpn.devices.by_tag",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.tag"],
  group: "Devices",
  help: "Devices per tag; tags over the limit fold into __other__.",
  when: "collectors.devices.collect_tag_rollup (limit tag_rollup_limit)",
});
export const devicesByVersion = defineMetric({
  name: "vpn.devices.by_version",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.client_version"],
  group: "Devices",
  help: "Devices per normalized client version; unparseable counts as unknown, empty skipped.",
});
export const devicesClientSupports = defineMetric({
  name: "vpn.devices.client_supports",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.connectivity.capability"],
  group: "Devices",
  help: "Devices supporting each of udp, ipv6, pcp, pmp, upnp.",
  when: "collectors.devices.collect_connectivity",
});
export const devicesCount = defineMetric({
  name: "vpn.devices.count",
  kind: "gauge",
  unit: "1",
  attributes: ["os.type", "vpn.authorized", "vpn.external"],
  group: "Devices",
  help: "Devices grouped by OS, authorized and external.",
});
export const devicesDirectCapable = defineMetric({
  name: "vpn.devices.direct_capable",
  kind: "gauge",
  unit: "1",
  group: "Devices",
  help: "Devices able to connect directly.",
  when: "collectors.devices.collect_connectivity",
});
export const devicesEphemeral = defineMetric({
  name: "vpn.devices.ephemeral",
  kind: "gauge",
  unit: "1",
  group: "Devices",
  help: "Ephemeral devices.",
  when: "not headscale",
});
export const devicesHardNat = defineMetric({
  name: "vpn.devices.hard_nat",
  kind: "gauge",
  unit: "1",
  group: "Devices",
  help: "Devices behind a hard NAT.",
  when: "collectors.devices.collect_connectivity",
});
export const devicesKeyExpiry = defineMetric({
  name: "vpn.devices.key_expiry",
  kind: "histogram",
  unit: "d",
  bounds: DAYS_LEFT,
  group: "Devices",
  help: "Days until node key expiry (negative when past).",
});
export const devicesKeyExpiryDisabled = defineMetric({
  name: "vpn.devices.key_expiry_disabled",
  kind: "gauge",
  unit: "1",
  group: "Devices",
  help: "Devices whose node key never expires.",
  when: "not headscale",
});
export const devicesOutdated = defineMetric({
  name: "vpn.devices.outdated",
  kind: "gauge",
  unit: "1",
  group: "Devices",
  help: "Devices at least the threshold of minor releases behind.",
  when: "version_checks.devices.enabled and latest known",
});
export const devicesSshEnabled = defineMetric({
  name: "vpn.devices.ssh_enabled",
  kind: "gauge",
  unit: "1",
  group: "Devices",
  help: "Devices with the built-in SSH server on.",
  when: "not headscale",
});
export const devicesUntagged = defineMetric({
  name: "vpn.devices.untagged",
  kind: "gauge",
  unit: "1",
  group: "Devices",
  help: "Own (not external) devices without tags.",
});
export const exitNodesCount = defineMetric({
  name: "vpn.exit_nodes.count",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.exit_node.state"],
  group: "Devices",
  help: "Exit nodes by state: advertised, enabled (approved).",
});
export const fleetLatestVersion = defineMetric({
  name: "vpn.fleet.latest_version",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.client_version"],
  group: "Devices",
  help: "Constant 1 with the latest stable client version as label.",
  when: "version_checks.devices.enabled and latest known",
});
export const networkLockErrors = defineMetric({
  name: "vpn.network_lock.errors",
  kind: "gauge",
  unit: "1",
  group: "Devices",
  help: "Devices with a non-empty lock error.",
});
export const subnetRoutesAdvertised = defineMetric({
  name: "vpn.subnet_routes.advertised",
  kind: "gauge",
  unit: "{route}",
  group: "Devices",
  help: "Distinct subnet prefixes offered; default routes left out.",
});
export const subnetRoutesEnabled = defineMetric({
  name: "vpn.subnet_routes.enabled",
  kind: "gauge",
  unit: "{route}",
  group: "Devices",
  help: "Distinct subnet prefixes approved on some device.",
});
export const subnetRoutesRouters = defineMetric({
  name: "vpn.subnet_routes.routers",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.route.cidr"],
  group: "Devices",
  help: "Devices offering each subnet prefix.",
  when: "cardinality.subnet_route_rollup",
});
export const subnetRoutesUnapproved = defineMetric({
  name: "vpn.subnet_routes.unapproved",
  kind: "gauge",
  unit: "{route}",
  group: "Devices",
  help: "Distinct subnet prefixes offered and approved nowhere.",
});

export const devicesMetrics: readonly AnyRow[] = catalogue([
  derpRegionDevices,
  derpRegionLatencyMin,
  derpRegionPreferred,
  deviceAttribute,
  deviceAttributeExpiry,
  deviceAttributeInfo,
  deviceBlocksIncomingConnections,
  deviceConnectivityDirectCapable,
  deviceConnectivityEndpoints,
  deviceConnectivityHardNat,
  deviceConnectivityIpv6,
  deviceConnectivityUdp,
  deviceDerpLatency,
  deviceDistro,
  deviceExitNode,
  deviceKeyExpiry,
  deviceKeyExpiryDisabled,
  deviceLastSeen,
  deviceMultipleConnections,
  deviceOnline,
  devicePosture,
  devicePostureIdentityDisabled,
  deviceRoutesAdvertised,
  deviceRoutesEnabled,
  deviceSshEnabled,
  deviceUpdateAvailable,
  deviceVersionSkew,
  deviceInvitesCount,
  deviceInvitesPendingAge,
  devicesAge,
  devicesByCountry,
  devicesByDistro,
  devicesByTag,
  devicesByVersion,
  devicesClientSupports,
  devicesCount,
  devicesDirectCapable,
  devicesEphemeral,
  devicesHardNat,
  devicesKeyExpiry,
  devicesKeyExpiryDisabled,
  devicesOutdated,
  devicesSshEnabled,
  devicesUntagged,
  exitNodesCount,
  fleetLatestVersion,
  networkLockErrors,
  subnetRoutesAdvertised,
  subnetRoutesEnabled,
  subnetRoutesRouters,
  subnetRoutesUnapproved,
]);
