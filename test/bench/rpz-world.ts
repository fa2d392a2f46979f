import { once } from "node:events";
import { createSocket } from "node:dgram";
import { decodeDns, DNS_RESPONSE_CODE, DNS_TYPE, type DnsRecordFields, encodeDns, formatIp } from "@lanthorn/packets";
import { createSeededRandom } from "./dns-seeded-names.ts";

const DOMAINS = 400;
const HOSTS = 25;
const SUFFIX = "seed.example";
/** Where zones lead to; no rule is for it. */
export const GARDEN = "garden.walled.example";
/** A zone's rules are of each kind for this share of what they could be for. */
const SHARE = { names: 0.06, wildcards: 0.06, networks: 0.12, addresses: 0.02, servers: 0.08 } as const;
const NETWORKS = 64;
const ZONES = 3;
/** Of loopback: 127.0.2.1 and so on. Each domain has one, so that which of several rules counts does not depend on their order. */
const SERVERS = 60;
const OPERATORS = 12;

/**
 * Names of every fourth domain are behind no alias: where such a name has `rpz-tcp-only.`, unbound 1.17.1 ends by a segmentation fault, and where it falls under a
 * wildcard with records, it answers without them.
 */
function mayBeTarget(domain: number): boolean {
  return domain % 4 !== 0;
}

/** What a name truly has. */
interface WorldName {
  readonly target: string | null;
  readonly ipv4: Uint8Array | null;
  readonly ipv6: Uint8Array | null;
}

/** What is answered for a name: its chain, and records of the type at its end. */
export interface WorldAnswer {
  readonly responseCode: number;
  readonly chain: readonly string[];
  readonly addresses: readonly Uint8Array[];
}

/** What zones have rules about beside names: addresses and clients, or the servers that answer. */
export type RpzRules = "addresses" | "servers";

/** A server that answers for domains. */
export interface WorldServer {
  readonly name: string;
  readonly address: string;
  /** Zones for which it answers. */
  readonly zones: readonly string[];
}

/** Names with addresses and aliases, policy zones over them, and questions, all from one seed. */
export interface RpzWorld {
  answer(name: string, type: number): WorldAnswer;
  /** All of them: a name's is that of the domain that it is in. */
  readonly servers: readonly WorldServer[];
  /** Master files of the zones, in their order. */
  readonly zones: readonly string[];
  readonly cases: readonly { readonly name: string; readonly type: number; readonly client: number }[];
}

/** @param cases How many questions. @param clients How many ask them, counted from 0. */
export function createRpzWorld(seed: number, rules: RpzRules, { cases, clients }: { readonly cases: number; readonly clients: number }): RpzWorld {
  const random = createSeededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const names = Array.from({ length: DOMAINS * HOSTS }, (_, index) => `h${index % HOSTS}.d${Math.floor(index / HOSTS)}.${SUFFIX}`);
  const world = new Map<string, WorldName>([[GARDEN, { target: null, ipv4: Uint8Array.of(192, 0, 2, 80), ipv6: null }]]);
  const addresses = () => ({ target: null, ipv4: Uint8Array.of(198, 18, pick(NETWORKS), pick(256)), ipv6: random() < 0.5 ? ipv6Of(pick(NETWORKS), pick(65_536)) : null });
  for (const [index, name] of names.entries()) {
    const kind = random();
    if (kind < 0.7) world.set(name, addresses());
    else if (kind < 0.9) {
      // Aliases lead forward, so that they end.
      const target = index + 1 + pick(99);
      if (mayBeTarget(Math.floor(target / HOSTS)) && target < names.length) world.set(name, { target: names[target] ?? GARDEN, ipv4: null, ipv6: null });
    }
  }
  const zones = Array.from({ length: ZONES }, (_, zone) => createZone(zone, names, rules, { random, pick }));
  const types = [DNS_TYPE.a, DNS_TYPE.a, DNS_TYPE.a, DNS_TYPE.aaaa, DNS_TYPE.aaaa, DNS_TYPE.txt] as const;
  return {
    zones, servers: Array.from({ length: SERVERS }, (_, index) => serverOf(index)), answer: (name, type) => answerOf(world, name, type),
    cases: Array.from({ length: cases }, () => ({
      name: `${random() < 0.1 ? "x." : ""}${names[pick(names.length)]}`, type: types[pick(types.length)] ?? DNS_TYPE.a, client: pick(clients),
    })),
  };
}

function ipv6Of(network: number, host: number): Uint8Array {
  return Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, network, 0, 0, 0, 0, 0, 0, 0, 0, host >>> 8, host);
}

interface ZoneChoices {
  readonly random: () => number;
  readonly pick: (count: number) => number;
}

function serverOf(index: number): WorldServer {
  const zones = Array.from({ length: DOMAINS }, (_, domain) => domain).filter((domain) => domain % SERVERS === index).map((domain) => `d${domain}.${SUFFIX}`);
  return { name: `ns${index}.op${index % OPERATORS}.servers.example`, address: `127.0.2.${index + 1}`, zones };
}

function createZone(zone: number, names: readonly string[], rules: RpzRules, choices: ZoneChoices): string {
  const { random, pick } = choices;
  const actions = ["CNAME .", "CNAME .", "CNAME *.", "CNAME rpz-passthru.", "CNAME rpz-drop."];
  const records = [`A 192.0.2.${10 + zone}`, `CNAME ${GARDEN}.`];
  const action = (of: readonly string[]) => of[pick(of.length)] ?? "CNAME .";
  const lines = ["$TTL 60", `@ SOA localhost. root.localhost. ${zone + 1} 3600 600 86400 60`, "  NS localhost."];
  for (let domain = 0; domain < DOMAINS; domain += 1) {
    const isTarget = mayBeTarget(domain);
    const ofNames = [...actions, ...records, ...(isTarget ? [] : ["CNAME rpz-tcp-only."])];
    for (const name of names.slice(domain * HOSTS, (domain + 1) * HOSTS)) if (random() < SHARE.names) lines.push(`${name} ${action(ofNames)}`);
    if (random() < SHARE.wildcards) lines.push(`*.d${domain}.${SUFFIX} ${action(isTarget ? actions : ofNames)}`);
  }
  // What is said of addresses and servers comes when names are being resolved: there, asking again by TCP and silence are no actions.
  const ofOthers = { actions: actions.slice(0, 4), action };
  lines.push(...(rules === "servers" ? serverLines(ofOthers, choices) : addressLines(zone, ofOthers, choices)));
  return `${lines.join("\n")}\n`;
}

interface LineActions {
  readonly actions: readonly string[];
  readonly action: (of: readonly string[]) => string;
}

function addressLines(zone: number, { actions, action }: LineActions, { random }: ZoneChoices): readonly string[] {
  const lines: string[] = [];
  for (let network = 0; network < NETWORKS; network += 1) {
    if (random() < SHARE.networks) lines.push(`24.0.${network}.18.198.rpz-ip ${action(actions)}`);
    if (random() < SHARE.networks) lines.push(`48.zz.${network.toString(16)}.db8.2001.rpz-ip ${action(actions)}`);
    for (let host = 0; host < 256; host += 1) if (random() < SHARE.addresses) lines.push(`32.${host}.${network}.18.198.rpz-ip ${action(actions)}`);
  }
  // Of a client that is excepted, unbound 1.17.1 judges the names all the same.
  lines.push(`32.${2 + zone}.1.0.127.rpz-client-ip ${["CNAME .", "CNAME *.", "CNAME rpz-drop."][zone] ?? "CNAME ."}`);
  return lines;
}

function serverLines({ actions, action }: LineActions, { random }: ZoneChoices): readonly string[] {
  const lines: string[] = [];
  for (let index = 0; index < SERVERS; index += 1) {
    const { name, address } = serverOf(index);
    if (random() < SHARE.servers) lines.push(`${name}.rpz-nsdname ${action(actions)}`);
    if (random() < SHARE.servers) lines.push(`32.${address.split(".").toReversed().join(".")}.rpz-nsip ${action(actions)}`);
  }
  for (let operator = 0; operator < OPERATORS; operator += 1) if (random() < SHARE.servers) lines.push(`*.op${operator}.servers.example.rpz-nsdname ${action(actions)}`);
  for (let network = 0; network < SERVERS; network += 4) if (random() < SHARE.servers) lines.push(`30.${network}.2.0.127.rpz-nsip ${action(actions)}`);
  return lines;
}

function answerOf(world: ReadonlyMap<string, WorldName>, name: string, type: number): WorldAnswer {
  const chain: string[] = [];
  let known = world.get(name);
  while (known?.target) {
    chain.push(known.target);
    known = world.get(known.target);
  }
  const address = type === DNS_TYPE.a ? known?.ipv4 : type === DNS_TYPE.aaaa ? known?.ipv6 : null;
  return { responseCode: known ? DNS_RESPONSE_CODE.noError : DNS_RESPONSE_CODE.nameError, chain, addresses: address ? [address] : [] };
}

/**
 * Serves the world's truth over UDP, by whatever address it is asked, for no longer than each answer: what is kept would be answered by the order of the questions.
 * @param addresses Of loopback; all have one port.
 */
export async function serveWorld(world: RpzWorld, addresses: readonly string[]): Promise<{ readonly port: number; readonly close: () => void }> {
  const sockets = addresses.map(() => createSocket("udp4"));
  let port = 0;
  for (const [index, socket] of sockets.entries()) {
    socket.on("message", (bytes, from) => {
      const response = responseTo(world, bytes);
      if (response) socket.send(response, from.port, from.address);
    });
    socket.bind(port, addresses[index]);
    await once(socket, "listening");
    ({ port } = socket.address());
  }
  return {
    port,
    close() {
      for (const socket of sockets) socket.close();
    },
  };
}

function responseTo(world: RpzWorld, bytes: Uint8Array): Uint8Array | null {
  const query = decodeDns(bytes);
  const question = query.ok ? query.value.questions[0] : undefined;
  if (!query.ok || !question) return null;
  const { responseCode, chain, addresses } = world.answer(question.name.toLowerCase(), question.type);
  const owners = [question.name, ...chain];
  const aliases = chain.map((name, index): DnsRecordFields => ({ name: owners[index] ?? name, type: DNS_TYPE.cname, class: 1, ttlSeconds: 0, data: { kind: "name", name } }));
  const records = addresses.map((value): DnsRecordFields => ({ name: owners.at(-1) ?? "", type: question.type, class: 1, ttlSeconds: 0, data: { kind: "address", address: value } }));
  return encodeDns({ id: query.value.id, isResponse: true, isAuthoritative: true, isRecursionAvailable: true, responseCode, questions: [question], answers: [...aliases, ...records] });
}

/** Addresses as text, in order: what answers are compared by. */
export function addressTexts(addresses: readonly Uint8Array[]): string {
  return addresses.map((address) => formatIp(address)).toSorted().join(",");
}
