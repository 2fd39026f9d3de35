/** What the API says of itself: `/openapi.json` for programs and `/docs` for people, made once from the method table. */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { PlainRoute } from "../../src/kernel/service.ts";
import { restMessage } from "../../src/kernel/wire/rest-json.ts";
import type { MethodTable } from "../methods.ts";
import { messageSchema, type JsonSchema } from "./json-schema.ts";
import { openApi, operationIdOf, type Comments, type OpenApi } from "./openapi.ts";
import { referencePage } from "./reference-page.ts";

/** The document as committed and as served: indented, so that a change of it can be read. */
export function openApiText(document: OpenApi): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Both routes; the operator's token opens them, for they tell everything there is. */
export function describeRoutes(table: MethodTable, comments: Comments): readonly PlainRoute[] {
  const document = openApi(table, comments);
  const page = referencePage(document, answersOf(table));
  return [
    textRoute("/openapi.json", openApiText(document), { "content-type": "application/json" }),
    textRoute("/docs", page.body, { "content-type": "text/html; charset=utf-8", "content-security-policy": page.contentSecurityPolicy }),
  ];
}

/** What each operation answers with, nested in full, by the operation's id. */
function answersOf(table: MethodTable): ReadonlyMap<string, JsonSchema> {
  return new Map(table.methods.map(({ rpc }) => [operationIdOf(rpc), messageSchema(restMessage(rpc), { side: "answer", comment: () => undefined })]));
}

function textRoute(template: string, body: string, headers: Readonly<Record<string, string>>): PlainRoute {
  return { verb: "GET", template, access: Access.OPERATOR, dialect: "monitor", handle: () => Promise.resolve({ status: 200, headers, body }) };
}
