/**
 * A server of Pyroscope's ingest API on loopback, that answers as a test says and takes uploads
 * apart.
 */
import {
  createServer as createPlain,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createSecure, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";

interface Ingested {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  /** The part `profile` of the form. */
  readonly profile: Uint8Array;
}

export interface Ingest extends AsyncDisposable {
  readonly url: string;
  readonly uploads: Ingested[];
  /** How the next requests are answered; 200 unless a test says otherwise. */
  answer: (response: ServerResponse, request: IncomingMessage) => void;
}

export async function startIngest(tls?: ServerOptions): Promise<Ingest> {
  const listener: RequestListener = (request, response) => {
    const parts: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      void read(request, Buffer.concat(parts)).then((upload) => {
        ingest.uploads.push(upload);
        ingest.answer(response, request);
      });
    });
  };
  const server: Server = tls === undefined ? createPlain(listener) : createSecure(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ingest: Ingest = {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uploads: [],
    answer: (response) => void response.writeHead(200).end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return ingest;
}

async function read(request: IncomingMessage, body: Buffer): Promise<Ingested> {
  const url = new URL(request.url ?? "", "http://x");
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": request.headers["content-type"] ?? "" },
  }).formData();
  const profile = form.get("profile");
  if (!(profile instanceof Blob)) throw new Error("the form has no file profile");
  return {
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    profile: new Uint8Array(await profile.arrayBuffer()),
  };
}
