/** Rules over the keys of the streaming receiver, the networks and the log collectors. */
import type { Config } from "../../../kernel/config/config.ts";
import type { Finding } from "../../../kernel/config/findings.ts";
import { atKey } from "../../../kernel/config/checks/key-finding.ts";
import type { Check } from "../../../kernel/config/load.ts";
import { auditlogsKeys, flowlogsKeys } from "../../collectors/log-sections.ts";
import { networks } from "../../config/network-keys.ts";
import { provider } from "../../config/provider-keys.ts";
import {
  checkCredential,
  checkRouting,
  unusedReceiver,
  type ReceiverKeys,
} from "./receiver-checks.ts";
import { streaming, streamingRoutes, streamingSchema } from "./stream-keys.ts";

const logs = [flowlogsKeys, auditlogsKeys];
const keys: ReceiverKeys = {
  name: "streaming",
  enabled: streaming.enabled,
  listen: streaming.listen,
  credential: streaming.token,
  member: "token",
  routes: streamingRoutes,
  schema: streamingSchema,
  single: [streaming.path, streaming.token, streaming.publicUrl, streaming.autoConfigure],
  missing: "does not stream logs",
};

/** Off loopback a credential is required; routes fit the networks; sources fit the receiver. */
export const checkStreaming: Check = {
  needs: [
    ...streamingSchema,
    networks,
    provider,
    ...logs.flatMap(({ enabled, source }) => [enabled, source]),
  ],
  run(config) {
    if (!config.get(streaming.enabled))
      return [...withoutReceiver(config), ...unusedReceiver(config, keys)];
    const routes = config
      .list(streamingRoutes)
      .map(({ network, token }) => ({ network, credential: token }));
    return [
      ...checkRouting(config, keys, routes),
      ...checkCredential(config, keys, routes),
      ...twice(config),
      ...withoutAddress(config),
    ];
  },
};

/** A check of the control plane's streams needs the address to compare with. */
function withoutAddress(config: Config): Finding[] {
  const complaint = {
    rule: "is true, and the public address is not set",
    remedy: "set public_url to the address at which the control plane reaches the receiver.",
  };
  const single =
    config.get(streaming.autoConfigure) && config.get(streaming.publicUrl) === ""
      ? [atKey(config, streaming.autoConfigure, "error", complaint)]
      : [];
  const routes = config
    .list(streamingRoutes)
    .flatMap(({ autoConfigure, publicUrl }, index) =>
      autoConfigure && publicUrl === ""
        ? [atKey(config, streamingRoutes, "error", complaint, `[${index}].auto_configure`)]
        : [],
    );
  return [...single, ...routes];
}

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
