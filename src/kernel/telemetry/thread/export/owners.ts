/**
 * Leaves out of a batch what came from a scope whose fence has closed since it was queued: its
 * process no longer holds what allowed it.
 */
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { Resource } from "@opentelemetry/resources";
import { sdkResource } from "../sdk-resource.ts";
import type { RemoteScope } from "../remote-scope.ts";

type Done = Parameters<PushMetricExporter["export"]>[1];

/** The part of an exporter that the SDK's batch processors call. */
export interface BatchExporter<T> {
  export(items: T[], done: Done): void;
  forceFlush?(): Promise<void>;
  shutdown(): Promise<void>;
}

/** The enumeration is in a package that only the SDK depends on. */
const SUCCESS: Parameters<Done>[0]["code"] = 0;

/** Resources by scope, and back. */
export class Owners {
  readonly #resources = new WeakMap<RemoteScope, Resource>();
  readonly #scopes = new WeakMap<Resource, RemoteScope>();

  /** The resource of the scope's records and spans: one object for each scope. */
  resource(scope: RemoteScope): Resource {
    const known = this.#resources.get(scope);
    if (known) return known;
    const resource = sdkResource(scope.logResource);
    this.#resources.set(scope, resource);
    this.#scopes.set(resource, scope);
    return resource;
  }

  /** `dropped` is called with the number of items left out of a batch. */
  fence<T extends { readonly resource: Resource }>(
    inner: BatchExporter<T>,
    dropped: (items: number) => void,
  ): BatchExporter<T> & { forceFlush(): Promise<void> } {
    return {
      export: (items, done) => {
        const left = items.filter(({ resource }) => this.#scopes.get(resource)?.mayLeave ?? true);
        if (left.length < items.length) {
          dropped(items.length - left.length);
          // The batch may come again, and an item is dropped once.
          items.splice(0, items.length, ...left);
        }
        if (left.length === 0) return done({ code: SUCCESS });
        inner.export(left, done);
      },
      forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
      shutdown: () => inner.shutdown(),
    };
  }
}
