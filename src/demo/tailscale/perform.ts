/** Performs one request after faults are applied: authentication, authorization, response. */
import { headerOf, json, type Call, type Reply } from "../control-plane/reply.ts";
import type { Network } from "../network/network.ts";
import { INVALID_TOKEN, NO_TAILNET, NOT_FOUND, refuse, SCOPE_MISSING } from "./answers.ts";
import type { Caller, Credentials } from "./credentials.ts";
import { attributesObject, deviceInvites } from "./devices.ts";
import {
  contactsObject,
  dnsObject,
  keysObject,
  oauthAppsObject,
  postureObject,
  serviceHosts,
  servicesObject,
  settingsObject,
  streamStatus,
  tailnetNumber,
  userInvites,
  usersObject,
  webhooksObject,
} from "./inventory.ts";
import type { DeviceList } from "./device-list.ts";
import type { Limiter } from "./limiter.ts";
import { auditLogs, flowLogs, windowOf } from "./logs.ts";
import { opens, type Operation } from "./operations.ts";
import { etagOf, type Overlay } from "./overlay.ts";
import { parsePolicy, validatePolicy } from "./policy-check.ts";
import type { Feature, StreamType } from "./types.ts";

/** What a control plane consists of. */
export interface Parts {
  readonly network: Network;
  readonly deviceList: DeviceList;
  readonly credentials: Credentials;
  readonly limiter: Limiter;
  readonly overlay: Overlay;
  readonly embedNodes: boolean;
  readonly inviteIdsAsText: boolean;
}

interface PerformContext {
  readonly call: Call<Operation>;
  readonly caller: Caller;
  readonly parts: Parts;
}

/** What the plan must have, and the status when it lacks it. */
const FEATURES: Readonly<
  Partial<Record<Operation, readonly [feature: Feature, status: number, message: string]>>
> = {
  flow_logs: ["flow_logs", 403, "network flow logging is not enabled for this tailnet"],
  audit_logs: ["audit_logs", 404, "not found"],
  webhooks: ["webhooks", 404, "not found"],
  posture_integrations: ["posture_integrations", 404, "not found"],
  stream_status: ["log_streaming", 404, "not found"],
  get_stream: ["log_streaming", 404, "not found"],
  set_stream: ["log_streaming", 404, "not found"],
  services: ["services", 404, "not found"],
  service_hosts: ["services", 404, "not found"],
  oauth_apps: ["oauth_apps", 404, "not found"],
};

const BY_DEVICE: readonly Operation[] = ["attributes", "device_invites"];

/** Never throws for what a client may send. */
export function perform(call: Call<Operation>, parts: Parts): Reply {
  const limited = parts.limiter.spend(call.nowMs);
  if (limited !== undefined) return limited;
  if (call.operation === "token") return parts.credentials.token(call);
  if (call.operation === "token_exchange") return parts.credentials.exchange(call);
  const caller = parts.credentials.caller(call);
  if (caller === undefined) return INVALID_TOKEN;
  const reply = closed(call, caller, parts) ?? operate({ call, caller, parts });
  const change = parts.overlay.changes.get(call.operation);
  return change === undefined || reply.status !== 200 || reply.body === undefined
    ? reply
    : { ...reply, body: JSON.stringify(change(JSON.parse(reply.body.toString()))) };
}

function closed(
  { operation, params }: Call<Operation>,
  caller: Caller,
  { network, overlay }: Parts,
): Reply | undefined {
  if (operation === "unknown") return NOT_FOUND;
  if (
    !BY_DEVICE.includes(operation) &&
    !["-", network.domain, network.tailnetId].includes(params[0] ?? "")
  )
    return NO_TAILNET;
  if (!opens(caller.scopes, operation)) return SCOPE_MISSING;
  const needed = FEATURES[operation];
  return needed !== undefined && overlay.absent.has(needed[0])
    ? refuse(needed[1], needed[2])
    : undefined;
}

function operate(context: PerformContext): Reply {
  const {
    call: { operation, nowMs },
    caller,
    parts: { network, overlay, inviteIdsAsText },
  } = context;
  switch (operation) {
    case "devices":
      return devices(context);
    case "attributes":
    case "device_invites":
      return ofDevice(context);
    case "users":
      return json(usersObject(network, nowMs));
    case "user_invites":
      return json(userInvites(network, nowMs, inviteIdsAsText));
    case "keys":
      return json(
        keysObject(network, nowMs, {
          scopes: caller.scopes,
          kind: caller.kind,
          all: context.call.query.get("all") === "true",
        }),
      );
    case "settings":
      return json(settingsObject(caller.scopes, nowMs, !overlay.absent.has("flow_logs")));
    case "acl":
      return policy(context);
    case "acl_validate":
      return validate(context);
    case "dns":
      return json(dnsObject(network, nowMs));
    case "contacts":
      return json(contactsObject(network));
    case "webhooks":
      return json(webhooksObject(network, nowMs));
    case "posture_integrations":
      return json(postureObject(network, nowMs));
    case "stream_status":
    case "get_stream":
    case "set_stream":
      return stream(context);
    case "oauth_apps":
      return json(oauthAppsObject(network));
    case "services":
      return json(servicesObject());
    case "service_hosts":
      return hosts(context);
    case "flow_logs":
    case "audit_logs":
      return logs(context);
    default:
      return NOT_FOUND;
  }
}

function devices({ call: { query, nowMs }, parts: { deviceList } }: PerformContext): Reply {
  const fields = query.get("fields") ?? "default";
  if (fields !== "all" && fields !== "default") return refuse(400, "fields must be all or default");
  return { status: 200, body: deviceList.body(fields, nowMs) };
}

function ofDevice({
  call: { operation, params, nowMs },
  parts: { network },
}: PerformContext): Reply {
  const device = network.devices.find(params[0] ?? "", nowMs);
  if (device === undefined) return NOT_FOUND;
  return json(
    operation === "attributes"
      ? attributesObject(device, nowMs)
      : deviceInvites(device, tailnetNumber(network)),
  );
}

function policy({ call, parts: { network, overlay } }: PerformContext): Reply {
  const text = overlay.policy ?? network.policy(call.nowMs);
  const etag = etagOf(text);
  if (headerOf(call, "accept") === "application/json")
    return json(parsePolicy(text) ?? {}, 200, { etag });
  return { status: 200, body: text, headers: { etag, "content-type": "application/hujson" } };
}

function validate({ call, parts: { network, overlay } }: PerformContext): Reply {
  const findings = validatePolicy(call.body, overlay.policy ?? network.policy(call.nowMs));
  return findings === undefined ? refuse(400, "invalid policy file") : json(findings);
}

function stream({
  call: { operation, params, body, nowMs },
  parts: { overlay },
}: PerformContext): Reply {
  const type = params[1];
  if (type !== "network" && type !== "configuration") return NOT_FOUND;
  if (operation === "set_stream") return setStream(type, body, overlay);
  if (!overlay.streams.has(type)) return NOT_FOUND;
  return json(
    operation === "get_stream"
      ? { logType: type, ...(overlay.streamTargets.get(type) ?? OTHER_STREAM) }
      : streamStatus(type, nowMs),
  );
}

/** Of streams that were there from the begin. */
const OTHER_STREAM = { destinationType: "datadog", url: "https://logs.example.org/intake" };

function setStream(type: StreamType, body: string, overlay: Overlay): Reply {
  const { destinationType, url } = parsePolicy(body) ?? {};
  if (typeof destinationType !== "string" || typeof url !== "string" || !/^https?:\/\//.test(url))
    return refuse(400, "destinationType and url are required");
  overlay.streams = new Set([...overlay.streams, type]);
  overlay.streamTargets.set(type, { destinationType, url });
  return { status: 200, body: "" };
}

function hosts({ call: { params, nowMs }, parts: { network } }: PerformContext): Reply {
  const found = serviceHosts(network, params[1] ?? "", nowMs);
  return found === undefined ? NOT_FOUND : json(found);
}

function logs({
  call: { operation, query, nowMs },
  parts: { network, overlay, embedNodes },
}: PerformContext): Reply {
  const window = windowOf(query);
  if ("wrong" in window) return refuse(400, window.wrong);
  const found =
    operation === "flow_logs"
      ? flowLogs(network, window, { nowMs, embed: embedNodes, added: overlay.flows })
      : auditLogs(network, window, { nowMs, added: overlay.events });
  return found === undefined ? refuse(400, "too many records in the time range") : json(found);
}
