/** From a request to its answer: version, credential, permission, method, operation. */
import { json, headerOf, type Call, type Reply } from "../control-plane/reply.ts";
import { authenticate, isVisible, negotiate, versionsOf, visibleDocument } from "./access.ts";
import {
  detail,
  FORBIDDEN,
  forgeryPage,
  INSUFFICIENT,
  invalid,
  loginPage,
  missing,
  plain,
  serverError,
} from "./answers.ts";
import { bulkDelete, bulkEdit, trashAction } from "./bulk.ts";
import type { FilledEstate } from "./estate.ts";
import {
  fieldsOf,
  listAccounts,
  listCustomFields,
  listDocuments,
  listReferences,
  listTrash,
} from "./listing.ts";
import { media } from "./media.ts";
import { allowOf, kindOf, ROUTES, type Operation } from "./operations.ts";
import type { Release, User } from "./types.ts";
import { showDocument, showNotes, showReference, type Viewer } from "./views.ts";
import {
  addNote,
  createCustomField,
  createReference,
  deleteDocument,
  patchDocument,
} from "./writes.ts";

const TOKEN_REQUESTS_PER_MINUTE = 5;
const MINUTE_MS = 60_000;

/** What the requests share. */
export interface Performing {
  readonly estate: FilledEstate;
  /** Times of the last requests to the token path, oldest first. */
  readonly tokenRequests: number[];
  /** Until then a PATCH of tags holds the database. */
  busyUntilMs: number;
}

/** The answer as the archive gives it, with its headers. */
export function perform(call: Call<Operation>, state: Performing): Reply {
  const { estate } = state;
  estate.settle();
  if (call.operation === "unknown" && ROUTES.methods(call.path).length === 0)
    return elsewhere(call);
  // What 2.x does not know as a task is the path of a document there.
  const isDocument = call.operation === "bulk_delete" && isOlder(estate.release);
  const allowedAt = isDocument ? "/api/documents/delete_/" : call.path;
  const reply = (answer: Reply, extra: Readonly<Record<string, string>> = {}): Reply => ({
    ...answer,
    headers: {
      // The page of a failed server has none.
      ...(answer.status === 500 ? {} : { allow: allowOf(allowedAt) }),
      ...extra,
      ...answer.headers,
    },
  });
  if (call.path === "/api/token/") return reply(tokenAnswer(call, state));
  const negotiated = negotiate(call, estate.release);
  if ("refused" in negotiated) return reply(negotiated.refused);
  if (call.operation === "remote_version") {
    const { version, updateAvailable } = estate.remoteVersion;
    return reply(json({ version, update_available: updateAvailable }));
  }
  const caller = authenticate(call, estate.users);
  if ("refused" in caller) return reply(caller.refused);
  const { user } = caller;
  const viewer: Viewer = { estate, user, version: negotiated.version };
  const isTheirs = mayCall(call, user);
  const answer = !isTheirs
    ? detail(403, FORBIDDEN)
    : call.operation === "unknown" || isDocument
      ? detail(405, `Method "${call.method}" not allowed.`)
      : answerOf(call, viewer, state);
  return reply(answer, versionHeaders(estate.release));
}

function isOlder(release: Release): boolean {
  return release === "2.20.15";
}

function versionHeaders(release: Release): Record<string, string> {
  return { "x-api-version": String(versionsOf(release).at(-1)), "x-version": release };
}

/** Any other path belongs to the web pages: their login for readers, their forgery check for writers. */
function elsewhere({ method, path, query }: Call<Operation>): Reply {
  if (method !== "GET" && method !== "HEAD") return forgeryPage();
  const search = query.toString();
  return loginPage(search === "" ? path : `${path}${encodeURIComponent(`?${search}`)}`);
}

/** The rights of the user as a whole; documents of others are another matter. */
function mayCall({ operation, method }: Call<Operation>, user: User): boolean {
  if (operation === "trash_action" || operation === "bulk_edit" || operation === "bulk_delete")
    return true;
  return method === "GET" || method === "HEAD" || operation === "unknown"
    ? user.mayView
    : user.mayChange;
}

function answerOf(call: Call<Operation>, viewer: Viewer, state: Performing): Reply {
  const { estate, user } = viewer;
  const { operation } = call;
  switch (operation) {
    case "documents":
      return listDocuments(call, viewer);
    case "trash":
      return listTrash(call, viewer);
    case "custom_fields":
      return listCustomFields(call, viewer);
    case "create_custom_field":
      return withBody(call, (body) => createCustomField(body, estate));
    case "statistics":
      return json(statistics(viewer));
    case "status":
      return user.superuser ? json(status(state.estate)) : plain(403, INSUFFICIENT);
    case "users":
    case "groups":
      return user.superuser ? listAccounts(call, viewer) : detail(403, FORBIDDEN);
    case "preview":
    case "download":
      return media(call, operation, estate, user);
    case "thumb":
      return estate.redis === "down" ? serverError() : media(call, operation, estate, user);
    case "document":
    case "delete_document":
    case "patch_document":
    case "notes":
    case "add_note":
      return oneDocument(call, viewer, state);
    default:
      return references(call, viewer) ?? withBody(call, (body) => tasks(call, body, viewer));
  }
}

function references(call: Call<Operation>, viewer: Viewer): Reply | undefined {
  const { operation } = call;
  const kind = kindOf(operation);
  if (kind === undefined) return undefined;
  if (operation === kind) return listReferences(call, kind, viewer);
  if (operation === `create_${kind}`)
    return withBody(call, (body) => createReference(kind, body, viewer));
  const id = call.params[0] ?? "";
  const row = viewer.estate.references[kind].get(Number(id));
  return row === undefined
    ? missing(kind, id)
    : json(showReference(kind, row, viewer, { lastCorrespondence: true }));
}

function tasks(call: Call<Operation>, body: Record<string, unknown>, viewer: Viewer): Reply {
  const { estate, user } = viewer;
  if (call.operation === "bulk_edit") return bulkEdit(body, estate, user);
  if (call.operation === "bulk_delete") return bulkDelete(body, estate, user);
  return trashAction(body, estate, user);
}

function oneDocument(call: Call<Operation>, viewer: Viewer, state: Performing): Reply {
  const { estate, user } = viewer;
  const id = call.params[0] ?? "";
  const row = visibleDocument(estate, id, user);
  if (row === undefined) return missing("document", id);
  if (call.operation === "document")
    return json(
      showDocument(row, viewer, {
        fields: fieldsOf(call),
        fullPermissions: call.query.get("full_perms") === "true",
      }),
    );
  if (call.operation === "delete_document") return deleteDocument(row, estate);
  if (call.operation === "notes") return json(showNotes(row, viewer));
  if (call.operation === "add_note") return withBody(call, (body) => addNote(row, body, viewer));
  return withBody(call, (body) => {
    if (body["tags"] === undefined || estate.tagWriteMs === 0)
      return patchDocument(row, body, call, viewer);
    if (call.nowMs < state.busyUntilMs) return { ...serverError(), delayMs: estate.busyMs };
    state.busyUntilMs = call.nowMs + estate.tagWriteMs;
    return { ...patchDocument(row, body, call, viewer), delayMs: estate.tagWriteMs };
  });
}

/** Reads a body of JSON or a form. */
function withBody(call: Call<Operation>, use: (body: Record<string, unknown>) => Reply): Reply {
  const type = headerOf(call, "content-type") ?? "";
  const bare = type.split(";", 1)[0]?.trim().toLowerCase();
  if (bare === "application/x-www-form-urlencoded")
    return use(Object.fromEntries(new URLSearchParams(call.body)));
  if (bare !== "application/json")
    return detail(415, `Unsupported media type "${type}" in request.`);
  if (call.body === "") return use({});
  let body: unknown;
  try {
    body = JSON.parse(call.body);
  } catch {
    const end = call.body.length;
    return detail(
      400,
      `JSON parse error - Expecting value: line 1 column ${end + 1} (char ${end})`,
    );
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return invalid({
      non_field_errors: [
        `Invalid data. Expected a dictionary, but got ${Array.isArray(body) ? "list" : typeof body}.`,
      ],
    });
  return use(body as Record<string, unknown>);
}

function tokenAnswer(call: Call<Operation>, { estate, tokenRequests }: Performing): Reply {
  while ((tokenRequests[0] ?? call.nowMs) <= call.nowMs - MINUTE_MS) tokenRequests.shift();
  if (!isOlder(estate.release) && tokenRequests.length >= TOKEN_REQUESTS_PER_MINUTE) {
    const waitS = Math.ceil(((tokenRequests[0] ?? 0) + MINUTE_MS - call.nowMs) / 1_000);
    return {
      ...detail(429, `Request was throttled. Expected available in ${waitS} seconds.`),
      headers: { "retry-after": String(waitS) },
    };
  }
  tokenRequests.push(call.nowMs);
  if (call.method !== "POST") return detail(405, `Method "${call.method}" not allowed.`);
  return withBody(call, ({ username, password }) => {
    const absent = Object.entries({ username, password }).filter(
      ([, value]) => value === undefined,
    );
    if (absent.length > 0)
      return invalid(
        Object.fromEntries(absent.map(([name]) => [name, ["This field is required."]])),
      );
    const user = estate.users.find(
      (one) => one.username === username && one.password.equals(String(password)),
    );
    return user === undefined
      ? invalid({ non_field_errors: ["Unable to log in with provided credentials."] })
      : json({ token: user.token.use((value) => value) });
  });
}

function statistics({ estate, user }: Viewer): Record<string, unknown> {
  const rows = [...estate.documents.values()].filter(
    (row) => row.deletedAtUs === null && isVisible(row, user),
  );
  const inbox = [...estate.references.tags.values()].filter(({ isInboxTag }) => isInboxTag);
  const byType = Map.groupBy(rows, ({ mimeType }) => mimeType);
  return {
    documents_total: rows.length,
    documents_inbox: rows.filter(({ tags }) => inbox.some(({ id }) => tags.includes(id))).length,
    inbox_tag: inbox[0]?.id ?? null,
    inbox_tags: inbox.map(({ id }) => id),
    document_file_type_counts: [...byType].map(([type, { length }]) => ({
      mime_type: type,
      mime_type_count: length,
    })),
    character_count: rows.reduce((sum, { content }) => sum + Array.from(content).length, 0),
    tag_count: estate.references.tags.size,
    correspondent_count: estate.references.correspondents.size,
    document_type_count: estate.references.document_types.size,
    storage_path_count: estate.references.storage_paths.size,
    current_asn: rows.reduce(
      (most, { archiveSerialNumber }) => Math.max(most, archiveSerialNumber ?? 0),
      0,
    ),
  };
}

function status({ release, redis, worker, checkedAt }: FilledEstate): Record<string, unknown> {
  const down = redis === "down";
  const checked = checkedAt === null ? "WARNING" : "OK";
  return {
    pngx_version: release,
    server_os: "Linux-6.x-x86_64-with-glibc2.36",
    install_type: "bare-metal",
    storage: { total: 1_000_000_000, available: 400_000_000 },
    database: {
      type: "sqlite",
      url: "/data/db.sqlite3",
      status: "OK",
      error: null,
      migration_status: {
        latest_migration: "paperless_mail.0001_squashed",
        unapplied_migrations: [],
      },
    },
    tasks: {
      redis_url: "redis://localhost:6379",
      redis_status: down ? "ERROR" : "OK",
      redis_error: down ? "Error connecting to redis, check logs for more detail." : null,
      celery_status: down ? "ERROR" : worker === "up" ? "OK" : "WARNING",
      celery_url: worker === "up" && !down ? "celery@archive-host" : null,
      celery_error: down
        ? "Error connecting to celery, check logs for more detail."
        : worker === "up"
          ? null
          : "No celery workers responded to ping. This may be temporary.",
      index_status: "OK",
      index_last_modified: checkedAt,
      index_error: null,
      classifier_status: checked,
      classifier_last_trained: checkedAt,
      classifier_error: checkedAt === null ? "No classifier training tasks found" : null,
      sanity_check_status: checked,
      sanity_check_last_run: checkedAt,
      sanity_check_error: checkedAt === null ? "No sanity check tasks found" : null,
    },
  };
}
