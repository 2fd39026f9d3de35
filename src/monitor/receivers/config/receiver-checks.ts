/** Rules that both receivers follow: off loopback a credential, and routes that fit the networks. */
import type { Secret } from "../../../kernel/base/secret.ts";
import { formatAddress, isLoopback, type Address } from "../../../kernel/config/values/address.ts";
import type { Config } from "../../../kernel/config/config.ts";
import type { Finding } from "../../../kernel/config/findings.ts";
import { atKey, isChanged } from "../../../kernel/config/checks/key-finding.ts";
import type { Key, Schema } from "../../../kernel/config/key.ts";
import { networks } from "../../config/network-keys.ts";
import { provider } from "../../config/provider-keys.ts";

/** What the rules must know of a receiver. */
export interface ReceiverKeys {
  /** Its section, e.g. `streaming`. */
  readonly name: string;
  readonly enabled: Key<boolean>;
  readonly listen: Key<Address>;
  readonly credential: Key<Secret | undefined>;
  /** Name of the credential in a route: `token` or `secret`. */
  readonly member: string;
  readonly routes: Key<readonly object[]>;
  readonly schema: Schema;
  /** Keys that routes replace. */
  readonly single: readonly Key<unknown>[];
  /** What Headscale does not do, e.g. `does not stream logs`. */
  readonly missing: string;
}

/** A route as the rules see it. */
interface Route {
  readonly network: string;
  readonly credential: Secret | undefined;
}

/** Settings of a receiver that is off. */
export function unusedReceiver(config: Config, { enabled, schema }: ReceiverKeys): Finding[] {
  const written = schema.find((key) => key.path !== enabled.path && isChanged(config, key));
  return written === undefined
    ? []
    : [
        atKey(config, written, "warning", {
          rule: `is ignored: ${enabled.path} is false`,
          remedy: "set it to true.",
        }),
      ];
}

/** One network uses the plain keys, several have a route each; none is a Headscale. */
export function checkRouting(
  config: Config,
  keys: ReceiverKeys,
  routes: readonly Route[],
): Finding[] {
  const listed = config.list(networks);
  const isHeadscale = (index: number): boolean =>
    (listed[index]?.provider ?? config.get(provider)) === "headscale";
  const single = keys.single.map(({ path }) => path).join(" and ");
  if (listed.length <= 1) {
    return [
      ...(routes.length === 0
        ? []
        : [
            atKey(config, keys.routes, "error", {
              rule: "is for several networks, and there is one",
              remedy: `use ${single}.`,
            }),
          ]),
      ...(isHeadscale(0)
        ? [
            atKey(config, keys.enabled, "error", {
              rule: `is true, and Headscale ${keys.missing}`,
              remedy: "set it to false.",
            }),
          ]
        : []),
    ];
  }
  return [
    ...keys.single
      .filter((key) => isChanged(config, key))
      .map((key) =>
        atKey(config, key, "error", {
          rule: "is for a single network, and there are several",
          remedy: `write it in ${keys.routes.path}.`,
        }),
      ),
    ...(routes.length > 0
      ? []
      : [
          atKey(config, keys.routes, "error", {
            rule: "is empty, and there are several networks",
            remedy: "give each network that sends a route.",
          }),
        ]),
    ...routes.flatMap(({ network }, index): Finding[] => {
      const at = listed.findIndex(({ name }) => name === network);
      if (at !== -1 && !isHeadscale(at)) return [];
      return [
        atKey(
          config,
          keys.routes,
          "error",
          at === -1
            ? { rule: "is none of the networks", remedy: "use a name of networks[].name." }
            : { rule: `is a Headscale, which ${keys.missing}`, remedy: "remove the route." },
          `[${index}].network`,
        ),
      ];
    }),
  ];
}

/** A receiver that other machines reach needs its credential; on this machine it gets a warning. */
export function checkCredential(
  config: Config,
  keys: ReceiverKeys,
  routes: readonly Route[],
): Finding[] {
  const listen = config.get(keys.listen);
  const isLocal = isLoopback(listen.host);
  const rule = isLocal
    ? "is missing: every program of this machine may send records"
    : `is missing, and ${formatAddress(listen)} can be reached from other machines`;
  const severity = isLocal ? "warning" : "error";
  if (routes.length === 0) {
    if (config.get(keys.credential) !== undefined) return [];
    const variable = `STEWARD_${keys.name.toUpperCase()}__${keys.member.toUpperCase()}_FILE`;
    return [
      atKey(config, keys.credential, severity, {
        rule,
        remedy: isLocal ? `set ${variable}.` : `set ${variable}, or listen on 127.0.0.1.`,
      }),
    ];
  }
  return routes.flatMap(({ credential }, index) =>
    credential === undefined
      ? [
          atKey(
            config,
            keys.routes,
            severity,
            { rule, remedy: `name its file with ${keys.member}_file.` },
            `[${index}].${keys.member}`,
          ),
        ]
      : [],
  );
}
