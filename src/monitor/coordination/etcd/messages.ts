/**
 * The few messages of etcd's gRPC API (v3) that a lease needs, as bytes. Field numbers are those of
 * etcd's published `rpc.proto` and `kv.proto`; unknown fields are skipped.
 */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Field → its values in order: integers as bigint, the rest as bytes. */
type Fields = ReadonlyMap<number, readonly (bigint | Uint8Array)[]>;

/** `Compare.CompareTarget`: the revision in which the key was created. */
const CREATE_REVISION = 1;
/** `WatchCreateRequest.FilterType`: no events of writes. */
const NO_PUT = 0;

const text = new TextDecoder();

function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, (bigint | Uint8Array)[]>();
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    const values = fields.get(field) ?? [];
    fields.set(field, values);
    if (wireType === WireType.Varint) values.push(BigInt(reader.int64()));
    else if (wireType === WireType.LengthDelimited) values.push(reader.bytes());
    else reader.skip(wireType, field);
  }
  return fields;
}

function integer(fields: Fields, field: number): bigint {
  const value = fields.get(field)?.at(-1);
  return typeof value === "bigint" ? value : 0n;
}

function message(fields: Fields, field: number): Fields {
  const value = fields.get(field)?.at(-1);
  return value instanceof Uint8Array ? fieldsOf(value) : new Map();
}

const write = (fill: (writer: BinaryWriter) => void): Uint8Array => {
  const writer = new BinaryWriter();
  fill(writer);
  return writer.finish();
};

const int64 = (writer: BinaryWriter, field: number, value: bigint): BinaryWriter =>
  writer.tag(field, WireType.Varint).int64(String(value));

const bytes = (writer: BinaryWriter, field: number, value: Uint8Array): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).bytes(value);

const string = (writer: BinaryWriter, field: number, value: string): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).string(value);

/** `LeaseGrantRequest`. */
export const leaseGrant = (ttlSeconds: number): Uint8Array =>
  write((writer) => int64(writer, 1, BigInt(ttlSeconds)));

/** `LeaseRevokeRequest` and `LeaseKeepAliveRequest`, which are alike. */
export const leaseOf = (id: bigint): Uint8Array => write((writer) => int64(writer, 1, id));

/** `LeaseGrantResponse` and `LeaseKeepAliveResponse`, which are alike. A TTL of 0 is no lease. */
export function readLease(answer: Uint8Array): { id: bigint; ttlSeconds: number } {
  const fields = fieldsOf(answer);
  return { id: integer(fields, 2), ttlSeconds: Number(integer(fields, 3)) };
}

const createdIn = (key: string, revision: bigint): Uint8Array =>
  write((writer) => {
    writer.tag(2, WireType.Varint).int32(CREATE_REVISION);
    string(writer, 3, key);
    int64(writer, 5, revision);
  });

/** `RangeRequest` of one key. */
export const rangeOf = (key: string): Uint8Array => write((range) => string(range, 1, key));

const rangeOperation = (key: string): Uint8Array =>
  write((writer) => bytes(writer, 1, rangeOf(key)));

/** `TxnRequest`: creates the key under the lease if it does not exist, else reads it. */
export const createKey = (key: string, value: string, lease: bigint): Uint8Array =>
  write((writer) => {
    bytes(writer, 1, createdIn(key, 0n));
    const put = write((fields) => {
      string(fields, 1, key);
      string(fields, 2, value);
      int64(fields, 3, lease);
    });
    bytes(
      writer,
      2,
      write((operation) => bytes(operation, 2, put)),
    );
    bytes(writer, 3, rangeOperation(key));
  });

/** `TxnRequest` that succeeds if the key is the one that was created in this revision. */
export const checkKey = (key: string, revision: bigint): Uint8Array =>
  write((writer) => bytes(writer, 1, createdIn(key, revision)));

/** `TxnRequest`: writes a pair if the key is the one that was created in this revision. */
export const putIf = (
  key: string,
  revision: bigint,
  pair: { readonly key: string; readonly value: string },
): Uint8Array =>
  write((writer) => {
    bytes(writer, 1, createdIn(key, revision));
    const put = write((fields) => {
      string(fields, 1, pair.key);
      string(fields, 2, pair.value);
    });
    bytes(
      writer,
      2,
      write((operation) => bytes(operation, 2, put)),
    );
  });

/** The values of a `RangeResponse`. */
export function readPairs(answer: Uint8Array): string[] {
  const pairs = fieldsOf(answer).get(2) ?? [];
  return pairs.flatMap((pair) => {
    const value = pair instanceof Uint8Array ? fieldsOf(pair).get(5)?.at(-1) : undefined;
    return value instanceof Uint8Array ? [text.decode(value)] : [];
  });
}

/** `TxnResponse`; `value` is that of the key read. */
export function readTxn(answer: Uint8Array): {
  revision: bigint;
  succeeded: boolean;
  value: string;
} {
  const fields = fieldsOf(answer);
  const pair = message(message(message(fields, 3), 1), 2);
  const value = pair.get(5)?.at(-1);
  return {
    revision: integer(message(fields, 1), 3),
    succeeded: integer(fields, 2) === 1n,
    value: value instanceof Uint8Array ? text.decode(value) : "",
  };
}

/** `WatchRequest` for the deletion of a key from this revision on. */
export const watchDeletion = (key: string, fromRevision: bigint): Uint8Array =>
  write((writer) => {
    const create = write((fields) => {
      string(fields, 1, key);
      int64(fields, 3, fromRevision);
      fields.tag(5, WireType.Varint).int32(NO_PUT);
    });
    bytes(writer, 1, create);
  });

/** Whether a `WatchResponse` ends the wait: it has an event, or the watch was cancelled. */
export function endsWatch(answer: Uint8Array): boolean {
  const fields = fieldsOf(answer);
  return fields.has(11) || integer(fields, 4) === 1n;
}
