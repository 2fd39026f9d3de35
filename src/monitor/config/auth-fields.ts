/**
 * Credential of the hosted control plane: the keys of `vpn.auth` and `networks[].auth`, and their
 * validation.
 */
import type { Secret } from "../../kernel/base/secret.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Fields } from "../../kernel/config/values/fields.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import { defineKeyGroup, readKeyGroup, type KeyGroup } from "../../kernel/config/key-group.ts";
import { groupOfFields } from "../../kernel/config/values/objects.ts";
import { noBlank } from "../../kernel/config/checks/rules.ts";
import { listOf, oneOf, path, secret, string, text } from "../../kernel/config/values/types.ts";
import { sendSecret } from "../../kernel/threads/secrets.ts";
import type { TailscaleAuth } from "../options.ts";

interface MethodAuth {
  readonly method: TailscaleAuth["method"];
  readonly apikey: Secret | undefined;
}
interface OauthClient {
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly scopes: readonly string[];
}
interface WorkloadIdentity {
  readonly clientId: string;
  readonly idTokenFile: string;
}

/** A credential as written, with defaults applied. */
export type WrittenAuth = MethodAuth & {
  readonly oauth: OauthClient;
  readonly workloadIdentity: WorkloadIdentity;
};

const methodFields: Fields<MethodAuth> = {
  method: {
    type: oneOf(["oauth", "apikey", "workload_identity"]),
    default: "oauth",
    help: "Authentication method.",
  },
  apikey: {
    type: secret,
    optional: true,
    secret: true,
    help: "API key, for the method apikey. It belongs to a user and expires after at most 90 days.",
  },
};
const oauthFields: Fields<OauthClient> = {
  clientId: { type: text, default: "", help: "OAuth client, for the method oauth." },
  clientSecret: { type: secret, optional: true, secret: true, help: "OAuth client secret." },
  scopes: {
    type: listOf(string),
    default: ["all:read"],
    help: "Scopes to request.",
    rule: (scopes) =>
      scopes.length === 0
        ? { rule: "must name at least one scope", remedy: "write all:read." }
        : noBlank(scopes),
  },
};
const identityFields: Fields<WorkloadIdentity> = {
  clientId: {
    type: text,
    default: "",
    help: "Federated client, for the method workload_identity.",
  },
  idTokenFile: {
    type: path,
    default: "",
    help: "File with the workload's identity token, read again for each token exchange.",
  },
};

export const vpnAuthKeys: {
  readonly method: KeyGroup<MethodAuth>;
  readonly oauth: KeyGroup<OauthClient>;
  readonly workloadIdentity: KeyGroup<WorkloadIdentity>;
} = {
  method: defineKeyGroup<MethodAuth>("vpn.auth", methodFields),
  oauth: defineKeyGroup<OauthClient>("vpn.auth.oauth", oauthFields),
  workloadIdentity: defineKeyGroup<WorkloadIdentity>("vpn.auth.workload_identity", identityFields),
};

export const networkAuthFields: Fields<WrittenAuth> = {
  ...methodFields,
  oauth: { type: groupOfFields({ fields: oauthFields }), help: "OAuth client." },
  workloadIdentity: { type: groupOfFields({ fields: identityFields }), help: "Federated client." },
};

export function vpnAuth(config: Config): WrittenAuth {
  const { method, oauth, workloadIdentity } = vpnAuthKeys;
  return {
    ...readKeyGroup(config, method),
    oauth: readKeyGroup(config, oauth),
    workloadIdentity: readKeyGroup(config, workloadIdentity),
  };
}

/** The credential to use; undefined when absent or incomplete. */
export function settleAuth({
  method,
  apikey,
  oauth,
  workloadIdentity,
}: WrittenAuth): TailscaleAuth | undefined {
  switch (method) {
    case "oauth":
      return oauth.clientId === "" || oauth.clientSecret === undefined
        ? undefined
        : {
            method,
            clientId: oauth.clientId,
            clientSecret: sendSecret(oauth.clientSecret),
            scopes: oauth.scopes,
          };
    case "apikey":
      return apikey === undefined ? undefined : { method, key: sendSecret(apikey) };
    case "workload_identity":
      return workloadIdentity.clientId === "" || workloadIdentity.idTokenFile === ""
        ? undefined
        : { method, ...workloadIdentity };
  }
}

/** A finding about a credential; `under` is the field concerned. */
export interface AuthFinding extends Complaint {
  readonly severity: "error" | "warning";
  readonly under: string;
}

export function validateAuth(
  { method, apikey, oauth, workloadIdentity }: WrittenAuth,
  readFile: (path: string) => string,
): AuthFinding[] {
  const warn = (under: string, rule: string, remedy: string): AuthFinding => ({
    severity: "warning",
    under,
    rule,
    remedy,
  });
  const fail = (under: string, rule: string, remedy: string): AuthFinding => ({
    severity: "error",
    under,
    rule,
    remedy,
  });
  if (method === "oauth") {
    if ((oauth.clientId === "") === (oauth.clientSecret === undefined))
      return apikey === undefined
        ? []
        : [
            warn(
              ".apikey",
              "is ignored: the method is oauth",
              "set the method to apikey, or remove the key.",
            ),
          ];
    const missing = oauth.clientId === "" ? "client_id" : "client_secret";
    return [
      warn(
        `.oauth.${missing}`,
        "is missing: half an OAuth client is none, and nothing is collected",
        "set client_id and client_secret.",
      ),
    ];
  }
  if (method === "apikey") {
    return [
      apikey === undefined
        ? warn(
            ".apikey",
            "is missing with the method apikey, and nothing is collected",
            "set it, best with a file.",
          )
        : warn(
            ".method",
            "apikey uses a key that belongs to a user and expires after at most 90 days",
            "use an OAuth client.",
          ),
    ];
  }
  const { clientId, idTokenFile } = workloadIdentity;
  const findings: AuthFinding[] = [];
  if (clientId === "")
    findings.push(
      fail(
        ".workload_identity.client_id",
        "is missing with the method workload_identity",
        "write the id of the federated client.",
      ),
    );
  if (idTokenFile === "")
    findings.push(
      fail(
        ".workload_identity.id_token_file",
        "is missing with the method workload_identity",
        "name the file that the platform writes the token to.",
      ),
    );
  else if (!canRead(idTokenFile, readFile))
    findings.push(
      fail(
        ".workload_identity.id_token_file",
        `${idTokenFile} cannot be read`,
        "check the path and its permissions.",
      ),
    );
  return findings;
}

function canRead(file: string, readFile: (path: string) => string): boolean {
  try {
    readFile(file);
    return true;
  } catch {
    return false;
  }
}
