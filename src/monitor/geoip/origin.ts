/**
 * Requests to the vendor of geo databases. Its files are elsewhere: redirects are followed, and the
 * credentials go to the configured origin alone.
 */
import type { Secret } from "../../kernel/base/secret.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { classifyStatus, failed, toFailed } from "../../kernel/client/failure.ts";

const MAX_REDIRECTS = 5;

export interface Answer {
  /** 200 or 304. */
  readonly status: number;
  readonly modified: Date | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Origin extends AsyncDisposable {
  /** Rejects with a client failure or the signal's reason. */
  get(path: string, since: string | undefined, signal: AbortSignal): Promise<Answer>;
}

export async function createOrigin(
  version: string,
  { endpoint, accountId }: { readonly endpoint: string; readonly accountId: string },
  licenseKey: Secret,
): Promise<Origin> {
  const { Agent } = await import("undici");
  const agent = new Agent({ connections: 1 });
  const base = new URL(endpoint);
  const authorization = licenseKey.use(
    (key) => `Basic ${Buffer.from(`${accountId}:${key}`, "utf8").toString("base64")}`,
  );

  async function request(url: URL, since: string | undefined, signal: AbortSignal) {
    const answer = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "GET",
      headers: {
        "user-agent": `steward/${version}`,
        ...(url.origin === base.origin ? { authorization } : {}),
        ...(since === undefined ? {} : { "if-modified-since": since }),
      },
      signal,
    });
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(answer.headers))
      headers[name] = (Array.isArray(value) ? value[0] : value) ?? "";
    return { status: answer.statusCode, headers, body: answer.body };
  }

  return {
    async get(path, since, signal) {
      let url = new URL(`${base.href.replace(/\/$/, "")}${path}`);
      let status = 0;
      try {
        for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
          const { headers, body, ...answer } = await request(url, since, signal);
          status = answer.status;
          if (status === 200) return { status, modified: dateOf(headers["last-modified"]), body };
          await body.dump();
          if (status === 304 && since !== undefined) return { status, modified: undefined, body };
          const location = headers["location"];
          if (status < 300 || status >= 400 || location === undefined)
            throw failed({ class: classifyStatus(status, headers), status });
          url = new URL(location, url);
          if (url.protocol !== base.protocol && url.protocol !== "https:")
            throw new StewardError("invalid", "the vendor redirected to an address without TLS");
        }
        throw new StewardError("invalid", `more than ${MAX_REDIRECTS} redirects`);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof StewardError ? error : toFailed(error, status);
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

function dateOf(text: string | undefined): Date | undefined {
  const date = new Date(text ?? "");
  return Number.isNaN(date.getTime()) ? undefined : date;
}
