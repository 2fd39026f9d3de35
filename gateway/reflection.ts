/** gRPC server reflection, v1 and v1alpha, from the generated descriptors. */
import {
  toBinary,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../src/gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { bindConversation, type Conversation } from "./rpc.ts";

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>;
type Response = NonNullable<Answer["messageResponse"]>;

const NOT_FOUND = 5;
const INVALID_ARGUMENT = 3;

/** Both versions over these services, including themselves. */
export function createReflection(services: readonly DescService[]): readonly Conversation[] {
  const all = [...services, ServerReflection, ServerReflectionAlpha];
  const index = indexFiles(all.map((service) => service.file));
  const names = all
    .map((service) => ({ name: service.typeName }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const reply = (request: ServerReflectionRequest): Answer => ({
    validHost: request.host,
    originalRequest: request,
    messageResponse: answer(request, index, names),
  });
  return [
    bindConversation(ServerReflection.method.serverReflectionInfo, reply),
    // The two versions differ only in their package.
    bindConversation(ServerReflectionAlpha.method.serverReflectionInfo, reply as never),
  ];
}

interface Index {
  readonly files: ReadonlyMap<string, DescFile>;
  readonly symbols: ReadonlyMap<string, DescFile>;
  /** By the extended message's full name. */
  readonly extensions: ReadonlyMap<string, readonly DescExtension[]>;
}

function answer(
  { messageRequest: asked }: ServerReflectionRequest,
  index: Index,
  names: readonly { name: string }[],
): Response {
  switch (asked.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: [...names] } };
    case "fileByFilename":
      return fileAnswer(index.files.get(asked.value), `file ${asked.value}`);
    case "fileContainingSymbol":
      return fileAnswer(index.symbols.get(asked.value.replace(/^\./, "")), `symbol ${asked.value}`);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const extension = index.extensions
        .get(containingType)
        ?.find((each) => each.number === extensionNumber);
      return fileAnswer(extension?.file, `extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      if (!index.symbols.has(asked.value))
        return refusal(NOT_FOUND, `there is no type ${asked.value}`);
      const numbers = (index.extensions.get(asked.value) ?? []).map((each) => each.number);
      return {
        case: "allExtensionNumbersResponse",
        value: { baseTypeName: asked.value, extensionNumber: numbers },
      };
    }
    default:
      return refusal(INVALID_ARGUMENT, "the request is empty");
  }
}

// A file is sent with all its imports, so that one response is sufficient.
function fileAnswer(file: DescFile | undefined, what: string): Response {
  if (file === undefined) return refusal(NOT_FOUND, `there is no ${what.slice(0, 300)}`);
  const fileDescriptorProto = [...withImports([file]).values()].map((each) =>
    toBinary(FileDescriptorProtoSchema, each.proto),
  );
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function refusal(errorCode: number, errorMessage: string): Response {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

function withImports(
  roots: readonly DescFile[],
  seen: Map<string, DescFile> = new Map(),
): Map<string, DescFile> {
  for (const file of roots) {
    if (seen.has(file.proto.name)) continue;
    seen.set(file.proto.name, file);
    withImports(file.dependencies, seen);
  }
  return seen;
}

function indexFiles(roots: readonly DescFile[]): Index {
  const files = withImports(roots);
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, DescExtension[]>();
  for (const file of files.values()) {
    const name = (symbol: string): unknown => symbols.set(symbol, file);
    for (const desc of declared(file)) {
      name(desc.typeName);
      if (desc.kind === "extension")
        extensions.set(desc.extendee.typeName, [
          ...(extensions.get(desc.extendee.typeName) ?? []),
          desc,
        ]);
      if (desc.kind === "message")
        desc.members.forEach((member) => name(`${desc.typeName}.${member.name}`));
      if (desc.kind === "service")
        desc.methods.forEach((method) => name(`${desc.typeName}.${method.name}`));
      // Enum values are siblings of their enum, not its members.
      if (desc.kind === "enum")
        desc.values.forEach((value) => name(desc.typeName.replace(/[^.]*$/, value.name)));
    }
  }
  return { files, symbols, extensions };
}

function declared(
  file: DescFile,
): (DescMessage | DescFile["enums"][number] | DescExtension | DescService)[] {
  const within = (
    message: DescMessage,
  ): (DescMessage | DescFile["enums"][number] | DescExtension)[] => [
    message,
    ...message.nestedEnums,
    ...message.nestedExtensions,
    ...message.nestedMessages.flatMap(within),
  ];
  return [...file.messages.flatMap(within), ...file.enums, ...file.extensions, ...file.services];
}
