/** Metrics of the monitor: the policy file. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const aclAutoapprovers = defineMetric({
  name: "vpn.acl.autoapprovers",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.acl.autoapprover_kind"],
  group: "ACL",
  help: "Auto-approver entries by kind: routes, exit_node, services.",
});
export const aclLastChanged = defineMetric({
  name: "vpn.acl.last_changed",
  kind: "gauge",
  unit: "s",
  group: "ACL",
  help: "When the policy last changed: as reported by Headscale, else when the process first saw the present ETag (restart resets it).",
});
export const aclPostureGatedRules = defineMetric({
  name: "vpn.acl.posture_gated_rules",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.acl.section"],
  group: "ACL",
  help: "Rules with a non-empty source posture condition, per section.",
});
export const aclRules = defineMetric({
  name: "vpn.acl.rules",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.acl.section"],
  group: "ACL",
  help: "Entries per policy section.",
});
export const aclSize = defineMetric({
  name: "vpn.acl.size",
  kind: "gauge",
  unit: "By",
  group: "ACL",
  help: "Bytes of the policy document.",
});
export const aclSshWildcard = defineMetric({
  name: "vpn.acl.ssh_wildcard",
  kind: "gauge",
  unit: "1",
  group: "ACL",
  help: "SSH rules with a wildcard source or destination.",
});
export const aclUnrestrictedRules = defineMetric({
  name: "vpn.acl.unrestricted_rules",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.acl.section"],
  group: "ACL",
  help: "Non-deny rules open from any source to any destination, per section.",
});
export const aclValidationErrors = defineMetric({
  name: "vpn.acl.validation.errors",
  kind: "gauge",
  unit: "1",
  group: "ACL",
  help: "Validation errors that are not test failures.",
  when: "collectors.acl.validate; not headscale",
});
export const aclValidationOk = defineMetric({
  name: "vpn.acl.validation.ok",
  kind: "gauge",
  unit: "1",
  group: "ACL",
  help: "1 when the active policy validates clean.",
  when: "collectors.acl.validate; not headscale",
});
export const aclValidationTestFailures = defineMetric({
  name: "vpn.acl.validation.test_failures",
  kind: "gauge",
  unit: "1",
  group: "ACL",
  help: "Embedded policy tests that failed.",
  when: "collectors.acl.validate; not headscale",
});
export const aclValidationWarnings = defineMetric({
  name: "vpn.acl.validation.warnings",
  kind: "gauge",
  unit: "1",
  group: "ACL",
  help: "Validation warnings.",
  when: "collectors.acl.validate; not headscale",
});
export const aclWildcardRules = defineMetric({
  name: "vpn.acl.wildcard_rules",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.acl.section", "vpn.acl.position"],
  group: "ACL",
  help: "Non-deny rules with a wildcard, per section and position (src, dst).",
});

export const aclMetrics: readonly AnyRow[] = catalogue([
  aclAutoapprovers,
  aclLastChanged,
  aclPostureGatedRules,
  aclRules,
  aclSize,
  aclSshWildcard,
  aclUnrestrictedRules,
  aclValidationErrors,
  aclValidationOk,
  aclValidationTestFailures,
  aclValidationWarnings,
  aclWildcardRules,
]);
