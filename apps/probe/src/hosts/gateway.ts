import type { LinkFacts } from "../capture/link.ts";
import type { Host } from "./host.ts";
import type { FactsTaker } from "./service-facts.ts";

/** It may be a firewall as well, which says so itself. */
const GATEWAY = { field: "device_type", value: "router", source: "gateway", confidence: 0.65 } as const;

/** Whoever the kernel sends through to other networks is a router, it seems. */
export function noteGateway(host: Host, link: LinkFacts | null, facts: Pick<FactsTaker, "note">): void {
  const gateways = link?.gateways ?? [];
  if (gateways.length > 0 && host.bindings.some(({ address }) => gateways.includes(address))) facts.note(host, [GATEWAY]);
}
