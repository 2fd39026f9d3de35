/**
 * An S3-compatible bucket over HTTP, as far as a feed asks one: ListObjectsV2 and GetObject, path
 * style, with faults on demand.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A bucket named `logs`. */
export interface BucketServer {
  readonly url: string;
  readonly objects: Map<string, Uint8Array>;
  /** By operation or key: what is answered instead. */
  readonly faults: Map<string, (response: ServerResponse) => void>;
  /** `list <prefix> after <key>`, `get <key>`. */
  readonly asked: string[];
  /** Authorization headers. */
  readonly signed: (string | undefined)[];
  close(): Promise<void>;
}

export async function startBucket(): Promise<BucketServer> {
  const objects = new Map<string, Uint8Array>();
  const faults: BucketServer["faults"] = new Map();
  const asked: string[] = [];
  const signed: (string | undefined)[] = [];
  const server: Server = createServer((request, response) => {
    signed.push(request.headers.authorization);
    const url = new URL(request.url ?? "", "http://bucket");
    const key = decodeURIComponent(url.pathname.replace(/^\/logs\/?/, ""));
    const operation = key === "" ? "list" : "get";
    asked.push(
      operation === "list"
        ? `list ${url.searchParams.get("prefix") ?? ""} after ${url.searchParams.get("start-after") ?? ""}`
        : `get ${key}`,
    );
    const fault = faults.get(key) ?? faults.get(operation);
    if (fault !== undefined) fault(response);
    else if (operation === "list") answerList(objects, url, response);
    else answerGet(objects.get(key), response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    faults,
    asked,
    signed,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answerList(
  objects: ReadonlyMap<string, Uint8Array>,
  url: URL,
  response: ServerResponse,
): void {
  const prefix = url.searchParams.get("prefix") ?? "";
  const after = url.searchParams.get("start-after") ?? "";
  const most = Number(url.searchParams.get("max-keys") ?? 1_000);
  const all = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
  const shown = all
    .slice(0, most)
    .map(
      (key) =>
        `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length ?? 0}</Size><LastModified>2026-11-20T10:00:00.000Z</LastModified></Contents>`,
    );
  response
    .writeHead(200, { "content-type": "application/xml" })
    .end(
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>logs</Name><Prefix>${prefix}</Prefix><KeyCount>${shown.length}</KeyCount><MaxKeys>${most}</MaxKeys><IsTruncated>${all.length > most}</IsTruncated>${shown.join("")}</ListBucketResult>`,
    );
}

function answerGet(
  object: Uint8Array | undefined,
  response: ServerResponse,
  request: IncomingMessage,
): void {
  if (object !== undefined)
    response
      .writeHead(200, { "content-length": object.length })
      .end(request.method === "HEAD" ? undefined : object);
  else
    response
      .writeHead(404, { "content-type": "application/xml" })
      .end(
        '<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>',
      );
}

/** A refusal as S3 writes it. */
export function refusal(status: number, code: string): (response: ServerResponse) => void {
  return (response) =>
    void response
      .writeHead(status, { "content-type": "application/xml" })
      .end(
        `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>no</Message></Error>`,
      );
}
