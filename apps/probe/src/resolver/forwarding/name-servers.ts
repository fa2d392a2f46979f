/** Which servers answer for a name, as response policy zones ask (NSDNAME, NSIP). A forwarder does not meet them: it asks for them, where a zone has such a rule. */
import type { AnswerFacts, ServerFacts } from "@lanthorn/dns";
import { decodeDns, DNS_TYPE } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type AnswerCache, keyOfQuestion } from "../cache/answer-cache.ts";
import type { Answer } from "../messages/answer.ts";
import type { Question } from "../messages/question.ts";
import type { Lookups } from "./lookups.ts";
import { wireName } from "./routes.ts";

/** What rules are about. */
export interface NameServerWish {
  /** Also what addresses the servers have. */
  readonly addresses: boolean;
}

/** Finds them. */
export interface NameServers {
  /**
   * The servers of each name of a chain and of all names above it that have a dot: a rule about a zone's server is one about all that lies below.
   * @param names The question's first. Of a long chain, those in its middle are not looked at.
   * @param onEnd Called once, at the latest after a second with what was found until then; at once with nothing where too many names are looked at already.
   */
  find(names: readonly string[], wish: NameServerWish, onEnd: (servers: AnswerFacts["nameServers"]) => void): void;
}

/** Nobody waits for longer: a name whose servers are not known resolves. */
const MAX_WAIT_MS = 1000;
/** Zones that a name is in; deeper names are looked at from above. */
const MAX_ZONES = 6;
/** Names of a chain: the question's and the last ones. */
const MAX_CHAIN = 4;
/** Names that are looked at together, of all chains. Each takes some dozens of the lookups that all clients share, so that a flood of names leaves most of those to others. */
const MAX_RUNNING = 64;
/** Of all zones together. */
const [MAX_NAMES, MAX_ADDRESSES] = [16, 64];

/** @returns Finds servers by the lookups that answer clients, whose answers are kept. */
export function createNameServers({ cache, lookups, clock }: { readonly cache: AnswerCache; readonly lookups: Lookups; readonly clock: Pick<Clock, "after" | "monotonic"> }): NameServers {
  const ask = (name: string, type: number): Promise<Answer | null> => new Promise((resolve) => {
    const question = questionFor(name, type);
    if (question === null) return resolve(null);
    const key = keyOfQuestion(question);
    const known = cache.find(key);
    if (known && known.expiresAt > clock.monotonic()) return resolve(known.answer);
    lookups.find(key, question, resolve);
  });
  const namesOf = async (zone: string): Promise<readonly string[]> => serversIn(await ask(zone, DNS_TYPE.ns));
  const addressesOf = async (name: string): Promise<readonly Uint8Array[]> => {
    const answers = await Promise.all([ask(name, DNS_TYPE.a), ask(name, DNS_TYPE.aaaa)]);
    return answers.flatMap((answer) => answer?.facts.addresses ?? []);
  };
  /** @param isOver Whether nobody waits for it any more. */
  const serversOf = async (name: string, { addresses }: NameServerWish, isOver: () => boolean): Promise<ServerFacts> => {
    const names = [...new Set((await Promise.all(zonesOf(name).map(namesOf))).flat())].slice(0, MAX_NAMES);
    return { names, addresses: addresses && !isOver() ? (await Promise.all(names.map(addressesOf))).flat().slice(0, MAX_ADDRESSES) : [] };
  };
  let running = 0;
  return {
    find(names, wish, onEnd) {
      const looked = Math.min(names.length, MAX_CHAIN);
      if (running + looked > MAX_RUNNING) return onEnd([]);
      running += looked;
      const found: ServerFacts[] = names.map(() => NOBODY);
      let isEnded = false;
      const end = () => {
        if (isEnded) return;
        isEnded = true;
        onEnd(found);
      };
      const cancel = clock.after(MAX_WAIT_MS, end);
      const look = async (name: string, index: number) => {
        if (index === 0 || index > names.length - MAX_CHAIN) found[index] = await serversOf(name, wish, () => isEnded);
      };
      const run = async () => {
        await Promise.all(names.map(look));
        running -= looked;
        cancel();
        end();
      };
      void run();
    },
  };
}

const NOBODY: ServerFacts = { names: [], addresses: [] };

/** A name and those above it that have a dot, the highest ones where there are many. */
function zonesOf(name: string): readonly string[] {
  const labels = name.split(".").filter((label) => label !== "");
  return labels.map((_, at) => labels.slice(at).join(".")).filter((zone) => zone.includes(".")).slice(-MAX_ZONES);
}

/** Null for a name that is not written in plain letters: no zone is delegated by such a one. */
function questionFor(text: string, type: number): Question | null {
  try {
    return { name: wireName(text), type, isDnssecOk: false, isCheckingDisabled: false };
  } catch {
    return null;
  }
}

function serversIn(answer: Answer | null): readonly string[] {
  const message = answer && decodeDns(answer.bytes);
  if (!message?.ok) return [];
  return message.value.answers.flatMap(({ type, data }) => (type === DNS_TYPE.ns && data.kind === "name" ? [data.name.toLowerCase()] : [])).slice(0, MAX_NAMES);
}
