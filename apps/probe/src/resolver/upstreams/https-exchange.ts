/** Questions by HTTPS. @see RFC 8484 */
import { isIPv6, type LookupFunction } from "node:net";
import { Agent, request } from "undici";
import type { Clock } from "@lanthorn/runtime";
import { compareQuestion, encodeQuestion, type Question, questionEndOf } from "../messages/question.ts";
import type { Exchange, ServerAddress } from "./exchange.ts";

/** The server's name is asked of nobody: its address is given. */
export interface HttpsServer extends ServerAddress {
  readonly name: string;
  readonly path: string;
  /** Certificates of authorities beside the system's, PEM. */
  readonly authorities?: string;
}

const MEDIA_TYPE = "application/dns-message";
const MAX_MESSAGE_LENGTH = 0xffff;
const MAX_CONNECTIONS = 4;

/** Exchange over HTTP/2 where the server speaks it. The id is 0, so that what lies between may keep answers (RFC 8484 section 4.1). */
export function createHttpsExchange(deps: HttpsServer & { readonly clock: Pick<Clock, "after"> }): Exchange {
  const agent = new Agent({
    allowH2: true, connections: MAX_CONNECTIONS, maxResponseSize: MAX_MESSAGE_LENGTH,
    connect: { lookup: lookupOf(deps.address), servername: deps.name, ...(deps.authorities !== undefined && { ca: deps.authorities }) },
  });
  const url = `https://${deps.name}:${deps.port}${deps.path}`;
  const closing = new AbortController();
  return {
    async ask(question: Question, timeoutMs) {
      const sent = encodeQuestion(question, { id: 0, caseBits: new Uint8Array(0), cookie: null });
      const late = new AbortController();
      const cancel = deps.clock.after(timeoutMs, () => late.abort());
      try {
        const { statusCode, headers, body } = await request(url, {
          method: "POST", dispatcher: agent, signal: AbortSignal.any([late.signal, closing.signal]),
          headers: { "content-type": MEDIA_TYPE, accept: MEDIA_TYPE }, body: sent,
        });
        const received = await body.bytes();
        if (statusCode !== 200 || headers["content-type"] !== MEDIA_TYPE) return "broken";
        return compareQuestion(sent, received, questionEndOf(question.name)) === "other" ? "broken" : received;
      } catch {
        return late.signal.aborted ? "timeout" : "unreachable";
      } finally {
        cancel();
      }
    },
    close() {
      closing.abort();
      void agent.destroy();
    },
  };
}

/** Whatever name is looked up has this address. */
function lookupOf(address: string): LookupFunction {
  const family = isIPv6(address) ? 6 : 4;
  return (_, { all }, found) => (all === true ? found(null, [{ address, family }]) : found(null, address, family));
}
