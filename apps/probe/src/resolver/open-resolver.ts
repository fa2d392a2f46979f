import { randomBytes, randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { BlockList, isIPv6 } from "node:net";
import { join } from "node:path";
import { type ResolverState, stricterDnsQueryLevel } from "@lanthorn/contract/uplink";
import { DNS_RESPONSE_CODE, DNS_TYPE } from "@lanthorn/packets";
import type { Clock, Log } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import { createAnswerCache } from "./cache/answer-cache.ts";
import { createClientTable } from "./clients/client-table.ts";
import { createNeighborTable } from "./clients/neighbor-table.ts";
import { createServerCookies } from "./clients/server-cookies.ts";
import { createFilter } from "./filtering/filter.ts";
import { createDesignatedResolvers } from "./forwarding/designated-resolvers.ts";
import { createForwarder, type Forwarder } from "./forwarding/forwarder.ts";
import { createLookups } from "./forwarding/lookups.ts";
import { createNameServers } from "./forwarding/name-servers.ts";
import { createRoutes, wireName } from "./forwarding/routes.ts";
import { linkToDaemon } from "./link/daemon-link.ts";
import { LINK_SOCKET } from "./link/messages.ts";
import { createQueryTally } from "./link/query-tally.ts";
import { createThreatTally, type ThreatTally } from "./link/threat-tally.ts";
import type { GivenSockets } from "./listeners/given-sockets.ts";
import { DOH_PATH, listenHttps } from "./listeners/https-listener.ts";
import type { Listener, Place, TakeMessage } from "./listeners/listener.ts";
import { portHolder } from "./listeners/port-holder.ts";
import { listenStream } from "./listeners/stream-listener.ts";
import { listenUdp } from "./listeners/udp-listener.ts";
import { createCounts, createResolver, type Resolver, type ResolverCounts } from "./resolver.ts";
import { encodeQuestion } from "./messages/question.ts";
import type { ResolverSettings, TlsSettings } from "./settings.ts";
import type { UpstreamSettings } from "./upstreams/settings.ts";
import { createUpstream, type Upstream } from "./upstreams/upstream.ts";

/** A resolver that answers. */
export interface OpenResolver {
  readonly listeners: readonly Listener[];
  readonly upstreams: readonly Upstream[];
  readonly counts: Readonly<ResolverCounts>;
  /** Reads lists whose files have changed; by itself it does so each minute, and those of the collector each second. Until they were read, every name resolves. */
  readonly refreshLists: () => Promise<void>;
  /** Whether a question gets an answer now: one that no server is needed for. */
  readonly isAnswering: () => boolean;
  close(): Promise<void>;
}

/** @throws ProbeError `port-in-use`, which says who has it; `config-invalid` for files that cannot be read, and where there is nothing to listen on. */
export async function openResolver(settings: ResolverSettings, given: GivenSockets, deps: { readonly clock: Clock; readonly log: Log }): Promise<OpenResolver> {
  const means = { clock: deps.clock, fillRandom: (bytes: Uint8Array) => void randomFillSync(bytes) };
  const forwarderTo = (servers: readonly UpstreamSettings[]) => createForwarder(servers.map((server) => createUpstream(server, means)), deps.clock);
  const general = forwarderTo(settings.upstreams);
  const routes = settings.forward.map(({ zones, upstreams }) => ({ zones, forwarder: forwarderTo(upstreams) }));
  const forwarders: readonly Forwarder[] = [general, ...routes.map(({ forwarder }) => forwarder)];
  const cache = createAnswerCache({ maxBytes: settings.cache_megabytes * 1024 * 1024 });
  const lookups = createLookups({
    cache, clock: deps.clock, isGeneralLocal: settings.upstreams.some(({ address }) => isPrivate(address)),
    routeOf: createRoutes(routes.flatMap(({ zones, forwarder }) => zones.map((zone) => ({ zone: wireName(zone), forwarder }))), general),
  });
  const clients = createClientTable({ allowed: settings.allow, perSecond: settings.queries_per_second, burst: settings.burst }, deps.clock);
  const { tls } = settings;
  const designated = createDesignatedResolvers(tls ? { name: tls.name, tlsPort: tls.port, https: { port: tls.https_port, path: DOH_PATH } } : null);
  const filter = createFilter({ lists: settings.lists, settings: settings.filter, collectorDirectory: settings.collector_directory, neighbors: createNeighborTable(deps.clock), ...deps });
  const tally = createThreatTally(filter.policyName);
  const endLooks = deps.clock.every(LOOK_MS, filter.look);
  const endRefreshes = deps.clock.every(REFRESH_MS, () => void filter.refresh());
  const counts = createCounts();
  const queries = createQueryTally(() => stricterDnsQueryLevel(settings.queries.report, filter.queryLevel), counts, deps.clock.now());
  const resolver = createResolver({
    cache, clients, cookies: createServerCookies(randomBytes(32), deps.clock), lookups, nameServers: createNameServers({ cache, lookups, clock: deps.clock }), designated, filter, clock: deps.clock, counts,
    onListed(query, verdict, address) {
      tally.judged(query, verdict, address);
      queries.answered(query, verdict, address);
    },
    onResolved: settings.queries.report === "all" ? (query, address) => queries.answered(query, null, address) : null,
  });
  const listeners: Listener[] = [];
  const endLink = linkToDaemon({
    path: join(settings.collector_directory, LINK_SOCKET), tally, queries, random: Math.random, clock: deps.clock,
    state: () => stateOf(resolver.counts, tally, forwarders),
  });
  const close = async () => {
    endRefreshes();
    endLooks();
    endLink();
    await filter.close();
    await Promise.all(listeners.map((listener) => listener.close()));
    for (const forwarder of forwarders) forwarder.close();
  };
  try {
    for (const open of listenersOf(settings, given, resolver.take)) listeners.push(...(await open()));
  } catch (error) {
    await close();
    throw error;
  }
  void filter.refresh();
  return { listeners, refreshLists: filter.refresh, upstreams: forwarders.flatMap(({ upstreams }) => upstreams), counts: resolver.counts, isAnswering: () => answersItself(resolver), close };
}

function stateOf({ fromCache, ...counts }: ResolverCounts, tally: ThreatTally, forwarders: readonly Forwarder[]): ResolverState {
  const upstreams = forwarders.flatMap((forwarder) => forwarder.upstreams);
  return {
    ...counts, from_cache: fromCache, threats_left_out: tally.leftOut, upstreams: upstreams.length, upstreams_down: upstreams.filter(({ isDown }) => isDown).length,
    unreachable: forwarders.filter((forwarder) => forwarder.upstreams.every(({ isDown }) => isDown)).length,
  };
}

const REFRESH_MS = 60_000;
/** What is allowed for an hour is allowed at once. */
const LOOK_MS = 1000;
const MAX_PORT_TRIES = 10;
const PROBE = encodeQuestion({ name: wireName("localhost"), type: DNS_TYPE.a, isDnssecOk: false, isCheckingDisabled: false }, { id: 0, caseBits: new Uint8Array(0), cookie: null });

function answersItself(resolver: Resolver): boolean {
  let code = -1;
  resolver.take(PROBE, { address: "127.0.0.1", isDatagram: false, isEncrypted: false, respond: (response) => (code = (response[3] as number) & 0x0f) });
  return code === DNS_RESPONSE_CODE.noError;
}

function listenersOf(settings: ResolverSettings, given: GivenSockets, take: TakeMessage): readonly (() => Promise<readonly Listener[]>)[] {
  const { port, tls } = settings;
  const own = given.udp.length + given.tcp.length > 0 ? [] : settings.listen;
  if (own.length + given.udp.length + given.tcp.length === 0) {
    throw new ProbeError("config-invalid", "there is nothing to listen on: listen = [\"192.0.2.1\"], an address of this machine (see: ip address)");
  }
  return [
    ...given.udp.map((fd) => async () => [await listenUdp({ fd }, take)]),
    ...given.tcp.map((fd) => async () => [await listenStream({ fd }, take, null)]),
    ...own.map((address) => () => listenBoth({ address, port }, take)),
    ...(tls ? settings.listen.map((address) => () => listenEncrypted(address, tls, take)) : []),
  ];
}

/** TCP and UDP on one port, also where the kernel chooses it: what it chooses for one may be taken for the other. */
async function listenBoth({ address, port }: Place, take: TakeMessage, triesLeft = MAX_PORT_TRIES): Promise<readonly Listener[]> {
  const stream = await listenStream({ address, port }, take, null).catch(explain({ address, port }, "tcp"));
  try {
    return [await listenUdp({ address, port: stream.port }, take).catch(explain({ address, port: stream.port }, "udp")), stream];
  } catch (error) {
    await stream.close();
    const isChosenAgain = port === 0 && triesLeft > 0 && error instanceof ProbeError && error.code === "port-in-use";
    if (!isChosenAgain) throw error;
    return listenBoth({ address, port }, take, triesLeft - 1);
  }
}

async function listenEncrypted(address: string, tls: TlsSettings, take: TakeMessage): Promise<readonly Listener[]> {
  const certificate = { certificate: readSecret(tls.certificate_file), key: readSecret(tls.key_file) };
  const [overTls, overHttps] = [{ address, port: tls.port }, { address, port: tls.https_port }];
  const stream = await listenStream(overTls, take, certificate).catch(explain(overTls, "tcp"));
  try {
    return [stream, await listenHttps(overHttps, take, certificate).catch(explain(overHttps, "tcp"))];
  } catch (error) {
    await stream.close();
    throw error;
  }
}

function explain(at: Place, protocol: "udp" | "tcp"): (error: unknown) => never {
  return (error) => {
    const code = (error as { readonly code?: unknown }).code;
    const where = `${protocol} port ${at.port} of ${at.address}`;
    if (code === "EADDRINUSE") throw new ProbeError("port-in-use", `${where} is in use${portHolder(at, protocol)}`, { cause: error });
    if (code === "EADDRNOTAVAIL") throw new ProbeError("config-invalid", `${at.address} is no address of this machine (see: ip address)`, { cause: error });
    if (code === "EACCES") throw new ProbeError("config-invalid", `${where} needs the capability CAP_NET_BIND_SERVICE: start it as the service lanthorn-dns, or as root`, { cause: error });
    throw error;
  };
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ProbeError("config-invalid", `cannot read ${file}`, { cause });
  }
}

function isPrivate(address: string): boolean {
  const list = new BlockList();
  for (const [network, length] of [["10.0.0.0", 8], ["172.16.0.0", 12], ["192.168.0.0", 16], ["127.0.0.0", 8], ["100.64.0.0", 10]] as const) list.addSubnet(network, length);
  list.addSubnet("fc00::", 7, "ipv6");
  list.addSubnet("fe80::", 10, "ipv6");
  list.addAddress("::1", "ipv6");
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
