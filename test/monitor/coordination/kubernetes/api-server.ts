/**
 * The part of Kubernetes' API that serves Lease objects, simulated: versions and conflicts, watches,
 * bearer tokens that expire, errors as `Status` objects, and the validation of a Lease
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/).
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Lease {
  metadata: Record<string, unknown> & { name: string; resourceVersion: string };
  spec: Record<string, unknown>;
}

export interface ApiServer extends AsyncDisposable {
  readonly url: string;
  /** The only token that is accepted; a holder of another one is refused with 401. */
  token: string;
  /** While true, requests get no answer and watches no events. */
  hung: boolean;
  /** Watches are refused as if their version was too old. */
  tooOld: boolean;
  readonly requests: string[];
  lease(name: string): Lease | undefined;
  /** As somebody with kubectl changes it. */
  edit(name: string, change: (lease: Lease) => void): void;
  remove(name: string): void;
  /** Ends all watches, as the API does now and then. */
  endWatches(): void;
}

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const PATH =
  /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/([a-z0-9-]+)\/leases(?:\/([a-z0-9-]+))?$/;

export async function startApiServer(
  namespace: string,
  tls?: { readonly cert: string; readonly key: string },
): Promise<ApiServer> {
  const leases = new Map<string, Lease>();
  const watches = new Set<{ readonly name: string; readonly response: ServerResponse }>();
  let version = 100;

  const changed = (type: string, lease: Lease): void => {
    if (server.hung) return;
    for (const { name, response } of watches)
      if (name === lease.metadata.name)
        response.write(`${JSON.stringify({ type, object: asObject(lease) })}\n`);
  };
  const store = (lease: Lease, type: "ADDED" | "MODIFIED"): Lease => {
    version += 1;
    lease.metadata.resourceVersion = String(version);
    leases.set(lease.metadata.name, lease);
    changed(type, lease);
    return lease;
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://server");
    server.requests.push(`${request.method} ${url.pathname}${url.search === "" ? "" : "?watch"}`);
    if (server.hung) return;
    if (request.headers.authorization !== `Bearer ${server.token}`)
      return refuse(response, 401, "Unauthorized", "Unauthorized");
    const [, inNamespace, name] = PATH.exec(url.pathname) ?? [];
    if (inNamespace !== namespace)
      return refuse(
        response,
        403,
        "Forbidden",
        `leases is forbidden in the namespace "${inNamespace}"`,
      );
    if (request.method === "GET" && name === undefined) return watch(url, response);
    if (request.method === "GET") {
      const lease = leases.get(name!);
      return lease === undefined ? missing(response, name!) : send(response, 200, asObject(lease));
    }
    const given = JSON.parse(await text(request)) as Lease & { kind?: string; apiVersion?: string };
    const wrong = faultOf(given, name);
    if (wrong !== undefined) return refuse(response, 422, "Invalid", wrong);
    const { kind: _kind, apiVersion: _apiVersion, ...lease } = given;
    const existing = leases.get(lease.metadata.name);
    if (request.method === "POST") {
      if (existing !== undefined)
        return refuse(
          response,
          409,
          "AlreadyExists",
          `leases "${lease.metadata.name}" already exists`,
        );
      lease.metadata["uid"] = "8f3c";
      return send(response, 201, asObject(store(lease, "ADDED")));
    }
    if (existing === undefined) return missing(response, name!);
    if (lease.metadata.resourceVersion !== existing.metadata.resourceVersion)
      return refuse(
        response,
        409,
        "Conflict",
        `Operation cannot be fulfilled on leases "${name}": the object has been modified; please apply your changes to the latest version and try again`,
      );
    send(response, 200, asObject(store(lease, "MODIFIED")));
  }

  function watch(url: URL, response: ServerResponse): void {
    const name = url.searchParams.get("fieldSelector")?.replace("metadata.name=", "") ?? "";
    response.writeHead(200, { "content-type": "application/json" });
    if (server.tooOld) {
      const object = status(410, "Expired", "too old resource version: 1 (100)");
      return void response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
    }
    response.flushHeaders();
    const from = Number(url.searchParams.get("resourceVersion") ?? 0);
    const entry = { name, response };
    watches.add(entry);
    response.on("close", () => watches.delete(entry));
    // What changed since that version comes first.
    const lease = leases.get(name);
    if (lease !== undefined && Number(lease.metadata.resourceVersion) > from)
      response.write(`${JSON.stringify({ type: "MODIFIED", object: asObject(lease) })}\n`);
    const seconds = Number(url.searchParams.get("timeoutSeconds") ?? 60);
    setTimeout(() => response.end(), seconds * 1_000).unref();
  }

  const handle = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, response).catch(() => response.destroy());
  const listener = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const server: ApiServer = {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    token: "first",
    hung: false,
    tooOld: false,
    requests: [],
    lease: (name) => leases.get(name),
    edit(name, change) {
      const lease = structuredClone(leases.get(name)!);
      change(lease);
      store(lease, "MODIFIED");
    },
    remove(name) {
      const lease = leases.get(name)!;
      leases.delete(name);
      changed("DELETED", lease);
    },
    endWatches: () => watches.forEach(({ response }) => response.end()),
    async [Symbol.asyncDispose]() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
  return server;
}

const asObject = (lease: Lease): object => ({
  kind: "Lease",
  apiVersion: "coordination.k8s.io/v1",
  ...lease,
});

/** What the API's validation says of an object. */
function faultOf(
  { kind, apiVersion, metadata, spec }: Lease & { kind?: string; apiVersion?: string },
  name: string | undefined,
): string | undefined {
  if (kind !== "Lease" || apiVersion !== "coordination.k8s.io/v1") return "not a Lease";
  if (name !== undefined && metadata.name !== name) return "metadata.name: does not match the URL";
  if (name === undefined && "resourceVersion" in metadata)
    return "metadata.resourceVersion: must not be set on create";
  if (!(Number(spec["leaseDurationSeconds"]) > 0))
    return "spec.leaseDurationSeconds: must be greater than 0";
  if (!Number.isInteger(spec["leaseDurationSeconds"])) return "spec.leaseDurationSeconds: int32";
  if (!(Number(spec["leaseTransitions"]) >= 0))
    return "spec.leaseTransitions: must be greater than or equal to 0";
  const times = [spec["renewTime"], spec["acquireTime"]].filter((time) => time !== undefined);
  return times.every((time) => typeof time === "string" && MICRO_TIME.test(time))
    ? undefined
    : "a time is no MicroTime";
}

function missing(response: ServerResponse, name: string): void {
  refuse(response, 404, "NotFound", `leases.coordination.k8s.io "${name}" not found`);
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  send(response, code, status(code, reason, message));
}

const status = (code: number, reason: string, message: string): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  reason,
  code,
});

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}
