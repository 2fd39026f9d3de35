/**
 * The client of bench/kernel-gateway.ts: as many calls as answers allow, in a thread of its own.
 */
import { Agent, request as httpRequest } from "node:http";
import { connect, type ClientHttp2Session } from "node:http2";
import { parentPort } from "node:worker_threads";

/** What to send, for how long. */
export interface LoadRequest {
  readonly protocol: "h1" | "h2";
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly ms: number;
  /**
   * Calls under way at once; over HTTP/1.1 each on a kept connection of its own, over HTTP/2 on
   * one.
   */
  readonly connections: number;
}

function callHttp1(load: LoadRequest, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = load.body === undefined ? {} : { "content-length": load.body.length };
    const request = httpRequest(
      {
        port: load.port,
        host: "127.0.0.1",
        method: load.method,
        path: load.path,
        headers: { ...load.headers, ...length },
        agent,
      },
      (response) => {
        response
          .resume()
          .once("end", () =>
            response.statusCode === 200
              ? resolve()
              : reject(new Error(`status ${response.statusCode}`)),
          );
      },
    );
    request.once("error", reject).end(load.body);
  });
}

function callHttp2(load: LoadRequest, session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": load.method, ":path": load.path, ...load.headers });
    let status: unknown;
    stream
      .once("trailers", (trailers) => void (status = trailers["grpc-status"]))
      .once("error", reject);
    stream
      .resume()
      .once("end", () =>
        status === "0" ? resolve() : reject(new Error(`grpc-status ${String(status)}`)),
      );
    stream.end(load.body);
  });
}

async function run(load: LoadRequest): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const session = load.protocol === "h2" ? connect(`http://127.0.0.1:${load.port}`) : undefined;
  const until = performance.now() + load.ms;
  let calls = 0;
  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      while (performance.now() < until) {
        await (session === undefined ? callHttp1(load, agent) : callHttp2(load, session));
        calls += 1;
      }
    }),
  );
  agent.destroy();
  session?.destroy();
  return calls;
}

parentPort?.on("message", (load: LoadRequest) => {
  run(load).then(
    (calls) => parentPort?.postMessage({ calls }),
    (error: unknown) => parentPort?.postMessage({ calls: 0, error: String(error) }),
  );
});
