/** Known words of audit events, and which changes are security-relevant. */

/** Fields whose words are checked: an unknown word means the upstream API has changed. */
export type WatchedField = "action" | "origin" | "actor_type" | "target_property";

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

/** Security-relevant properties and the category each is counted under. */
const changesByProperty: ReadonlyMap<string, string> = new Map([
  ["ACL", "acl"],
  ["KEY_EXPIRY", "key_expiry"],
  ["KEY_EXPIRY_TIME", "key_expiry"],
  ["EXIT_NODE", "exit_node"],
  ["NETWORK_FLOW_LOGGING", "network_flow_logging"],
  ["LOG_EXIT_FLOWS", "exit_flow_logging"],
  ["TKA", "network_lock"],
  ["USER_ROLE", "user_role"],
  ["MACHINE_APPROVAL_NEEDED", "machine_approval"],
  ["USER_APPROVAL_REQUIRED", "user_approval"],
  ["POSTURE_INTEGRATION", "posture_integration"],
  ["COLLECT_POSTURE_IDENTITY", "collect_posture_identity"],
  ["MAGIC_DNS", "magic_dns"],
  ["DNS_CONFIG", "dns_config"],
  ["LOGSTREAM_ENDPOINT", "logstream_endpoint"],
  ["MAX_KEY_DURATION", "key_duration"],
  ["FILE_SHARING", "file_sharing"],
  ["HTTPS", "https"],
  ["SCIM", "scim"],
  ["SUBSCRIBED_EVENTS", "webhook_subscription"],
  ["SECURITY_EMAIL", "security_contact"],
  ["NODE_SHARE", "node_share"],
  ["TAILNET_INVITE", "network_invite"],
  ["AUTH_PROVIDER", "auth_provider"],
  ["SECRET", "secret"],
]);

/**
 * Known words by field. Properties that are not counted are listed too, so that they cause no
 * warning.
 */
export const vocabularies: Readonly<Record<WatchedField, ReadonlySet<string>>> = {
  action: words(
    "LOGIN LOGOUT CREATE UPDATE DELETE CANCEL REVOKE APPROVE SUSPEND RESTORE ENABLE DISABLE ACCEPT EXPIRED PUSH_USER PUSH_GROUP VERIFY JOIN_WAITLIST INVITE JOIN LEAVE RESEND MIGRATE_AUTH_PROVIDER",
  ),
  origin: words(
    "ADMIN_CONSOLE CONFIG_API CONTROL IDENTITY_PROVIDER NODE SUPPORT_REQUEST STRIPE SECURITY_NOTIFICATION LEGAL_NOTIFICATION",
  ),
  actor_type: words(
    "USER NODE AUTOMATED_WORKER OAUTH_CLIENT SCIM MULLVAD LOGSTREAM SECRET_SCANNER",
  ),
  target_property: new Set([
    ...changesByProperty.keys(),
    ...words(
      "ACL_TAGS ACCOUNT_EMAIL ADDRESS ALLOWED_IPS AUTO_APPROVED_ROUTES ATTRIBUTES BILLING_OWNER COLLECT_SERVICES MULLVAD_VPN EMAIL FEATURE MACHINE_AUTH_NEEDED MACHINE_NAME GEOSTEERING PAYMENT_INFO POSTURE_IDENTITY STRIPE_CUSTOMER_ID SUBSCRIPTION SUPPORT_EMAIL TCD",
    ),
  ]),
};

const changesByTarget: ReadonlyMap<
  string,
  { readonly change: string; readonly actions: ReadonlySet<string> }
> = new Map([
  ["NODE", { change: "device", actions: words("CREATE DELETE EXPIRED") }],
  ["API_KEY", { change: "api_key", actions: words("CREATE DELETE REVOKE") }],
]);

/** A bounded label value: the word if known, `other` if not, undefined for none. */
export function fold(field: WatchedField, word: string): string | undefined {
  if (word === "") return undefined;
  return vocabularies[field].has(word) ? word : "other";
}

/**
 * The category of a security-relevant change, undefined otherwise. The property decides first, then
 * action and target type.
 */
export function changeOf({
  action,
  targetType,
  property,
}: {
  readonly action: string;
  readonly targetType: string;
  readonly property: string;
}): string | undefined {
  const byProperty = changesByProperty.get(property);
  if (byProperty !== undefined) return byProperty;
  const target = changesByTarget.get(targetType);
  return target?.actions.has(action) === true ? target.change : undefined;
}
