import { createBoundedMap } from "../../bounded-map.ts";
import type { GuardDeps } from "../guard.ts";
import { createNewcomers } from "../newcomers.ts";
import { handoutFacts } from "./handout.ts";
import type { KnownServer, Stranger } from "./known-servers.ts";
import type { ServerMessage } from "./server-message.ts";
import { accusation, bootServer, impersonation, namesake, newNameServers, unmasking } from "./server-signs.ts";

/** Reports servers that do not belong to the link. */
export interface Suspects {
  /** An unknown server. @param rivals Those that are known there. */
  accuse(said: ServerMessage, rivals: readonly KnownServer[]): void;
  /** A server that was learned before a more trusted one has contradicted it. */
  unmask(row: KnownServer, rival: ServerMessage): void;
  /** Another host answers in a known server's name. */
  impostor(row: KnownServer, said: ServerMessage): void;
  /** A known server gives clients name servers that it has not given before. */
  newNameServers(row: KnownServer, said: ServerMessage): void;
  /** Another host speaks in the name of a known server that is alive. */
  namesake(row: KnownServer, stranger: Stranger): void;
  /** A server that says where to boot from. */
  bootServer(said: ServerMessage): void;
  /** Somebody has said that a server is right. */
  clear(server: string): void;
  /** Whether an incident of one goes on. */
  isAny(): boolean;
}

type Facts = Readonly<Record<string, string>>;

/** One server is reported so often at most. */
const PAUSE_MS = 1000;
const MAX_SUSPECTS = 256;
/** Of a flood of forged servers so many are reported; the others cost a look. */
const NEW = { max: 100, withinMs: 1000 };

/** @param deps.hostName What a host calls itself, or "". */
export function createSuspects(deps: GuardDeps & { readonly hostName: (mac: string) => string }): Suspects {
  const { clock, incidents } = deps;
  /** By subject: when it was reported last, and what it has handed out. Those not heard for longest make room. */
  const suspects = createBoundedMap<string, { readonly at: number; readonly facts: Facts }>(MAX_SUSPECTS);

  const newcomers = createNewcomers(NEW);
  /** By MAC: under which its incident goes on. */
  const subjects = createBoundedMap<string, string>(MAX_SUSPECTS);

  function factsOf(said: ServerMessage): Facts {
    const name = deps.hostName(said.mac);
    const self = said.handout?.gateways.some((gateway) => gateway === said.server || gateway === said.sourceIp) === true;
    return {
      server: said.server, ...(said.giaddr ? { relay: said.giaddr } : {}), ...(name ? { host_name: name } : {}), ...handoutFacts(said.message),
      ...(said.handout && said.handout.gateways.length > 0 ? { gateway_is_itself: self ? "yes" : "no" } : {}),
    };
  }

  /** A tool may take another server identifier for each answer: what comes from one MAC that is no relay's is one server. */
  function subjectOf({ server, mac, giaddr }: ServerMessage): string {
    const first = giaddr === "" ? subjects.get(mac) : undefined;
    if (first !== undefined && incidents.isOpen("dhcp_server", first)) return first;
    subjects.put(mac, server);
    return server;
  }

  /** @returns What is known of the suspect now, or null where it was reported just now and nothing is new, or too many are. */
  function note(subject: string, read: () => Facts): Facts | null {
    const now = clock.monotonic();
    const before = suspects.get(subject);
    if (!before && newcomers.add(subject, now)) return null;
    const facts = read();
    // What was said first stays: an offer and an acknowledgement differ in details.
    const all = { ...facts, ...before?.facts };
    const isNews = !before || Object.keys(all).length > Object.keys(before.facts).length;
    if (before && !isNews && now - before.at < PAUSE_MS) return null;
    suspects.put(subject, { at: now, facts: all });
    return all;
  }

  return {
    accuse(said, rivals) {
      const subject = subjectOf(said);
      const facts = note(subject, () => factsOf(said));
      // Our own gateway is that of our own link alone.
      const isOwnLink = said.vlanId === null && said.giaddr === "";
      if (facts) incidents.report({ ...accusation(said, rivals, { facts, gateways: isOwnLink ? deps.link()?.gateways ?? [] : [] }), subject });
    },
    unmask: (row, rival) => incidents.report(unmasking(row, rival)),
    impostor(row, said) {
      const facts = note(said.mac, () => factsOf(said));
      if (facts) incidents.report(impersonation(row, said, facts));
    },
    newNameServers: (row, said) => incidents.report(newNameServers(row, said)),
    namesake(row, stranger) {
      if (note(stranger.mac, () => ({}))) incidents.report(namesake(row, stranger));
    },
    bootServer(said) {
      const facts = note(said.server, () => factsOf(said));
      if (facts) incidents.report(bootServer(said, facts));
    },
    isAny: () => [...suspects.keys()].some((subject) => incidents.isOpen("dhcp_server", subject)),
    clear(server) {
      suspects.delete(server);
      if (incidents.isOpen("dhcp_server", server)) incidents.end("dhcp_server", server);
    },
  };
}
