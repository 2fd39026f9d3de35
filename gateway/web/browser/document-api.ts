/** Requests of the document API over HTTP, with sentences for the reader where one fails. */
import { NotThere } from "../review/api.ts";

const BASE = "/api/v1";
const TIMEOUT_MS = 30_000;

/** The parameters that have a value. */
export function query(values: Readonly<Record<string, string | undefined>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== "") params.set(name, value);
  return params.toString();
}

/** The parsed answer. Rejects with `NotThere` for 404, else with a sentence. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(`${BASE}${path}`, {
    method,
    signal,
    cache: "no-store",
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  }).catch((thrown: unknown) => {
    throw new Error(
      signal.aborted ? "The server takes too long to answer." : "The server does not answer.",
      { cause: thrown },
    );
  });
  const read = (await answer.json().catch(() => undefined)) as unknown;
  if (answer.ok && read !== undefined) return read as T;
  const reason = reasonOf(read) ?? `The server answered ${answer.status}.`;
  if (answer.status === 404) throw new NotThere(reason);
  if (answer.status === 401 || answer.status === 403)
    throw new Error(
      "The server does not accept this page's credentials: load it again to sign in.",
    );
  throw new Error(reason);
}

/** The message of the API's error body. */
function reasonOf(body: unknown): string | undefined {
  const error = (body as { readonly error?: { readonly message?: unknown } } | undefined)?.error;
  return typeof error?.message === "string" ? error.message : undefined;
}
