/**
 * EngineService: each typed method builds the request of its `/v1/` route and decodes the response.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  EngineService,
  type MintedTokenSchema,
  type TokenScopeSchema,
} from "../../gen/steward/tokens/v1/engine_service_pb.ts";
import { bindService, type BoundService, type Call } from "../../kernel/service.ts";
import { numberText, rawNumber, writeExact } from "../logical/json.ts";
import type { Data } from "../logical/types.ts";
import { carriesLiveToken } from "../vault/core/admission.ts";
import type { Core, CoreAnswer, CoreRequest } from "../vault/core/types.ts";
import { callLogical, mountPath } from "./logical-call.ts";
import { leaseMessage } from "./logical.ts";

/** Fields common to mint requests and permission sets. */
interface ScopeFields {
  readonly installationId: bigint;
  readonly orgName: string;
  readonly repositories: readonly string[];
  readonly repositoryIds: readonly bigint[];
  readonly permissions: Readonly<Record<string, string>>;
}

export function engineHandlers(core: Core): BoundService {
  const at = (
    call: Call,
    mount: string,
    verb: CoreRequest["verb"],
    path: string,
    data: Data = {},
  ): Promise<CoreAnswer> =>
    callLogical(core, call, { verb, path: `${mountPath(mount)}${path}`, data });
  const service = bindService(EngineService, {
    async readInfo({ mount }, call) {
      const data = dataOf(await at(call, mount, "read", "info"));
      const text = (name: string): string => textOf(data[name]);
      return {
        projectName: text("project_name"),
        projectDocs: text("project_docs"),
        buildVersion: text("build_version"),
        buildRevision: text("build_revision"),
        buildBranch: text("build_branch"),
        buildDate: text("build_date"),
        buildUser: text("build_user"),
      };
    },
    async readConfig({ mount }, call) {
      const data = dataOf(await at(call, mount, "read", "config"));
      return {
        appId: integerOf(data["app_id"]),
        prvKey: textOf(data["prv_key"]),
        baseUrl: textOf(data["base_url"]),
        excludeRepositoryMetadata: data["exclude_repository_metadata"] === true,
        strictScopes: data["strict_scopes"] === true,
        maxPermissions: pairsOf(data["max_permissions"]),
        tokenCacheMinTtl: integerOf(data["token_cache_min_ttl"]),
      };
    },
    async writeConfig(
      {
        mount,
        appId,
        prvKey,
        baseUrl,
        excludeRepositoryMetadata,
        strictScopes,
        maxPermissions,
        tokenCacheMinTtl,
      },
      call,
    ) {
      const data = given({
        app_id: appId === undefined ? undefined : number(appId),
        prv_key: prvKey,
        base_url: baseUrl,
        exclude_repository_metadata: excludeRepositoryMetadata,
        strict_scopes: strictScopes,
        max_permissions: Object.keys(maxPermissions).length === 0 ? undefined : maxPermissions,
        token_cache_min_ttl: tokenCacheMinTtl,
      });
      return { warnings: [...(await at(call, mount, "write", "config", data)).warnings] };
    },
    async deleteConfig({ mount }, call) {
      await at(call, mount, "delete", "config");
      return {};
    },
    async mintToken(request, call) {
      return {
        minted: mintedOf(await at(call, request.mount, "write", "token", scopeData(request))),
      };
    },
    async mintTokenFromSet({ mount, permissionset }, call) {
      return {
        minted: mintedOf(await at(call, mount, "write", `token/${segment(permissionset)}`)),
      };
    },
    async readPermissionSet({ mount, name }, call) {
      const answer = await at(call, mount, "read", `permissionset/${segment(name)}`);
      return answer.response?.data === undefined ? {} : { scope: scopeOf(answer.response.data) };
    },
    async writePermissionSet(request, call) {
      return {
        warnings: [
          ...(
            await at(
              call,
              request.mount,
              "write",
              `permissionset/${segment(request.name)}`,
              scopeData(request),
            )
          ).warnings,
        ],
      };
    },
    async deletePermissionSet({ mount, name }, call) {
      await at(call, mount, "delete", `permissionset/${segment(name)}`);
      return {};
    },
    async listPermissionSets({ mount }, call) {
      return { keys: textsOf(dataOf(await at(call, mount, "list", "permissionsets"))["keys"]) };
    },
    async listInstallations({ mount }, call) {
      const installations = Object.entries(dataOf(await at(call, mount, "read", "installations")));
      return {
        installations: Object.fromEntries(
          installations.map(([login, id]) => [login, integerOf(id)]),
        ),
      };
    },
    async diagnose({ mount, orgName, installationId }, call) {
      const data = dataOf(
        await at(
          call,
          mount,
          "read",
          "doctor",
          given({
            org_name: orgName || undefined,
            installation_id: installationId === 0n ? undefined : number(installationId),
          }),
        ),
      );
      const checks = Array.isArray(data["checks"]) ? (data["checks"] as readonly Data[]) : [];
      return {
        ok: data["ok"] === true,
        checks: checks.map((check) => ({
          name: textOf(check["name"]),
          ok: check["ok"] === true,
          detail: textOf(check["detail"]),
          remedy: textOf(check["remedy"]),
        })),
      };
    },
  });
  return { ...service, hasCredential: (headers) => carriesLiveToken(core, headers) };
}

/** A name used in a path must stay one segment. */
function segment(name: string): string {
  return name.replaceAll("/", "%2F");
}

function dataOf({ response }: CoreAnswer): Data {
  return response?.data ?? {};
}

function given(data: Data): Data {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}

/**
 * A message cannot tell an empty list from none: both count as given but empty, of which the core
 * warns, or refuses it (`strict_scopes`). A list that its caller computed may be empty by mistake.
 */
function scopeData({
  installationId,
  orgName,
  repositories,
  repositoryIds,
  permissions,
}: ScopeFields): Data {
  const names = repositories.length > 0 || repositoryIds.length === 0;
  return given({
    installation_id: installationId === 0n ? undefined : number(installationId),
    org_name: orgName || undefined,
    repositories: names ? repositories : undefined,
    repository_ids: repositoryIds.length === 0 ? undefined : repositoryIds.map(number),
    permissions,
  });
}

function scopeOf(data: Data): MessageInitShape<typeof TokenScopeSchema> {
  return {
    installationId: integerOf(data["installation_id"]),
    orgName: textOf(data["org_name"]),
    repositories: textsOf(data["repositories"]),
    repositoryIds: Array.isArray(data["repository_ids"])
      ? data["repository_ids"].map(integerOf)
      : [],
    permissions: pairsOf(data["permissions"]),
  };
}

function mintedOf({
  response,
  lease,
  warnings,
}: CoreAnswer): MessageInitShape<typeof MintedTokenSchema> {
  const data = response?.data ?? {};
  const repositories = Array.isArray(data["repositories"]) ? data["repositories"] : [];
  return {
    token: textOf(data["token"]),
    expiresAt: textOf(data["expires_at"]),
    permissions: pairsOf(data["permissions"]),
    repositorySelection: textOf(data["repository_selection"]),
    repositories: repositories.map((one: unknown) =>
      textOf(typeof one === "object" && one !== null ? (one as Data)["name"] : one),
    ),
    installationId: integerOf(data["installation_id"]),
    orgName: textOf(data["org_name"]),
    hashedToken: textOf(data["hashed_token"]),
    ...(lease === undefined ? {} : { lease: leaseMessage(lease) }),
    warnings: [...warnings],
    data: new TextEncoder().encode(writeExact(data)),
    reused: data["reused"] === true,
  };
}

function number(value: bigint): unknown {
  return rawNumber(String(value));
}

function integerOf(value: unknown): bigint {
  const digits = numberText(value);
  return digits !== undefined && /^-?\d+$/.test(digits) ? BigInt(digits) : 0n;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

function pairsOf(value: unknown): Record<string, string> {
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, level]) => [name, textOf(level)]))
    : {};
}
