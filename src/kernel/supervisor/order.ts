/** Start order of components: each after those it needs, otherwise in the order they were added. */
import { assert } from "../base/errors.ts";
import type { Component } from "./component.ts";

/**
 * Topological sort (depth first, Tarjan 1976). A missing name, a duplicate name and a cycle are
 * programming errors.
 */
export function startOrder<T extends Pick<Component, "name" | "needs">>(
  components: readonly T[],
): T[] {
  const byName = new Map(components.map((component) => [component.name, component]));
  assert(byName.size === components.length, "every component has a name of its own");
  const ordered = new Set<T>();
  const visit = (component: T, path: readonly string[]): void => {
    if (ordered.has(component)) return;
    const way = [...path, component.name];
    assert(
      !path.includes(component.name),
      `components need each other in a circle: ${way.join(" → ")}`,
    );
    for (const need of component.needs) {
      const needed = byName.get(need);
      assert(needed !== undefined, `${component.name} needs ${need}, which is there`);
      visit(needed, way);
    }
    ordered.add(component);
  };
  for (const component of components) visit(component, []);
  return [...ordered];
}
