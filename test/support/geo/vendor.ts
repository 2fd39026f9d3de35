/** A download service of geo databases on loopback, and one of files to which it redirects. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";

export interface Vendor extends AsyncDisposable {
  /** For `enrichment.geoip.download.endpoint`. */
  readonly endpoint: string;
  /** Requests in their order: path, whether credentials came, and the time of the known file. */
  readonly requests: {
    readonly path: string;
    readonly authorized: boolean;
    readonly since: string | undefined;
  }[];
  /** Archives by edition; what is missing is 404. */
  readonly archives: Map<string, { bytes: Buffer; modified: Date; checksum?: string }>;
  /** Answers in place of the service, when it returns true. */
  fault: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

export const ACCOUNT = "123456";
export const LICENSE_KEY = "canary-license-key";

/** An archive as the vendor packs it: a folder with the database and texts beside it. */
export async function archiveOf(edition: string, database: Buffer): Promise<Buffer> {
  const folder = `${edition}_20261101`;
  const file = (name: string, body: Buffer) => ({
    header: { name: `${folder}/${name}`, size: body.length, type: "file" as const },
    body: new Uint8Array(body),
  });
  return gzipSync(
    await packTar([
      { header: { name: `${folder}/`, size: 0, type: "directory" } },
      file("LICENSE.txt", Buffer.from("terms")),
      file(`${edition}.mmdb`, database),
    ]),
  );
}

/** Redirects each download to its second port, as the vendor does to its store. */
export async function startVendor(): Promise<Vendor> {
  const vendor: Omit<Vendor, "endpoint" | typeof Symbol.asyncDispose> = {
    requests: [],
    archives: new Map(),
    fault: undefined,
  };
  const wanted = `Basic ${Buffer.from(`${ACCOUNT}:${LICENSE_KEY}`).toString("base64")}`;
  let files = "";
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://vendor");
    const { authorization, "if-modified-since": since } = request.headers;
    const isStore = request.headers.host === new URL(files).host;
    vendor.requests.push({
      path: `${isStore ? "store " : ""}${pathname}?${searchParams}`,
      authorized: authorization !== undefined,
      since,
    });
    if (vendor.fault?.(request, response) === true) return;
    const archive = vendor.archives.get(pathname.split("/").at(-2) ?? "");
    if (!isStore && authorization !== wanted) response.writeHead(401).end("Invalid license key");
    else if (archive === undefined) response.writeHead(404).end();
    else if (!isStore) response.writeHead(302, { location: `${files}${request.url}` }).end();
    else if (searchParams.get("suffix") === "tar.gz.sha256") {
      const sum = archive.checksum ?? createHash("sha256").update(archive.bytes).digest("hex");
      response.end(`${sum}  file.tar.gz\n`);
    } else if (since !== undefined && new Date(since) >= archive.modified)
      response.writeHead(304).end();
    else
      response
        .writeHead(200, { "last-modified": archive.modified.toUTCString() })
        .end(archive.bytes);
  };
  const servers = [createServer(answer), createServer(answer)];
  const [service = "", store = ""] = await Promise.all(
    servers.map(
      (server) =>
        new Promise<string>((resolve) =>
          server.listen(0, "127.0.0.1", () =>
            resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
          ),
        ),
    ),
  );
  files = store;
  return Object.assign(vendor, {
    endpoint: `${service}/geoip/databases`,
    async [Symbol.asyncDispose]() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  });
}
