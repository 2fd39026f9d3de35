/** The page `/tokens`: what mints, for whom, whether it can, and what was refused. */
import type {
  TokensCheck,
  TokensLease,
  TokensMount,
  TokensPermissionSet,
  TokensQuota,
  TokensRefusal,
  TokensReport,
} from "../../../src/gen/tokens-json.ts";
import { formatCount, formatSome } from "../format.ts";
import { html, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { figures } from "../pieces/card.ts";
import { keyValues, listView, type KeyValue } from "../pieces/key-values.ts";
import { empty, part } from "../pieces/section.ts";
import { badge, stateText, type State } from "../pieces/state.ts";
import { table } from "../pieces/table.ts";
import { moment } from "../pieces/time.ts";
import { banner, problemBanner } from "../review/words.ts";

export interface TokensFacts {
  /** Undefined when it could not be read. */
  readonly report: TokensReport | undefined;
  /** Why not. */
  readonly problem?: string | undefined;
  /** The report may be outdated. */
  readonly stale?: boolean;
}

export function tokensPage({ report, problem = "", stale }: TokensFacts, state: PageState): View {
  return html`<div class=${stale === true ? "stack was" : "stack"}>
    <h2>Tokens</h2>
    ${report === undefined ? problemBanner("The tokens service", problem) : body(report, state)}
  </div>`;
}

function body(report: TokensReport, state: PageState): View {
  if (report.sealed)
    return html`<div class="stack">
      ${banner(
        "bad",
        html`<span><strong>The store of tokens is sealed.</strong> Nothing can be minted or revoked until it has its key: <code>bao operator unseal</code> with the key or with enough key shares, or the file that <code>tokens.seal.key_file</code> names.</span>`,
      )}
      ${refusals(report.refusals, state)}
    </div>`;
  return html`<div class="stack">
    <section class="card" aria-label="All mounts">${figures([
      { label: "Live leases", value: formatCount(report.leases) },
      { label: "Mounts", value: formatCount(report.mounts.length) },
      {
        label: "Permission sets",
        value: formatCount(
          report.mounts.reduce((sum, mount) => sum + mount.permission_sets_total, 0),
        ),
      },
      { label: "Irrevocable", value: formatCount(report.irrevocable) },
      { label: "Orphans", value: formatCount(report.orphans) },
    ])}</section>
    ${
      report.mounts.length === 0
        ? empty(
            html`<span>Nothing is mounted. Mount the engine with <code>bao secrets enable -path=github github</code>, or name it in <code>tokens.mounts</code>.</span>`,
          )
        : report.mounts.map((mount) => mountPart(mount, state))
    }
    ${leases(report, state)}
    ${refusals(report.refusals, state)}
  </div>`;
}

function mountPart(mount: TokensMount, state: PageState): View {
  const [shape, word] = verdict(mount);
  return html`<section class="part" aria-label=${`mount ${mount.path}`}>
    <h3>${mount.path} ${badge(shape, word)}</h3>
    ${mount.description === "" ? undefined : html`<p class="note">${mount.description}</p>`}
    ${mount.problem === undefined ? undefined : banner("bad", html`<span><strong>This mount could not be read.</strong> ${mount.problem}</span>`)}
    ${
      mount.configured
        ? keyValues([
            ["App", String(mount.app_id)],
            ["API", mount.base_url],
            ["Ceiling", permissions(mount.max_permissions, "no limit")],
            ...cacheRows(mount),
            [
              "Examined",
              mount.checked_at === undefined ? "under way" : moment(mount.checked_at, state),
            ],
            ...mount.quotas.map((quota) => quotaRow(quota, state)),
            ...mount.checks.map(checkRow),
          ])
        : mount.problem === undefined
          ? empty(
              html`<span>No app is configured. Write its number and key: <code>${`bao write ${mount.path}config app_id=… prv_key=@key.pem`}</code></span>`,
            )
          : undefined
    }
    ${mount.configured ? sets(mount, state) : undefined}
  </section>`;
}

function verdict({ configured, problem, checks: found }: TokensMount): readonly [State, string] {
  if (problem !== undefined) return ["bad", "not readable"];
  if (!configured) return ["notice", "not configured"];
  if (found.length === 0) return ["unknown", "being examined"];
  return found.every(({ ok }) => ok) ? ["good", "can mint"] : ["bad", "cannot mint"];
}

function cacheRows({ token_cache_min_ttl: minTtl }: TokensMount): readonly KeyValue[] {
  return minTtl === undefined
    ? []
    : [["Token cache", `equal requests share a token with at least ${minTtl} to live`]];
}

/** Less than a tenth left is worth a look. */
const FEW_SHARE = 0.1;

function quotaRow(quota: TokensQuota, state: PageState): KeyValue {
  const { installation_id: id, limit, remaining } = quota;
  const shape = remaining < limit * FEW_SHARE ? "notice" : "good";
  return [
    `Calls left to installation ${id}`,
    html`<span>${stateText(shape, `${formatCount(remaining)} of ${formatCount(limit)}`)}<small>asked ${moment(quota.at, state)}, whole again ${moment(quota.reset_at, state)}</small></span>`,
  ];
}

function checkRow({ name, ok, detail, remedy }: TokensCheck): KeyValue {
  const shape = !ok ? "bad" : remedy === undefined ? "good" : "notice";
  return [
    stateText(shape, name),
    html`<span>${detail}${remedy === undefined ? undefined : html`<small>${remedy}</small>`}</span>`,
  ];
}

function sets(mount: TokensMount, state: PageState): View {
  const { permission_sets: rows, permission_sets_total: total } = mount;
  const id = `sets-${mount.path.replaceAll(/[^A-Za-z0-9]+/g, "-")}`;
  const left = total - rows.length;
  return html`<div class="stack tight">${table<TokensPermissionSet>(
    {
      id,
      what: "permission sets",
      rows,
      keyOf: ({ name }) => name,
      empty: html`<span>No permission set: tokens have what their request asks for. Write one with <code>${`bao write ${mount.path}permissionset/NAME …`}</code></span>`,
      columns: [
        {
          key: "name",
          title: "Permission set",
          text: ({ name }) => name,
          cell: ({ name }) => name,
        },
        {
          key: "where",
          title: "Installation",
          text: where,
          cell: where,
        },
        {
          key: "permissions",
          title: "Permissions",
          text: ({ permissions: all }) => words(all).join(" "),
          cell: permissionsCell,
        },
        {
          key: "repositories",
          title: "Repositories",
          text: ({ repositories }) => repositories.join(" "),
          order: ({ repositories_total: count }) => count,
          cell: repositoriesCell,
        },
      ],
    },
    state,
  )}${left > 0 ? html`<p class="note">${formatSome(left, "further set")} not shown.</p>` : undefined}</div>`;
}

function permissionsCell({
  permissions: all,
  above_ceiling: above = [],
}: TokensPermissionSet): View {
  const shown = permissions(all, "all of the installation");
  return above.length === 0
    ? shown
    : html`<span>${shown}<small>${stateText("bad", `refused: ${above.join(", ")} is above the ceiling`)}</small></span>`;
}

function where({ org_name: org, installation_id: id }: TokensPermissionSet): string {
  return org ?? (id === undefined ? "–" : `installation ${id}`);
}

function repositoriesCell({ repositories, repositories_total: total }: TokensPermissionSet): View {
  const more = total - repositories.length;
  return html`<span>${listView(repositories, "all")}${more > 0 ? ` and ${formatSome(more, "other")}` : ""}</span>`;
}

function permissions(all: Readonly<Record<string, string>> | undefined, none: string): View {
  return listView(words(all), none);
}

function words(all: Readonly<Record<string, string>> | undefined): readonly string[] {
  return Object.entries(all ?? {})
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, level]) => `${name}=${level}`);
}

/** The hash is what GitHub's audit log has of the token, so that it can be searched for. */
function leaseCell({ id, hashed_token: hash }: TokensLease): View {
  const known = hash === undefined ? undefined : html`<small>hash <code>${hash}</code></small>`;
  return html`<span><code>${id}</code>${known}</span>`;
}

function liveText(shared: boolean | undefined): string {
  return shared === true ? "live, may share its token" : "live";
}

function leases({ leases: total, newest_leases: rows }: TokensReport, state: PageState): View {
  return part(
    "Live leases",
    table<TokensLease>(
      {
        id: "leases",
        what: "leases",
        rows,
        keyOf: ({ id }) => id,
        empty: "No token is out. A lease is listed here from its mint until its token is revoked.",
        columns: [
          { key: "path", title: "Minted by", text: ({ path }) => path, cell: ({ path }) => path },
          {
            key: "issued",
            title: "Issued",
            order: ({ issued_at: at }) => Date.parse(at),
            cell: ({ issued_at: at }) => moment(at, state),
          },
          {
            key: "expires",
            title: "Ends",
            order: ({ expires_at: at }) => Date.parse(at),
            cell: ({ expires_at: at }) => moment(at, state),
          },
          {
            key: "state",
            title: "State",
            text: ({ irrevocable, shared }) => irrevocable ?? liveText(shared),
            cell: ({ irrevocable, shared }) =>
              irrevocable === undefined
                ? stateText("good", liveText(shared))
                : html`<span>${stateText("bad", "irrevocable")}<small>${irrevocable}</small></span>`,
          },
          {
            key: "id",
            title: "Lease",
            text: ({ id, hashed_token: hash = "" }) => `${id} ${hash}`,
            cell: leaseCell,
          },
        ],
      },
      state,
    ),
    total > rows.length
      ? `The newest ${formatCount(rows.length)} of ${formatCount(total)}. steward leases list shows all of them.`
      : undefined,
  );
}

function refusals(rows: readonly TokensRefusal[], state: PageState): View {
  return part(
    "Last refused mints",
    table<TokensRefusal & { readonly key: string }>(
      {
        id: "refusals",
        what: "refusals",
        rows: rows.map((row, index) => ({ ...row, key: `${row.at} ${index}` })),
        keyOf: ({ key }) => key,
        empty: "No mint was refused since Steward started.",
        columns: [
          {
            key: "at",
            title: "When",
            order: ({ at }) => Date.parse(at),
            cell: ({ at }) => moment(at, state),
          },
          { key: "path", title: "Request", text: ({ path }) => path, cell: ({ path }) => path },
          {
            key: "code",
            title: "Cause",
            text: ({ code, message }) => `${code} ${message}`,
            cell: ({ code, message }) => html`<span><code>${code}</code> ${message}</span>`,
          },
          {
            key: "remedy",
            title: "Remedy",
            text: ({ remedy = "" }) => remedy,
            cell: ({ remedy }) => remedy,
          },
        ],
      },
      state,
    ),
    "Since the start, the newest 50. Who asked is in the audit log.",
  );
}
