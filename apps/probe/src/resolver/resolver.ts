/** From a client's question to its answer: what is known, what is meant for nobody outside, what servers say, and what they said before. */
import type { DnsQuery as JudgedQuestion, Verdict } from "@lanthorn/dns";
import { DNS_RESPONSE_CODE, type DnsQuery, parseIp, readDnsQuery } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type AnswerCache, type CachedAnswer, questionKey } from "./cache/answer-cache.ts";
import type { ClientState, ClientTable } from "./clients/client-table.ts";
import type { ServerCookie } from "./clients/server-cookies.ts";
import type { Filter } from "./filtering/filter.ts";
import { questionName, writeVerdict } from "./filtering/write-verdict.ts";
import { localAnswer } from "./forwarding/local-answers.ts";
import type { Lookups } from "./forwarding/lookups.ts";
import type { NameServers } from "./forwarding/name-servers.ts";
import type { Answer } from "./messages/answer.ts";
import type { Question } from "./messages/question.ts";
import { datagramLimit, EXTENDED_ERROR, type ExtendedError, padResponse, writeAnswer, writeCode, writeHeaderOnly } from "./messages/response.ts";

/** Who asks, and how they are answered. */
export interface Sender {
  readonly address: string;
  /** Over UDP the sender may be made up, and a response must fit a datagram. */
  readonly isDatagram: boolean;
  /** Others see lengths alone. */
  readonly isEncrypted: boolean;
  readonly respond: (response: Buffer) => void;
}

/** What was done since the start. */
export interface ResolverCounts {
  queries: number;
  fromCache: number;
  stale: number;
  /** Asked of servers. */
  forwarded: number;
  /** No server answered. */
  failed: number;
  /** Over a client's limit. */
  limited: number;
  /** From addresses that may not ask, and messages that are no queries. */
  ignored: number;
  /** Answered otherwise than the truth, by a list. */
  blocked: number;
  /** Would have been, by a list that is only observed. */
  observed: number;
}

/** Answers queries. */
export interface Resolver {
  /** @param asked The message. It must stay as it is until it is answered. Never throws. */
  take(asked: Uint8Array, sender: Sender): void;
  readonly counts: Readonly<ResolverCounts>;
}

/** What it stands on. */
export interface ResolverParts {
  readonly cache: AnswerCache;
  readonly clients: ClientTable;
  readonly cookies: (given: Uint8Array, address: string) => ServerCookie;
  readonly lookups: Lookups;
  /** Answers for names below `resolver.arpa`; null for all others. */
  readonly designated: (name: Uint8Array, type: number) => Answer | null;
  readonly nameServers: NameServers;
  readonly filter: Pick<Filter, "judgeQuestion" | "judgeAnswer" | "serverRules">;
  /** Hears of each query that a list has, or would have, the last word about. */
  readonly onListed: (query: JudgedQuestion, verdict: Verdict, address: string) => void;
  /** Hears of each other query that is answered, whatever the answer; null where nobody wants to know. */
  readonly onResolved: ((query: Pick<JudgedQuestion, "name" | "type" | "atMs">, address: string) => void) | null;
  readonly counts: ResolverCounts;
  readonly clock: Pick<Clock, "after" | "monotonic" | "now">;
}

interface Judged {
  readonly query: JudgedQuestion;
  readonly verdict: Verdict;
}

interface Asked {
  readonly bytes: Uint8Array;
  readonly query: DnsQuery;
  readonly sender: Sender;
  readonly client: ClientState;
  readonly cookie: Uint8Array | null;
  /** Null where nothing is filtered. */
  readonly judged: Judged | null;
  /** A list had, or would have had, the last word. */
  isListed: boolean;
}

const TYPE = { any: 255, firstMeta: 249, lastMeta: 254 } as const;
const CODE = { ...DNS_RESPONSE_CODE, badVersion: 16 } as const;
const CLASS_INTERNET = 1;
/** RFC 8767 section 4: 1.8 s is what a client waits before something stale is better than nothing, and 30 s what that is given for. */
const STALE_AFTER_MS = 1800;
const STALE_TTL_SECONDS = 30;
const MAX_STALE_MS = 86_400_000;
/** Asked again in the background in the last tenth of its life, where it was asked for before. */
const PREFETCH_AT = 0.9;
/** Questions of one client that wait for servers. */
const MAX_WAITING_OF_CLIENT = 256;
const STREAM_BYTES = 0xffff;
const NO_ADDRESS = new Uint8Array(4);

/** What answers one query. */
interface Giver {
  /** The truth, unless a list has something against it. */
  readonly give: (asked: Asked, answer: Answer, ageSeconds: number, extendedError?: ExtendedError | null) => void;
  /** The same for what servers said: where a list has rules about servers, those of the name are found first. */
  readonly giveJudged: (asked: Asked, answer: Answer, ageSeconds: number) => void;
  readonly giveCode: (asked: Asked, code: number, extendedError?: ExtendedError | null) => void;
  /** @returns Whether a list has the last word, which was given. */
  readonly isTaken: (asked: Asked, verdict: Verdict) => boolean;
}

function createGiver(parts: ResolverParts, counts: ResolverCounts): Giver {
  const giveCode = ({ bytes, query, sender, cookie }: Asked, code: number, extendedError: ExtendedError | null = null) =>
    sender.respond(writeCode(bytes, query, code, { extendedError, cookie }));
  const isTaken = (asked: Asked, verdict: Verdict) => {
    const isObserved = verdict.isFinal && verdict.observed !== null;
    if (isObserved) counts.observed += 1;
    asked.isListed = asked.judged !== null && (isObserved || verdict.action !== "allow");
    if (asked.judged && asked.isListed) parts.onListed(asked.judged.query, verdict, asked.sender.address);
    if (verdict.action === "allow") return false;
    counts.blocked += 1;
    const { bytes, query, cookie } = asked;
    const response = writeVerdict(verdict, { bytes, query, cookie, maxBytes: maxBytesOf(asked) });
    if (response) asked.sender.respond(response);
    return true;
  };
  const give = (asked: Asked, answer: Answer, ageSeconds: number, extendedError: ExtendedError | null = null, facts = answer.facts) => {
    const { bytes, query, sender, cookie, judged } = asked;
    if (judged && !judged.verdict.isFinal && isTaken(asked, parts.filter.judgeAnswer(judged.query, judged.verdict, facts))) return;
    if (parts.onResolved && !asked.isListed) parts.onResolved(judged?.query ?? { name: questionName(bytes, query), type: query.type, atMs: parts.clock.now() }, sender.address);
    const fixedTtlSeconds = extendedError ? STALE_TTL_SECONDS : null;
    sender.respond(writeAnswer(answer, bytes, query, { ageSeconds, fixedTtlSeconds, extendedError, cookie, maxBytes: maxBytesOf(asked) }));
  };
  const giveJudged = (asked: Asked, answer: Answer, ageSeconds: number) => {
    const { judged } = asked;
    const wish = judged === null || judged.verdict.isFinal ? null : parts.filter.serverRules;
    if (judged === null || wish === null) return give(asked, answer, ageSeconds);
    const { facts } = answer;
    const aliases = facts.names.filter(({ section }) => section === "cname").map(({ name }) => name);
    parts.nameServers.find([judged.query.name, ...aliases], wish, (nameServers) => give(asked, answer, ageSeconds, null, { ...facts, nameServers }));
  };
  return { give, giveJudged, giveCode, isTaken };
}

/** Of a resolver that has answered nothing yet. */
export function createCounts(): ResolverCounts {
  return { queries: 0, fromCache: 0, stale: 0, forwarded: 0, failed: 0, limited: 0, ignored: 0, blocked: 0, observed: 0 };
}

/** @returns A resolver that answers. */
export function createResolver(parts: ResolverParts): Resolver {
  const { counts } = parts;
  const { give, giveJudged, giveCode, isTaken } = createGiver(parts, counts);
  const lookUp = (asked: Asked, key: string, expired: CachedAnswer | null) => {
    const { client } = asked;
    if (client.waiting >= MAX_WAITING_OF_CLIENT) {
      counts.limited += 1;
      return giveCode(asked, CODE.serverFailure, { code: EXTENDED_ERROR.notReady, text: "too many questions of yours wait for an answer" });
    }
    let isAnswered = false;
    client.waiting += 1;
    const giveStale = (known: CachedAnswer) => {
      isAnswered = true;
      counts.stale += 1;
      give(asked, known.answer, 0, { code: EXTENDED_ERROR.stale, text: "no server answers: this was true before" });
    };
    const cancel = expired ? parts.clock.after(STALE_AFTER_MS, () => giveStale(expired)) : () => undefined;
    parts.lookups.find(key, questionOf(asked), (answer) => {
      cancel();
      client.waiting -= 1;
      if (isAnswered) return;
      if (answer && (answer.responseCode !== CODE.serverFailure || !expired)) return giveJudged(asked, answer, 0);
      if (expired) return giveStale(expired);
      counts.failed += 1;
      giveCode(asked, CODE.serverFailure, { code: EXTENDED_ERROR.networkError, text: "no server that questions are forwarded to answers" });
    });
  };
  const answer = (asked: Asked) => {
    const { bytes, query, judged } = asked;
    if (judged?.verdict.isFinal === true && isTaken(asked, judged.verdict)) return;
    const key = questionKey(bytes, query);
    const now = parts.clock.monotonic();
    const known = parts.cache.find(key);
    if (known && known.expiresAt > now) {
      counts.fromCache += 1;
      known.uses += 1;
      giveJudged(asked, known.answer, Math.floor((now - known.cameAt) / 1000));
      const isNearEnd = now - known.cameAt > known.answer.lifeSeconds * 1000 * PREFETCH_AT;
      if (isNearEnd && known.uses > 1) parts.lookups.find(key, questionOf(asked), () => undefined);
      return;
    }
    const question = questionOf(asked);
    const local = parts.designated(question.name, question.type) ?? localAnswer(question, parts.lookups.hasRoute);
    if (local) return give(asked, local, 0);
    counts.forwarded += 1;
    lookUp(asked, key, known && now - known.expiresAt < MAX_STALE_MS ? known : null);
  };
  return {
    counts,
    take(bytes, given) {
      counts.queries += 1;
      const client = parts.clients.of(given.address);
      const query = readDnsQuery(bytes);
      if (typeof query === "string") {
        // Nothing is larger than what was sent, and nothing is sent to who may not ask.
        if (query !== "ignored" && client.isAllowed && parts.clients.take(client)) given.respond(writeHeaderOnly(bytes, query === "malformed" ? CODE.formatError : CODE.notImplemented));
        else counts.ignored += 1;
        return;
      }
      const sender = given.isEncrypted && query.edns?.isPadded === true ? { ...given, respond: (response: Buffer) => given.respond(padResponse(response)) } : given;
      if (!client.isAllowed) {
        counts.ignored += 1;
        if (!sender.isDatagram) sender.respond(writeCode(bytes, query, CODE.refused));
        return;
      }
      const cookie = query.edns?.cookie ? parts.cookies(query.edns.cookie, sender.address) : null;
      const asked: Asked = { bytes, query, sender, client, cookie: cookie?.cookie ?? null, judged: null, isListed: false };
      if (!isWithinLimits(asked, cookie?.isKnown === true, parts, counts)) return;
      if (query.edns && query.edns.version !== 0) return giveCode(asked, CODE.badVersion);
      if (query.class !== CLASS_INTERNET || (query.type >= TYPE.firstMeta && query.type <= TYPE.lastMeta)) return giveCode(asked, CODE.refused);
      answer({ bytes, query, sender, client, cookie: asked.cookie, judged: judge(asked, parts), isListed: false });
    },
  };
}

function judge({ bytes, query, sender }: Asked, { filter, clock }: ResolverParts): Judged | null {
  const address = parseIp(sender.address) ?? NO_ADDRESS;
  const judgedQuery: JudgedQuestion = {
    name: questionName(bytes, query), type: query.type, atMs: clock.now(), isUdp: sender.isDatagram,
    client: { deviceId: null, groupIds: [], vlanId: null, siteId: "", address, names: [] },
  };
  const verdict = filter.judgeQuestion(judgedQuery);
  return verdict && { query: judgedQuery, verdict };
}

function maxBytesOf({ sender, query }: Asked): number {
  return sender.isDatagram ? datagramLimit(query) : STREAM_BYTES;
}

/** @returns False where the query is over its sender's limit, and was dealt with. */
function isWithinLimits({ bytes, query, sender, client, cookie }: Asked, isKnown: boolean, { clients }: ResolverParts, counts: ResolverCounts): boolean {
  if (clients.take(client)) return true;
  counts.limited += 1;
  client.refused += 1;
  // A real client comes by TCP when its answer is cut. Half of the queries get that, in as many bytes as were sent.
  if (!sender.isDatagram) sender.respond(writeCode(bytes, query, CODE.refused, { cookie }));
  else if (isKnown || client.refused % 2 === 0) sender.respond(writeCode(bytes, query, CODE.noError, { isTruncated: true, cookie }));
  return false;
}

/** Copied: what the client sent may be part of a larger buffer. */
function questionOf({ bytes, query }: Asked): Question {
  const name = Uint8Array.prototype.slice.call(bytes, 12, query.nameEnd);
  for (let at = 0; at < name.length; at += 1) {
    const byte = name[at] as number;
    if (byte >= 0x41 && byte <= 0x5a) name[at] = byte + 0x20;
  }
  return { name, type: query.type, isDnssecOk: query.edns?.isDnssecOk === true, isCheckingDisabled: (query.flags & 0x0010) !== 0 };
}
