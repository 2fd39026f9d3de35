/** `networks`: each with its own control plane and credential. */
import type { Secret } from "../../kernel/base/secret.ts";
import type { Fields } from "../../kernel/config/values/fields.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import { defineKey } from "../../kernel/config/key.ts";
import { groupOfFields, listOfObjects } from "../../kernel/config/values/objects.ts";
import { baseUrl, optionally } from "../../kernel/config/checks/rules.ts";
import { secret, string, text } from "../../kernel/config/values/types.ts";
import { networkAuthFields, type WrittenAuth } from "./auth-fields.ts";
import { networkHttpFields, type NetworkHttp } from "./http-fields.ts";
import { objectStoreFields, type ObjectStoreSection } from "./object-store-fields.ts";
import { providerType, type ProviderKind } from "./provider-keys.ts";

/** Object-store settings of a network. */
export interface NetworkFeeds {
  readonly flow: ObjectStoreSection;
  readonly audit: ObjectStoreSection;
  readonly k8sAudit: ObjectStoreSection;
}

/** A network as written. */
export interface NetworkSection {
  readonly name: string;
  /** Undefined inherits the top-level `provider`. */
  readonly provider: ProviderKind | undefined;
  readonly url: string;
  readonly apiKey: Secret | undefined;
  readonly auth: WrittenAuth;
  readonly http: NetworkHttp;
  readonly objectstore: NetworkFeeds;
}

const MAX_NETWORKS = 100;
const MAX_NAME_LENGTH = 253;

const feedFields: Fields<NetworkFeeds> = {
  flow: {
    type: groupOfFields({ fields: objectStoreFields("logs") }),
    help: "Where flow logs are, with collectors.flowlogs.source objectstore.",
  },
  audit: {
    type: groupOfFields({ fields: objectStoreFields("logs") }),
    help: "Where audit logs are, with collectors.auditlogs.source objectstore.",
  },
  k8sAudit: {
    type: groupOfFields({ fields: objectStoreFields("recorder") }),
    help: "Where recordings are, with collectors.k8s_audit.enabled.",
  },
};

export const networks = defineKey({
  path: "networks",
  default: [],
  rule: namesDiffer,
  type: listOfObjects<NetworkSection>({
    limit: MAX_NETWORKS,
    fields: {
      name: {
        type: string,
        rule: networkName,
        help: "Unique name, as the control plane knows it; for Headscale, any name.",
      },
      provider: {
        type: providerType,
        optional: true,
        help: "The control plane; left out, the top-level provider.",
      },
      url: {
        type: text,
        default: "",
        rule: optionally(baseUrl),
        help: "Base URL of the control plane: needed for headscale, vpn.url otherwise.",
      },
      apiKey: { type: secret, optional: true, secret: true, help: "API key of Headscale." },
      auth: {
        type: groupOfFields({ fields: networkAuthFields }),
        help: "Credential of the hosted control plane.",
      },
      http: { type: groupOfFields({ fields: networkHttpFields }), help: "How calls are made." },
      objectstore: { type: groupOfFields({ fields: feedFields }), help: "Feeds of records." },
    },
  }),
  help: "Several networks in one process, instead of vpn.network. Each has its own credential, never the one below vpn or headscale. Missing http settings are taken from vpn.http or headscale.http.",
});

function networkName(name: string): Complaint | undefined {
  const valid = name.trim() !== "" && name.length <= MAX_NAME_LENGTH && !/[\p{Cc}/]/u.test(name);
  return valid
    ? undefined
    : { rule: `must be a name of 1 to ${MAX_NAME_LENGTH} characters without /` };
}

function namesDiffer(entries: readonly NetworkSection[]): Complaint | undefined {
  const names = entries.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    return {
      rule: `must have different names, ${JSON.stringify(twice)} is there twice`,
      remedy: "rename one of them.",
    };
  return names.length > 1 && names.includes("-")
    ? {
        rule: "must not contain - when there are several networks",
        remedy: "write the network's name.",
      }
    : undefined;
}
