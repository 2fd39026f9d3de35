/** The answers of a control plane before they are sent. */

/** A response: text or empty. JSON unless `content-type` differs. */
export interface Reply {
  readonly status: number;
  readonly body?: string | Buffer;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the answer takes. Default: none. */
  readonly delayMs?: number;
}

/** A request as operations see it. */
export interface Call<Operation extends string> {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  /** The variable segments of the path, percent-decoded. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly nowMs: number;
}

/** One header; the first when there are several. */
export function headerOf(
  { headers }: Pick<Call<string>, "headers">,
  name: string,
): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A JSON answer. */
export function json(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status, body: JSON.stringify(value), headers };
}
