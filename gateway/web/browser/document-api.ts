/** Requests of the document API over HTTP, with sentences for the reader where one fails. */
import { Changed, NotThere } from "../review/api.ts";
import { learnTime } from "./clock.ts";

const BASE = "/api/v1";
const TIMEOUT_MS = 30_000;

/** The parameters that have a value. */
export function query(values: Readonly<Record<string, string | undefined>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== "") params.set(name, value);
  return params.toString();
}

/** A refusal that names fields of the request. */
export class RefusedFields extends Error {
  /** What is wrong with each, by its path. */
  readonly fields: ReadonlyMap<string, string>;

  constructor(message: string, fields: ReadonlyMap<string, string>) {
    super(message);
    this.name = "RefusedFields";
    this.fields = fields;
  }
}

/**
 * The parsed answer. Rejects with `NotThere` for 404, `RefusedFields`, `Changed` for 409, else with
 * a sentence.
 */
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
  learnTime(answer);
  const read = (await answer.json().catch(() => undefined)) as unknown;
  if (answer.ok && read !== undefined) return read as T;
  const reason = reasonOf(read);
  if (needsLogin(answer, reason))
    throw new Error(
      "The server does not accept this page's credentials: load it again to sign in.",
    );
  throw refusalOf(answer.status, reason ?? `The server answered ${answer.status}.`, read);
}

/** A refusal for another reason has no Basic challenge; one without a reason is a proxy's. */
function needsLogin({ status, headers }: Response, reason: string | undefined): boolean {
  return (
    (status === 401 || status === 403) &&
    (reason === undefined || /\bbasic\b/i.test(headers.get("www-authenticate") ?? ""))
  );
}

function refusalOf(status: number, reason: string, body: unknown): Error {
  if (status === 404) return new NotThere(reason);
  const fields = fieldsOf(body);
  if (fields.size > 0) return new RefusedFields(reason, fields);
  return status === 409 ? new Changed(reason) : new Error(reason);
}

/** The details of the API's error body. */
function fieldsOf(body: unknown): ReadonlyMap<string, string> {
  type Detail = { readonly path?: unknown; readonly message?: unknown };
  const error = (body as { readonly error?: { readonly details?: unknown } } | undefined)?.error;
  const details = Array.isArray(error?.details) ? (error.details as readonly Detail[]) : [];
  return new Map(
    details.flatMap(({ path, message }) =>
      Array.isArray(path) && typeof message === "string" ? [[path.join("."), message]] : [],
    ),
  );
}

/** The message of the API's error body. */
function reasonOf(body: unknown): string | undefined {
  const error = (body as { readonly error?: { readonly message?: unknown } } | undefined)?.error;
  return typeof error?.message === "string" ? error.message : undefined;
}
