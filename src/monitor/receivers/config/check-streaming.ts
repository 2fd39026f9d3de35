/** Rules over the keys of the streaming receiver, the networks and the log collectors. */
import { formatAddress, isLoopback } from "../../../kernel/config/values/address.ts";
import type { Config } from "../../../kernel/config/config.ts";
import type { Finding } from "../../../kernel/config/findings.ts";
import { atKey, isChanged } from "../../../kernel/config/checks/key-finding.ts";
import type { Check } from "../../../kernel/config/load.ts";
import { auditlogsKeys, flowlogsKeys } from "../../collectors/log-sections.ts";
import { networks } from "../../config/network-keys.ts";
import { provider } from "../../config/provider-keys.ts";
import { streaming, streamingRoutes, streamingSchema } from "./stream-keys.ts";

const logs = [flowlogsKeys, auditlogsKeys];

/** Off loopback a credential is required; routes fit the networks; sources fit the receiver. */
export const checkStreaming: Check = {
  needs: [
    ...streamingSchema,
    networks,
    provider,
    ...logs.flatMap(({ enabled, source }) => [enabled, source]),
  ],
  run(config) {
    if (!config.get(streaming.enabled)) return [...withoutReceiver(config), ...unused(config)];
    return [...routing(config), ...credentials(config), ...twice(config)];
  },
};

function withoutReceiver(config: Config): Finding[] {
  return logs
    .filter(
      ({ enabled, source }) =>
        config.get(enabled) && ["stream", "both"].includes(config.get(source)),
    )
    .map(({ source }) =>
      atKey(config, source, "error", {
        rule: `is ${config.get(source)}, and streaming.enabled is false`,
        remedy: "set streaming.enabled, or poll.",
      }),
    );
}

function unused(config: Config): Finding[] {
  const written = streamingSchema.find(
    (key) => key.path !== streaming.enabled.path && isChanged(config, key),
  );
  return written === undefined
    ? []
    : [
        atKey(config, written, "warning", {
          rule: "is ignored: streaming.enabled is false",
          remedy: "set it to true.",
        }),
      ];
}

/** One network has one path; several have a route each. Headscale does not stream. */
function routing(config: Config): Finding[] {
  const listed = config.list(networks);
  const routes = config.list(streamingRoutes);
  const kindOf = (index: number): string => listed[index]?.provider ?? config.get(provider);
  if (listed.length <= 1) {
    const findings: Finding[] = [];
    if (routes.length > 0)
      findings.push(
        atKey(config, streamingRoutes, "error", {
          rule: "is for several networks, and there is one",
          remedy: "use streaming.path and streaming.token.",
        }),
      );
    if (kindOf(0) === "headscale")
      findings.push(
        atKey(config, streaming.enabled, "error", {
          rule: "is true, and Headscale does not stream logs",
          remedy: "set it to false.",
        }),
      );
    return findings;
  }
  return [
    ...[streaming.path, streaming.token]
      .filter((key) => isChanged(config, key))
      .map((key) =>
        atKey(config, key, "error", {
          rule: "is for a single network, and there are several",
          remedy: "write it in streaming.routes.",
        }),
      ),
    ...(routes.length > 0
      ? []
      : [
          atKey(config, streamingRoutes, "error", {
            rule: "is empty, and there are several networks",
            remedy: "give each network that streams a route.",
          }),
        ]),
    ...routes.flatMap(({ network }, index): Finding[] => {
      const at = listed.findIndex(({ name }) => name === network);
      if (at !== -1 && kindOf(at) !== "headscale") return [];
      return [
        atKey(
          config,
          streamingRoutes,
          "error",
          at === -1
            ? { rule: "is none of the networks", remedy: "use a name of networks[].name." }
            : { rule: "is a Headscale, which does not stream logs", remedy: "remove the route." },
          `[${index}].network`,
        ),
      ];
    }),
  ];
}

/** A receiver that other machines reach needs its credential; on this machine it gets a warning. */
function credentials(config: Config): Finding[] {
  const listen = config.get(streaming.listen);
  const open = isLoopback(listen.host);
  const rule = open
    ? "is missing: every program of this machine may send records"
    : `is missing, and ${formatAddress(listen)} can be reached from other machines`;
  const severity = open ? "warning" : "error";
  const routes = config.list(streamingRoutes);
  if (routes.length === 0)
    return config.get(streaming.token) === undefined
      ? [
          atKey(config, streaming.token, severity, {
            rule,
            remedy: open
              ? "set STEWARD_STREAMING__TOKEN_FILE."
              : "set STEWARD_STREAMING__TOKEN_FILE, or listen on 127.0.0.1.",
          }),
        ]
      : [];
  return routes.flatMap(({ token }, index) =>
    token === undefined
      ? [
          atKey(
            config,
            streamingRoutes,
            severity,
            { rule, remedy: "name its file with token_file." },
            `[${index}].token`,
          ),
        ]
      : [],
  );
}

/** Records that are polled too count once only while the deduplication set remembers them. */
function twice(config: Config): Finding[] {
  return logs
    .filter(
      ({ enabled, source }) => config.get(enabled) && ["poll", "both"].includes(config.get(source)),
    )
    .map(({ source }) =>
      atKey(config, source, "warning", {
        rule: `is ${config.get(source)}, and streaming.enabled is true: a record that comes both ways counts once only while the deduplication set remembers it`,
        remedy: "set it to stream.",
      }),
    );
}
