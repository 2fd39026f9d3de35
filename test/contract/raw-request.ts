/**
 * Requests with headers that `fetch` does not let a program choose: Host, Origin, Sec-Fetch-Site.
 */
import { request, type IncomingHttpHeaders } from "node:http";

/** An answer, its body as bytes. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** Sends one request, its path as written. */
export function rawRequest(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => {
          const whole = Buffer.concat(chunks);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: whole,
            text: whole.toString("utf8"),
          });
        })
        .on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}
