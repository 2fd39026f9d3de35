/** Metrics of the monitor: what is known of devices, their keys, routes and ways to connect (facts, metric catalogue). */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow, Row } from "../../kernel/telemetry/types.ts";
import { ageSeconds } from "./bounds.ts";

const DAYS_LEFT = [0, 7, 30, 90, 180, 365] as const;

/** Devices reporting latency to a relay region. */
export const derpRegionDevices: Row<"vpn.derp.region", "gauge"> = defineMetric({ name: "vpn.derp.region.devices", kind: "gauge", unit: "1", attributes: ["vpn.derp.region"], group: "Devices", help: "Devices reporting latency to a relay region.", when: "cardinality.derp_region_rollup" });
/** Lowest device latency seen to a relay region. */
export const derpRegionLatencyMin: Row<"vpn.derp.region", "gauge"> = defineMetric({ name: "vpn.derp.region.latency_min", kind: "gauge", unit: "s", attributes: ["vpn.derp.region"], group: "Devices", help: "Lowest device latency seen to a relay region.", when: "cardinality.derp_region_rollup" });
/** Devices preferring a relay region. */
export const derpRegionPreferred: Row<"vpn.derp.region", "gauge"> = defineMetric({ name: "vpn.derp.region.preferred", kind: "gauge", unit: "1", attributes: ["vpn.derp.region"], group: "Devices", help: "Devices preferring a relay region.", when: "cardinality.derp_region_rollup" });
/** Posture attribute with a numeric or boolean value. */
export const deviceAttribute: Row<"host.name" | "host.id" | "attribute", "gauge"> = defineMetric({ name: "vpn.device.attribute", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "attribute"], group: "Devices", help: "Posture attribute with a numeric or boolean value.", when: "collectors.devices.collect_posture and attribute_namespaces" });
/** Expiry time of a posture attribute that has one. */
export const deviceAttributeExpiry: Row<"host.name" | "host.id" | "attribute", "gauge"> = defineMetric({ name: "vpn.device.attribute.expiry", kind: "gauge", unit: "s", attributes: ["host.name", "host.id", "attribute"], group: "Devices", help: "Expiry time of a posture attribute that has one.", when: "collectors.devices.collect_posture and attribute_namespaces" });
/** Constant 1 for a posture attribute with a string value, value as label. */
export const deviceAttributeInfo: Row<"host.name" | "host.id" | "attribute" | "value", "gauge"> = defineMetric({ name: "vpn.device.attribute.info", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "attribute", "value"], group: "Devices", help: "Constant 1 for a posture attribute with a string value, value as label.", when: "collectors.devices.collect_posture and attribute_namespaces" });
/** 1 when the device refuses inbound connections. */
export const deviceBlocksIncomingConnections: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.blocks_incoming_connections", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "1 when the device refuses inbound connections.", when: "cardinality.per_entity.device; not headscale" });
/** 1 when UDP works and the NAT is not hard. */
export const deviceConnectivityDirectCapable: Row<"host.name" | "host.id", "gauge"> = defineMetric({ name: "vpn.device.connectivity.direct_capable", kind: "gauge", unit: "1", attributes: ["host.name", "host.id"], group: "Devices", help: "1 when UDP works and the NAT is not hard.", when: "collectors.devices.collect_connectivity and cardinality.per_entity.device; udp reported" });
/** Number of advertised UDP endpoints. */
export const deviceConnectivityEndpoints: Row<"host.name" | "host.id", "gauge"> = defineMetric({ name: "vpn.device.connectivity.endpoints", kind: "gauge", unit: "1", attributes: ["host.name", "host.id"], group: "Devices", help: "Number of advertised UDP endpoints.", when: "collectors.devices.collect_connectivity and cardinality.per_entity.device" });
/** 1 when the NAT mapping varies by destination. */
export const deviceConnectivityHardNat: Row<"host.name" | "host.id", "gauge"> = defineMetric({ name: "vpn.device.connectivity.hard_nat", kind: "gauge", unit: "1", attributes: ["host.name", "host.id"], group: "Devices", help: "1 when the NAT mapping varies by destination.", when: "collectors.devices.collect_connectivity and cardinality.per_entity.device" });
/** 1 when the OS supports IPv6. */
export const deviceConnectivityIpv6: Row<"host.name" | "host.id", "gauge"> = defineMetric({ name: "vpn.device.connectivity.ipv6", kind: "gauge", unit: "1", attributes: ["host.name", "host.id"], group: "Devices", help: "1 when the OS supports IPv6.", when: "collectors.devices.collect_connectivity and cardinality.per_entity.device; ipv6 reported" });
/** 1 when UDP works. */
export const deviceConnectivityUdp: Row<"host.name" | "host.id", "gauge"> = defineMetric({ name: "vpn.device.connectivity.udp", kind: "gauge", unit: "1", attributes: ["host.name", "host.id"], group: "Devices", help: "1 when UDP works.", when: "collectors.devices.collect_connectivity and cardinality.per_entity.device; udp reported" });
/** Latency from device to each relay region (milliseconds divided by 1000). */
export const deviceDerpLatency: Row<"host.name" | "host.id" | "vpn.derp.region" | "vpn.derp.preferred", "gauge"> = defineMetric({ name: "vpn.device.derp.latency", kind: "gauge", unit: "s", attributes: ["host.name", "host.id", "vpn.derp.region", "vpn.derp.preferred"], group: "Devices", help: "Latency from device to each relay region (milliseconds divided by 1000).", when: "cardinality.per_entity.device" });
/** Constant 1 with device identity and distribution. */
export const deviceDistro: Row<"host.name" | "host.id" | "vpn.distro.name" | "vpn.distro.codename", "gauge"> = defineMetric({ name: "vpn.device.distro", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "vpn.distro.name", "vpn.distro.codename"], group: "Devices", help: "Constant 1 with device identity and distribution.", when: "cardinality.per_entity.device; device reports a distribution" });
/** Constant 1 per device offering a default route; label tells whether it is approved. */
export const deviceExitNode: Row<"host.name" | "host.id" | "vpn.exit_node.enabled", "gauge"> = defineMetric({ name: "vpn.device.exit_node", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "vpn.exit_node.enabled"], group: "Devices", help: "Constant 1 per device offering a default route; label tells whether it is approved.", when: "cardinality.per_entity.device" });
/** Node key expiry time; skipped when expiry is disabled or empty. */
export const deviceKeyExpiry: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.key.expiry", kind: "gauge", unit: "s", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "Node key expiry time; skipped when expiry is disabled or empty.", when: "cardinality.per_entity.device" });
/** 1 when the node key never expires. */
export const deviceKeyExpiryDisabled: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.key_expiry_disabled", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "1 when the node key never expires.", when: "cardinality.per_entity.device; not headscale" });
/** lastSeen as unix seconds; skipped when empty. */
export const deviceLastSeen: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.last_seen", kind: "gauge", unit: "s", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "lastSeen as unix seconds; skipped when empty.", when: "cardinality.per_entity.device" });
/** 1 when several clients use the same device identity. */
export const deviceMultipleConnections: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.multiple_connections", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "1 when several clients use the same device identity.", when: "cardinality.per_entity.device; not headscale" });
/** 1 when connectedToControl is true. */
export const deviceOnline: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.online", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "1 when connectedToControl is true.", when: "cardinality.per_entity.device" });
/** Constant 1 with six posture values as labels. */
export const devicePosture: Row<"host.name" | "host.id" | "os" | "os_version" | "ts_version" | "auto_update" | "encrypted" | "track", "gauge"> = defineMetric({ name: "vpn.device.posture", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os", "os_version", "ts_version", "auto_update", "encrypted", "track"], group: "Devices", help: "Constant 1 with six posture values as labels.", when: "collectors.devices.collect_posture" });
/** 1 when posture identity is disabled; only when the object is present. */
export const devicePostureIdentityDisabled: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.posture_identity.disabled", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "1 when posture identity is disabled; only when the object is present.", when: "cardinality.per_entity.device" });
/** Count of routes offered by the device. */
export const deviceRoutesAdvertised: Row<"host.name" | "host.id", "gauge"> = defineMetric({ name: "vpn.device.routes.advertised", kind: "gauge", unit: "{route}", attributes: ["host.name", "host.id"], group: "Devices", help: "Count of routes offered by the device.", when: "cardinality.per_entity.device and collectors.devices.collect_routes" });
/** Count of routes approved for the device. */
export const deviceRoutesEnabled: Row<"host.name" | "host.id", "gauge"> = defineMetric({ name: "vpn.device.routes.enabled", kind: "gauge", unit: "{route}", attributes: ["host.name", "host.id"], group: "Devices", help: "Count of routes approved for the device.", when: "cardinality.per_entity.device and collectors.devices.collect_routes" });
/** 1 when the built-in SSH server is on. */
export const deviceSshEnabled: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.ssh_enabled", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "1 when the built-in SSH server is on.", when: "cardinality.per_entity.device; not headscale" });
/** 1 when the client has an update waiting. */
export const deviceUpdateAvailable: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.update_available", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "1 when the client has an update waiting.", when: "cardinality.per_entity.device; not headscale" });
/** Minor releases behind the latest stable client. */
export const deviceVersionSkew: Row<"host.name" | "host.id" | "os.type" | "os.version" | "vpn.user" | "vpn.tags", "gauge"> = defineMetric({ name: "vpn.device.version_skew", kind: "gauge", unit: "1", attributes: ["host.name", "host.id", "os.type", "os.version", "vpn.user", "vpn.tags"], group: "Devices", help: "Minor releases behind the latest stable client.", when: "version_checks.devices.enabled, latest known, cardinality.per_entity.device" });
/** Device share invites grouped by acceptance, exit-node flag, multi-use flag and delivery (emailed, manual_link, unknown). */
export const deviceInvitesCount: Row<"vpn.device_invite.accepted" | "vpn.device_invite.allow_exit_node" | "vpn.device_invite.multi_use" | "vpn.device_invite.delivery", "gauge"> = defineMetric({ name: "vpn.device_invites.count", kind: "gauge", unit: "1", attributes: ["vpn.device_invite.accepted", "vpn.device_invite.allow_exit_node", "vpn.device_invite.multi_use", "vpn.device_invite.delivery"], group: "Devices", help: "Device share invites grouped by acceptance, exit-node flag, multi-use flag and delivery (emailed, manual_link, unknown).", when: "collectors.devices.collect_device_invites" });
/** Age of invites not accepted yet. */
export const deviceInvitesPendingAge: Row<never, "histogram"> = defineMetric({ name: "vpn.device_invites.pending_age", kind: "histogram", unit: "s", bounds: ageSeconds, group: "Devices", help: "Age of invites not accepted yet.", when: "collectors.devices.collect_device_invites" });
/** Age of devices since creation; empty creation skipped. */
export const devicesAge: Row<never, "histogram"> = defineMetric({ name: "vpn.devices.age", kind: "histogram", unit: "s", bounds: ageSeconds, group: "Devices", help: "Age of devices since creation; empty creation skipped." });
/** Devices per country and continent from the first public endpoint. */
export const devicesByCountry: Row<"geo.country.iso_code" | "geo.continent.code", "gauge"> = defineMetric({ name: "vpn.devices.by_country", kind: "gauge", unit: "1", attributes: ["geo.country.iso_code", "geo.continent.code"], group: "Devices", help: "Devices per country and continent from the first public endpoint.", when: "enrichment.geoip.enabled and collectors.devices.collect_connectivity" });
/** Devices per distribution and codename (lower case); top 50, the rest as __other__. */
export const devicesByDistro: Row<"vpn.distro.name" | "vpn.distro.codename", "gauge"> = defineMetric({ name: "vpn.devices.by_distro", kind: "gauge", unit: "1", attributes: ["vpn.distro.name", "vpn.distro.codename"], group: "Devices", help: "Devices per distribution and codename (lower case); top 50, the rest as __other__." });
/** Devices per tag; tags over the limit fold into __other__. */
export const devicesByTag: Row<"vpn.tag", "gauge"> = defineMetric({ name: "vpn.devices.by_tag", kind: "gauge", unit: "1", attributes: ["vpn.tag"], group: "Devices", help: "Devices per tag; tags over the limit fold into __other__.", when: "collectors.devices.collect_tag_rollup (limit tag_rollup_limit)" });
/** Devices per normalized client version; unparseable counts as unknown, empty skipped. */
export const devicesByVersion: Row<"vpn.client_version", "gauge"> = defineMetric({ name: "vpn.devices.by_version", kind: "gauge", unit: "1", attributes: ["vpn.client_version"], group: "Devices", help: "Devices per normalized client version; unparseable counts as unknown, empty skipped." });
/** Devices supporting each of udp, ipv6, pcp, pmp, upnp. */
export const devicesClientSupports: Row<"vpn.connectivity.capability", "gauge"> = defineMetric({ name: "vpn.devices.client_supports", kind: "gauge", unit: "1", attributes: ["vpn.connectivity.capability"], group: "Devices", help: "Devices supporting each of udp, ipv6, pcp, pmp, upnp.", when: "collectors.devices.collect_connectivity" });
/** Devices grouped by OS, authorized and external. */
export const devicesCount: Row<"os.type" | "vpn.authorized" | "vpn.external", "gauge"> = defineMetric({ name: "vpn.devices.count", kind: "gauge", unit: "1", attributes: ["os.type", "vpn.authorized", "vpn.external"], group: "Devices", help: "Devices grouped by OS, authorized and external." });
/** Devices able to connect directly. */
export const devicesDirectCapable: Row<never, "gauge"> = defineMetric({ name: "vpn.devices.direct_capable", kind: "gauge", unit: "1", group: "Devices", help: "Devices able to connect directly.", when: "collectors.devices.collect_connectivity" });
/** Ephemeral devices. */
export const devicesEphemeral: Row<never, "gauge"> = defineMetric({ name: "vpn.devices.ephemeral", kind: "gauge", unit: "1", group: "Devices", help: "Ephemeral devices.", when: "not headscale" });
/** Devices behind a hard NAT. */
export const devicesHardNat: Row<never, "gauge"> = defineMetric({ name: "vpn.devices.hard_nat", kind: "gauge", unit: "1", group: "Devices", help: "Devices behind a hard NAT.", when: "collectors.devices.collect_connectivity" });
/** Days until node key expiry (negative when past). */
export const devicesKeyExpiry: Row<never, "histogram"> = defineMetric({ name: "vpn.devices.key_expiry", kind: "histogram", unit: "d", bounds: DAYS_LEFT, group: "Devices", help: "Days until node key expiry (negative when past)." });
/** Devices whose node key never expires. */
export const devicesKeyExpiryDisabled: Row<never, "gauge"> = defineMetric({ name: "vpn.devices.key_expiry_disabled", kind: "gauge", unit: "1", group: "Devices", help: "Devices whose node key never expires.", when: "not headscale" });
/** Devices at least the threshold of minor releases behind. */
export const devicesOutdated: Row<never, "gauge"> = defineMetric({ name: "vpn.devices.outdated", kind: "gauge", unit: "1", group: "Devices", help: "Devices at least the threshold of minor releases behind.", when: "version_checks.devices.enabled and latest known" });
/** Devices with the built-in SSH server on. */
export const devicesSshEnabled: Row<never, "gauge"> = defineMetric({ name: "vpn.devices.ssh_enabled", kind: "gauge", unit: "1", group: "Devices", help: "Devices with the built-in SSH server on.", when: "not headscale" });
/** Own (not external) devices without tags. */
export const devicesUntagged: Row<never, "gauge"> = defineMetric({ name: "vpn.devices.untagged", kind: "gauge", unit: "1", group: "Devices", help: "Own (not external) devices without tags." });
/** Exit nodes by state: advertised, enabled (approved). */
export const exitNodesCount: Row<"vpn.exit_node.state", "gauge"> = defineMetric({ name: "vpn.exit_nodes.count", kind: "gauge", unit: "1", attributes: ["vpn.exit_node.state"], group: "Devices", help: "Exit nodes by state: advertised, enabled (approved)." });
/** Constant 1 with the latest stable client version as label. */
export const fleetLatestVersion: Row<"vpn.client_version", "gauge"> = defineMetric({ name: "vpn.fleet.latest_version", kind: "gauge", unit: "1", attributes: ["vpn.client_version"], group: "Devices", help: "Constant 1 with the latest stable client version as label.", when: "version_checks.devices.enabled and latest known" });
/** Devices with a non-empty lock error. */
export const networkLockErrors: Row<never, "gauge"> = defineMetric({ name: "vpn.network_lock.errors", kind: "gauge", unit: "1", group: "Devices", help: "Devices with a non-empty lock error." });
/** Distinct subnet prefixes offered; default routes left out. */
export const subnetRoutesAdvertised: Row<never, "gauge"> = defineMetric({ name: "vpn.subnet_routes.advertised", kind: "gauge", unit: "{route}", group: "Devices", help: "Distinct subnet prefixes offered; default routes left out." });
/** Distinct subnet prefixes approved on some device. */
export const subnetRoutesEnabled: Row<never, "gauge"> = defineMetric({ name: "vpn.subnet_routes.enabled", kind: "gauge", unit: "{route}", group: "Devices", help: "Distinct subnet prefixes approved on some device." });
/** Devices offering each subnet prefix. */
export const subnetRoutesRouters: Row<"vpn.route.cidr", "gauge"> = defineMetric({ name: "vpn.subnet_routes.routers", kind: "gauge", unit: "1", attributes: ["vpn.route.cidr"], group: "Devices", help: "Devices offering each subnet prefix.", when: "cardinality.subnet_route_rollup" });
/** Distinct subnet prefixes offered and approved nowhere. */
export const subnetRoutesUnapproved: Row<never, "gauge"> = defineMetric({ name: "vpn.subnet_routes.unapproved", kind: "gauge", unit: "{route}", group: "Devices", help: "Distinct subnet prefixes offered and approved nowhere." });

/** All rows of this file. */
export const devicesMetrics: readonly AnyRow[] = catalogue([
  derpRegionDevices, derpRegionLatencyMin, derpRegionPreferred, deviceAttribute, deviceAttributeExpiry, deviceAttributeInfo,
  deviceBlocksIncomingConnections, deviceConnectivityDirectCapable, deviceConnectivityEndpoints, deviceConnectivityHardNat, deviceConnectivityIpv6,
  deviceConnectivityUdp, deviceDerpLatency, deviceDistro, deviceExitNode, deviceKeyExpiry, deviceKeyExpiryDisabled, deviceLastSeen,
  deviceMultipleConnections, deviceOnline, devicePosture, devicePostureIdentityDisabled, deviceRoutesAdvertised, deviceRoutesEnabled,
  deviceSshEnabled, deviceUpdateAvailable, deviceVersionSkew, deviceInvitesCount, deviceInvitesPendingAge, devicesAge, devicesByCountry,
  devicesByDistro, devicesByTag, devicesByVersion, devicesClientSupports, devicesCount, devicesDirectCapable, devicesEphemeral, devicesHardNat,
  devicesKeyExpiry, devicesKeyExpiryDisabled, devicesOutdated, devicesSshEnabled, devicesUntagged, exitNodesCount, fleetLatestVersion,
  networkLockErrors, subnetRoutesAdvertised, subnetRoutesEnabled, subnetRoutesRouters, subnetRoutesUnapproved,
]);
