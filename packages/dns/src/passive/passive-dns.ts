/** All detectors over what clients and resolvers of a site say to each other. */
import { createAllowances } from "./allowances.ts";
import { createEncryptedDnsDetector, type HelloFact } from "./detectors/encrypted-dns.ts";
import { createFastFluxDetector } from "./detectors/fast-flux.ts";
import { createForgedAnswerDetector } from "./detectors/forged-answers.ts";
import { createGeneratedNamesDetector } from "./detectors/generated-names.ts";
import { type NameShape, shapeOf } from "./facts/name-shape.ts";
import { createRebindingDetector } from "./detectors/rebinding.ts";
import { createRecentMap } from "./recent-map.ts";
import { createRogueResolverDetector } from "./detectors/rogue-resolvers.ts";
import { createSiteResolvers } from "./site-resolvers.ts";
import { type DnsExchange, HOUR, type NamedExchange, type OnSuspicion } from "./suspicion.ts";
import { createTunnelDetector } from "./detectors/tunnels.ts";

/** What detectors are given, in the order of capture; none of it throws. */
export interface PassiveDns {
  exchange(exchange: DnsExchange): void;
  hello(fact: HelloFact): void;
  /** DHCP named these resolvers to a client. */
  resolversNamed(addresses: readonly string[]): void;
  /** Whether an address was seen to answer others within the hour before: what it asks on is asked by its clients. @param at Microseconds since the epoch. */
  isResolver(address: string, at: number): boolean;
  counters(): PassiveDnsCounters;
}

/** Sums since it was made. */
export interface PassiveDnsCounters {
  readonly messages: number;
  readonly suspicions: number;
  /** Facts about clients and domains that were forgotten because there were too many. */
  readonly evicted: number;
}

/** How detectors are to work. */
export interface PassiveDnsOptions {
  /** Domains of which nothing is reported, with all below them. */
  readonly allowed: readonly string[];
  /** The resolvers of the site; empty for those that DHCP names. */
  readonly resolvers: readonly string[];
  /** From 0 to below 1: keys the hashes. */
  readonly random: () => number;
  readonly onSuspicion: OnSuspicion;
}

const MAX_FORWARDERS = 256;
/** Names whose shape is kept: an answer follows its question, and names come again. */
const MAX_SHAPES = 2048;
const QUERY_OPCODE = 0;

/** @returns Detectors whose memory is bounded, whatever comes. */
export function createPassiveDns(options: PassiveDnsOptions): PassiveDns {
  let [messages, suspicions] = [0, 0];
  const deps = {
    isAllowed: createAllowances(options.allowed), key: Math.floor(options.random() * 0x1_0000_0000), site: createSiteResolvers(options.resolvers),
    onSuspicion: ((suspicion) => {
      suspicions += 1;
      options.onSuspicion(suspicion);
    }) as OnSuspicion,
  };
  const tunnels = createTunnelDetector(deps);
  const generated = createGeneratedNamesDetector(deps);
  const forged = createForgedAnswerDetector(deps);
  const flux = createFastFluxDetector(deps);
  const rebinding = createRebindingDetector(deps);
  const rogue = createRogueResolverDetector(deps);
  const encrypted = createEncryptedDnsDetector(deps);
  /** Resolvers that were seen to answer, by when they did last. */
  const forwarders = createRecentMap<string, number>(MAX_FORWARDERS);

  const isResolver = (address: string, at: number) => Math.abs(at - (forwarders.peek(address) ?? Number.NEGATIVE_INFINITY)) < HOUR;

  const shapes = createRecentMap<string, NameShape | null>(MAX_SHAPES);

  function shapeOfName(name: string): NameShape | null {
    const known = shapes.peek(name);
    if (known !== undefined) return known;
    const shape = shapeOf(name);
    shapes.put(name, shape);
    return shape;
  }

  function onQuery(exchange: NamedExchange, isForwarded: boolean): void {
    forged.query(exchange);
    if (!isForwarded) tunnels.query(exchange);
  }

  function onAnswer(exchange: NamedExchange, isForwarded: boolean): void {
    forged.answer(exchange);
    if (isForwarded) return;
    tunnels.answer(exchange);
    generated.answer(exchange);
    flux.answer(exchange);
    rebinding.answer(exchange);
    rogue.answer(exchange);
  }

  return {
    exchange(exchange) {
      const { message, client, server, at } = exchange;
      const [question] = message.questions;
      messages += 1;
      if (!question || message.questions.length > 1 || message.opcode !== QUERY_OPCODE) return;
      const shape = shapeOfName(question.name);
      if (shape === null) return;
      if (message.isResponse && message.isRecursionAvailable) forwarders.put(server, at);
      const { name, domain, publicSuffix, isPrivateSuffix } = shape;
      // Not spread: that costs as much as all detectors together.
      const named: NamedExchange = { message, bytes: exchange.bytes, client, server, clientPort: exchange.clientPort, at, name, type: question.type, domain, publicSuffix, isPrivateSuffix };
      const isForwarded = isResolver(client, at);
      if (message.isResponse) onAnswer(named, isForwarded);
      else onQuery(named, isForwarded);
    },
    hello: (fact) => encrypted.hello(fact),
    isResolver,
    resolversNamed: (addresses) => deps.site.add(addresses),
    counters: () => ({
      messages, suspicions,
      evicted: [tunnels, generated, forged, flux, rebinding, rogue, encrypted].reduce((sum, { evicted }) => sum + evicted, 0),
    }),
  };
}
