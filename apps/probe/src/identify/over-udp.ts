import type { openConnection } from "./connection.ts";
import type { ExchangeDatagram } from "./datagrams.ts";
import { describe } from "./describe.ts";
import type { ServiceFinding } from "./finding.ts";
import type { Learned, SnmpReader, UdpExchange, UdpProtocol } from "./protocol.ts";
import { UDP_PROTOCOLS } from "./protocols.ts";

const ANSWER_MS = 1500;
const CONNECT_MS = 2000;

/** Makes what asks one agent. @param signal Ends it. */
export type OpenSnmp = (target: { readonly ip: string; readonly port: number }, signal: AbortSignal) => SnmpReader;

/** For who has no credentials. */
export const NO_SNMP: SnmpReader = { get: () => Promise.resolve(null), engineId: () => "" };

/** @returns Null where nobody answers in a protocol that is usual at the port. */
export async function identifyUdp(
  target: { readonly ip: string; readonly port: number },
  deps: {
    readonly ask: ExchangeDatagram; readonly connect: typeof openConnection; readonly openSnmp: OpenSnmp; readonly random: () => number;
    readonly signal: AbortSignal;
  },
): Promise<ServiceFinding | null> {
  const { signal } = deps;
  for (const protocol of UDP_PROTOCOLS.filter((one) => one.ports.includes(target.port))) {
    const exchange: UdpExchange = {
      ip: target.ip,
      snmp: deps.openSnmp(target, signal),
      ask: (payload) => deps.ask(target, payload, { timeoutMs: ANSWER_MS, signal, fromAnyPort: protocol.answersFromAnyPort ?? false }),
      connect: (port) => deps.connect({ ip: target.ip, port }, { timeoutMs: CONNECT_MS, signal }),
    };
    const result = await identifyBy(protocol, exchange, deps.random);
    if (result) return describe(result, null);
  }
  return null;
}

async function identifyBy(protocol: UdpProtocol, exchange: UdpExchange, random: () => number): Promise<Learned | null> {
  const known = await protocol.learnAsKnown?.(exchange);
  if (known) return known;
  for (const payload of protocol.payloads) {
    const bytes = payload(random);
    // A datagram may be lost: once more is worth it, thrice is not.
    const answer = (await exchange.ask(bytes)) ?? (await exchange.ask(bytes));
    const result = answer && (await protocol.learn(answer, exchange));
    if (result) return result;
  }
  return null;
}
