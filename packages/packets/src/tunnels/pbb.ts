import type { Envelope } from "./envelope.ts";
import { ETHER_TYPE } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/** IEEE 802.1ah, provider backbone bridges: a customer's whole frame behind backbone addresses and a service tag. */

/** @returns The service (I-SID) as `network`. @see IEEE 802.1Q-2018 clause 9.7: flags, 24 bits of service, the customer's frame. */
export function readBackboneService(reader: Reader): Envelope {
  reader.skip(1);
  return { kind: "pbb", etherType: ETHER_TYPE.ethernet, network: reader.u24() };
}
