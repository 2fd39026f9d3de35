/** Small geo databases of documentation addresses. */
import { mmdb } from "./mmdb.ts";

/** 2026-11-01. */
export const BUILT = 1_793_491_200;

export function countries(iso = "NL", builtAt = BUILT): Buffer {
  return mmdb({
    type: "GeoLite2-Country",
    builtAt,
    networks: {
      "203.0.113.0/24": { continent: { code: "EU" }, country: { iso_code: iso } },
      "2001:db8:7::/48": { continent: { code: "AS" }, registered_country: { iso_code: "JP" } },
      "8.8.8.0/24": { traits: { is_anycast: 1 } },
    },
  });
}

export function cities(): Buffer {
  return mmdb({
    type: "GeoLite2-City",
    builtAt: BUILT,
    networks: {
      "203.0.113.0/25": {
        continent: { code: "EU" },
        country: { iso_code: "GB" },
        city: { names: { de: "Bockfurt", en: "Oxford" } },
        subdivisions: [{ iso_code: "ENG" }, { iso_code: "OXF" }],
        location: { latitude: 51.75, longitude: -1.25 },
      },
      "203.0.113.128/25": { country: { iso_code: "GB" }, location: { latitude: 0, longitude: 0 } },
    },
  });
}

export function networks(): Buffer {
  return mmdb({
    type: "GeoLite2-ASN",
    builtAt: BUILT,
    networks: {
      "203.0.113.0/24": {
        autonomous_system_number: 64_500,
        autonomous_system_organization: "Example Carrier",
      },
    },
  });
}
