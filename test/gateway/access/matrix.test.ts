/**
 * Who may call what, over every protocol, made from the table of methods: one that is added later
 * is tried without anybody thinking of it. The rules are written down here once more, apart from
 * the code.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { describe, expect, it, onTestFinished } from "vitest";
import { methodTable, type Method, type MethodTable } from "../../../gateway/methods.ts";
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import type { BoundService, PlainRoute } from "../../../src/kernel/service.ts";
import { dedupService, otherServices, plainRoute } from "../sample-services.ts";
import { startGateway } from "../start-gateway.ts";
import { allServices } from "../all-services.ts";

const OPERATOR = "operator-word";
const ADMIN = "admin-word";
const credentials = {
  none: undefined,
  wrong: "Bearer not-the-word",
  half: `Bearer ${OPERATOR.slice(0, -1)}`,
  operator: `Bearer ${OPERATOR}`,
  admin: `Bearer ${ADMIN}`,
  basic: `Basic ${Buffer.from(`anybody:${OPERATOR}`).toString("base64")}`,
} as const;
type Credential = keyof typeof credentials;
/** What the gateway serves of itself. */
const HOUSE: readonly string[] = ["/docs", "/openapi.json"];

/** Which credentials open which access where both tokens are set. */
const opens: Readonly<Record<Access, readonly Credential[]>> = {
  [Access.UNSPECIFIED]: [],
  [Access.PUBLIC]: ["none", "wrong", "half", "operator", "admin", "basic"],
  [Access.SELF]: ["none", "wrong", "half", "operator", "admin", "basic"],
  [Access.OPERATOR]: ["operator", "basic"],
  [Access.ADMIN]: ["admin"],
};

const services: readonly BoundService[] = [...allServices(), dedupService(), ...otherServices()];
const plain: readonly PlainRoute[] = [
  Access.PUBLIC,
  Access.OPERATOR,
  Access.ADMIN,
  Access.SELF,
].map((access) =>
  plainRoute(
    `/api/v1/plain-${access}`,
    () =>
      Promise.resolve({ status: 200, headers: { "content-type": "text/plain" }, body: "plain" }),
    { access },
  ),
);
const table: MethodTable = methodTable(services, plain);
const names = Object.keys(credentials) as Credential[];

function headersOf(credential: Credential): Record<string, string> {
  const authorization = credentials[credential];
  return authorization === undefined ? {} : { authorization };
}

/** Whether the answer is a refusal of the credential. Anything else, an error too, got past it. */
const refusedOverRest = async (
  url: string,
  verb: string,
  path: string,
  credential: Credential,
): Promise<boolean> => {
  const answer = await fetch(url + path, { method: verb, headers: headersOf(credential) });
  await answer.text();
  return answer.status === 401;
};

async function refusedOverConnect(
  url: string,
  { rpc }: Method,
  credential: Credential,
): Promise<boolean> {
  const type = rpc.methodKind === "unary" ? "application/json" : "application/connect+json";
  const body = rpc.methodKind === "unary" ? "{}" : Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]);
  const answer = await fetch(`${url}/${rpc.parent.typeName}/${rpc.name}`, {
    method: "POST",
    headers: { "content-type": type, ...headersOf(credential) },
    body,
  });
  return (await answer.text()).includes("unauthenticated");
}

async function refusedOverGrpc(
  session: ClientHttp2Session,
  { rpc }: Method,
  credential: Credential,
): Promise<boolean> {
  const stream = session.request({
    ":method": "POST",
    ":path": `/${rpc.parent.typeName}/${rpc.name}`,
    "content-type": "application/grpc",
    te: "trailers",
    ...headersOf(credential),
  });
  const message = toBinary(rpc.input, create(rpc.input));
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  stream.end(frame);
  let status: unknown;
  stream
    .on("response", (headers) => (status ??= headers["grpc-status"]))
    .on("trailers", (trailers) => (status ??= trailers["grpc-status"]));
  stream.resume();
  await once(stream, "close");
  expect(status).toBeDefined();
  return status === "16";
}

/** Every pair of a thing and a credential where the answer is not what the rules say. */
async function mistakes<T>(
  things: readonly T[],
  accessOf: (thing: T) => Access,
  nameOf: (thing: T) => string,
  refused: (thing: T, credential: Credential) => Promise<boolean>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const thing of things) {
    for (const credential of names) {
      const expected = !(opens[accessOf(thing)] ?? []).includes(credential);
      if ((await refused(thing, credential)) !== expected)
        wrong.push(
          `${nameOf(thing)} with ${credential} should be ${expected ? "refused" : "let through"}`,
        );
    }
  }
  return wrong;
}

describe("every method with no, a wrong and the right credential", () => {
  const auth = {
    token: Secret.of(OPERATOR, "test"),
    adminToken: Secret.of(ADMIN, "test"),
    allowedHosts: [],
  };
  const nameOf = ({ rpc }: Method): string => `${rpc.parent.typeName}.${rpc.name}`;

  it("over REST, plain routes and the house's own included", async () => {
    const { url } = await startGateway({ services, plain, auth });
    const routes = [
      ...table.routes.filter((route) => /^(GET|POST|PUT|DELETE|PATCH)$/.test(route.verb)),
      ...HOUSE.map((text) => ({ verb: "GET", access: Access.OPERATOR, template: { text } })),
    ];
    expect(routes.length).toBeGreaterThan(30);
    expect(
      await mistakes(
        routes,
        (route) => route.access,
        (route) => `${route.verb} ${route.template.text}`,
        (route, credential) =>
          refusedOverRest(
            url,
            route.verb,
            route.template.text.replaceAll(/\{[^}]*\}/g, "1"),
            credential,
          ),
      ),
    ).toEqual([]);
  });

  it("over Connect", async () => {
    const { url } = await startGateway({ services, plain, auth });
    const dedupAndMonitor = table.methods.filter(({ dialect }) => dialect !== "vault");
    expect(
      await mistakes(
        dedupAndMonitor,
        ({ access }) => access,
        nameOf,
        (method, credential) => refusedOverConnect(url, method, credential),
      ),
    ).toEqual([]);
  });

  it("over gRPC", async () => {
    const { url } = await startGateway({ services, plain, auth });
    const session = connect(url);
    onTestFinished(() => session.destroy());
    expect(
      await mistakes(
        table.methods,
        ({ access }) => access,
        nameOf,
        (method, credential) => refusedOverGrpc(session, method, credential),
      ),
    ).toEqual([]);
  });

  it("is the operator's where no token for administrators is set", async () => {
    const { url } = await startGateway({
      services,
      plain,
      auth: { token: auth.token, allowedHosts: [] },
    });
    expect(await refusedOverRest(url, "GET", "/api/sample.json", "operator")).toBe(false);
    expect(await refusedOverRest(url, "GET", "/api/sample.json", "admin")).toBe(true);
  });
});

it("only the methods that the rules name are open to everyone", () => {
  const open = methodTable(allServices(), []).methods.filter(
    ({ access, dialect }) =>
      access === Access.PUBLIC || (access === Access.SELF && dialect !== "vault"),
  );
  expect(open.map(({ rpc }) => `${rpc.parent.typeName}.${rpc.name}`).sort()).toEqual([
    "steward.dedup.v1.SystemService.GetHealth",
    "steward.dedup.v1.SystemService.GetReadiness",
  ]);
});
