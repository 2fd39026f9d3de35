/** Modules form layers: no module imports itself through others, not even for a type. */
import { describe, expect, it } from "vitest";
import { authored, importsOf } from "./sources.ts";

/**
 * The groups of modules that reach each other, by Tarjan's algorithm; each sorted, without those
 * of one module.
 */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const number = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): number => {
    let low = number.size;
    number.set(file, low);
    stack.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!number.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) low = Math.min(low, number.get(target) as number);
    }
    if (low === number.get(file)) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1) found.push(group.toSorted());
    }
    return low;
  };
  for (const file of graph.keys()) if (!number.has(file)) visit(file);
  return found;
}

describe("imports", () => {
  it("form no cycle, type-only imports included", () => {
    const graph = new Map(authored.map((file) => [file, importsOf(file)]));
    expect(cyclesOf(graph)).toEqual([]);
  });

  it("would be reported as a cycle", () => {
    const graph = new Map([
      ["a", ["b", "d"]],
      ["b", ["c"]],
      ["c", ["a", "d"]],
      ["d", []],
    ]);
    expect(cyclesOf(graph)).toEqual([["a", "b", "c"]]);
  });
});
