import type { Envelope } from "./envelope.ts";
import { ETHER_TYPE } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/** Cisco FabricPath (CFP): a whole frame behind switch addresses, a forwarding tag (10 bits) and a time to live (6 bits). No standard. */
export function readFabricPath(reader: Reader): Envelope {
  reader.skip(2);
  return { kind: "cfp", etherType: ETHER_TYPE.ethernet };
}
