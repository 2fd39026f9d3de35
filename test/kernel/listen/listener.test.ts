import { connect as connectHttp2 } from "node:http2";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { ServerResponse } from "../../../src/kernel/listen/exchange.ts";
import { createListener, type ListenerSpec } from "../../../src/kernel/listen/listener.ts";
import { connectRaw, echo, listen } from "./raw-client.ts";

const deps = {
  clock: systemClock,
  log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
};
const spec: ListenerSpec = {
  name: "test",
  setting: "gateway.listen",
  address: { host: "127.0.0.1", port: 0 },
  credential: false,
  handle: echo,
};
const request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

/** A handler whose answers wait until they are let go. */
function held(): { answers: ServerResponse[]; handle: ListenerSpec["handle"] } {
  const answers: ServerResponse[] = [];
  return { answers, handle: (_request, response) => void answers.push(response) };
}

describe("binding", () => {
  it.each(["0.0.0.0", "", "::", "192.168.1.5", "example.org"])(
    "is refused on %j without a credential, before a socket opens",
    (host) => {
      expect(() => createListener({ ...spec, address: { host, port: 0 } }, deps)).toThrow(
        expect.objectContaining({
          code: "invalid",
          field: "gateway.listen",
          remedy: "set auth.token, or listen on 127.0.0.1",
        }),
      );
    },
  );

  it.each(["127.0.0.1", "::1", "localhost"])("is allowed on %s without a credential", (host) => {
    expect(createListener({ ...spec, address: { host, port: 0 } }, deps).port).toBe(0);
  });

  it("is allowed everywhere with a credential", async () => {
    const listener = createListener(
      { ...spec, credential: true, address: { host: "0.0.0.0", port: 0 } },
      deps,
    );
    await listener.start();
    expect(listener.port).toBeGreaterThan(0);
    await listener.stop(0);
  });

  it("names address and remedy when the port is taken", async () => {
    const first = await listen(echo);
    const second = createListener(
      { ...spec, address: { host: "127.0.0.1", port: first.port } },
      deps,
    );
    await expect(second.start()).rejects.toMatchObject({
      code: "conflict",
      field: "gateway.listen",
      message: `127.0.0.1:${first.port} is already in use by another process`,
      remedy: "stop that process, or set gateway.listen to another address",
    });
  });

  it("names the address when this machine does not have it", async () => {
    const listener = createListener(
      { ...spec, credential: true, address: { host: "192.0.2.1", port: 0 } },
      deps,
    );
    await expect(listener.start()).rejects.toMatchObject({
      code: "invalid",
      message: "192.0.2.1:0 is no address of this machine",
    });
  });
});

describe("stopping", () => {
  it("works without start, and twice", async () => {
    const listener = createListener(spec, deps);
    await Promise.all([listener.stop(10), listener.stop(10)]);
    expect(listener.draining.aborted).toBe(true);
  });

  it("accepts no more, closes idle connections and lets requests finish over both protocols", async () => {
    const { answers, handle } = held();
    const listener = await listen(handle);
    const { port } = listener;
    const idle = await connectRaw(listener.port);
    const busy = await connectRaw(listener.port);
    busy.socket.write(request);
    const session = connectHttp2(`http://127.0.0.1:${listener.port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/b" });
    await expect.poll(() => answers.length).toBe(2);
    const goaway = once(session, "goaway");

    const stopped = listener.stop(10_000);
    await idle.closed();
    await goaway;
    await expect(connectRaw(port)).rejects.toThrow("refused");
    for (const answer of answers) answer.end("finished");
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    stream.resume();
    expect(headers[":status"]).toBe(200);
    expect(await busy.closed()).toMatch(/connection: close[^]*finished/i);
    await stopped;
    expect(listener.connections()).toBe(0);
    expect(listener.inFlight()).toBe(0);
  });

  it("closes a connection after an answer that had begun before", async () => {
    const { answers, handle } = held();
    const listener = await listen(handle);
    const client = await connectRaw(listener.port);
    client.socket.write(request);
    await expect.poll(() => answers.length).toBe(1);
    answers[0]?.write("begun ");
    await client.until(/begun/);
    const stopped = listener.stop(10_000);
    answers[0]?.end("ended");
    expect(await client.closed()).toMatch(/ended/);
    await stopped;
  });

  it("cuts at the deadline what would not end", async () => {
    const { answers, handle } = held();
    const listener = await listen(handle);
    const client = await connectRaw(listener.port);
    client.socket.write(request);
    const session = connectHttp2(`http://127.0.0.1:${listener.port}`);
    session.on("error", () => undefined);
    session.request({ ":path": "/b" }).on("error", () => undefined);
    await expect.poll(() => answers.length).toBe(2);
    const gone = new Promise((resolve) => session.once("close", resolve));
    await listener.stop(50);
    await Promise.all([client.closed(), gone]);
    expect(listener.connections()).toBe(0);
  });

  it("loses no answer of a request it had accepted, under load", async () => {
    const { answers, handle } = held();
    const listener = await listen(handle);
    const clients = await Promise.all(Array.from({ length: 30 }, () => connectRaw(listener.port)));
    for (const client of clients) client.socket.write(request);
    await expect.poll(() => listener.inFlight()).toBe(30);
    const stopped = listener.stop(10_000);
    for (const answer of answers) setImmediate(() => answer.end("whole answer"));
    const texts = await Promise.all(clients.map((client) => client.closed()));
    await stopped;
    expect(texts.filter((text) => text.endsWith("whole answer"))).toHaveLength(30);
  });
});
