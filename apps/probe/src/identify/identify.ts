import { isPrintPort } from "@lanthorn/packet-io";
import { openConnection } from "./connection.ts";
import { type ExchangeDatagram, exchangeDatagram } from "./datagrams.ts";
import { type ServiceFinding, toFinding } from "./finding.ts";
import { identifyTcp } from "./over-tcp.ts";
import { identifyUdp, NO_SNMP, type OpenSnmp } from "./over-udp.ts";

/** The line printer daemon of RFC 1179, which is known by its number alone. */
const LPD = 515;

/** A port that answered. */
export interface OpenPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: "tcp" | "udp";
}

interface IdentifyDeps {
  /** Below 1. */
  readonly random: () => number;
  readonly connect?: typeof openConnection;
  readonly ask?: ExchangeDatagram;
  /** Asks with the vault's credentials; nobody is unless given. */
  readonly openSnmp?: OpenSnmp;
}

/** For one port, all together. */
const MAX_WAIT_MS = 15_000;

/**
 * Asks an open port what it is: with few connections, the likeliest question first, nothing that a log calls a failed login, and bounded in
 * bytes and time whatever it answers.
 * @param signal Ends it at once; it resolves to null then.
 * @returns Null where nothing was learned. Does not reject.
 */
export async function identifyService(openPort: OpenPort, deps: IdentifyDeps, signal: AbortSignal): Promise<ServiceFinding | null> {
  if (openPort.protocol === "tcp" && isPrintPort(openPort.port)) {
    return openPort.port === LPD ? toFinding({ service: "printer" }) : null;
  }
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)]);
  const { connect = openConnection, ask = exchangeDatagram, openSnmp = () => NO_SNMP, random } = deps;
  const found = openPort.protocol === "tcp" ? await identifyTcp(openPort, { connect, signal: bounded })
    : await identifyUdp(openPort, { ask, connect, openSnmp, random, signal: bounded });
  return signal.aborted ? null : found;
}
