import { createServer, type IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { nextTurn } from "../../../../src/kernel/async/turns.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import type { Handler } from "../../../../src/kernel/listen/handler.ts";
import {
  createListener,
  type Listener,
  type ListenerSpec,
} from "../../../../src/kernel/listen/listener.ts";
import {
  createUncommonMethods,
  type UncommonMethods,
} from "../../../../src/kernel/listen/http/uncommon-methods.ts";
import { connectRaw, echo, sendPieces, trickle } from "../raw-client.ts";
import { hasOpenssl, makePair, testFolder, writePair } from "../test-certificates.ts";

/** A started listener that serves LIST and SCAN. */
async function listenToAll(more: Partial<ListenerSpec> = {}): Promise<Listener> {
  const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
  const listener = createListener(
    {
      name: "test",
      setting: "gateway.listen",
      address: { host: "127.0.0.1", port: 0 },
      credential: false,
      rescue: ["LIST", "SCAN"],
      handle: echo,
      ...more,
    },
    { clock: systemClock, log },
  );
  await listener.start();
  onTestFinished(() => listener.stop(0));
  return listener;
}

const get = "GET /g HTTP/1.1\r\nHost: x\r\n\r\n";
const list = "LIST /l HTTP/1.1\r\nHost: x\r\n\r\n";
const last = "SCAN /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const withBody = (verb: string, path: string, body: string): string =>
  `${verb} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (verb: string, path: string, body: string): string =>
  `${verb} ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** What the echo was asked, in order, when the pieces are sent one by one. */
async function asked(port: number, pieces: readonly string[]): Promise<string[]> {
  const client = await connectRaw(port);
  await sendPieces(client, pieces);
  return [...(await client.closed()).matchAll(/([A-Z]+ \/\S* \d+|HTTP\/1\.1 [45]\d\d)/g)].map(
    ([text]) => text,
  );
}

/** Gives the parser one byte after the other and asks it after each. */
function naiveMethods(): UncommonMethods {
  const openings = ["LIST /", "SCAN /"];
  let request: IncomingMessage | undefined;
  let renamed: string | undefined;
  return {
    watch(socket) {
      const readers = socket.listeners("data") as ((chunk: Buffer) => void)[];
      socket.removeAllListeners("data");
      let held = "";
      let between = true;
      const feed = (text: string): void => {
        const before = request?.complete === true ? request : undefined;
        for (const reader of readers) reader.call(socket, Buffer.from(text));
        held = "";
        between = request?.complete === true && request !== before;
      };
      const take = (byte: string): void => {
        held += byte;
        if (!between || held === "\r" || held === "\n") {
          const stays = between;
          feed(held);
          between ||= stays;
        } else if (openings.includes(held)) {
          [renamed] = held.split(" ");
          feed("POST /");
        } else if (!openings.some((opening) => opening.startsWith(held))) feed(held);
      };
      socket.on("data", (chunk: Buffer) => {
        for (const byte of String(chunk)) if (!socket.destroyed) take(byte);
      });
    },
    restore(given) {
      request = given;
      if (renamed !== undefined) given.method = renamed;
      renamed = undefined;
    },
  };
}

/**
 * The requests with what came of their bodies, and all status lines, when exactly these pieces
 * arrive and then the end. `parsed` gets what the parser gets.
 */
async function outcomeOf(
  pieces: readonly string[],
  {
    methods = createUncommonMethods({ methods: ["LIST", "SCAN"], headMs: 60_000 }, systemClock),
    parsed = () => undefined,
  }: {
    readonly methods?: UncommonMethods;
    readonly parsed?: (piece: Buffer) => void;
  } = {},
): Promise<unknown> {
  const requests: string[][] = [];
  let sent = "";
  const socket = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      sent += chunk.toString("latin1");
      done();
    },
  });
  const server = createServer((request, response) => {
    methods.restore(request);
    const seen = [request.method ?? "", request.url ?? ""];
    requests.push(seen);
    request.on("data", (part: Buffer) => seen.push(`${seen.splice(2).join("")}${String(part)}`));
    request.on("end", () => response.end());
    request.on("error", () => undefined);
  });
  server.emit("connection", socket);
  socket.on("data", parsed);
  methods.watch(socket as unknown as Socket);
  const closed = new Promise((resolve) => void socket.once("close", resolve));
  for (const piece of pieces) socket.push(Buffer.from(piece));
  // The answers are written before the end arrives.
  await nextTurn();
  await nextTurn();
  socket.push(null);
  await closed;
  server.close();
  return { requests, answers: sent.match(/HTTP\/1\.1 \d{3}/g) };
}

function cutAt(text: string, at: number): string[] {
  return at === 0 ? [text] : [text.slice(0, at), text.slice(at)];
}

describe("an uncommon method over HTTP/1.1", () => {
  it("is served on a connection that is kept, before and after others", async () => {
    const { port } = await listenToAll();
    const client = await connectRaw(port);
    for (const [request, answer] of [
      [list, /LIST \/l 0/],
      [get, /GET \/g 0/],
      [list, /GET[^]*LIST \/l 0/],
      [withBody("LIST", "/b", "abc"), /LIST \/b 3/],
    ] as const) {
      client.socket.write(request);
      await client.until(answer);
    }
    client.socket.write(last);
    expect(await client.closed()).toMatch(/SCAN \/end 0/);
  });

  it("is served wherever its packets are cut", async () => {
    const { port } = await listenToAll();
    const script = `${list}${get}${withBody("LIST", "/b", "abc")}${chunked("LIST", "/c", "abcd")}${last}`;
    const expected = ["LIST /l 0", "GET /g 0", "LIST /b 3", "LIST /c 4", "SCAN /end 0"];
    await Promise.all(
      Array.from({ length: script.length }, async (_, at) => {
        expect([at, await asked(port, cutAt(script, at))]).toEqual([at, expected]);
      }),
    );
    expect(await asked(port, script.split(""))).toEqual(expected);
  });

  it("is told from the same word in bodies and heads, however all is cut", async () => {
    const { port } = await listenToAll();
    const word = fc.constantFrom(
      "LIST /",
      "LIST /x HTTP/1.1\r\n\r\n",
      "LIS",
      "L",
      "SCAN /",
      "S",
      "UN",
      "\r\n\r\n",
      "a",
    );
    const body = fc.array(word, { maxLength: 4 }).map((words) => words.join(""));
    const request = fc
      .tuple(
        fc.constantFrom("GET", "LIST", "SCAN", "POST", "UNLINK"),
        fc.constantFrom("none", "length", "chunked"),
        body,
      )
      .map(([verb, framing, text]) => {
        if (framing === "none" || text === "")
          return {
            text: `${verb} /n?LIST/ HTTP/1.1\r\nHost: x\r\nX-A: LIST /\r\n\r\n`,
            echo: `${verb} /n?LIST/ 0`,
          };
        return {
          text: framing === "length" ? withBody(verb, "/n", text) : chunked(verb, "/n", text),
          echo: `${verb} /n ${text.length}`,
        };
      });
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(300), { maxLength: 4 }),
        async (requests, cuts) => {
          const script = [...requests.map(({ text }) => text), last].join("");
          const edges = [
            ...new Set([0, ...cuts.filter((at) => at < script.length), script.length]),
          ].sort((a, b) => a - b);
          const pieces = edges.slice(1).map((end, index) => script.slice(edges[index], end));
          expect(await asked(port, pieces)).toEqual([
            ...requests.map((each) => each.echo),
            "SCAN /end 0",
          ]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is found in any bytes, however they are cut, as when the parser is asked after each", async () => {
    const words = ["GET", "POST", "LIST", "SCAN", "LI", "SC", "L", "BREW"].map(
      (word) => `${word} /`,
    );
    const fragments = ["LIST", "SCA", "S", "x", " ", "\r\n", "\n", "\r\n\r\n", "0\r\n\r\n"];
    const heads = ["Content-Length: 12\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"];
    const whole = [
      get,
      list,
      withBody("SCAN", "/b", "LIST /SCAN /"),
      chunked("LIST", "/c", "LIST /"),
    ];
    const lines = [" HTTP/1.1\r\nHost: x\r\n", "6\r\nLIST /\r\n"];
    const part = fc.constantFrom(...[words, fragments, heads, whole, lines].flat());
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 16 }),
        fc.array(fc.nat(400), { maxLength: 6 }),
        async (parts, cuts) => {
          const text = parts.join("");
          const edges = [...new Set([0, ...cuts.filter((at) => at < text.length), text.length])];
          edges.sort((left, right) => left - right);
          const pieces = edges.slice(1).map((end, index) => text.slice(edges[index], end));
          expect(await outcomeOf(pieces)).toEqual(
            await outcomeOf([text], { methods: naiveMethods() }),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each(["LIST /", "\nSCAN /", "\r\n\r\nLIST /", "0\r\n\r\nLIST /"])(
    "costs nothing to look for where %j is repeated: heads and bodies are not cut into pieces",
    async (word) => {
      const body = word.repeat(5_000);
      const parsed = vi.fn();
      const head = `GET /h HTTP/1.1\r\nHost: x\r\nX-A: ${"LIST /".repeat(2_000)}\r\n\r\n`;
      const script = `${head}${withBody("POST", "/b", body)}${chunked("POST", "/c", body)}${list}`;
      expect(await outcomeOf(cutAt(script, script.length / 2), { parsed })).toEqual({
        requests: [
          ["GET", "/h"],
          ["POST", "/b", body],
          ["POST", "/c", body],
          ["LIST", "/l"],
        ],
        answers: Array.from({ length: 4 }, () => "HTTP/1.1 200"),
      });
      expect(parsed.mock.calls.length).toBeLessThan(30);
    },
  );

  it("is not looked for behind a request that was refused unreported", async () => {
    const parsed = vi.fn();
    const script = withBody("POST", "/b", "\r\n".repeat(5_000)).replace("Host: x\r\n", "");
    expect(await outcomeOf([script], { parsed })).toEqual({
      requests: [],
      answers: ["HTTP/1.1 400"],
    });
    expect(parsed.mock.calls.length).toBeLessThan(30);
  });

  it("is served among pipelined requests whose answers are not written yet", async () => {
    const held: (() => void)[] = [];
    const slow: Handler = (request, response) =>
      void (request.url === "/g"
        ? held.push(() => response.end("GET /g 0"))
        : response.end(`${request.method} ${request.url} 0`));
    const { port } = await listenToAll({ handle: slow });
    const client = await connectRaw(port);
    client.socket.write(`${get}${list}${last}`);
    await expect.poll(() => held.length).toBe(1);
    held[0]?.();
    expect([...(await client.closed()).matchAll(/[A-Z]+ \/\S+ 0/g)].map(([text]) => text)).toEqual([
      "GET /g 0",
      "LIST /l 0",
      "SCAN /end 0",
    ]);
  });

  it("goes on after the parser had to pause for a reader that is slow", async () => {
    const page = "x".repeat(200_000);
    const { port } = await listenToAll({
      handle: (request, response) => void response.end(`${request.method}${page}`),
    });
    const client = await connectRaw(port);
    client.socket.pause();
    client.socket.write(`${`${get}${list}`.repeat(20)}${last}`);
    client.socket.resume();
    const methods = [...(await client.closed()).matchAll(/(GET|LIST|SCAN)x/g)].map(
      ([, method]) => method,
    );
    expect(methods).toEqual([...Array.from({ length: 20 }, () => ["GET", "LIST"]).flat(), "SCAN"]);
  });

  it("goes on after the reader of a body paused the connection", async () => {
    const reading = Promise.withResolvers<void>();
    const { port } = await listenToAll({
      handle(request, response) {
        request.on("data", () => {
          request.socket.pause();
          setImmediate(() => request.socket.resume());
          reading.resolve();
        });
        request.on("end", () => response.end(`${request.method} ${request.url} 0`));
      },
    });
    const client = await connectRaw(port);
    const [begun, rest] = cutAt(
      `${withBody("POST", "/b", "a".repeat(2_000))}${list}${last}`,
      1_000,
    );
    client.socket.write(begun ?? "");
    await reading.promise;
    client.socket.write(rest ?? "");
    expect([...(await client.closed()).matchAll(/[A-Z]+ \/\S+ 0/g)].map(([text]) => text)).toEqual([
      "POST /b 0",
      "LIST /l 0",
      "SCAN /end 0",
    ]);
  });

  it.each(["UNLIST", "GLIST", "LISTS", "XSCAN", "POSCAN", "M-SCAN", "list", "BREW"])(
    "is one of those declared and no other: %s is refused",
    async (verb) => {
      const { port } = await listenToAll();
      const text = `${verb} /x HTTP/1.1\r\nHost: x\r\n\r\n`;
      for (const script of [text, `${get}${text}`])
        expect((await asked(port, cutAt(script, script.length - text.length + 2))).at(-1)).toBe(
          "HTTP/1.1 400",
        );
      expect(await asked(port, [text])).toEqual(["HTTP/1.1 400"]);
    },
  );

  it("is not what a client's own POST or header makes of it", async () => {
    const { port } = await listenToAll({
      handle: (request, response) =>
        void response.end(`${request.method} /${Object.keys(request.headers).sort().join()} 0`),
    });
    expect(
      await asked(port, [
        `POST /l HTTP/1.1\r\nHost: x\r\nX-Method: LIST\r\nX-Http-Method-Override: LIST\r\n\r\n${list}${last}`,
      ]),
    ).toEqual([
      "POST /host,x-http-method-override,x-method 0",
      "LIST /host 0",
      "SCAN /connection,host 0",
    ]);
  });

  it("is served where it is declared only", async () => {
    const { port } = await listenToAll({ rescue: ["SCAN"] });
    expect(await asked(port, [list])).toEqual(["HTTP/1.1 400"]);
  });

  it("does not pass on to the next request when its own is refused before it is told of", async () => {
    const { port } = await listenToAll();
    expect(
      await asked(port, ["LIST /l HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", get, list, last]),
    ).toEqual(["HTTP/1.1 417", "GET /g 0", "LIST /l 0", "SCAN /end 0"]);
  });

  it("is bound by the limits of every head", async () => {
    const { port: small } = await listenToAll({ limits: { headerBytes: 2048 } });
    expect(await asked(small, [`LIST /${"l".repeat(4096)} HTTP/1.1\r\nHost: x\r\n\r\n`])).toEqual([
      "HTTP/1.1 431",
    ]);
    const { port } = await listenToAll({ limits: { headerMs: 500 } });
    const [slow, half, letter] = await Promise.all([
      connectRaw(port),
      connectRaw(port),
      connectRaw(port),
    ]);
    slow.socket.write("LIST /slow HTTP/1.1\r\nX-Slow: ");
    trickle(slow, "a", 10);
    half.socket.write("LIS");
    letter.socket.write("L");
    expect(await slow.closed()).toMatch(/^HTTP\/1\.1 408/);
    // Given up as a method nobody knows, or cut by Node's own limit, whose timer may fire first.
    expect(await half.closed()).toMatch(/^HTTP\/1\.1 40[08]/);
    expect(await letter.closed()).toMatch(/^HTTP\/1\.1 408/);
  });
});

describe("an uncommon method over other protocols", () => {
  it.skipIf(!hasOpenssl)(
    "is served over TLS, cut at every byte (skipped without the openssl command)",
    async () => {
      const { port } = await listenToAll({ tls: writePair(testFolder(), makePair("one")) });
      const script = `${list}${get}${last}`;
      await Promise.all(
        Array.from({ length: 40 }, async (_, at) => {
          const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
          onTestFinished(() => void socket.destroy());
          let text = "";
          socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
          for (const piece of cutAt(script, at))
            await new Promise<void>(
              (resolve) => void socket.write(piece, () => setImmediate(resolve)),
            );
          await new Promise((resolve) => void socket.once("close", resolve));
          expect([...text.matchAll(/[A-Z]+ \/\S+ 0/g)].map(([each]) => each)).toEqual([
            "LIST /l 0",
            "GET /g 0",
            "SCAN /end 0",
          ]);
        }),
      );
    },
  );

  it("is an ordinary one over HTTP/2", async () => {
    const { port } = await listenToAll();
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/l", ":method": "LIST" }, { endStream: true });
    let text = "";
    for await (const chunk of stream as AsyncIterable<Buffer>) text += chunk.toString();
    expect(text).toBe("LIST /l 0");
  });
});
