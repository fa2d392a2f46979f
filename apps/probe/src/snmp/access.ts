import { formatIp, parseIp } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import type { Credentials } from "../credentials/credentials.ts";
import type { SnmpCredential, SnmpProblem } from "./session/session.ts";

/** Which credentials a host is asked with, whoever asks: a community is sent in the clear, and a wrong one is not tried again and again. */
export interface SnmpAccess {
  /** Hosts that the configuration or a credential names alone. */
  namedHosts(): readonly string[];
  /**
   * What may be sent to a host, the smallest network's first: to whom somebody has named, or whose network it is for. Nobody else gets
   * one, of version 3 neither: who answers learns a user's name, and may try passwords on what was signed with its own.
   */
  forHost(ip: string): readonly SnmpCredential[];
  /** Whether it still may: credentials change while somebody is asked. */
  isHeld(ip: string, credential: SnmpCredential): boolean;
  /** Why a credential is not worth another try now, in words; null where it is. */
  refusal(ip: string, credential: SnmpCredential): string | null;
  noteAnswer(ip: string, credential: SnmpCredential): void;
  noteProblem(ip: string, credential: SnmpCredential, problem: SnmpProblem): void;
}

/** Some devices shut out who is wrong too often. Whoever changes the credential is not kept waiting. */
const REFUSED_MS = 3_600_000;
const MAX_TRIED = 4096;

interface Tried {
  /** The credential as it was then. */
  readonly text: string;
  readonly refusal: { readonly words: string; readonly until: number } | null;
}

/** @param deps.devices Named by the probe's own configuration. */
export function createSnmpAccess(deps: {
  readonly credentials: Pick<Credentials, "forHost" | "namedHosts">;
  readonly devices: readonly string[];
  /** Whether the probe's own file lets a host be asked that it does not name: the collector's word, or a neighbor's, alone does not. */
  readonly reaches: (ip: string) => boolean;
  readonly clock: Pick<Clock, "monotonic">;
}): SnmpAccess {
  const { credentials, clock } = deps;
  const tried = new Map<string, Tried>();
  const devices = deps.devices.flatMap((text) => {
    const bytes = parseIp(text);
    return bytes ? [formatIp(bytes)] : [];
  });
  const namedHosts = () => [...new Set([...devices, ...credentials.namedHosts().filter(deps.reaches)])];
  const forHost = (ip: string) => {
    if (!devices.includes(ip) && !deps.reaches(ip)) return [];
    const isNamed = namedHosts().includes(ip);
    return credentials.forHost(ip).filter((one): one is SnmpCredential =>
      one.type !== "ssh" && (isNamed || one.networks.length > 0));
  };
  const keyOf = (ip: string, { id }: SnmpCredential) => `${ip} ${id}`;
  const last = (ip: string, credential: SnmpCredential) => {
    const found = tried.get(keyOf(ip, credential));
    return found?.text === JSON.stringify(credential) ? found : undefined;
  };
  const note = (ip: string, credential: SnmpCredential, refusal: Tried["refusal"]) => {
    const key = keyOf(ip, credential);
    tried.delete(key);
    tried.set(key, { text: JSON.stringify(credential), refusal });
    const [oldest] = tried.keys();
    if (tried.size > MAX_TRIED && oldest !== undefined) tried.delete(oldest);
  };
  return {
    namedHosts,
    forHost,
    isHeld: (ip, credential) => forHost(ip).some((one) => JSON.stringify(one) === JSON.stringify(credential)),
    refusal(ip, credential) {
      const refusal = last(ip, credential)?.refusal;
      return refusal && clock.monotonic() < refusal.until ? refusal.words : null;
    },
    noteAnswer: (ip, credential) => note(ip, credential, null),
    noteProblem(ip, credential, { kind, text }) {
      // One that it has answered to is not wrong because it is silent once.
      const hasWorked = last(ip, credential)?.refusal === null;
      const isRefusal = kind === "refused" || (kind === "unanswered" && !hasWorked);
      if (isRefusal) note(ip, credential, { words: text, until: clock.monotonic() + REFUSED_MS });
    },
  };
}
