import type { ProbeCredential } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import type { AskDatagram } from "../identify/datagrams.ts";
import { decodeInteger, readAll, readTlv } from "@lanthorn/packets";
import { encodeSnmpDiscovery } from "../identify/protocols/snmp.ts";
import { type Binding, decodeCommunityMessage, encodeCommunityMessage, encodePdu, type Pdu, PDU, TAG } from "./pdu.ts";
import { createUserSecurity, type Engine, type UserSecurity } from "./usm.ts";

/** A credential of the vault for version 1 or 2c (`snmp`) or 3, its secret open. */
export type SnmpCredential = Extract<ProbeCredential, { readonly type: "snmp" | "snmpv3" }>;

/**
 * Why nothing came: nobody answers (`silent`), an agent is there that does not answer to this credential (`unanswered`), or it says that
 * it does not take
 * it (`refused`). The words are for people, and name no secret.
 */
export interface SnmpProblem {
  readonly kind: "silent" | "unanswered" | "refused";
  readonly text: string;
}

/** Questions to one agent, one after the other. */
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
/** RFC 3414 section 5: what the agent says instead of an answer. */
const REPORTS: Readonly<Record<string, string>> = {
  "1.3.6.1.6.3.15.1.1.1.0": "it does not support this security level", "1.3.6.1.6.3.15.1.1.3.0": "it does not know the user",
  "1.3.6.1.6.3.15.1.1.5.0": "the password is wrong",
  "1.3.6.1.6.3.15.1.1.6.0": "the privacy password or protocol is wrong",
};
const NOT_IN_TIME = "1.3.6.1.6.3.15.1.1.2.0";

/** @param deps.pace Waited for before each question. @param deps.signal Ends it: nothing is asked any more. */
export function createSnmpSession(deps: {
  readonly ip: string;
  readonly credential: SnmpCredential;
  readonly ask: AskDatagram;
  readonly pace: () => Promise<void>;
  readonly mayAsk: () => boolean;
  readonly clock: Pick<Clock, "monotonic">;
  /** Below 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}): SnmpSession {
  const { ip, credential, signal, clock } = deps;
  const draw = () => Math.floor(deps.random() * 0x7fff_ffff);
  let problem: SnmpProblem | null = null;
  let user: { readonly security: UserSecurity; engine: Engine; at: number } | null = null;
  let salt = draw() * 0x10_0000 + draw() % 0x10_0000;

  async function askBytes(bytes: Uint8Array): Promise<Uint8Array | null> {
    if (signal.aborted || !deps.mayAsk()) return null;
    await deps.pace();
    return deps.ask({ ip, port: credential.settings.port }, bytes, { timeoutMs: TIMEOUT_MS, signal });
  }
  async function askCommunity(pdu: Uint8Array): Promise<Pdu | null> {
    if (credential.type !== "snmp") return null;
    const version = credential.settings.version === "1" ? 0 : 1;
    const answer = await askBytes(encodeCommunityMessage(version, credential.secret.community, pdu));
    return answer && decodeCommunityMessage(answer, version);
  }
  function nextSalt(boots: number): Buffer {
    const bytes = Buffer.alloc(8);
    salt += 1;
    // DES wants boots and a counter; AES only that none comes twice.
    bytes.writeUInt32BE(boots >>> 0, 0);
    bytes.writeUInt32BE(salt % 0x1_0000_0000, 4);
    return bytes;
  }
  async function askUser(pdu: Uint8Array, isRetry = false): Promise<Pdu | null> {
    if (credential.type !== "snmpv3") return null;
    if (!user) {
      const answer = await askBytes(encodeSnmpDiscovery(draw()));
      const engine = answer && readEngine(answer);
      if (!engine) return null;
      user = { engine, security: createUserSecurity(credential, engine.id), at: clock.monotonic() };
    }
    const { security, engine, at } = user;
    const now: Engine = { ...engine, time: engine.time + Math.floor((clock.monotonic() - at) / 1000) };
    const answer = await askBytes(security.seal(now, pdu, { id: draw(), salt: nextSalt(now.boots) }));
    const opened = answer && security.open(answer);
    if (!opened?.pdu) return null;
    const needsAuth = credential.settings.auth_protocol !== null && credential.secret.auth_password !== undefined;
    const [said] = opened.pdu.bindings;
    if (opened.pdu.tag === PDU.report && said?.name === NOT_IN_TIME && opened.isAuthentic && !isRetry) {
      user = { security, engine: opened.engine, at: clock.monotonic() };
      return askUser(pdu, true);
    }
    if (opened.pdu.tag === PDU.report) {
      problem = { kind: "refused", text: REPORTS[said?.name ?? ""] ?? "it answers with an SNMPv3 report" };
      return null;
    }
    return needsAuth && !opened.isAuthentic ? null : opened.pdu;
  }
  async function ask(tag: number, names: readonly string[], repetitions = 0): Promise<Pdu | null> {
    problem = null;
    for (let tries = 0; tries < TRIES && problem === null && !signal.aborted; tries += 1) {
      const requestId = draw();
      const pdu = encodePdu(tag, requestId, names, { repetitions });
      const answer = credential.type === "snmp" ? await askCommunity(pdu) : await askUser(pdu);
      if (answer?.tag === PDU.response && answer.requestId === requestId) return answer;
    }
    problem ??= await silence();
    return null;
  }
  /** Nobody says that a community is wrong. Who answers to a question without one is there all the same. */
  async function silence(): Promise<SnmpProblem> {
    const asked = credential.type === "snmp" ? await askBytes(encodeSnmpDiscovery(draw())) : null;
    const isThere = user !== null || (asked !== null && readEngine(asked) !== null);
    if (!isThere) return { kind: "silent", text: "it does not answer" };
    if (credential.type === "snmp") return { kind: "unanswered", text: "it supports SNMP but does not answer to this community" };
    // Net-snmp says nothing to what it cannot decrypt.
    const why = credential.settings.privacy_protocol === null ? " to this user" : ": perhaps the privacy password or protocol is wrong";
    return { kind: "unanswered", text: `it does not answer${why}` };
  }
  const isVersion1 = credential.type === "snmp" && credential.settings.version === "1";
  return {
    problem: () => problem,
    engineId: () => (user ? Buffer.from(user.engine.id).toString("hex") : ""),
    async get(names) {
      const answer = await ask(PDU.get, names);
      if (!answer) return null;
      const there = answer.bindings.filter(({ tag }) => tag < TAG.noSuchObject || tag > TAG.endOfMibView);
      return new Map(answer.errorStatus === 0 ? there.map((one) => [one.name, one]) : []);
    },
    async walk(root) {
      const rows: Binding[] = [];
      for (let last = root; rows.length < MAX_ROWS; ) {
        const answer = await ask(isVersion1 ? PDU.getNext : PDU.getBulk, [last], REPETITIONS);
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

/** The engine of a report. */
function readEngine(bytes: Uint8Array): Engine | null {
  const [version, , security] = readAll(readTlv(bytes)?.value ?? new Uint8Array());
  if (!version || decodeInteger(version.value) !== 3 || security?.tag !== TAG.octets) return null;
  const [id, boots, time] = readAll(readTlv(security.value)?.value ?? new Uint8Array());
  if (!id || id.value.length < 5 || id.value.length > 32 || !boots || !time) return null;
  return { id: Uint8Array.from(id.value), boots: decodeInteger(boots.value), time: decodeInteger(time.value) };
}

function isAfter(name: string, before: string): boolean {
  const [a, b] = [name.split("."), before.split(".")];
  for (let at = 0; at < a.length && at < b.length; at += 1) if (a[at] !== b[at]) return Number(a[at]) > Number(b[at]);
  return a.length > b.length;
}
