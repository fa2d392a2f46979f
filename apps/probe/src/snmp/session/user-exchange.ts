// Requests of SNMPv3's User-based Security Model: the engine's discovery, its time, and what it refuses. @see RFC 3414 sections 3 and 4
import type { ProbeCredential } from "@lanthorn/contract/uplink";
import { decodeInteger, readAll, readTlv } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { encodeSnmpDiscovery } from "../../identify/protocols/snmp.ts";
import { type Pdu, PDU, TAG } from "./pdu.ts";
import { createUserSecurity, type Engine, type Opened, type UserSecurity } from "./usm.ts";

type SnmpV3 = Extract<ProbeCredential, { readonly type: "snmpv3" }>;

/** Requests of one user to one agent. */
export interface UserExchange {
  /**
   * Sends a PDU, after finding the agent's engine where it is not known yet.
   * @returns The PDU of its answer; in words why it refuses; null where nothing came that can be believed.
   */
  request(pdu: Uint8Array): Promise<Pdu | { readonly refused: string } | null>;
  /** The agent's engine; null before it answered. */
  engine(): Engine | null;
}

/** RFC 3414 section 5: what the agent reports instead of an answer. */
const REPORTS: Readonly<Record<string, string>> = {
  "1.3.6.1.6.3.15.1.1.1.0": "it does not support this security level", "1.3.6.1.6.3.15.1.1.3.0": "it does not know the user",
  "1.3.6.1.6.3.15.1.1.5.0": "the password is wrong",
  "1.3.6.1.6.3.15.1.1.6.0": "the privacy password or protocol is wrong",
};
const NOT_IN_TIME = "1.3.6.1.6.3.15.1.1.2.0";

/**
 * @param deps.send Sends a datagram to the agent. @returns Its answer, or null.
 * @param deps.draw A random whole number below 2^31.
 */
export function createUserExchange(credential: SnmpV3, deps: {
  readonly send: (bytes: Uint8Array) => Promise<Uint8Array | null>;
  readonly clock: Pick<Clock, "monotonic">;
  readonly draw: () => number;
}): UserExchange {
  const { send, clock, draw } = deps;
  const needsAuth = credential.settings.auth_protocol !== null && credential.secret.auth_password !== undefined;
  let user: { readonly security: UserSecurity; readonly engine: Engine; readonly at: number } | null = null;
  let salt = draw() * 0x10_0000 + draw() % 0x10_0000;

  function nextSalt(boots: number): Buffer {
    const bytes = Buffer.alloc(8);
    salt += 1;
    // DES wants boots and a counter; AES only that none comes twice.
    bytes.writeUInt32BE(boots >>> 0, 0);
    bytes.writeUInt32BE(salt % 0x1_0000_0000, 4);
    return bytes;
  }

  async function findEngine(): Promise<typeof user> {
    const answer = await send(encodeSnmpDiscovery(draw()));
    const engine = answer && readEngine(answer);
    return engine && { engine, security: createUserSecurity(credential, engine.id), at: clock.monotonic() };
  }

  async function exchange(pdu: Uint8Array): Promise<Opened | null> {
    user ??= await findEngine();
    if (!user) return null;
    const { security, engine, at } = user;
    const now: Engine = { ...engine, time: engine.time + Math.floor((clock.monotonic() - at) / 1000) };
    const answer = await send(security.seal(now, pdu, { id: draw(), salt: nextSalt(now.boots) }));
    return answer && security.open(answer);
  }

  return {
    engine: () => user?.engine ?? null,
    async request(pdu) {
      let opened = await exchange(pdu);
      if (user && opened && isOutOfTime(opened)) {
        user = { security: user.security, engine: opened.engine, at: clock.monotonic() };
        opened = await exchange(pdu);
      }
      if (!opened?.pdu) return null;
      if (opened.pdu.tag === PDU.report) {
        return { refused: REPORTS[opened.pdu.bindings[0]?.name ?? ""] ?? "it answers with an SNMPv3 report" };
      }
      return needsAuth && !opened.isAuthentic ? null : opened.pdu;
    },
  };
}

/** Only a signed report moves the time. */
function isOutOfTime({ pdu, isAuthentic }: Opened): boolean {
  return pdu?.tag === PDU.report && pdu.bindings[0]?.name === NOT_IN_TIME && isAuthentic;
}

/** The engine of a report, as in the answer to a discovery; null for what is none. @see RFC 3414 section 4 */
export function readEngine(bytes: Uint8Array): Engine | null {
  const [version, , security] = readAll(readTlv(bytes)?.value ?? new Uint8Array());
  if (!version || decodeInteger(version.value) !== 3 || security?.tag !== TAG.octets) return null;
  const [id, boots, time] = readAll(readTlv(security.value)?.value ?? new Uint8Array());
  if (!id || id.value.length < 5 || id.value.length > 32 || !boots || !time) return null;
  return { id: Uint8Array.from(id.value), boots: decodeInteger(boots.value), time: decodeInteger(time.value) };
}
