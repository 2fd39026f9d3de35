/** One request after its fault: who asks, and what the server answers in its flavour. */
import { headerOf, json, type Call, type Reply } from "../../../src/demo/control-plane/reply.ts";
import type { Ids } from "../../../src/kernel/base/ids.ts";
import { NO_PAGE, v2Trouble, type Answers } from "./answers.ts";
import { nodeObject } from "./nodes.ts";
import { ROUTES, type Operation } from "./operations.ts";
import {
  apiKeyObjects,
  membersOf,
  preAuthKeyObject,
  preAuthKeys,
  userId,
  userObject,
  type PreAuthKey,
  type Wire,
} from "./people.ts";
import { policyInForce, policyReply, type StoredPolicy } from "./policy.ts";
import type { Node, Nodes } from "./state.ts";
import type { HeadscaleKey, PolicyMode } from "./types.ts";
import { ALLOW_ALL, v2Device, v2Etag, v2Keys, v2Routes, v2Settings, v2Users } from "./v2.ts";

/** What a server consists of; the last members change. */
export interface Server {
  readonly wire: Wire;
  readonly nodes: Nodes;
  readonly answers: Answers;
  readonly ids: Ids;
  readonly keys: HeadscaleKey[];
  readonly tokens: Map<string, number>;
  readonly changes: Map<Operation, (body: unknown) => unknown>;
  mode: PolicyMode;
  policy: StoredPolicy | undefined;
}

interface Asked {
  readonly call: Call<Operation>;
  readonly server: Server;
  readonly keys: ReadonlyMap<number, PreAuthKey>;
}

const VERSION = {
  version: "dev",
  commit: "unknown",
  buildTime: "unknown",
  go: { version: "go1.26.8", os: "linux", arch: "amd64" },
  dirty: false,
};
const TOKEN_S = 3600;
const MOST_TOKENS = 1000;
const UNSIGNED = /^\d+$/;

/** Never throws for what a client may send. */
export function perform(call: Call<Operation>, server: Server): Reply {
  const reply =
    early(call, server) ??
    operate({
      call,
      server,
      keys: new Map(preAuthKeys(server.wire.network, call.nowMs).map((key) => [key.id, key])),
    });
  const change = server.changes.get(call.operation);
  return change === undefined || reply.status !== 200 || reply.body === undefined
    ? reply
    : { ...reply, body: JSON.stringify(change(JSON.parse(reply.body.toString()))) };
}

function early(call: Call<Operation>, server: Server): Reply | undefined {
  const {
    answers,
    wire: { flavour },
  } = server;
  const development = flavour === "development";
  const second = call.path.startsWith("/api/v2/");
  if (call.operation === "public_health")
    return {
      status: 200,
      body: '{"status":"pass"}\n',
      headers: { "content-type": "application/health+json" },
    };
  if (call.operation === "version")
    return { ...json(VERSION), body: `${JSON.stringify(VERSION)}\n` };
  if (second && !development) return NO_PAGE;
  if (call.operation === "v2_token") return token(call, server);
  const allowed = ROUTES.methods(call.path);
  // The development flavour looks for the path first, the release for the key.
  if (development && call.operation === "unknown")
    return allowed.length > 0 ? answers.wrongMethod(call.method, allowed) : answers.nowhere();
  if (!(second ? mayUseV2(call, server) : mayUseV1(call, server)))
    return second ? v2Trouble(401, "unauthorized") : answers.unauthorized();
  if (call.operation !== "unknown") return undefined;
  if (allowed.length > 0) return answers.wrongMethod(call.method, allowed);
  return call.path === "/api/v1/node/" ? answers.trouble(badNodeId("")) : answers.nowhere();
}

function mayUseV1(call: Call<Operation>, { keys, wire: { flavour } }: Server): boolean {
  const pattern = flavour === "development" ? /^Bearer +(\S+) *$/ : /^Bearer (\S+)$/;
  const shown = pattern.exec(headerOf(call, "authorization") ?? "")?.[1];
  return keys.some(
    ({ key, expiresAtMs }) =>
      key === shown && expiresAtMs !== "zero" && (expiresAtMs ?? Infinity) > call.nowMs,
  );
}

function mayUseV2(call: Call<Operation>, server: Server): boolean {
  if (mayUseV1(call, server)) return true;
  const [scheme = "", value = ""] = (headerOf(call, "authorization") ?? "").split(" ", 2);
  if (scheme === "Bearer") return (server.tokens.get(value) ?? 0) > call.nowMs;
  const [user = ""] =
    scheme === "Basic" ? Buffer.from(value, "base64").toString().split(":", 1) : [];
  return user !== "" && mayUseV1({ ...call, headers: { authorization: `Bearer ${user}` } }, server);
}

function operate(asked: Asked): Reply {
  const {
    call: { operation, nowMs },
    server,
  } = asked;
  const { answers, wire } = server;
  switch (operation) {
    case "nodes":
      return nodes(asked);
    case "node":
      return node(asked);
    case "users":
      return users(asked);
    case "preauth_keys":
      return answers.success({
        preAuthKeys: [...asked.keys.values()].map((key) => preAuthKeyObject(wire, key)),
      });
    case "api_keys":
      return answers.success({ apiKeys: apiKeyObjects(wire, server.keys) });
    case "policy":
      return policyReply(policyInForce(wire.network, server.policy, nowMs), {
        mode: server.mode,
        flavour: wire.flavour,
        times: wire.times,
        answers,
      });
    case "health":
      return answers.success({ databaseConnectivity: true });
    case "delete_user":
      return answers.trouble({
        status: 400,
        detail: "deleting user",
        causes: ["user not empty: node(s) found"],
        gatewayStatus: 500,
      });
    default:
      return second(asked);
  }
}

function nodes({ call: { query, nowMs }, server, keys }: Asked): Reply {
  const { wire, answers } = server;
  const name = query.get("user") ?? "";
  const owner =
    name === ""
      ? undefined
      : membersOf(wire.network).find(({ loginName }) => loginName.split("@")[0] === name);
  if (name !== "" && owner === undefined)
    return answers.trouble({
      status: 404,
      detail: "listing nodes",
      causes: ["user not found"],
      gatewayStatus: 500,
      gatewayMessage: "user not found",
    });
  const list = server.nodes
    .at(nowMs)
    .filter(
      ({ tags, device }) =>
        owner === undefined || (tags.length === 0 && device.machine.owner === owner),
    );
  return answers.success({ nodes: list.map((each) => nodeObject(wire, each, { keys })) });
}

function node({ call: { params, nowMs }, server, keys }: Asked): Reply {
  const [id = ""] = params;
  if (!UNSIGNED.test(id)) return server.answers.trouble(badNodeId(id));
  const found = server.nodes.at(nowMs).find((each) => each.id === id);
  return found === undefined
    ? server.answers.trouble({ status: 404, detail: "node not found" })
    : server.answers.success({ node: nodeObject(server.wire, found, { keys, alone: true }) });
}

function badNodeId(id: string): { status: number; detail: string } {
  return {
    status: 400,
    detail: `type mismatch, parameter: node_id, error: strconv.ParseUint: parsing ${JSON.stringify(id)}: invalid syntax`,
  };
}

function users({ call: { query }, server: { wire, answers } }: Asked): Reply {
  const [name, email, id] = [
    query.get("name") ?? "",
    query.get("email") ?? "",
    query.get("id") ?? "",
  ];
  if (id !== "" && !UNSIGNED.test(id)) {
    const cause = `strconv.ParseUint: parsing ${JSON.stringify(id)}: invalid syntax`;
    return answers.trouble({
      status: 400,
      detail: "invalid id",
      causes: [cause],
      gatewayMessage: `parsing field "id": ${cause}`,
    });
  }
  const fits = membersOf(wire.network).filter((person) => {
    if (name !== "") return person.loginName.split("@")[0] === name;
    if (email !== "") return person.loginName === email;
    return id === "" || id === "0" || userId(person) === id;
  });
  return answers.success({ users: fits.map((person) => userObject(wire, person)) });
}

function second(asked: Asked): Reply {
  const {
    call: { operation, params, nowMs },
    server,
    keys,
  } = asked;
  const { wire } = server;
  if (operation.startsWith("v2_device") && operation !== "v2_devices") return secondDevice(asked);
  if (operation === "v2_user") {
    const user = v2Users(wire, server.nodes.at(nowMs)).find(
      (each) => "id" in each && each.id === params[0],
    );
    return user === undefined ? v2Trouble(404, "looking up user", ["user not found"]) : line(user);
  }
  if (params[0] !== "-") return v2Trouble(404, "tailnet not found");
  switch (operation) {
    case "v2_devices":
      return line({
        devices: server.nodes
          .at(nowMs)
          .toReversed()
          .map((each) =>
            v2Device(wire, each, { keys, full: asked.call.query.get("fields") === "all" }),
          ),
      });
    case "v2_users":
      return line({ users: v2Users(wire, server.nodes.at(nowMs)) });
    case "v2_keys":
      return line({ keys: v2Keys(wire, [...keys.values()], nowMs) });
    case "v2_settings":
      return line(v2Settings(server.mode === "file" || server.mode === "unset_file"));
    default:
      return secondPolicy(asked);
  }
}

function secondDevice({ call: { operation, params, nowMs }, server, keys }: Asked): Reply {
  const found: Node | undefined = server.nodes.at(nowMs).find(({ id }) => id === params[0]);
  if (found === undefined) return v2Trouble(404, "device not found");
  return line(
    operation === "v2_device"
      ? v2Device(server.wire, found, { keys, full: true })
      : v2Routes(found),
  );
}

function secondPolicy({ call, server }: Asked): Reply {
  const set = server.mode === "database" || server.mode === "file";
  const text = set ? policyInForce(server.wire.network, server.policy, call.nowMs).text : ALLOW_ALL;
  const type =
    headerOf(call, "accept") === "application/hujson" ? "application/hujson" : "application/json";
  return { status: 200, body: text, headers: { "content-type": type, etag: v2Etag(text) } };
}

function token(call: Call<Operation>, { ids, keys, tokens }: Server): Reply {
  const form = new URLSearchParams(call.body);
  const noStore = { "cache-control": "no-store", pragma: "no-cache" };
  const [id = "", secret = ""] =
    /^Basic (.+)$/.exec(headerOf(call, "authorization") ?? "")?.[1] === undefined
      ? [form.get("client_id") ?? "", form.get("client_secret") ?? ""]
      : Buffer.from((headerOf(call, "authorization") ?? "").slice(6), "base64")
          .toString()
          .split(":", 2);
  if (form.get("grant_type") !== "client_credentials")
    return json(
      {
        error: "unsupported_grant_type",
        error_description: "only the client_credentials grant is supported",
      },
      400,
      noStore,
    );
  if (id === "" || !keys.some(({ key }) => key === secret))
    return json(
      { error: "invalid_client", error_description: "invalid client credentials" },
      401,
      noStore,
    );
  const text = `hskey-oauthtok-${Buffer.from(ids.bytes(6)).toString("hex")}-${Buffer.from(ids.bytes(32)).toString("hex")}`;
  tokens.set(text, call.nowMs + TOKEN_S * 1000);
  const [oldest] = tokens.keys();
  if (tokens.size > MOST_TOKENS && oldest !== undefined) tokens.delete(oldest);
  return json(
    {
      access_token: text,
      token_type: "Bearer",
      expires_in: TOKEN_S,
      scope: form.get("scope") ?? "all:read",
    },
    200,
    noStore,
  );
}

function line(body: unknown): Reply {
  return { status: 200, body: `${JSON.stringify(body)}\n` };
}
