import type { GuardDeps, LearnedRow } from "../guard.ts";
import { createNewcomers, type Newcomers } from "../newcomers.ts";
import { type Choice, createClientChoices } from "./client-choices.ts";
import { createGatewayWatch } from "./gateway-watch.ts";
import { goesBeyond, isContradiction, isOneSubnet, newOnes } from "./handout.ts";
import { createKnownServers, type KnownServer } from "./known-servers.ts";
import { isSilent, refreshServer } from "./refresh-server.ts";
import type { ServerMessage } from "./server-message.ts";
import { createSuspects } from "./suspects.ts";

/** Tells servers that belong to the link from those that do not. */
export interface ServerJudge {
  /** A server has spoken. @param isToUs It answers our own search. */
  hear(message: ServerMessage, isToUs: boolean): void;
  /** A client has chosen a server whose offer was perhaps not seen. */
  chosen(server: string, choice: Choice): void;
  /** Whether a server is known that answers our own search. */
  expectsAnswer(): boolean;
  /** Whether an incident of an unknown server goes on. */
  isSuspicious(): boolean;
  tick(now: number): void;
  learned(): readonly LearnedRow[];
}

type JudgeDeps = GuardDeps & {
  /** The guard's name. */
  readonly guard: string;
  /** Something is to be looked at by a search. */
  readonly onHint: () => void;
  /** What a host calls itself, or "". */
  readonly hostName: (mac: string) => string;
};

/** Another MAC that speaks in a server's name is another host if the server itself is heard within this. */
const STRANGER_MS = 60_000;
/** New servers in the learning period; a site with as many VLANs is heard bit by bit. */
const FLOOD = { max: 32, withinMs: 10_000 };

/** Wires the judge's parts. */
export function createServerJudge(deps: JudgeDeps): ServerJudge {
  const { incidents, learning } = deps;
  const known = createKnownServers(deps);
  const choices = createClientChoices({ ...deps, known });
  const suspects = createSuspects(deps);
  const gateways = createGatewayWatch({ ...deps, known });
  const isAllowed = (server: string) => deps.settings().dhcp_servers.includes(server);
  const parts: Parts = { ...deps, known, choices, suspects, gateways, isAllowed, newcomers: createNewcomers(FLOOD) };
  return {
    hear(said, isToUs) {
      const { server } = said;
      if (isAllowed(server)) suspects.clear(server);
      if (said.isBootOnly) return hearBootServer(parts, said);
      const row = known.find(server, said.vlanId, said.giaddr);
      if (row && !row.isBootOnly) {
        // A row that clients' choices alone have made may yet contradict another, or lead further than it once the learning period is over.
        const isFurther = !learning.isOn() && neighborsOf(parts, said).some((other) => other.handout && said.handout && goesBeyond(said.handout, other.handout));
        const isDoubtful = row.handout === null && !isAllowed(server) && (isFurther || rivalsOf(parts, said).length > 0);
        if (!isDoubtful) return hearKnown(parts, row, said, isToUs);
        known.forget(server);
      }
      const namesakes = known.all().filter((other) => other.server === server && other.handout !== null);
      if (namesakes.length > 0) return hearElsewhere(parts, namesakes, said, isToUs);
      if (isAllowed(server) || isAlias(parts, said)) return learn(parts, said, isToUs);
      if (learning.isOn() && !incidents.isOpen("dhcp_server", server)) return hearInLearning(parts, said, isToUs);
      suspects.accuse(said, known.all().filter((other) => other.vlanId === said.vlanId && !other.isBootOnly));
      deps.onHint();
    },
    chosen(server, choice) {
      const isKnown = known.all().some((row) => row.server === server && !row.isBootOnly);
      if (isKnown || isAllowed(server) || incidents.isOpen("dhcp_server", server)) return;
      if (learning.isOn() && !isForged(parts, server)) {
        known.learn({ server, vlanId: choice.vlanId, giaddr: "", macs: [], handout: null, isBootOnly: false, confirmed: 1, answersUs: false });
      } else choices.note(server, choice);
      deps.onHint();
    },
    expectsAnswer: () => known.all().some(({ answersUs, vlanId }) => answersUs && vlanId === null),
    isSuspicious: suspects.isAny,
    tick(now) {
      choices.tick(now);
      gateways.tick(now);
    },
    learned: known.learned,
  };
}

interface Parts extends JudgeDeps {
  readonly known: ReturnType<typeof createKnownServers>;
  readonly choices: ReturnType<typeof createClientChoices>;
  readonly suspects: ReturnType<typeof createSuspects>;
  readonly gateways: ReturnType<typeof createGatewayWatch>;
  readonly isAllowed: (server: string) => boolean;
  readonly newcomers: Newcomers;
}

function learn({ known, choices }: Parts, { server, vlanId, giaddr, handout, isBootOnly, mac }: ServerMessage, answersUs: boolean): void {
  known.learn({ server, vlanId, giaddr, handout, isBootOnly, macs: [mac], confirmed: 1, answersUs });
  choices.forget(server);
}

/** In the learning period: whether so many servers are new that they are made up. Those of them that were learned are forgotten. */
function isForged({ newcomers, known, isAllowed, clock }: Parts, server: string): boolean {
  const flood = newcomers.add(server, clock.monotonic());
  for (const name of flood ?? []) if (!isAllowed(name)) known.forget(name);
  return flood !== null;
}

/** What a server of a known name says where it is known. */
function hearKnown(parts: Parts, row: KnownServer, said: ServerMessage, isToUs: boolean): void {
  const { known, suspects, gateways } = parts;
  const now = parts.clock.monotonic();
  const isItself = row.macs.length === 0 || row.macs.includes(said.mac);
  if (isItself) {
    if (row.stranger && now - row.stranger.at < STRANGER_MS) suspects.namesake(row, row.stranger);
    row.stranger = null;
    if (said.handout && row.handout && gateways.isChange(row, said.handout, said)) return;
    const isNew = newOnes(said.handout?.dns ?? [], row.handout?.dns ?? []).length > 0;
    if (isNew && !parts.learning.isOn() && !parts.isAllowed(row.server)) suspects.newNameServers(row, said);
  } else if (said.handout && row.handout && !gateways.areAllowed(said.handout, row.handout)) {
    return suspects.impostor(row, said);
  } else if (said.type === "nak" || !(parts.learning.isOn() || isSilent(row, now))) {
    row.stranger = { mac: said.mac, at: now, packet: said.packet.slice(), isRefusal: said.type === "nak" };
    return parts.onHint();
  }
  if (refreshServer(row, said, { now, isLearning: parts.learning.isOn(), isToUs })) known.save(row);
}

/** A known server's name in another VLAN or through another relay. */
function hearElsewhere(parts: Parts, namesakes: readonly KnownServer[], said: ServerMessage, isToUs: boolean): void {
  const different = namesakes.find(({ handout }) => said.handout && handout && goesBeyond(said.handout, handout));
  // A relay serves its own subnet. To clients of this link it leads elsewhere than the server itself only if nothing speaks for the server.
  const isRelay = said.giaddr !== "" && parts.learning.isOn() && trust(parts, said.server, said.handout) >= trust(parts, said.server, different?.handout ?? null);
  const isItself = said.isToRelay || isRelay || namesakes.some(({ macs }) => macs.includes(said.mac));
  if (!isItself && different) return parts.suspects.impostor(different, said);
  // What goes to another link's relay harms nobody here, but nothing is learned from it.
  if (said.handout && (!different || !said.isToRelay)) learn(parts, said, isToUs);
}

function hearBootServer(parts: Parts, said: ServerMessage): void {
  if (parts.known.all().some(({ server }) => server === said.server)) return;
  if (parts.isAllowed(said.server) || (parts.learning.isOn() && !isForged(parts, said.server))) return learn(parts, said, false);
  parts.suspects.bootServer(said);
}

/** In the learning period: what contradicts is not learned, and who is less trusted is the suspect. */
function hearInLearning(parts: Parts, said: ServerMessage, isToUs: boolean): void {
  const rivals = rivalsOf(parts, said);
  if (rivals.length === 0) {
    if (said.type === "nak") return;
    return isForged(parts, said.server) ? parts.suspects.accuse(said, parts.known.all()) : learn(parts, said, isToUs);
  }
  const isTrusted = rivals.every(({ server, handout }) => trust(parts, server, handout) < trust(parts, said.server, said.handout));
  if (!isTrusted) return parts.suspects.accuse(said, rivals);
  for (const rival of rivals) {
    parts.known.forget(rival.server);
    parts.suspects.unmask(rival, said);
  }
  learn(parts, said, isToUs);
}

/** Servers of the same link that lead clients elsewhere. */
function rivalsOf(parts: Parts, said: ServerMessage): readonly KnownServer[] {
  return neighborsOf(parts, said).filter((row) => said.handout && row.handout && isContradiction(row.handout, said.handout));
}

/** Other servers of the same link. What goes to a relay counts for the relay's own link, unless it is said to clients of the same subnet. */
function neighborsOf({ known }: Parts, { server, vlanId, giaddr, isToRelay, handout }: ServerMessage): readonly KnownServer[] {
  return known.all().filter((row) => row.server !== server && row.vlanId === vlanId
    && (row.giaddr === giaddr || (!isToRelay && handout && row.handout && isOneSubnet(row.handout, handout))));
}

/** Another address of a server that is known: a virtual one, or one in another subnet. */
function isAlias({ known }: Parts, { vlanId, giaddr, mac, handout }: ServerMessage): boolean {
  return known.all().some((row) => row.vlanId === vlanId && row.giaddr === giaddr && !row.isBootOnly && row.macs.includes(mac)
    && (handout === null || (row.handout !== null && !isContradiction(handout, row.handout))));
}

/** What speaks for a server beside its own word. */
function trust({ isAllowed, link, settings }: Parts, server: string, handout: KnownServer["handout"]): number {
  const own = link()?.gateways ?? [];
  const leadsTo = (addresses: readonly string[]) => addresses.includes(handout?.gateways[0] ?? "");
  return (isAllowed(server) ? 4 : 0) + (leadsTo(own) ? 2 : 0) + (leadsTo(settings().routers) ? 1 : 0);
}
