/**
 * An owner's calls and probes, by every way in, on kept and on fresh connections: how many are
 * served, and after how long.
 */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
} from "node:http2";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** Calls of one kind. */
interface Served {
  asked: number;
  served: number;
  /** What happened instead, at most a few. */
  readonly failures: string[];
  /** Of those that were served. */
  readonly times: number[];
}

/** An owner's calls. */
export const OWNER_KINDS = ["REST, kept", "REST, fresh", "gRPC, kept", "gRPC, fresh"] as const;
/** Health checks, without a credential. */
export const PROBE_KINDS = [
  "/healthz, fresh",
  "/readyz, fresh",
  "gRPC health, kept",
  "gRPC health, fresh",
  "gRPC health list, fresh",
] as const;
type Kind = (typeof OWNER_KINDS)[number] | (typeof PROBE_KINDS)[number];

/** What an owner sees of a daemon. */
export interface OwnerCalls {
  /** One call of each of these kinds, one after the other; of every kind unless given. */
  round(kinds?: readonly Kind[]): Promise<void>;
  readonly results: Readonly<Record<Kind, Served>>;
  close(): void;
}

/** Nobody waits longer for an answer. */
const PATIENCE_MS = 60_000;
const EMPTY_MESSAGE = Buffer.alloc(5);

/** Calls with `auth.token`. The kept connections are opened by the first round. */
export function ownerCalls(url: string, token: string): OwnerCalls {
  const secured = url.startsWith("https:");
  const agent = (keepAlive: boolean): HttpAgent =>
    secured
      ? new HttpsAgent({ keepAlive, maxSockets: 1, rejectUnauthorized: false })
      : new HttpAgent({ keepAlive, maxSockets: 1 });
  const kept = agent(true);
  const owner = { authorization: `Bearer ${token}` };
  let keptSession: ClientHttp2Session | undefined;
  const session = (): ClientHttp2Session => {
    if (keptSession === undefined || keptSession.destroyed || keptSession.closed)
      keptSession = openSession(url);
    return keptSession;
  };
  const rest = (path: string, headers: Record<string, string>, way: HttpAgent): Promise<string> =>
    new Promise((resolve) => {
      const sent = (secured ? httpsRequest : httpRequest)(
        `${url}${path}`,
        { agent: way, headers, timeout: PATIENCE_MS },
        (answer) => {
          answer
            .resume()
            .once("end", () => resolve(String(answer.statusCode)))
            .once("error", (error) => resolve(error.message));
        },
      );
      sent
        .once("timeout", () => sent.destroy(new Error("no answer")))
        .once("error", (error) => resolve(error.message))
        .end();
    });
  const fresh = async (path: string, headers: Record<string, string>): Promise<string> => {
    const way = agent(false);
    const status = await rest(path, headers, way);
    way.destroy();
    return status;
  };
  const freshGrpc = async (path: string, headers: Record<string, string>): Promise<string> => {
    const own = openSession(url);
    const status = await grpc(own, path, headers);
    own.destroy();
    return status;
  };
  const jobs = "/steward.dedup.v1.JobService/ListJobs";
  const health = "/grpc.health.v1.Health/Check";
  const calls: Readonly<Record<Kind, readonly [expected: string, call: () => Promise<string>]>> = {
    "REST, kept": ["200", () => rest("/api/v1/jobs", owner, kept)],
    "REST, fresh": ["200", () => fresh("/api/v1/jobs", owner)],
    "gRPC, kept": ["grpc 0", () => grpc(session(), jobs, owner)],
    "gRPC, fresh": ["grpc 0", () => freshGrpc(jobs, owner)],
    "/healthz, fresh": ["200", () => fresh("/healthz", {})],
    "/readyz, fresh": ["200", () => fresh("/readyz", {})],
    "gRPC health, kept": ["grpc 0", () => grpc(session(), health, {})],
    "gRPC health, fresh": ["grpc 0", () => freshGrpc(health, {})],
    "gRPC health list, fresh": ["grpc 0", () => freshGrpc("/grpc.health.v1.Health/List", {})],
  };
  const results = Object.fromEntries(
    Object.keys(calls).map((kind) => [kind, { asked: 0, served: 0, failures: [], times: [] }]),
  ) as unknown as Record<Kind, Served>;
  return {
    results,
    async round(kinds = [...OWNER_KINDS, ...PROBE_KINDS]) {
      for (const kind of kinds) {
        const [expected, call] = calls[kind];
        const result = results[kind];
        const beganMs = performance.now();
        const answer = await call();
        result.asked += 1;
        if (answer === expected) result.served += 1;
        else if (result.failures.length < 5) result.failures.push(answer);
        if (answer === expected) result.times.push(performance.now() - beganMs);
      }
    },
    close() {
      kept.destroy();
      keptSession?.destroy();
    },
  };
}

function openSession(url: string): ClientHttp2Session {
  return connectHttp2(url, { rejectUnauthorized: false }).on("error", () => undefined);
}

/** `grpc N` for an answer with that status. */
function grpc(
  session: ClientHttp2Session,
  path: string,
  headers: Record<string, string>,
): Promise<string> {
  return new Promise((resolve) => {
    if (session.destroyed || session.closed) return resolve("no connection");
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    let status: string | string[] | undefined;
    let http: number | undefined;
    stream
      .on("response", (head) => {
        http = head[":status"];
        status = head["grpc-status"];
      })
      .on(
        "trailers",
        (trailers: IncomingHttpHeaders) => (status = trailers["grpc-status"] ?? status),
      );
    stream.setTimeout(PATIENCE_MS, () => stream.close());
    stream
      .once("error", (error) => resolve(error.message))
      .once("close", () =>
        resolve(status === undefined ? `http ${http}` : `grpc ${status.toString()}`),
      );
    stream.resume().end(EMPTY_MESSAGE);
  });
}
