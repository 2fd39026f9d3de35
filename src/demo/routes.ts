/** Which operation a method and a path name. */

/** A line of the table; segments beginning with `:` are variable. */
export type RouteLine<Operation extends string> = readonly [
  method: string,
  path: string,
  operation: Operation,
];

/** Where a request leads. */
interface Found<Operation extends string> {
  readonly operation: Operation;
  /** The variable segments, percent-decoded. */
  readonly params: readonly string[];
}

/** The table of one simulated host. */
export interface Routes<Operation extends string> {
  find(method: string, path: string): Found<Operation> | undefined;
  /** The methods that a path has. */
  methods(path: string): readonly string[];
}

const MAX_PATH_LENGTH = 2048;

/** The first line that fits wins. */
export function createRoutes<Operation extends string>(
  table: readonly RouteLine<Operation>[],
): Routes<Operation> {
  const compiled = table.map(([method, path, operation]) => ({
    method,
    segments: path.split("/"),
    operation,
  }));
  const fitting = (
    path: string,
  ): {
    readonly method: string;
    readonly operation: Operation;
    readonly params: readonly string[];
  }[] => {
    if (path.length > MAX_PATH_LENGTH) return [];
    const segments = path.split("/");
    return compiled.flatMap((line) => {
      const params =
        line.segments.length === segments.length ? match(line.segments, segments) : undefined;
      return params === undefined
        ? []
        : [{ method: line.method, operation: line.operation, params }];
    });
  };
  return {
    find: (method, path) => fitting(path).find((line) => line.method === method),
    methods: (path) => [...new Set(fitting(path).map(({ method }) => method))],
  };
}

function match(pattern: readonly string[], segments: readonly string[]): string[] | undefined {
  const params: string[] = [];
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? "";
    if (expected.startsWith(":")) {
      const decoded = decode(segment);
      if (decoded === undefined || decoded === "") return undefined;
      params.push(decoded);
    } else if (segment !== expected) return undefined;
  }
  return params;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // A malformed escape names nothing.
  }
}
