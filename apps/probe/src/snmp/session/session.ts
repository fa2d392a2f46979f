import type { ProbeCredential } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import type { ExchangeDatagram } from "../../identify/datagrams.ts";
import { encodeSnmpDiscovery } from "../../identify/protocols/snmp.ts";
import { type Binding, decodeCommunityMessage, encodeCommunityMessage, encodePdu, type Pdu, PDU, TAG } from "./pdu.ts";
import { createUserExchange, readEngine } from "./user-exchange.ts";

/** A credential of the vault for version 1 or 2c (`snmp`) or 3, its secret open. */
export type SnmpCredential = Extract<ProbeCredential, { readonly type: "snmp" | "snmpv3" }>;

/**
 * Why no answer came: nothing is there (`silent`), an agent is there that does not answer to this credential (`unanswered`), or it refuses
 * the credential (`refused`). The text is for people, and names no secret.
 */
export interface SnmpProblem {
  readonly kind: "silent" | "unanswered" | "refused";
  readonly text: string;
}

/** Requests to one agent, one after the other. */
export interface SnmpSession {
  /** @returns Values by name, without those that the agent does not have; null where it does not answer. */
  get(names: readonly string[]): Promise<ReadonlyMap<string, Binding> | null>;
  /** Everything below a name, in order, as far as the bounds go. @returns Empty where there is nothing, or no answer. */
  walk(root: string): Promise<readonly Binding[]>;
  /** Why it does not answer; null while it does. */
  problem(): SnmpProblem | null;
  /** Its engine's id in hexadecimal; empty before version 3 is spoken. */
  engineId(): string;
}

const TIMEOUT_MS = 1500;
const TRIES = 3;
/** Small enough that an answer fits in one frame mostly; a switch's processor is a slow one. */
const REPETITIONS = 24;
const MAX_ROWS = 4096;
/**
 * @param deps.pace Waited for before each request.
 * @param deps.mayAsk False ends it, as the signal does: nothing more is sent.
 */
export function createSnmpSession(deps: {
  readonly ip: string;
  readonly credential: SnmpCredential;
  readonly ask: ExchangeDatagram;
  readonly pace: () => Promise<void>;
  readonly mayAsk: () => boolean;
  readonly clock: Pick<Clock, "monotonic">;
  /** Below 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}): SnmpSession {
  const { ip, credential, signal } = deps;
  const draw = () => Math.floor(deps.random() * 0x7fff_ffff);
  let problem: SnmpProblem | null = null;

  async function send(bytes: Uint8Array): Promise<Uint8Array | null> {
    if (signal.aborted || !deps.mayAsk()) return null;
    await deps.pace();
    return deps.ask({ ip, port: credential.settings.port }, bytes, { timeoutMs: TIMEOUT_MS, signal });
  }
  const user = credential.type === "snmpv3" ? createUserExchange(credential, { ...deps, send, draw }) : null;

  async function exchange(pdu: Uint8Array): Promise<Pdu | { readonly refused: string } | null> {
    if (credential.type !== "snmp") return user && user.request(pdu);
    const version = credential.settings.version === "1" ? 0 : 1;
    const answer = await send(encodeCommunityMessage(version, credential.secret.community, pdu));
    return answer && decodeCommunityMessage(answer, version);
  }
  async function request(tag: number, names: readonly string[], repetitions = 0): Promise<Pdu | null> {
    problem = null;
    for (let tries = 0; tries < TRIES && !signal.aborted; tries += 1) {
      const requestId = draw();
      const answer = await exchange(encodePdu(tag, requestId, names, { repetitions }));
      if (answer && "refused" in answer) {
        problem = { kind: "refused", text: answer.refused };
        return null;
      }
      if (answer?.tag === PDU.response && answer.requestId === requestId) return answer;
    }
    problem = await explainSilence();
    return null;
  }
  /** No agent says that a community is wrong. One that answers a request without any is there all the same. */
  async function explainSilence(): Promise<SnmpProblem> {
    const answer = user ? null : await send(encodeSnmpDiscovery(draw()));
    const engine = user ? user.engine() : answer && readEngine(answer);
    if (!engine) return { kind: "silent", text: "it does not answer" };
    if (credential.type === "snmp") return { kind: "unanswered", text: "it supports SNMP but does not answer to this community" };
    // Net-snmp says nothing to what it cannot decrypt.
    const why = credential.settings.privacy_protocol === null ? " to this user" : ": perhaps the privacy password or protocol is wrong";
    return { kind: "unanswered", text: `it does not answer${why}` };
  }
  const isVersion1 = credential.type === "snmp" && credential.settings.version === "1";
  return {
    problem: () => problem,
    engineId: () => Buffer.from(user?.engine()?.id ?? []).toString("hex"),
    async get(names) {
      const answer = await request(PDU.get, names);
      if (!answer) return null;
      const there = answer.bindings.filter(({ tag }) => tag < TAG.noSuchObject || tag > TAG.endOfMibView);
      return new Map(answer.errorStatus === 0 ? there.map((one) => [one.name, one]) : []);
    },
    async walk(root) {
      const rows: Binding[] = [];
      for (let last = root; rows.length < MAX_ROWS; ) {
        const answer = await request(isVersion1 ? PDU.getNext : PDU.getBulk, [last], REPETITIONS);
        if (!answer || answer.errorStatus !== 0 || answer.bindings.length === 0) return rows;
        for (const binding of answer.bindings) {
          // An agent that goes back or in circles is not followed.
          if (!binding.name.startsWith(`${root}.`) || binding.tag === TAG.endOfMibView || !isAfter(binding.name, last)) return rows;
          rows.push(binding);
          last = binding.name;
        }
      }
      return rows.slice(0, MAX_ROWS);
    },
  };
}

/** Whether a name comes after another in the order of a walk. @see RFC 3416 section 4.2.2 */
function isAfter(name: string, before: string): boolean {
  const [a, b] = [name.split("."), before.split(".")];
  for (let at = 0; at < a.length && at < b.length; at += 1) if (a[at] !== b[at]) return Number(a[at]) > Number(b[at]);
  return a.length > b.length;
}
