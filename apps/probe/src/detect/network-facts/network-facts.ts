import { NETWORK_FACT_KINDS, type NetworkFact, type NetworkLook } from "@lanthorn/contract/uplink";
import { formatIp, formatMac, ipv4Number, parseIp } from "@lanthorn/packets";
import { toInstant } from "@lanthorn/runtime";
import { readServerMessage } from "../dhcp-servers/server-message.ts";
import { readServerMessage6 } from "../dhcpv6-servers/server-message6.ts";
import type { Guard, GuardDeps, GuardFrame, LearnedRow } from "../guard.ts";
import { readAdvert } from "../router-advertisements/advert.ts";
import { createFactTable } from "./fact-table.ts";

/** The servers and routers that are heard on the link, known or not. It sends nothing: the guards' own searches make them speak. */
export interface NetworkFacts {
  readonly guard: Guard;
  /** @param learned What the guards take for normal. */
  report(learned: readonly LearnedRow[]): { readonly facts: readonly NetworkFact[]; readonly looks: readonly NetworkLook[] };
}

const DHCPV6_CLIENT = 546;
const DHCPV6_SERVER = 547;
/** Ticks come twice a second: after a longer pause the guards were off. */
const PAUSE_MS = 5000;

/** @param deps.link Its gateways are facts as soon as they are heard. */
export function createNetworkFacts({ clock, link }: Pick<GuardDeps, "clock" | "link">): NetworkFacts {
  const table = createFactTable();
  let listening: { readonly since: number; at: number } | null = null;
  /** Our own MAC, whose frames do not count. */
  let own = "";
  /** IPv4 gateways as signed numbers of 32 bits, which cost no object: every ARP packet is compared with them. */
  let gateways: ReadonlySet<number> = new Set();
  let gatewayNames = "";
  const vlanOf = ({ frame }: GuardFrame) => frame.vlanTags.at(-1)?.vlanId || null;
  /** What a server hands out; its gateways speak for themselves too. */
  const noteGiven = (what: "gateway" | "dns_server", names: readonly string[], vlanId: number | null) => {
    const now = clock.monotonic();
    for (const name of names) table.note({ what, name, mac: "", vlanId }, now);
  };
  const guard: Guard = {
    name: "Network facts",
    onDhcp(message, at) {
      const said = readServerMessage(message, at);
      // What goes to a relay is for another link.
      if (!said || said.mac === own || said.isToRelay) return;
      const { server: name, mac, vlanId, handout } = said;
      table.note({ what: said.isBootOnly ? "pxe_server" : "dhcp_server", name, mac, vlanId }, clock.monotonic());
      noteGiven("gateway", handout?.gateways ?? [], vlanId);
      noteGiven("dns_server", handout?.dns ?? [], vlanId);
    },
    onUdp(at) {
      const { destinationPort } = at.frame;
      if (destinationPort !== DHCPV6_CLIENT && destinationPort !== DHCPV6_SERVER) return;
      const said = readServerMessage6(at);
      if (!said || said.mac === own || said.relayLink !== "") return;
      table.note({ what: "dhcpv6_server", name: said.duid, mac: said.mac, vlanId: said.vlanId }, clock.monotonic());
      noteGiven("dns_server", said.dns, said.vlanId);
    },
    onNdp(message, at) {
      const said = message.kind === "router-advertisement" ? readAdvert(message, at) : null;
      if (!said || said.mac === own) return;
      table.note({ what: "router", name: said.router, mac: said.mac, vlanId: said.vlanId }, clock.monotonic());
      noteGiven("dns_server", said.dns, said.vlanId);
    },
    onArp(packet, at) {
      if (!gateways.has(ipv4Number(packet.senderProtocolAddress) | 0)) return;
      const [name, mac] = [formatIp(packet.senderProtocolAddress), formatMac(packet.senderHardwareAddress)];
      if (mac !== own) table.note({ what: "gateway", name, mac, vlanId: vlanOf(at) }, clock.monotonic());
    },
    tick(now) {
      const facts = link();
      own = facts?.mac ?? "";
      const names = [...facts?.gateways ?? [], ...table.names("gateway")];
      if (names.join(" ") !== gatewayNames) {
        gatewayNames = names.join(" ");
        gateways = readGateways(names);
      }
      if (facts?.up !== true) listening = null;
      else if (listening === null || now - listening.at > PAUSE_MS) listening = { since: now, at: now };
      else listening.at = now;
    },
  };
  return {
    guard,
    report(learned) {
      const now = clock.monotonic();
      const wallOffset = clock.now() - now;
      const looked = listening;
      return {
        facts: table.read(now, { learned, ownGateways: link()?.gateways ?? [], wallOffset }),
        looks: looked === null ? [] : NETWORK_FACT_KINDS.map((what) => ({
          what, since: toInstant(looked.since + wallOffset), looked_at: toInstant(looked.at + wallOffset),
        })),
      };
    },
  };
}

function readGateways(names: readonly string[]): ReadonlySet<number> {
  return new Set(names.flatMap((name) => {
    const bytes = parseIp(name);
    return bytes?.length === 4 ? [ipv4Number(bytes) | 0] : [];
  }));
}
