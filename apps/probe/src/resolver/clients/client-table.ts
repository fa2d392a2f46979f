/** Who asks, and how much: nobody gets more than their share, and a sender who is made up gets no more than they sent. */
import { BlockList, isIPv6 } from "node:net";
import { withoutZone } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { sourceNetwork } from "../../source-network.ts";
import { createTokenBucket, fillBucket, type TokenBucket } from "../../token-bucket.ts";

/** One network as of `sourceNetwork`. */
export interface ClientState {
  readonly isAllowed: boolean;
  /** Questions of it that wait for a server. */
  waiting: number;
  readonly questions: TokenBucket;
  /** Those over the limit, so that every other one is sent to TCP. */
  refused: number;
}

/** What the table goes by. */
export interface ClientLimits {
  /** Networks in CIDR notation that may ask. */
  readonly allowed: readonly string[];
  /** Questions a second that go on for long. */
  readonly perSecond: number;
  /** Questions at once. */
  readonly burst: number;
}

/** All who asked lately. */
export interface ClientTable {
  of(address: string): ClientState;
  /** Takes one question's worth. @returns False when there is none left. */
  take(client: ClientState): boolean;
  readonly size: number;
}

/** A client more than these, and the one who was there longest is forgotten: what it had used up is forgiven. */
const MAX_CLIENTS = 32_768;
const CLIENT_BITS = 64;

/** @throws RangeError for a network that cannot be read. */
export function createClientTable({ allowed, perSecond, burst }: ClientLimits, clock: Pick<Clock, "monotonic">): ClientTable {
  const list = blockListOf(allowed);
  const clients = new Map<string, ClientState>();
  /** All of a client's addresses may ask, or none. */
  const isAlike = allowed.every((network) => !isIPv6(network.split("/")[0] ?? "") || Number(network.split("/")[1] ?? 128) <= CLIENT_BITS);
  return {
    of(address) {
      const key = isAlike ? sourceNetwork(address) : `${sourceNetwork(address)} ${isIn(list, address)}`;
      const known = clients.get(key);
      if (known) return known;
      const client = { isAllowed: isIn(list, address), waiting: 0, questions: createTokenBucket(perSecond, burst, clock.monotonic()), refused: 0 };
      if (clients.size >= MAX_CLIENTS) clients.delete(clients.keys().next().value as string);
      clients.set(key, client);
      return client;
    },
    take(client) {
      if (fillBucket(client.questions, clock.monotonic()) < 1) return false;
      client.questions.tokens -= 1;
      return true;
    },
    get size() {
      return clients.size;
    },
  };
}

const MAPPED = "::ffff:";

function isIn(list: BlockList, address: string): boolean {
  const plain = address.startsWith(MAPPED) && address.includes(".") ? address.slice(MAPPED.length) : withoutZone(address);
  return list.check(plain, isIPv6(plain) ? "ipv6" : "ipv4");
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", length] = network.split("/");
    try {
      list.addSubnet(address, Number(length ?? (isIPv6(address) ? 128 : 32)), isIPv6(address) ? "ipv6" : "ipv4");
    } catch (cause) {
      throw new RangeError(`"${network}" is no network such as 192.168.0.0/16`, { cause });
    }
  }
  return list;
}
