/**
 * Response bodies in Vault's format: the envelope of eight keys in their fixed order,
 * `{errors: […]}`, 204 without a body. Status, headers and text are complete; the caller only sends
 * them.
 */
import { Turns } from "../../../kernel/async/turns.ts";
import type { PlainAnswer } from "../../../kernel/service.ts";
import { writeExact } from "../../logical/json.ts";
import type { Data } from "../../logical/types.ts";
import type { CoreAnswer } from "../core/types.ts";
import type { IssuedAuth } from "../types.ts";

/** Every JSON answer carries these, empty ones too. */
const VAULT_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-type": "application/json",
};

/** Values of a list that are written at once. */
const PIECE_VALUES = 1_000;

const NOTHING_THERE: PlainAnswer = { status: 404, headers: VAULT_HEADERS, body: '{"errors":[]}\n' };

/** A success, or the `404 {"errors":[]}` that means "nothing there". */
export async function writeCoreAnswer(answer: CoreAnswer): Promise<PlainAnswer> {
  const { response } = answer;
  if (response?.raw !== undefined) {
    const { status, contentType, body, sent } = response.raw;
    return {
      status,
      headers: { "cache-control": "no-store", "content-type": contentType },
      body,
      ...(sent === undefined ? {} : { sent }),
    };
  }
  if (isNothing(answer))
    return answer.isRead ? NOTHING_THERE : { status: 204, headers: VAULT_HEADERS, body: "" };
  return { status: response?.status ?? 200, headers: VAULT_HEADERS, body: await envelope(answer) };
}

/** Help has no envelope: clients read its text at the top level. */
export async function writeHelp(answer: CoreAnswer): Promise<PlainAnswer> {
  const { response, wrap } = answer;
  if (response?.data === undefined || wrap !== undefined) return await writeCoreAnswer(answer);
  return { status: 200, headers: VAULT_HEADERS, body: `${writeExact(response.data)}\n` };
}

/**
 * The text of a whole response, also stored when it is wrapped. Ends in a newline. Yields to the
 * event loop for long lists.
 */
export async function envelope(answer: CoreAnswer): Promise<string> {
  const { response, lease, auth, wrap, warnings } = answer;
  const data =
    wrap === undefined && response?.data !== undefined ? await writeData(response.data) : "null";
  const members = [
    `"request_id":${JSON.stringify(wrap === undefined ? answer.requestId : "")}`,
    `"lease_id":${JSON.stringify(lease?.id ?? "")}`,
    `"renewable":${String(lease?.renewable ?? false)}`,
    `"lease_duration":${String(lease?.durationSeconds ?? 0)}`,
    `"data":${data}`,
    `"wrap_info":${wrap === undefined ? "null" : writeExact(wrap)}`,
    `"warnings":${warnings.length === 0 ? "null" : JSON.stringify(warnings)}`,
    `"auth":${auth === undefined || wrap !== undefined ? "null" : writeExact(authBody(auth))}`,
  ].join(",");
  const atTop = wrap === undefined && answer.copyToTop ? await copied(response?.data ?? {}) : "";
  return `{${atTop}${members}}\n`;
}

const MEMBERS: ReadonlySet<string> = new Set([
  "request_id",
  "lease_id",
  "renewable",
  "lease_duration",
  "data",
  "wrap_info",
  "warnings",
  "auth",
]);

/**
 * The `auth` member, with keys in Vault's order. The only place that writes a token id into a
 * response.
 */
function authBody({ id, entry, ttlMs }: IssuedAuth): Record<string, unknown> {
  return {
    client_token: id?.use((value) => value) ?? "",
    accessor: entry.accessor,
    policies: entry.policies,
    token_policies: entry.policies,
    metadata: entry.meta ?? null,
    lease_duration: Math.round(ttlMs / 1000),
    renewable: entry.renewable,
    entity_id: entry.entityId,
    token_type: entry.type,
    orphan: entry.parent === undefined,
    mfa_requirement: null,
    num_uses: Math.max(0, entry.numUses),
  };
}

/**
 * Older clients read the answers of sys/ at the top level. A member of the envelope, such as
 * `auth`, is never there twice.
 */
async function copied(data: Data): Promise<string> {
  const text = await writeData(
    Object.fromEntries(Object.entries(data).filter(([name]) => !MEMBERS.has(name))),
  );
  return text === "{}" ? "" : `${text.slice(1, -1)},`;
}

/** The JSON text of data, written in turns where a member is a long list. */
async function writeData(data: Data): Promise<string> {
  if (!Object.values(data).some(isLongList)) return writeExact(data);
  const turns = new Turns();
  const members: string[] = [];
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined) continue;
    const text = isLongList(value) ? await writeList(value, turns) : writeExact(value);
    members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(",")}}`;
}

async function writeList(list: readonly unknown[], turns: Turns): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < list.length; from += PIECE_VALUES) {
    if (turns.over) await turns.give();
    pieces.push(writeExact(list.slice(from, from + PIECE_VALUES)).slice(1, -1));
  }
  return `[${pieces.join(",")}]`;
}

function isLongList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > PIECE_VALUES;
}

function isNothing({ response, auth, wrap, warnings }: CoreAnswer): boolean {
  return (
    response?.data === undefined &&
    response?.status === undefined &&
    auth === undefined &&
    wrap === undefined &&
    warnings.length === 0
  );
}
