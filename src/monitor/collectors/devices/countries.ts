/** Devices by the country from which they reach the network. */
import { devicesByCountry } from "../../catalogue/devices.ts";
import { createEndpointReader } from "../../enrich/addresses.ts";
import { isPublic } from "../../geoip/reachable.ts";
import { Tally } from "../tally.ts";
import type { Part, PartContext } from "./part.ts";

/**
 * Nothing while no geo database is configured. Devices without a public endpoint, or of which the
 * country is unknown, are left out.
 */
export function byCountry({ sweep, deps: { places } }: PartContext): readonly Part[] {
  if (places === undefined) return [];
  const reader = createEndpointReader();
  const tally = new Tally<{
    readonly "geo.country.iso_code": string;
    readonly "geo.continent.code": string | undefined;
  }>();
  const publicAddress = (endpoint: string): string | undefined => {
    const host = reader.read(endpoint)?.host;
    if (host === undefined || host.kind === "name") return undefined;
    return isPublic(host.address, host.kind) ? host.address : undefined;
  };
  return [
    {
      see({ connectivity }) {
        for (const endpoint of connectivity?.endpoints ?? []) {
          const address = publicAddress(endpoint);
          if (address === undefined) continue;
          const { country, continent } = places.placeOf(address) ?? {};
          if (country !== undefined)
            tally.add({ "geo.country.iso_code": country, "geo.continent.code": continent });
          return;
        }
      },
      finish() {
        for (const { values, count } of tally.entries())
          sweep.gauge(devicesByCountry, count, values);
      },
    },
  ];
}
