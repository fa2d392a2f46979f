import type { EventData } from "@lanthorn/contract";
import type { Finding } from "../finding.ts";

type HoneypotHit = EventData<"honeypot_hit">;

const STAGES: Readonly<Record<HoneypotHit["stage"], string>> = {
  touch: "touched", banner: "talked to", credential: "tried to log in to", command: "gave commands to", file: "exchanged files with", name_poisoning: "answered for a host that does not exist to", bait_credential: "used a bait credential at",
};

const ADVICE = "Nobody has a reason to use it. Find out who uses that device, and what else it connects to.";
const BAIT_ADVICE = "The credential is good for nothing and was left where only an intruder finds it: whoever has it was there.";

const POISONING_ADVICE = "Whoever mistypes a name, or looks for a proxy, is led to it and gives it a proof of the password. Find it by its MAC address and switch port and take it off the network; change passwords of those it may have heard, and switch LLMNR and NetBIOS off.";

/** One alert for each source and decoy, and one for each source that poisons names; older probes name no decoy, and the service stands for it. */
export function honeypotFinding(data: HoneypotHit): Finding {
  const { decoy, service, source_ip: source, source_mac: mac, stage, mitre_techniques: techniques } = data;
  const isPoisoning = stage === "name_poisoning";
  const advice = isPoisoning ? POISONING_ADVICE : ADVICE;
  const place = decoy === undefined ? `the honeypot's ${service}` : `the decoy ${decoy} (${service})`;
  return {
    type: "honeypot_hit", source: "honeypot", subject: `${mac || source} ${isPoisoning ? stage : decoy ?? service}`, severity: data.severity, title: `${source} ${STAGES[stage]} ${place}`,
    description: decoy === undefined ? data.detail : [`${data.detail}.`, stage === "bait_credential" ? BAIT_ADVICE : "", advice].filter(Boolean).join(" "),
    deviceIp: source, quietMs: null, isCapped: true, ...(techniques && { techniques }),
    ...(data.count !== undefined && data.since !== undefined && { seen: { times: data.count, since: data.since } }),
    ...(data.incident_id !== undefined && { incidentId: data.incident_id }),
  };
}
