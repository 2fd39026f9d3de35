/**
 * The API description: `/openapi.json` for programs and `/docs` for people, both from the method
 * table.
 */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { PlainRequest, PlainRoute } from "../../src/kernel/service.ts";
import { restMessage } from "../../src/kernel/wire/rest-json.ts";
import type { MethodTable } from "../methods.ts";
import type { Frame } from "../web/frame.ts";
import { messageSchema, type JsonSchema } from "./json-schema.ts";
import { openApi, operationIdOf, type Comments, type OpenApi } from "./openapi.ts";
import { reference } from "./reference-page.ts";

/** Indented, so that diffs are readable. */
export function openApiText(document: OpenApi): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * Both routes require the operator's token, since they show the whole API. The description is
 * made when it is first asked for: most processes end without.
 */
export function describeRoutes(
  table: () => MethodTable,
  comments: Comments,
  frame: Frame,
): readonly PlainRoute[] {
  let made: Description | undefined;
  const description = (): Description => (made ??= describe(table(), comments));
  return [
    operatorRoute("/openapi.json", () =>
      Promise.resolve({
        status: 200,
        headers: { "content-type": "application/json" },
        body: description().text,
      }),
    ),
    operatorRoute("/docs", (request) =>
      frame.answer(
        {
          title: "API reference",
          here: "/docs",
          module: "docs.js",
          body: reference(description(), originOf(request)),
        },
        request.headers,
      ),
    ),
  ];
}

interface Description {
  readonly document: OpenApi;
  /** Of `document`. */
  readonly text: string;
  readonly answers: ReadonlyMap<string, JsonSchema>;
}

function describe(table: MethodTable, comments: Comments): Description {
  const document = openApi(table, comments);
  return { document, text: openApiText(document), answers: answersOf(table) };
}

/** The response message of each operation, nested in full, by operation id. */
function answersOf(table: MethodTable): ReadonlyMap<string, JsonSchema> {
  return new Map(
    table.methods.map(({ rpc }) => [
      operationIdOf(rpc),
      messageSchema(restMessage(rpc), { side: "answer", comment: () => undefined }),
    ]),
  );
}

/** The address that the client used, if it can be part of a command line. */
function originOf({ headers, secured }: PlainRequest): string {
  const host = [headers["host"]].flat()[0] ?? "";
  return `${secured ? "https" : "http"}://${/^[\w.:[\]-]+$/.test(host) ? host : "127.0.0.1:8400"}`;
}

function operatorRoute(template: string, handle: PlainRoute["handle"]): PlainRoute {
  return { verb: "GET", template, access: Access.OPERATOR, dialect: "monitor", handle };
}
