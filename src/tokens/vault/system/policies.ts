/** Policies and capabilities, under their present and their older names. */
import {
  CapabilitiesFieldsSchema,
  EmptyFieldsSchema,
  PolicyFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { mapInTurns, Turns } from "../../../kernel/async/turns.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Data, LogicalResponse, Path, PathRequest } from "../../logical/types.ts";
import { callerOf } from "../auth/context.ts";
import type { TokenEntry } from "../types.ts";
import type { SystemDeps } from "./deps.ts";

export function policyPaths(deps: SystemDeps): readonly Path[] {
  return [
    ...documents(deps, "policies/acl", false),
    ...documents(deps, "policy", true),
    ...capabilities(deps),
  ];
}

function documents(deps: SystemDeps, root: string, older: boolean): Path[] {
  const list = async (): Promise<LogicalResponse> => {
    const keys = deps.policies.list();
    return { data: older ? { keys, policies: keys } : { keys } };
  };
  return [
    definePath({
      pattern: root,
      also: [`${root}/`],
      fields: EmptyFieldsSchema,
      operations: older ? { read: list, list } : { list },
      synopsis: "Names of the policies.",
      description: "`root` and `default` are always there.",
    }),
    definePath({
      pattern: `${root}/:name*`,
      fields: PolicyFieldsSchema,
      operations: {
        read: async ({ fields }) => {
          const policy = deps.policies.get(nameOf(fields.text("name")));
          if (policy === undefined) return undefined;
          // The CLI's `policy write` drops warnings, so reading repeats them.
          return {
            data: older
              ? { name: policy.name, rules: policy.text }
              : { name: policy.name, policy: policy.text },
            warnings: deps.policies.warnings(policy.name),
          };
        },
        write: (request) => write(deps, request),
        delete: async ({ fields }) => {
          await deps.policies.delete(nameOf(fields.text("name")));
          return undefined;
        },
      },
      synopsis: "One policy.",
      description: "HCL or JSON: which capabilities its tokens have on which paths.",
    }),
  ];
}

async function write(
  deps: SystemDeps,
  { fields }: PathRequest,
): Promise<LogicalResponse | undefined> {
  const text = fields.text("policy") || fields.text("rules") || "";
  if (text === "")
    throw new StewardError("invalid", "'policy' parameter not supplied or empty", {
      field: "policy",
    });
  const { warnings } = await deps.policies.write(nameOf(fields.text("name")), text);
  return warnings.length === 0 ? undefined : { warnings };
}

function nameOf(text: string | undefined): string {
  const name = (text ?? "").toLowerCase();
  if (name === "") throw new StewardError("invalid", "the policy needs a name", { field: "name" });
  return name;
}

function capabilities(deps: SystemDeps): Path[] {
  const path = (
    pattern: string,
    whose: (request: PathRequest) => TokenEntry | undefined,
    synopsis: string,
  ): Path =>
    definePath({
      pattern,
      fields: CapabilitiesFieldsSchema,
      coerce: { paths: "comma_list", path: "comma_list" },
      unknown: "warn",
      operations: {
        write: async (request) => ({ data: await capabilitiesOf(deps, request, whose(request)) }),
      },
      synopsis,
      description: "For each requested path, sorted; `deny` for none.",
    });
  return [
    path("capabilities-self", (request) => callerOf(request).entry, "What this token may do."),
    path(
      "capabilities",
      ({ fields }) => {
        const token = fields.text("token") ?? "";
        if (token === "") throw new StewardError("invalid", "missing token", { field: "token" });
        return deps.tokens.lookup(Secret.of(token, "token"));
      },
      "What a token may do.",
    ),
    path(
      "capabilities-accessor",
      ({ fields }) => deps.tokens.byAccessor(fields.text("accessor") ?? ""),
      "What the token of an accessor may do.",
    ),
  ];
}

async function capabilitiesOf(
  deps: SystemDeps,
  { fields }: PathRequest,
  entry: TokenEntry | undefined,
): Promise<Data> {
  const paths = [...(fields.texts("paths") ?? []), ...(fields.texts("path") ?? [])].map((path) =>
    path.replace(/^\//, ""),
  );
  if (paths.length === 0)
    throw new StewardError("invalid", "paths must be supplied", { field: "paths" });
  if (entry === undefined) throw new StewardError("invalid", "invalid token", { field: "token" });
  const acl = deps.policies.acl(entry.policies);
  const data: Record<string, unknown> = Object.fromEntries(
    await mapInTurns(paths, new Turns(), (path) => [path, acl.capabilities(path)] as const),
  );
  if (paths.length === 1) data["capabilities"] = acl.capabilities(paths[0] ?? "");
  return data;
}
