/** More answers than questions that do not agree: somebody on the way answers too. */
import type { Allowed } from "../allowances.ts";
import { addressesOf, addressText } from "../facts/answer-facts.ts";
import { networkOf } from "../facts/network.ts";
import { countOne, createRepeats, type Repeats } from "../repeats.ts";
import { createRecentMap } from "../recent-map.ts";
import { type NamedExchange, type OnSuspicion } from "../suspicion.ts";

interface Asked {
  at: number;
  questions: number;
  answers: number;
  /** Of the first answer with addresses: from where, which, in which networks. */
  from: string;
  addresses: string;
  networks: ReadonlySet<string>;
}

const MAX_OPEN = 4096;
const MAX_SERVERS = 256;
/** Clients give up after some seconds. */
const WITHIN_MICROSECONDS = 10e6;
const NONE: ReadonlySet<string> = new Set();

/** Detects forged answers. */
export interface ForgedAnswerDetector {
  query(exchange: NamedExchange): void;
  answer(exchange: NamedExchange): void;
  readonly evicted: number;
}

/** Questions of the last seconds are kept, up to a bound. */
export function createForgedAnswerDetector(deps: { readonly isAllowed: Allowed; readonly onSuspicion: OnSuspicion }): ForgedAnswerDetector {
  const open = createRecentMap<string, Asked>(MAX_OPEN);
  const repeats = createRecentMap<string, Repeats>(MAX_SERVERS);

  function say({ client, server, at, name, type, message }: NamedExchange, { from, addresses }: Asked): void {
    const key = `${client} ${server}`;
    const known = repeats.get(key) ?? createRepeats();
    repeats.put(key, known);
    const count = countOne(known, at);
    if (count === 0 || deps.isAllowed(name)) return;
    deps.onSuspicion({
      kind: "forged_answer", campaign: server, client, server, at, name, type, samples: [name], count, severity: "high", techniques: ["T1557"],
      signals: [
        `one question had two answers${from === server ? "" : `, the second one from ${server}, which was not asked`}`,
        `the first said ${addresses}, the other ${addressText(message)}, which is another network`,
      ],
    });
  }

  return {
    query(exchange) {
      const { at } = exchange;
      const key = keyOf(exchange);
      const known = open.get(key);
      if (known && Math.abs(at - known.at) < WITHIN_MICROSECONDS) known.questions += 1;
      else open.put(key, { at, questions: 1, answers: 0, from: "", addresses: "", networks: NONE });
    },
    answer(exchange) {
      const asked = open.peek(keyOf(exchange));
      if (!asked || Math.abs(exchange.at - asked.at) >= WITHIN_MICROSECONDS) return;
      asked.answers += 1;
      const networks = new Set(addressesOf(exchange.message).map(({ bytes }) => networkOf(bytes)));
      if (networks.size === 0) return;
      if (asked.addresses === "") Object.assign(asked, { from: exchange.server, addresses: addressText(exchange.message), networks });
      else if (asked.answers > asked.questions && [...networks].every((network) => !asked.networks.has(network))) say(exchange, asked);
    },
    get evicted() {
      return open.evicted;
    },
  };
}

/** The server is no part of it: an answer from elsewhere is what is looked for. */
function keyOf({ client, clientPort, message, name, type }: NamedExchange): string {
  return `${client} ${clientPort} ${message.id} ${type} ${name}`;
}
