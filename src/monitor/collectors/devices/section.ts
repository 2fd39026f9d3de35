/** Section and operations of the device collector, for its parts. */
import { keyField } from "../../../kernel/config/key-group.ts";
import { noBlank } from "../../../kernel/config/checks/rules.ts";
import { integer, listOf, oneOf, string } from "../../../kernel/config/values/types.ts";
import { defineOperation } from "../../capability/operation.ts";
import { defineSection, flag, type CollectorSection } from "../section.ts";

export const listDevices = defineOperation("listTailnetDevices");
export const getDevicePosture = defineOperation("device_posture");
export const listDeviceInvites = defineOperation("device_invites");

export const devicesSection = defineSection("devices", {
  collects: "devices",
  intervalSeconds: 60,
  fields: {
    collectRoutes: flag(false, "Counts advertised and approved routes of each device."),
    collectConnectivity: flag(
      true,
      "Collects the connectivity of devices: UDP, IPv6, NAT and endpoints.",
    ),
    collectPosture: flag(false, "Collects posture attributes, with one call per device."),
    collectDeviceInvites: flag(true, "Collects open invitations, with one call per device."),
    postureLogMode: keyField({
      type: oneOf(["changes", "always", "off"]),
      default: "changes",
      help: "Which posture attributes are written as log records.",
    }),
    attributeNamespaces: keyField<readonly string[]>({
      type: listOf(string),
      default: ["intune", "jamf", "kandji", "crowdstrike", "sentinelone", "kolide", "ip"],
      rule: noBlank,
      help: "Namespaces of the posture attributes to collect; * is all.",
    }),
    collectTagRollup: flag(true, "Counts devices by tag."),
    tagRollupLimit: keyField({
      type: integer(-1, 1_000_000),
      default: 50,
      help: "Maximum number of tags with their own count; 0 or less is no limit.",
    }),
  },
});

export type DeviceOptions =
  typeof devicesSection extends CollectorSection<infer Options> ? Options : never;
