import { connect as connectHttp2, constants } from "node:http2";
import { describe, expect, it, onTestFinished } from "vitest";
import { goneSignal, readBody, readHead } from "../../gateway/node-http.ts";
import type { ServerRequest } from "../../src/kernel/listen/exchange.ts";
import { connectRaw, listen } from "../kernel/listen/raw-client.ts";

/** What `look` makes of a request sent as these bytes. */
async function receive<T>(
  text: string,
  look: (request: ServerRequest) => T | Promise<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const { port } = await listen(async (request, response) => {
    await Promise.resolve()
      .then(() => look(request))
      .then(resolve, reject);
    response.end("answered");
  });
  promise.catch(() => undefined);
  const client = await connectRaw(port);
  client.socket.write(text);
  if (!text.includes("BREAK")) await client.until(/answered/);
  else client.socket.end();
  return promise;
}

describe("a request's head", () => {
  it("has path and query apart, both as they were sent", async () => {
    const head = await receive(
      "GET /a%2Fb/c?q=%20x?&y HTTP/1.1\r\nHost: LOCALHOST:1\r\nX-Two: a\r\nX-Two: b\r\n\r\n",
      readHead,
    );
    expect(head).toMatchObject({
      method: "GET",
      path: "/a%2Fb/c",
      search: "?q=%20x?&y",
      headers: { host: "LOCALHOST:1", "x-two": "a, b" },
    });
  });
});

describe("a whole body", () => {
  const post = (headers: string, body: string): string =>
    `POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`;

  it("is read up to its limit, in one piece or many", async () => {
    expect(
      Buffer.from(
        await receive(post("Content-Length: 5", "12345"), (request) => readBody(request, 5)),
      ).toString(),
    ).toBe("12345");
    expect(
      await receive(
        post("Transfer-Encoding: chunked", "2\r\n12\r\n3\r\n345\r\n0\r\n\r\n"),
        (request) => readBody(request, 5),
      ),
    ).toHaveLength(5);
    expect(
      await receive(post("Content-Length: 0", ""), (request) => readBody(request, 0)),
    ).toHaveLength(0);
  });

  it.each([
    ["declared", "Content-Length: 6", "123456"],
    ["not declared", "Transfer-Encoding: chunked", "6\r\n123456\r\n0\r\n\r\n"],
  ])("larger than its limit is refused when its length is %s", async (_name, headers, body) => {
    await expect(
      receive(post(headers, body), (request) => readBody(request, 5)),
    ).rejects.toMatchObject({ code: "too_large" });
  });

  it("that breaks off is refused", async () => {
    await expect(
      receive(post("Content-Length: 50", "BREAK"), (request) => readBody(request, 100)),
    ).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("the signal of a client that has gone", () => {
  it("fires over HTTP/2, too, where a stream that was reset counts as finished, and not for an answer that was sent", async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<AbortSignal>();
    const { promise: left, resolve: leave } = Promise.withResolvers<unknown>();
    const { port } = await listen((request, response) => {
      const gone = goneSignal(response);
      if (request.url === "/answered") response.once("close", () => answer(gone)).end("whole");
      else gone.addEventListener("abort", () => leave(gone.reason));
      if (request.url !== "/answered") response.write("the beginning");
    });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    session.request({ ":path": "/answered" }).resume();
    expect((await answered).aborted).toBe(false);
    const stream = session.request({ ":path": "/left" }).on("error", () => undefined);
    stream.once("data", () => stream.close(constants.NGHTTP2_CANCEL));
    expect(await left).toMatchObject({ name: "StewardError", code: "cancelled" });
  });
});
