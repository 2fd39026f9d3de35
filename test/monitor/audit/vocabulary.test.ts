import { describe, expect, it } from "vitest";
import { changeOf, fold, vocabularies } from "../../../src/monitor/audit/vocabulary.ts";

const change = (property: string, targetType = "TAILNET", action = "UPDATE") =>
  changeOf({ action, targetType, property });

describe("The words of the audit", () => {
  it.each([
    ["ACL", "acl"],
    ["KEY_EXPIRY", "key_expiry"],
    ["KEY_EXPIRY_TIME", "key_expiry"],
    ["EXIT_NODE", "exit_node"],
    ["LOG_EXIT_FLOWS", "exit_flow_logging"],
    ["TKA", "network_lock"],
    ["MACHINE_APPROVAL_NEEDED", "machine_approval"],
    ["USER_APPROVAL_REQUIRED", "user_approval"],
    ["MAX_KEY_DURATION", "key_duration"],
    ["SUBSCRIBED_EVENTS", "webhook_subscription"],
    ["SECURITY_EMAIL", "security_contact"],
    ["TAILNET_INVITE", "network_invite"],
    ["SECRET", "secret"],
    ["ACL_TAGS", undefined],
    ["", undefined],
  ])("count a change of %s as %s", (property, category) => {
    expect(change(property)).toBe(category);
  });

  it("otherwise say whether a device or a key came or went", () => {
    expect([
      change("", "NODE", "CREATE"),
      change("", "NODE", "EXPIRED"),
      change("", "NODE", "APPROVE"),
      change("", "API_KEY", "REVOKE"),
      change("", "API_KEY", "EXPIRED"),
      change("", "USER", "CREATE"),
    ]).toEqual(["device", "device", undefined, "api_key", undefined, undefined]);
    expect(change("KEY_EXPIRY", "NODE", "DELETE")).toBe("key_expiry");
  });

  it("fold what is not known, and nothing stays nothing", () => {
    expect([
      fold("action", "LOGIN"),
      fold("action", "login"),
      fold("origin", ""),
      fold("actor_type", "SCIM"),
      fold("target_property", "TCD"),
    ]).toEqual(["LOGIN", "other", undefined, "SCIM", "TCD"]);
  });

  it("are as many as the facts list", () => {
    expect(Object.values(vocabularies).map((words) => words.size)).toEqual([23, 9, 8, 45]);
  });
});
