/** Mounts and auth methods: list, enable, tune, disable, and what user interfaces query first. */
import {
  MountFieldsSchema,
  EmptyFieldsSchema,
  UiMountFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Data, Fields, LogicalResponse, Path, PathRequest } from "../../logical/types.ts";
import { callerOf, type HostRequest } from "../auth/context.ts";
import type { Mount, MountTuning } from "../mounts/mounts.ts";
import { ROOT_POLICY } from "../policies/built-in.ts";
import type { AclRules, TokenEntry } from "../types.ts";
import type { SystemDeps } from "./deps.ts";
import { assertFollowed, configData, isEmpty, ttl } from "./mount-settings.ts";

/** Which of the two tables a path works on. */
type Kind = "secret" | "auth";
/** Names under which the engine is known elsewhere. */
const ALIASES: Readonly<Record<string, string>> = { "vault-plugin-secrets-github": "github" };

export function mountPaths(deps: SystemDeps): readonly Path[] {
  return [...tablePaths(deps, "secret"), ...tablePaths(deps, "auth"), ...uiPaths(deps)];
}

function tablePaths(deps: SystemDeps, kind: Kind): Path[] {
  const root = kind === "secret" ? "mounts" : "auth";
  const what = kind === "secret" ? "mount" : "auth method";
  return [
    definePath({
      pattern: root,
      also: [`${root}/`],
      fields: EmptyFieldsSchema,
      operations: {
        read: async () => ({ data: listOf(deps, kind) }),
        list: async () => ({ data: listOf(deps, kind) }),
      },
      synopsis: `Every ${what}.`,
      description: "By path, with accessor, type and times.",
    }),
    definePath({
      pattern: `${root}/:path*`,
      fields: MountFieldsSchema,
      coerce: { config: "any", default_lease_ttl: "any", max_lease_ttl: "any" },
      unknown: "keep",
      ...(kind === "auth" ? { sudo: true as const } : {}),
      operations: {
        read: async ({ fields }) => ({
          data:
            tuned(fields) === undefined
              ? mountInfo(deps, find(deps, kind, pathField(fields)))
              : tuneData(deps, find(deps, kind, tuned(fields) ?? "")),
        }),
        write: async (request) => {
          if (tuned(request.fields) === undefined) return await enable(deps, kind, request);
          await tune(deps, kind, request);
          return undefined;
        },
        delete: async ({ fields }) => {
          await deps.mounts().disable(pathOf(kind, pathField(fields)));
          return undefined;
        },
      },
      synopsis: `One ${what}.`,
      description:
        "POST enables it, DELETE revokes its leases and removes it with all its data; PATH/tune reads and changes its TTLs, description and options, and refuses other settings.",
    }),
  ];
}

const KNOWN: ReadonlySet<string> = new Set(MountFieldsSchema.fields.map(({ name }) => name));

/**
 * Clients send every setting that the original has, most of them empty: only of one that was meant
 * there is a word.
 */
function ignoring(data: Data): LogicalResponse | undefined {
  const names = Object.keys(data)
    .filter((name) => !KNOWN.has(name) && !isEmpty(data[name]))
    .map((name) => name.slice(0, 64))
    .toSorted()
    .slice(0, 20);
  return names.length === 0
    ? undefined
    : { warnings: [`Endpoint ignored these unrecognized parameters: [${names.join(" ")}]`] };
}

function pathField(fields: Fields): string {
  return fields.text("path") ?? "";
}

/** The path before `/tune`; undefined for any other. */
function tuned(fields: Fields): string | undefined {
  return /^(.*[^/])\/tune\/?$/.exec(pathField(fields))?.[1];
}

function tuneData(deps: SystemDeps, mount: Mount): Data {
  return {
    ...configOf(deps, mount),
    description: mount.description,
    ...(Object.keys(mount.options).length === 0 ? {} : { options: mount.options }),
  };
}

async function enable(
  deps: SystemDeps,
  kind: Kind,
  { fields, data }: PathRequest,
): Promise<LogicalResponse | undefined> {
  const type = fields.text("type") || fields.text("plugin_name") || "";
  if (type === "")
    throw new StewardError("invalid", "the backend type must be specified as a string", {
      field: "type",
    });
  const config = configData(fields.raw("config"));
  assertFollowed(config, ["default_lease_ttl", "max_lease_ttl"]);
  await deps.mounts().enable({
    path: pathOf(kind, fields.text("path") ?? ""),
    class: kind,
    type: (Object.hasOwn(ALIASES, type) ? ALIASES[type] : undefined) ?? type,
    description: fields.text("description") ?? "",
    defaultLeaseTtlMs: ttl(config, "default_lease_ttl") ?? 0,
    maxLeaseTtlMs: ttl(config, "max_lease_ttl") ?? 0,
    options: Object.fromEntries(fields.pairs("options") ?? []),
  });
  return ignoring(data);
}

async function tune(deps: SystemDeps, kind: Kind, { fields, data }: PathRequest): Promise<void> {
  const { point, type } = find(deps, kind, tuned(fields) ?? "");
  assertFollowed(data, ["path", "description", "options", "default_lease_ttl", "max_lease_ttl"], {
    type,
  });
  const times: Data = {
    default_lease_ttl: fields.raw("default_lease_ttl"),
    max_lease_ttl: fields.raw("max_lease_ttl"),
  };
  const [description, defaultLeaseTtlMs, maxLeaseTtlMs, options] = [
    fields.text("description"),
    ttl(times, "default_lease_ttl"),
    ttl(times, "max_lease_ttl"),
    data["options"] === null ? undefined : fields.pairs("options"),
  ];
  const change: MountTuning = {
    ...(description === undefined ? {} : { description }),
    ...(defaultLeaseTtlMs === undefined ? {} : { defaultLeaseTtlMs }),
    ...(maxLeaseTtlMs === undefined ? {} : { maxLeaseTtlMs }),
    ...(options === undefined ? {} : { options: Object.fromEntries(options) }),
  };
  await deps.mounts().tune(point, change);
}

function pathOf(kind: Kind, path: string): string {
  return `${kind === "auth" ? "auth/" : ""}${path.replace(/\/$/, "")}/`;
}

function find(deps: SystemDeps, kind: Kind, path: string): Mount {
  const mount = deps.mounts().at(pathOf(kind, path));
  if (mount === undefined)
    throw new StewardError(
      "invalid",
      `No ${kind === "auth" ? "auth" : "secret"} engine mount at ${pathOf(kind, path)}`,
      { field: "path" },
    );
  return mount;
}

function listOf(deps: SystemDeps, kind: Kind): Data {
  const mounts = deps
    .mounts()
    .all()
    .filter(({ class: mountClass }) => (kind === "auth") === (mountClass === "auth"));
  return Object.fromEntries(
    mounts.map((mount) => [
      kind === "auth" ? mount.point.replace(/^auth\//, "") : mount.point,
      mountInfo(deps, mount),
    ]),
  );
}

/** A mount as the list shows it. */
function mountInfo(deps: SystemDeps, mount: Mount): Record<string, unknown> {
  return {
    accessor: mount.accessor,
    config: configOf(deps, mount),
    description: mount.description,
    external_entropy_access: false,
    local: false,
    options: Object.keys(mount.options).length === 0 ? null : mount.options,
    plugin_version: "",
    running_plugin_version: deps.version,
    running_sha256: "",
    seal_wrap: false,
    type: mount.type,
    uuid: mount.uuid,
  };
}

function configOf(deps: SystemDeps, mount: Mount): Record<string, unknown> {
  const effective = deps.mounts().limits(mount);
  return {
    default_lease_ttl: seconds(effective.defaultLeaseTtlMs),
    force_no_cache: false,
    max_lease_ttl: seconds(effective.maxLeaseTtlMs),
    ...(mount.class === "auth" ? { token_type: "default-service" } : {}),
  };
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

/** What clients ask before they show or use a path. */
function uiPaths(deps: SystemDeps): Path[] {
  return [
    definePath({
      pattern: "internal/ui/mounts",
      also: ["internal/ui/mounts/"],
      fields: EmptyFieldsSchema,
      unauthenticated: true,
      operations: { read: async (request) => ({ data: visible(deps, request) }) },
      synopsis: "The mounts that the token can use.",
      description: "Empty without a token.",
    }),
    definePath({
      pattern: "internal/ui/mounts/:path*",
      fields: UiMountFieldsSchema,
      unauthenticated: true,
      operations: { read: async (request) => ({ data: oneVisible(deps, request) }) },
      synopsis: "The mount of a path.",
      description: "Refused when the token can do nothing there.",
    }),
    definePath({
      pattern: "internal/ui/resultant-acl",
      fields: EmptyFieldsSchema,
      operations: {
        read: async (request) => ({ data: resultantAcl(deps, callerOf(request).entry) }),
      },
      synopsis: "What the token may do, path by path.",
      description: "All its policies together; `root` for a root token.",
    }),
  ];
}

function resultantAcl({ policies }: SystemDeps, { policies: names }: TokenEntry): Data {
  const { exact, glob } = policies.acl(names).rules();
  const paths = (rules: AclRules["exact"]): Data =>
    Object.fromEntries(Array.from(rules, ([path, capabilities]) => [path, { capabilities }]));
  return { root: names.includes(ROOT_POLICY), exact_paths: paths(exact), glob_paths: paths(glob) };
}

function visible(deps: SystemDeps, request: HostRequest): Data {
  const policies = request.token?.entry.policies;
  const acl = policies === undefined ? undefined : deps.policies.acl(policies);
  const shown = deps
    .mounts()
    .all()
    .filter((mount) => acl?.anyBelow(mount.point) === true);
  const part = (kind: boolean): Data =>
    Object.fromEntries(
      shown
        .filter((mount) => (mount.class === "auth") === kind)
        .map((mount) => [
          kind ? mount.point.replace(/^auth\//, "") : mount.point,
          mountInfo(deps, mount),
        ]),
    );
  return { auth: part(true), secret: part(false) };
}

function oneVisible(deps: SystemDeps, request: PathRequest & HostRequest): Data {
  const path = request.fields.text("path") ?? "";
  const found = deps.mounts().match(path);
  const entry = request.token?.entry;
  if (
    found === undefined ||
    entry === undefined ||
    !deps.policies.acl(entry.policies).anyBelow(found.mount.point)
  ) {
    throw new StewardError(
      "denied",
      `preflight capability check returned 403, please ensure client's policies grant access to path ${JSON.stringify(found?.mount.point ?? `${path.replace(/\/*$/, "")}/`)}`,
      { rule: "policy" },
    );
  }
  return { ...mountInfo(deps, found.mount), path: found.mount.point };
}
