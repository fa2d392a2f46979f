import type { PacedSender } from "@lanthorn/packet-io";
import { formatIp, parseIp } from "@lanthorn/packets";
import type { LinkFacts } from "../capture/link.ts";
import { createFrameSender } from "../egress/frame-sender.ts";
import { DISCOVERY_FRAMES } from "../egress/frames.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import { noteGateway } from "../hosts/gateway.ts";
import type { Host } from "../hosts/host.ts";
import { onlineAt, onlineIpv4, onlineIpv6 } from "../hosts/host-table.ts";
import { createOwnHosts, type OwnHosts, type OwnHostsDeps } from "../hosts/own-hosts.ts";
import { createReverseNames, type Nameable, type ReverseNames } from "../naming/reverse-names.ts";
import { createRoutedPoll } from "../routed/open-routed-poll.ts";
import { createRoutedWatch, type RoutedWatch } from "../routed/routed-watch.ts";
import type { AnswerClaims } from "../search/answer-claims.ts";
import type { ScanWays } from "../scan/scan-work.ts";
import { createScans, type Scans } from "../scan/scans.ts";
import { createListenerQueries, type ListenerQueries } from "../sweep/listener-queries.ts";
import { createSweepSchedule, type SweepSchedule } from "../sweep/sweep-schedule.ts";
import { createErrorReporter } from "./error-reporter.ts";
import { createHostPolls, type HostPolls } from "./host-polls.ts";
import { createLinkState, type LinkState } from "./link-state.ts";

/** What host discovery needs of the daemon: storage, interface, rate, names, and the ways of a scan. */
export interface HostDiscoveryDeps extends ScanWays, OwnHostsDeps {
  /** In [0, 1). */
  readonly random: () => number;
  /** What `watchInterface` reported last; null while the interface does not exist. Called every second, so it should not poll itself. */
  readonly interfaceFacts: () => LinkFacts | null;
  readonly policy: EgressPolicy;
  /** The interface's paced sender. Nothing else should send through it, or the rate is shared. */
  readonly sender: Pick<PacedSender, "send">;
  /** Names that the site's DNS servers give an address, best first; null where there is no server to ask. A rejection counts as no name. */
  readonly reverseNames: ((address: string) => Promise<readonly string[]>) | null;
  /** Has the capture leave out what a search hears by itself; absent where it cannot. */
  readonly claimAnswers?: AnswerClaims["claim"];
}

/** What the watch of the own network is made of. */
export interface Parts {
  readonly link: LinkState;
  readonly hosts: OwnHosts;
  /** Null where there is no name server to ask. */
  readonly names: ReverseNames | null;
  readonly listenerQueries: ListenerQueries;
  readonly polls: HostPolls;
  readonly schedule: SweepSchedule;
  readonly routed: RoutedWatch;
  readonly scans: Scans;
  /** Looks for what is not yet known of a host: its names, and whether it is the gateway. */
  wantMore(host: Host): void;
}

/**
 * Makes the parts, each with what it needs of the others, and says who hears which event of hosts.
 * @throws ProbeError `config-invalid` for settings that name no address or prefix; what better-sqlite3 throws when the tables
 * cannot be made.
 */
export function createParts(deps: HostDiscoveryDeps): Parts {
  const { clock, policy, random } = deps;
  const reportError = createErrorReporter(deps);
  const link = createLinkState(deps.interfaceFacts);
  const up = () => link.up;
  const hosts = createOwnHosts(deps);
  const { table, tracker, events, facts, macAt } = hosts;
  const sender = createFrameSender({
    sender: deps.sender, allowed: DISCOVERY_FRAMES, exclusions: () => policy.exclusions, onSent: hosts.noteSent,
    packetsPerSecond: () => policy.packetsPerSecond / (routed.isPolling ? 2 : 1),
  });
  const names = deps.reverseNames && createReverseNames({ lookUp: deps.reverseNames, clock, random, onName: events.onName });
  const wantName = (host: Nameable) => names?.want(host) ?? true;
  const polls = createHostPolls({ ...deps, hosts, sender, link: up, pollsHosts: deps.unasked !== "all" });
  const listenerQueries = createListenerQueries({ now: () => clock.monotonic(), isGentle: () => policy.isGentle });
  const schedule = createSweepSchedule({
    ...deps, sender, link: up, listenerQueries: listenerQueries.packets,
    isTaken: (address) => onlineAt(table, formatIp(address)).length > 0,
    isHiding: (mac) => tracker.isHiding(mac), onRefused: (reason) => reportError("subnet-not-swept", reason),
  });
  const routed = createRoutedWatch({
    ...deps, link: up, prefixes: policy.routed, poll: createRoutedPoll({ ...deps, link: up, macAt }),
    capacity: () => deps.maxHosts - table.size, onFault: reportError, wantName,
  });
  const scans = createScans({
    ...deps, ...(deps.claimAnswers ? { claims: { claim: deps.claimAnswers, heard: hosts.noteAnswer } } : {}),
    facts, macAt, wantName, link: up, onSent: hosts.noteSent, online: () => onlineIpv4(table), online6: () => onlineIpv6(table),
    onFault: reportError, onRouted: (ip) => routed.noteSeen(ip), announce: (addresses) => hosts.announce(addresses),
  });
  const wantMore = (host: Host) => {
    wantName(host);
    polls.wantName(host);
    noteGateway(host, link.facts, facts);
  };
  /** Who hears of hosts. Another part that wants to is another row. */
  events.listen([
    schedule, scans, routed, polls, listenerQueries,
    {
      onNewAddress: wantMore,
      onName: (address, name) => tracker.name({ address: parseIp(address) as Uint8Array }, name, "reverse-dns"),
      onRefused: (reason) => reportError("host-limit", `hosts are left out: ${reason}`),
    },
  ]);
  return { link, hosts, names, listenerQueries, polls, schedule, routed, scans, wantMore };
}
