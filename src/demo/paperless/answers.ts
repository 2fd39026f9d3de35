/** Answers that several operations of the archive give. */
import { json, type Reply } from "../control-plane/reply.ts";

const TEXT = { "content-type": "text/html; charset=utf-8" };

export function detail(status: number, text: string): Reply {
  return json({ detail: text }, status);
}

/** Errors that concern no field, or one: `{"title":["…"]}`. */
export function invalid(errors: unknown): Reply {
  return json(errors, 400);
}

/** Some errors are plain text under a type of HTML. */
export function plain(status: number, text: string): Reply {
  return { status, body: text, headers: TEXT };
}

/** The page of an error inside the server. */
export function serverError(): Reply {
  return plain(
    500,
    '\n<!doctype html>\n<html lang="en">\n<head>\n  <title>Server Error (500)</title>\n</head>\n<body>\n  <h1>Server Error (500)</h1><p></p>\n</body>\n</html>\n',
  );
}

/** What a reader without a session gets for a path that the API does not have. */
export function loginPage(path: string): Reply {
  return {
    status: 302,
    body: "",
    headers: { ...TEXT, location: `/accounts/login/?next=${path}`, "content-length": "0" },
  };
}

/** What a writer gets there. */
export function forgeryPage(): Reply {
  return plain(
    403,
    '\n<!DOCTYPE html>\n<html lang="en">\n<head>\n  <title>403 Forbidden</title>\n</head>\n<body>\n<div id="summary">\n  <h1>Forbidden <span>(403)</span></h1>\n  <p>CSRF verification failed. Request aborted.</p>\n</div>\n</body>\n</html>\n',
  );
}

const NAMES = {
  document: "Document",
  tags: "Tag",
  correspondents: "Correspondent",
  document_types: "DocumentType",
  storage_paths: "StoragePath",
} as const;

/** 404 of a single object. An id that is no number names nothing at all. */
export function missing(kind: keyof typeof NAMES, id: string): Reply {
  return detail(
    404,
    /^\d+$/.test(id) ? `No ${NAMES[kind]} matches the given query.` : "Not found.",
  );
}

export const FORBIDDEN = "You do not have permission to perform this action.";
export const INSUFFICIENT = "Insufficient permissions";
