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
const SHARE = { names: 0.06, wildcards: 0.06, networks: 0.12, addresses: 0.02 } as const;
const NETWORKS = 64;
const ZONES = 3;

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

/** Names with addresses and aliases, policy zones over them, and questions, all from one seed. */
export interface RpzWorld {
  answer(name: string, type: number): WorldAnswer;
  /** Master files of the zones, in their order. */
  readonly zones: readonly string[];
  readonly cases: readonly { readonly name: string; readonly type: number; readonly client: number }[];
}

/** @param cases How many questions. @param clients How many ask them, counted from 0. */
export function createRpzWorld(seed: number, cases: number, clients: number): RpzWorld {
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
  const zones = Array.from({ length: ZONES }, (_, zone) => createZone(zone, names, { random, pick }));
  const types = [DNS_TYPE.a, DNS_TYPE.a, DNS_TYPE.a, DNS_TYPE.aaaa, DNS_TYPE.aaaa, DNS_TYPE.txt] as const;
  return {
    zones, answer: (name, type) => answerOf(world, name, type),
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

function createZone(zone: number, names: readonly string[], { random, pick }: ZoneChoices): string {
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
  // What is said of addresses comes with the answer: there, asking again by TCP and silence are no actions.
  const ofAddresses = actions.slice(0, 4);
  for (let network = 0; network < NETWORKS; network += 1) {
    if (random() < SHARE.networks) lines.push(`24.0.${network}.18.198.rpz-ip ${action(ofAddresses)}`);
    if (random() < SHARE.networks) lines.push(`48.zz.${network.toString(16)}.db8.2001.rpz-ip ${action(ofAddresses)}`);
    for (let host = 0; host < 256; host += 1) if (random() < SHARE.addresses) lines.push(`32.${host}.${network}.18.198.rpz-ip ${action(ofAddresses)}`);
  }
  // Of a client that is excepted, unbound 1.17.1 judges the names all the same.
  lines.push(`32.${2 + zone}.1.0.127.rpz-client-ip ${["CNAME .", "CNAME *.", "CNAME rpz-drop."][zone] ?? "CNAME ."}`);
  return `${lines.join("\n")}\n`;
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

/** Serves the world's truth over UDP on a port of loopback, for no longer than each answer: what is kept would be answered by the order of the questions. */
export async function serveWorld(world: RpzWorld): Promise<{ readonly port: number; readonly close: () => void }> {
  const socket = createSocket("udp4");
  socket.on("message", (bytes, { port, address }) => {
    const query = decodeDns(bytes);
    const question = query.ok ? query.value.questions[0] : undefined;
    if (!query.ok || !question) return;
    const { responseCode, chain, addresses } = world.answer(question.name.toLowerCase(), question.type);
    const owners = [question.name, ...chain];
    const aliases = chain.map((name, index): DnsRecordFields => ({ name: owners[index] ?? name, type: DNS_TYPE.cname, class: 1, ttlSeconds: 0, data: { kind: "name", name } }));
    const records = addresses.map((value): DnsRecordFields => ({ name: owners.at(-1) ?? "", type: question.type, class: 1, ttlSeconds: 0, data: { kind: "address", address: value } }));
    socket.send(encodeDns({ id: query.value.id, isResponse: true, isRecursionAvailable: true, responseCode, questions: [question], answers: [...aliases, ...records] }), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { port: socket.address().port, close: () => socket.close() };
}

/** Addresses as text, in order: what answers are compared by. */
export function addressTexts(addresses: readonly Uint8Array[]): string {
  return addresses.map((address) => formatIp(address)).toSorted().join(",");
}
