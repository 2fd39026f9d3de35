/** A DNS server on loopback that answers reverse queries over UDP (RFC 1035, section 4). */
import { createSocket } from "node:dgram";

/** Names of an address, "none" (NXDOMAIN), "failure" (SERVFAIL), or no answer at all. */
export type DnsAnswer = readonly string[] | "none" | "failure" | "silence";

export interface DnsServer extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** The names of the questions in their order, e.g. `7.113.0.203.in-addr.arpa`. */
  readonly questions: readonly string[];
}

const HEADER_BYTES = 12;
const POINTER_TO_QUESTION = 0xc00c;
const PTR = 12;
const IN = 1;
const TTL_SECONDS = 60;
const CODES = { none: 3, failure: 2 } as const;

/** `answer` is given the name of the question. */
export async function startDns(
  answer: (question: string) => DnsAnswer | Promise<DnsAnswer>,
): Promise<DnsServer> {
  const questions: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, end } = readName(query);
    questions.push(name);
    void Promise.resolve(answer(name)).then((found) => {
      if (found !== "silence") socket.send(reply(query, end, found), port, address);
    });
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 5 };
}

function reply(query: Buffer, end: number, answer: readonly string[] | keyof typeof CODES): Buffer {
  const names = typeof answer === "string" ? [] : answer;
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (typeof answer === "string" ? CODES[answer] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(names.length, 6);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...names.map(record)]);
}

function record(name: string): Buffer {
  const labels = name.split(".").map((label) => {
    const bytes = Buffer.from(label, "latin1");
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  });
  const data = Buffer.concat([...labels, Buffer.from([0])]);
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(POINTER_TO_QUESTION, 0);
  head.writeUInt16BE(PTR, 2);
  head.writeUInt16BE(IN, 4);
  head.writeUInt32BE(TTL_SECONDS, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
