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

/** Both routes require the operator's token, since they show the whole API. */
export function describeRoutes(
  table: MethodTable,
  comments: Comments,
  frame: () => Frame,
): readonly PlainRoute[] {
  const document = openApi(table, comments);
  const [text, answers] = [openApiText(document), answersOf(table)];
  return [
    operatorRoute("/openapi.json", () =>
      Promise.resolve({ status: 200, headers: { "content-type": "application/json" }, body: text }),
    ),
    operatorRoute("/docs", (request) =>
      frame().answer(
        {
          title: "API reference",
          here: "/docs",
          module: "docs.js",
          body: reference({ document, answers }, originOf(request)),
        },
        request.headers,
      ),
    ),
  ];
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
