import type { GuardsState, ProbeCoverage, ProbeCoverageRecord } from "@lanthorn/contract";

type Detector = ProbeCoverageRecord["detectors"][number];
type Verdict = Omit<Detector, "name">;
type Row = ProbeCoverageRecord["facts"][number];

/** What a probe reported of itself. */
interface Report {
  readonly coverage: ProbeCoverage;
  /** Whether its guards send to check what they see. */
  readonly isActive: boolean;
}

const MIRROR = "Have the switch mirror the uplink's port to the probe's port, both directions (SPAN, port mirroring).";
const SEND = "Let the guards send: active = true in the probe's file, and `lanthorn guards set active=on` for the site.";

const sees = (why: string): Verdict => ({ state: "sees", why, what_to_do: null });
const partly = (why: string, todo: string): Verdict => ({ state: "partly", why, what_to_do: todo });
const blind = (why: string, todo: string): Verdict => ({ state: "blind", why, what_to_do: todo });
const isMirror = ({ coverage }: Report) => coverage.other_hosts.value === "both_ways";

/** Each detector, and what it can see of what it looks for. */
const DETECTORS: Readonly<Record<string, (report: Report) => Verdict>> = {
  "DHCP servers"(report) {
    if (report.isActive) return sees("The probe asks for DHCP servers itself, and hears all that answer.");
    if (isMirror(report)) return sees("The probe hears what servers answer to others.");
    return partly("The probe does not ask itself, and an answer to one client alone does not reach it.", `${SEND} Or: ${MIRROR}`);
  },
  "DHCPv6 servers and router advertisements": ({ coverage }) => (coverage.ipv6.value
    ? sees("Router advertisements go to everybody, and reach the probe.")
    : sees("There is no IPv6 here now. The first router advertisement would reach the probe.")),
  "Gateway": ({ coverage }) => GATEWAY[coverage.gateway.value],
  "ARP and NDP spoofing"(report) {
    if (isMirror(report)) return sees("The probe hears what hosts claim to each other.");
    return partly(
      "The probe hears claims that go to everybody or to itself. A forged answer to one victim alone does not reach it.", MIRROR,
    );
  },
  "Address scans": () => sees("Who searches a network asks everybody by ARP, and the probe hears that in its own VLANs."),
  "MAC flooding": () => sees("A switch whose table is full sends the frames to every port."),
  "Spanning tree": ({ coverage }) => (coverage.spanning_tree.value
    ? sees("The switch's spanning tree messages reach the probe, and so would another root's.")
    : partly(
      "No spanning tree message reaches the probe, so it does not know the right root.",
      "Where the switch uses spanning tree, take the BPDU filter off the probe's port. Where it does not, nothing is to be done.",
    )),
  "Switch neighbors": ({ coverage }) => (coverage.lldp.value || coverage.cdp.value
    ? sees("The switch announces itself, and another device that claims to be it would be noticed.")
    : blind("No switch announces itself to the probe, so a false one could not be noticed.", "Turn on LLDP on the switch, and let it send on the probe's port.")),
  "Name poisoning"(report) {
    if (report.isActive) return sees("The probe asks for names that nobody has, and hears who answers.");
    if (isMirror(report)) return sees("The probe hears what is answered to others.");
    return blind("The probe does not ask itself, and an answer goes to the one who asked alone.", `${SEND} Or: ${MIRROR}`);
  },
  "IPv6 tunnels": (report) => (isMirror(report)
    ? sees("The probe hears what hosts send through their gateway.")
    : partly("The probe sees IPv6 routers, but not what a host sends through a tunnel.", MIRROR)),
  "VLAN hopping": ({ coverage }) => (coverage.vlans.value.length > 0 || coverage.other_hosts.value === "both_ways"
    ? sees("Frames with VLAN tags reach the probe.")
    : partly("The probe sees trunk negotiation (DTP), but no frames with VLAN tags.", "Make the probe's port a trunk with the VLANs that matter.")),
};

const GATEWAY: Readonly<Record<ProbeCoverage["gateway"]["value"], Verdict>> = {
  answers: sees("The gateway answers the probe, so another device in its place is noticed."),
  silent: blind(
    "The default gateway was not heard for ten minutes, so nothing shows whether it is still the same.",
    "Check that the probe's port is in the gateway's VLAN, and that the probe's default route is right.",
  ),
  none: blind("The probe's interface has no default gateway.", "Give the interface that the probe watches a default route."),
};

const OTHER_HOSTS = {
  both_ways: "what others send to each other, in both directions, as on a mirror port", one_way: "some of what others send to each other, as a switch floods it",
  none: "nothing of what others send to each other: no mirror port",
} as const;
const GATEWAY_WORDS = { answers: "the default gateway answers", silent: "the default gateway was not heard for ten minutes", none: "no default gateway" } as const;
const DHCP_WORDS = { answered: "a DHCP server answers", asked: "clients ask, and no answer is heard", none: "not seen in the last day" } as const;

/** What reaches a probe. @param networks Its own subnets. */
export function factsOf(coverage: ProbeCoverage, networks: readonly string[]): Row[] {
  const seen = (fact: "lldp" | "cdp" | "spanning_tree" | "ipv6"): Row => ({ fact, value: coverage[fact].value ? "seen" : "not seen", since: coverage[fact].since });
  const { vlans, other_hosts: others, gateway, dhcp } = coverage;
  return [
    { fact: "own_networks", value: networks.join(", ") || "none", since: null },
    { fact: "vlans", value: vlans.value.join(", ") || "only untagged frames; for other VLANs, make the probe's port a trunk", since: vlans.since },
    { fact: "other_hosts", value: OTHER_HOSTS[others.value], since: others.since },
    { fact: "gateway", value: GATEWAY_WORDS[gateway.value], since: gateway.since },
    seen("lldp"), seen("cdp"), seen("spanning_tree"), seen("ipv6"),
    { fact: "dhcp", value: DHCP_WORDS[dhcp.value], since: dhcp.since },
  ];
}

/** What a probe's detectors can see. @param state How its guards are; where they are off, all are blind. */
export function detectorsOf(coverage: ProbeCoverage | undefined, state: GuardsState): Detector[] {
  return Object.entries(DETECTORS).flatMap(([name, judge]) => {
    if (!state.enabled) return [{ name, ...blind("The probe's guards are turned off.", "Turn them on: enabled = true in the probe's file, and `lanthorn guards set enabled=on` for the site.") }];
    return coverage ? [{ name, ...judge({ coverage, isActive: state.active }) }] : [];
  });
}
