import type { EventData, Severity } from "@lanthorn/contract";
import type { Finding } from "../finding.ts";

type DnsThreat = EventData<"dns_threat">;

/** What was seen, in words around the client and the campaign, and what to do about it. */
interface Meaning {
  readonly title: (client: string, campaign: string) => string;
  readonly advice: string;
}

const DEVICE = "Find out which program of the device asks; take the device off the network until that is known.";

/** By the detector. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  tunnel: { title: (client, campaign) => `${client} sends data through DNS to ${campaign}`, advice: `${DEVICE} Block the domain at the resolver.` },
  generated_names: { title: (client) => `${client} looks for names that a program made up, as malware does`, advice: `${DEVICE} Scan it for malware.` },
  fast_flux: { title: (client, campaign) => `${client} looked up ${campaign}, whose addresses change as those of hijacked hosts do`, advice: "Block the domain at the resolver, and see what the device fetched from it." },
  rebinding: { title: (client, campaign) => `${campaign} leads ${client} to an address of the site`, advice: "Block the domain at the resolver. If it is the site's own, allow it in the probe's [traffic.dns]." },
  forged_answer: { title: (client, campaign) => `Somebody forges answers of ${campaign === "" ? "a resolver" : campaign} to ${client}`, advice: "Look for who is between the two: the alerts about ARP and DHCP say more. Compare the frames of both answers in the capture." },
  rogue_resolver: { title: (client, campaign) => `${client} uses ${campaign}, a resolver that leads names astray`, advice: "Set the device's resolver back to the site's, and scan it for malware that changed it." },
  encrypted_dns: { title: (client, campaign) => `${client} asks ${campaign}, past the site's resolver`, advice: "If the site wants its own resolver to be used, block this one at the gateway, or allow it in the probe's [traffic.dns]." },
};

/** Of what lists have: a blocked name is no compromised device, and advertising is for nobody to act on. */
const LISTED: Readonly<Record<string, Severity | null>> = {
  advertising: null, ads: null, tracking: null, telemetry: null, phishing: "low", malware: "high", command_and_control: "critical", c2: "critical",
};

/** @param category As a probe writes it. @returns Undefined for one that is not known. */
function listedSeverity(category: string): Severity | null | undefined {
  const key = category.toLowerCase().replaceAll(/[ -]/g, "_");
  return Object.hasOwn(LISTED, key) ? LISTED[key] : undefined;
}

const WEEK_MS = 7 * 24 * 3_600_000;

/** One alert for each client and campaign; older probes name no campaign, and the name stands for it. @returns Null for what is for nobody to act on. */
export function dnsThreatFinding(data: DnsThreat): Finding | null {
  const { category = "", campaign = data.query_name, client_ip: client, client_mac: mac } = data;
  const listed = data.mode === "passive" ? undefined : listedSeverity(category);
  if (listed === null) return null;
  const isNamed = data.campaign !== undefined;
  return {
    type: "dns_threat", source: "dns", subject: [mac || client, isNamed ? category : "", campaign].filter(Boolean).join(" "), severity: listed ?? data.severity,
    ...textsOf(data), deviceIp: client, ...(data.mitre_techniques && { techniques: data.mitre_techniques }),
    // Who says when it is over is believed; older probes do not say it.
    quietMs: data.state === undefined ? WEEK_MS : null, isCapped: true,
    ...(data.count !== undefined && data.since !== undefined && { seen: { times: data.count, since: data.since } }),
    ...(data.incident_id !== undefined && { incidentId: data.incident_id }),
  };
}

function textsOf({ category = "", campaign = "", client_ip: ip, query_name: name, action, feed, reason, sample_names: samples = [], mode }: DnsThreat): Pick<Finding, "description" | "title"> {
  const client = ip === "" ? "Several hosts" : ip;
  const meaning = mode === "passive" && Object.hasOwn(MEANINGS, category) ? MEANINGS[category] : undefined;
  if (!meaning) {
    const isHarmful = (listedSeverity(category) ?? null) !== null;
    const advice = isHarmful ? `. ${DEVICE}${action === "reported" ? " Block the list at the resolver, or what is asked past it at the gateway." : ""}` : "";
    return { title: `${client} looked up ${name}`, description: `${action}; ${feed === "" ? "" : `listed by ${feed}: `}${reason}${advice}` };
  }
  const names = samples.length === 0 ? "" : ` Names: ${samples.slice(0, 3).join(", ")}.`;
  return { title: meaning.title(client, campaign), description: `${reason}.${names} ${meaning.advice}` };
}
