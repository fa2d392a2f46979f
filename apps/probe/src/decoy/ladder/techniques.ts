/** What a rung of the ladder says of who reached it: how grave it is, and which techniques of ATT&CK it shows. */
import { HONEYPOT_STAGES, type HoneypotStage, type Severity } from "@lanthorn/contract/uplink";

/** By rung. Nobody has a reason to be there, so even a touch is to be looked at; bait is known to who broke in elsewhere. */
export const RUNG_SEVERITIES: Readonly<Record<HoneypotStage, Severity>> = {
  touch: "low", banner: "medium", credential: "high", command: "high", file: "high", name_poisoning: "high", bait_credential: "critical",
};

const BY_RUNG: Readonly<Record<HoneypotStage, readonly string[]>> = {
  touch: ["T1046"], banner: ["T1046"], credential: ["T1110.001"], command: [], file: ["T1570"], name_poisoning: ["T1557.001"], bait_credential: ["T1078"],
};

/** What more a service's commands, or a login to it, show. */
const BY_SERVICE: Readonly<Record<string, { readonly [R in HoneypotStage]?: readonly string[] }>> = {
  ssh: { credential: ["T1021.004"], bait_credential: ["T1021.004"], command: ["T1059.004"] },
  smb2: { credential: ["T1021.002"], bait_credential: ["T1021.002"], command: ["T1135"] },
  rdp: { credential: ["T1021.001"], bait_credential: ["T1021.001"] },
  winrm: { credential: ["T1021.006"], bait_credential: ["T1021.006"] },
  telnet: { command: ["T1059.004"] },
  vnc: { credential: ["T1021.005"] },
  redis: { command: ["T1213.006"] },
  memcached: { command: ["T1213.006"] },
  mongodb: { command: ["T1213.006"] },
  mssql: { command: ["T1213.006"] },
  proxy: { command: ["T1090.001"] },
  git: { command: ["T1213.003"] },
  mysql: { command: ["T1213.006"] },
  snmp: { credential: ["T1602.001"], command: ["T1602.001"] },
  tftp: { command: ["T1602.002"] },
  ntp: { command: ["T1498.002"] },
  postgres: { command: ["T1213.006"] },
};

/** @returns Of one step, without repetitions. */
export function techniquesOf(service: string, rung: HoneypotStage): readonly string[] {
  return [...BY_RUNG[rung], ...(Object.hasOwn(BY_SERVICE, service) ? BY_SERVICE[service]?.[rung] ?? [] : [])];
}

/** @returns Above zero where `a` is further up than `b`. */
export function compareRungs(a: HoneypotStage, b: HoneypotStage): number {
  return HONEYPOT_STAGES.indexOf(a) - HONEYPOT_STAGES.indexOf(b);
}
