import type { Sign } from "../incidents/sign.ts";
import { type Advert, advertFacts } from "./advert.ts";
import type { KnownRouter } from "./known-routers.ts";

/** What incidents say of somebody who speaks in a known router's name. */

const WHAT_TO_DO = "Find the switch port of this MAC address, and turn RA guard on.";

/** Another MAC speaks for a router that is alive, or says what the router does not. */
export function impersonation(row: KnownRouter, said: { readonly mac: string; readonly packet: Uint8Array; readonly advert?: Advert }): Sign {
  const { advert } = said;
  const isEnd = advert?.lifetimeSeconds === 0 && row.isDefault;
  return {
    kind: "router_advertisement", subject: said.mac, mayBeForged: true, severity: "critical", ip: row.router, mac: said.mac, vlanId: row.vlanId, expectedMacs: row.macs,
    packet: said.packet, facts: advert ? advertFacts(advert) : { router: row.router },
    detail: `${said.mac} sends router advertisements in the name of the router ${row.router}, whose MAC address is ${row.macs.join(", ")}`
      + `${isEnd ? ", and says that it is no router any more, so that hosts lose their way out" : ""}. ${WHAT_TO_DO}`,
  };
}

/** Somebody says again and again that a router is none any more, and the router says that it is. */
export function kill(row: KnownRouter, advert: Advert): Sign {
  return {
    kind: "router_advertisement", subject: row.router, severity: "critical", ip: row.router, mac: advert.mac, vlanId: row.vlanId, expectedMacs: row.macs,
    packet: advert.packet, facts: advertFacts(advert),
    detail: `Advertisements of the router ${row.router} say by turns that it is no router any more and that it is one. Somebody forges the first kind, so that hosts lose `
      + `their way out, or the router restarts all the time. ${WHAT_TO_DO}`,
  };
}

/** A router's old settings come after its new ones. */
export function twoTongues(row: KnownRouter, forged: Advert): Sign {
  return {
    kind: "router_advertisement", subject: row.router, severity: "critical", ip: row.router, mac: forged.mac, vlanId: row.vlanId, expectedMacs: row.macs,
    packet: forged.packet, facts: advertFacts(forged),
    detail: `Advertisements of the router ${row.router} give hosts the known settings and others by turns. Somebody forges the others under the router's own MAC address. ${WHAT_TO_DO}`,
  };
}

/** A router has other name servers, flags, routes or another preference than before. */
export function newSettings(row: KnownRouter, advert: Advert): Sign {
  return {
    kind: "router_advertisement", subject: row.router, severity: "info", ip: row.router, mac: advert.mac, vlanId: row.vlanId, expectedMacs: row.macs,
    packet: advert.packet, facts: advertFacts(advert),
    detail: `The router ${row.router} advertises new name servers, flags, routes or another preference. Look whether somebody has changed its settings.`,
  };
}
