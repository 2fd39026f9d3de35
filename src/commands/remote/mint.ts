/** `steward mint`: a GitHub token on standard output, for scripts. */
import { pathOf } from "../../kernel/client/http/url.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import type { CommandContext } from "../command.ts";
import { sameDaemon, type RemoteArguments } from "./options.ts";
import { runRemote } from "./run.ts";
import { formatWhen } from "./table.ts";
import { encodedPath } from "./vault-path.ts";
import { vaultHeaders } from "./vault-token.ts";

export interface MintArguments extends RemoteArguments {
  readonly mount: string;
  /** A stored request; then nothing else is sent. */
  readonly set: string | undefined;
  readonly organisation: string | undefined;
  readonly installationId: number | undefined;
  readonly repositories: readonly string[];
  /** `contents=read`. */
  readonly permissions: readonly string[];
}

interface MintAnswer {
  readonly lease_id: string;
  readonly data: {
    readonly token: string;
    readonly expires_at: string;
    readonly permissions?: Readonly<Record<string, string>>;
    readonly repository_selection?: string;
  };
  readonly warnings: readonly string[] | null;
}

/** Only the token goes to standard output; what it may do and how to revoke it to standard error. */
export function mint(options: MintArguments, context: CommandContext): Promise<number> {
  const headers = vaultHeaders(context.environment);
  return runRemote(options, context, async ({ daemon, signal, print, printJson, nowMs }) => {
    const { mount, set } = options;
    const tokens = `/v1/${encodedPath(mount)}/token`;
    const path = set === undefined ? tokens : tokens + pathOf`/${set}`;
    const answer = await daemon.json<MintAnswer>(
      { method: "POST", path, headers, body: requestOf(options) },
      signal,
    );
    if (printJson(answer)) return 0;
    const { token, expires_at: expiresAt, permissions = {} } = answer.data;
    print(token);
    const granted = Object.entries(permissions).map(([name, level]) => `${name}=${level}`);
    for (const line of [
      `expires ${formatWhen(expiresAt, nowMs)}; ${answer.data.repository_selection ?? "unknown"} repositories; ${granted.join(",")}`,
      `revoke it: steward leases revoke ${answer.lease_id}${sameDaemon(options)}`,
      ...(answer.warnings ?? []),
    ])
      context.output.stderr(`${printable(line)}\n`);
    return 0;
  });
}

/** The fields that were given; an empty list would mean another thing than an absent one. */
function requestOf(options: MintArguments): Readonly<Record<string, unknown>> {
  const { set, organisation, installationId, repositories, permissions } = options;
  if (set !== undefined) return {};
  return {
    ...(organisation === undefined ? {} : { org_name: organisation }),
    ...(installationId === undefined ? {} : { installation_id: installationId }),
    ...(repositories.length === 0 ? {} : { repositories }),
    ...(permissions.length === 0
      ? {}
      : {
          permissions: Object.fromEntries(
            permissions.map((each) => {
              const at = each.indexOf("=");
              return [each.slice(0, at), each.slice(at + 1)];
            }),
          ),
        }),
  };
}
