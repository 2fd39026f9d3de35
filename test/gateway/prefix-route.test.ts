import { connect as connectHttp2 } from "node:http2";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { openApi } from "../../gateway/describe/openapi.ts";
import { methodTable } from "../../gateway/methods.ts";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { Call, PlainAnswer, PlainRequest, PlainRoute } from "../../src/kernel/service.ts";
import { otherServices } from "./sample-services.ts";
import { startGateway } from "./start-gateway.ts";

/** What a handler may know, as JSON. */
const echo = async (request: PlainRequest, call: Call): Promise<PlainAnswer> => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    method: request.method,
    target: request.target,
    rest: request.params["rest"],
    body: Buffer.from(await request.body()).toString(),
    token: call.header("X-Vault-Token"),
    address: call.remote.address,
    same: call.remote.port === request.remote.port,
    secured: request.secured,
  }),
});

function vaultRoute(
  handle: PlainRoute["handle"] = echo,
  more: Partial<PlainRoute> = {},
): PlainRoute {
  return {
    verb: "*",
    template: "/v1/{rest=**}",
    access: Access.SELF,
    dialect: "vault",
    handle,
    ...more,
  };
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/**
 * As node:http sends it, for `fetch` sends no other host. A body that is announced with no length
 * is sent in chunks.
 */
async function ask(
  host: string,
  method: string,
  path: string,
  { headers = {}, body = "" }: { headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const socket = new URL(`http://${host}`);
  const framing: Record<string, string> =
    body === "" || headers["transfer-encoding"] !== undefined
      ? {}
      : { "content-length": String(Buffer.byteLength(body)) };
  const request = httpRequest({
    host: socket.hostname,
    port: socket.port,
    method,
    path,
    headers: { ...framing, ...headers },
    agent: false,
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response as AsyncIterable<Buffer>) text += chunk.toString();
  return { status: response.statusCode, headers: response.headers, text };
}

describe("a route for a whole prefix", () => {
  it.each(["GET", "POST", "PUT", "PATCH", "DELETE", "LIST", "SCAN", "OPTIONS"])(
    "gets %s with the target as sent, its body, headers and caller",
    async (method) => {
      const { host } = await startGateway({ plain: [vaultRoute()] });
      const answer = await ask(host, method, "/v1/a%2Fb/%zz/../c//?list=true&x=%20", {
        headers: { "x-vault-token": "hvs.1" },
        body: method === "GET" ? "" : "raw",
      });
      expect([answer.status, JSON.parse(answer.text)]).toEqual([
        200,
        {
          method,
          target: "/v1/a%2Fb/%zz/../c//?list=true&x=%20",
          rest: "a%2Fb/%zz/../c//",
          body: method === "GET" ? "" : "raw",
          token: "hvs.1",
          address: "127.0.0.1",
          same: true,
          secured: false,
        },
      ]);
    },
  );

  it("gets HEAD, whose answer has GET's length and no body", async () => {
    const { host } = await startGateway({
      plain: [
        vaultRoute((request) =>
          Promise.resolve({ status: 473, headers: {}, body: request.method }),
        ),
      ],
    });
    expect(await ask(host, "HEAD", "/v1/sys/health")).toMatchObject({
      status: 473,
      text: "",
      headers: { "content-length": "4" },
    });
  });

  it("gets LIST over HTTP/2 as well", async () => {
    const { url } = await startGateway({ plain: [vaultRoute()] });
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":method": "LIST", ":path": "/v1/x" }, { endStream: true });
    let text = "";
    for await (const chunk of stream as AsyncIterable<Buffer>) text += chunk.toString();
    expect(JSON.parse(text)).toMatchObject({
      method: "LIST",
      target: "/v1/x",
      address: "127.0.0.1",
    });
  });

  it("answers 204 with its headers and no body, over both protocols", async () => {
    const { host, url } = await startGateway({
      plain: [
        vaultRoute(() =>
          Promise.resolve({
            status: 204,
            headers: { "content-type": "application/json", "x-more": "1" },
            body: "dropped",
          }),
        ),
      ],
    });
    const { headers, ...rest } = await ask(host, "PUT", "/v1/x");
    expect([rest, headers["content-type"], headers["x-more"], headers["content-length"]]).toEqual([
      { status: 204, text: "" },
      "application/json",
      "1",
      undefined,
    ]);
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":method": "DELETE", ":path": "/v1/x" }, { endStream: true });
    stream.resume();
    const [answered] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(answered).toMatchObject({
      ":status": 204,
      "content-type": "application/json",
      "x-more": "1",
    });
  });

  it("owns what is below it: neither the methods' http rules nor the house's 404 answer there, and nothing beside it changes", async () => {
    const { host } = await startGateway({ services: otherServices(), plain: [vaultRoute()] });
    expect(JSON.parse((await ask(host, "GET", "/v1/sample/x")).text)).toMatchObject({
      rest: "sample/x",
    });
    expect(JSON.parse((await ask(host, "BIND", "/v1/nowhere")).text)).toMatchObject({
      method: "BIND",
      rest: "nowhere",
    });
    expect((await ask(host, "GET", "/v1")).status).toBe(404);
    expect(await ask(host, "LIST", "/api/sample.json")).toMatchObject({
      status: 405,
      text: "Method Not Allowed\n",
      headers: { allow: "GET, HEAD" },
    });
  });

  it("leaves the http rules below it in the reference", () => {
    const rules = (plain: PlainRoute[]): string[] =>
      Object.keys(openApi(methodTable(otherServices(), plain), {}).paths).filter((path) =>
        path.startsWith("/v1/"),
      );
    expect(rules([vaultRoute()])).toEqual(rules([]));
    expect(rules([]).length).toBeGreaterThan(0);
  });

  it("gives way to the longer of two", () => {
    const table = methodTable(
      [],
      [vaultRoute(), vaultRoute(echo, { template: "/v1/sys/{rest=**}" })],
    );
    expect(table.match("GET", "/v1/sys/a")).toMatchObject({
      kind: "found",
      params: { rest: "a" },
      route: { template: { text: "/v1/sys/{rest=**}" } },
    });
  });
});

describe("the limits of a route", () => {
  it("hold for its body, announced or not, and a handler may ask for less", async () => {
    const { host } = await startGateway({
      plain: [
        vaultRoute(
          async (request) => ({
            status: 200,
            headers: {},
            body: String((await request.body(request.query.has("less") ? 4 : undefined)).length),
          }),
          { limits: { bodyBytes: 10 } },
        ),
      ],
    });
    expect((await ask(host, "PUT", "/v1/x", { body: "a".repeat(10) })).text).toBe("10");
    const body = "a".repeat(11);
    for (const headers of [{}, { "transfer-encoding": "chunked" }] as const)
      expect(await ask(host, "PUT", "/v1/x", { body, headers })).toMatchObject({
        status: 413,
        text: '{"errors":["the body is larger than 10 bytes; send less at a time"]}\n',
      });
    expect((await ask(host, "PUT", "/v1/x?less", { body: "aaaaa" })).status).toBe(413);
  });

  it("end a request in time, by its signal and by the answer, although the handler goes on", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { host } = await startGateway({
      plain: [
        vaultRoute(
          (_, { signal }) =>
            new Promise(() => signal.addEventListener("abort", () => resolve(signal.reason))),
          { limits: { requestMs: 30 } },
        ),
      ],
    });
    expect(await ask(host, "GET", "/v1/x")).toMatchObject({
      status: 504,
      text: '{"errors":["the request took longer than 0.03 s and was cancelled; request less, or retry later"]}\n',
    });
    expect(await promise).toMatchObject({ code: "deadline" });
  });
});

describe("a route that checks its own credential", () => {
  it("is reached with it under any name, and not by a foreign page that brings no Vault token", async () => {
    const { host } = await startGateway({
      plain: [
        vaultRoute(echo, {
          allowedOrigins: () => ["https://vault.example"],
          hasCredential: (headers) => headers["x-vault-token"] === "hvs.1",
        }),
      ],
    });
    const status = async (
      method: string,
      path: string,
      headers: Record<string, string>,
    ): Promise<number | undefined> => (await ask(host, method, path, { headers })).status;
    expect(
      await status("GET", "/v1/sys/mounts", { host: "vault.example", "x-vault-token": "hvs.1" }),
    ).toBe(200);
    expect(
      await status("GET", "/v1/sys/mounts", { host: "vault.example", "x-vault-token": "hvs.2" }),
    ).toBe(403);
    expect(await status("GET", "/v1/sys/health", { host: "vault.example" })).toBe(403);
    expect(
      await status("PUT", "/v1/sys/unseal", { host: "vault.example", "x-vault-token": "hvs.1" }),
    ).toBe(403);
    expect(await status("PUT", "/v1/auth/login", { origin: "https://evil.example" })).toBe(403);
    expect(await status("LIST", "/v1/x", { "sec-fetch-site": "cross-site" })).toBe(403);
    expect(
      await status("PUT", "/v1/x", { origin: "https://evil.example", "x-vault-token": "hvs.1" }),
    ).toBe(200);
    expect(await status("PUT", "/v1/auth/login", { origin: "https://vault.example" })).toBe(200);
  });
});
