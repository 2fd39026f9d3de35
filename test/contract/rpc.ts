/** The same method over Connect and over gRPC (`@grpc/grpc-js`), from the descriptors. */
import {
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  create,
  fromBinary,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  type ClientReadableStream,
  Client,
  credentials,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";

/** For what is answered soon on a quiet machine; below the timeout of a test. */
const DEADLINE_MS = 240_000;

/** A unary call over gRPC; rejects with grpc-js's ServiceError. */
export function grpcUnary<I extends DescMessage, O extends DescMessage>(
  host: string,
  method: DescMethodUnary<I, O>,
  init: MessageInitShape<I>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<MessageShape<O>> {
  const client = new Client(host, credentials.createInsecure());
  const headers = new Metadata();
  for (const [name, value] of Object.entries(metadata)) headers.set(name, value);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (request: MessageShape<I>) => Buffer.from(toBinary(method.input, request)),
      (bytes) => fromBinary(method.output, bytes),
      create(method.input, init),
      headers,
      { deadline: Date.now() + DEADLINE_MS },
      (error: ServiceError | null, answer?: MessageShape<O>) => {
        client.close();
        if (error || !answer) reject(error ?? new Error("no answer"));
        else resolve(answer);
      },
    );
  });
}

/** A server stream over gRPC, collected to its end. */
export async function grpcStream<I extends DescMessage, O extends DescMessage>(
  host: string,
  method: DescMethodStreaming<I, O>,
  init: MessageInitShape<I>,
): Promise<MessageShape<O>[]> {
  const client = new Client(host, credentials.createInsecure());
  const stream: ClientReadableStream<MessageShape<O>> = client.makeServerStreamRequest(
    `/${method.parent.typeName}/${method.name}`,
    (request: MessageShape<I>) => Buffer.from(toBinary(method.input, request)),
    (bytes) => fromBinary(method.output, bytes),
    create(method.input, init),
    { deadline: Date.now() + DEADLINE_MS },
  );
  const messages: MessageShape<O>[] = [];
  for await (const message of stream) messages.push(message as MessageShape<O>);
  client.close();
  return messages;
}

/** A unary call over Connect with JSON. */
export async function connectUnary<I extends DescMessage, O extends DescMessage>(
  url: string,
  method: DescMethodUnary<I, O>,
  init: MessageInitShape<I>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<{
  status: number;
  message?: MessageShape<O>;
  error?: { code: string; message: string; details?: JsonValue };
}> {
  const answer = await fetch(`${url}/${method.parent.typeName}/${method.name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "connect-protocol-version": "1", ...metadata },
    body: JSON.stringify(toJson(method.input, create(method.input, init))),
  });
  const body = (await answer.json()) as JsonValue;
  if (answer.ok) return { status: answer.status, message: fromJson(method.output, body) };
  return { status: answer.status, error: body as { code: string; message: string } };
}
