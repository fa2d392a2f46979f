import type { EventData } from "@lanthorn/contract";
import type { Finding } from "./finding.ts";

type Difference = EventData<"baseline_diff_alert">;

/** How an alert about a difference is called, and what to do. `where` is the device or the site, `what` the fact. */
interface Words {
  readonly title: (of: { readonly what: string; readonly where: string }) => string;
  readonly advice: string;
}

const ACCEPT = "accept the difference, and it is normal from then on";
const SERVER = `If you know it, ${ACCEPT}. If not, find its switch port by its MAC address and disconnect it: it can redirect the traffic of every host.`;
const MISSING = "Check its power, its cable and its switch port. If it is gone for good, accept the difference or delete the device.";
const KEY = `If it was installed anew, ${ACCEPT}. If not, do not log in to it: somebody may stand between you and it, or another machine has its address.`;

/** What each difference is called. `traffic` is of older versions. */
const WORDS: Readonly<Record<Difference["kind"], Words>> = {
  new_device: { title: ({ what }) => `New device ${what}`, advice: `If you know it, ${ACCEPT}. If not, find its switch port and disconnect it.` },
  missing_device: { title: ({ what }) => `${what} is missing`, advice: MISSING },
  replaced_device: {
    title: ({ what, where }) => `Another machine has taken the place of ${where || what}`, advice: `If it was replaced, ${ACCEPT}. If not, find out what it is.`,
  },
  new_port: {
    title: ({ what, where }) => `New open port ${what} on ${where}`,
    advice: `If the service is meant to be there, ${ACCEPT}. If not, stop it or close the port, and find out who started it.`,
  },
  closed_port: { title: ({ what, where }) => `Port ${what} on ${where} is closed`, advice: `If its service was stopped on purpose, ${ACCEPT}. If not, start it again.` },
  changed_service: {
    title: ({ what, where }) => `Another service on ${what} of ${where}`, advice: `If it was updated or replaced on purpose, ${ACCEPT}. If not, find out who did it.`,
  },
  changed_host_key: { title: ({ what, where }) => `Another SSH host key on ${what} of ${where}`, advice: KEY },
  changed_certificate: { title: ({ where }) => `Another TLS certificate on ${where}`, advice: `If it was renewed, ${ACCEPT}. If not, check who issued it.` },
  new_neighbor: { title: ({ what, where }) => `New neighbor at port ${what} of ${where}`, advice: `If the cable is meant to be there, ${ACCEPT}.` },
  changed_neighbor: { title: ({ what, where }) => `Another neighbor at port ${what} of ${where}`, advice: `If it was moved on purpose, ${ACCEPT}.` },
  missing_neighbor: { title: ({ what, where }) => `No neighbor at port ${what} of ${where}`, advice: MISSING },
  new_dhcp_server: { title: ({ what }) => `New DHCP server ${what}`, advice: SERVER },
  changed_dhcp_server: { title: ({ what }) => `The DHCP server ${what} is another machine`, advice: SERVER },
  missing_dhcp_server: { title: ({ what }) => `The DHCP server ${what} is gone`, advice: MISSING },
  new_gateway: { title: ({ what }) => `New gateway ${what}`, advice: SERVER },
  changed_gateway: { title: ({ what }) => `The gateway ${what} is another machine`, advice: SERVER },
  missing_gateway: { title: ({ what }) => `The gateway ${what} is gone`, advice: MISSING },
  new_dns_server: { title: ({ what }) => `New DNS server ${what}`, advice: SERVER },
  missing_dns_server: { title: ({ what }) => `The DNS server ${what} is gone`, advice: MISSING },
  unusual_time: { title: ({ where }) => `${where} is there at an unusual time`, advice: `If that is normal, ${ACCEPT}.` },
  traffic: { title: ({ where }) => `Differs from the baseline: traffic ${where}`, advice: "" },
  learned: {
    title: () => "The baseline of the site is learned", advice: "From now on, what differs is reported. Look through it, and approve it.",
  },
};

const WEEK_MS = 7 * 86_400_000;

/** The alert of a difference, and of its end. Differences of older versions have no end of their own. */
export function differenceFinding(data: Difference, deviceId: string | null): Finding {
  const { title, advice } = WORDS[data.kind];
  const { kind, ip, expected, observed, difference_id: id, fact, severity } = data;
  // A device is called as the baseline or the probe has it; what is at a port, as its key.
  const what = fact === "device" ? (kind === "missing_device" ? expected : observed) || ip : (data.key ?? portOf(data));
  const where = fact === "device" ? expected : ip || data.mac;
  return {
    type: `baseline_${kind}`, source: "baseline", severity, subject: differenceSubject(data, deviceId), title: title({ what, where }),
    description: [kind === "learned" ? `${observed}.` : beforeAndAfter(data), advice].filter(Boolean).join(" "), deviceIp: ip,
    quietMs: id === undefined ? WEEK_MS : null, isCapped: kind !== "learned",
  };
}

/** Whom and what an alert is about, among those of its type at its site. */
export function differenceSubject({ fact, key, mac, ip, port, protocol }: Difference, deviceId: string | null): string {
  if (fact === undefined || key === undefined) return [mac || ip, port === null ? "" : `${port}/${protocol ?? "tcp"}`].filter(Boolean).join(" ");
  return fact === "device" ? key : [deviceId ?? "", key].filter(Boolean).join(" ");
}

function portOf({ port, protocol }: Difference): string {
  return port === null ? "" : `${protocol ?? "tcp"}/${port}`;
}

function beforeAndAfter({ expected, observed, expected_at: expectedAt, observed_at: observedAt }: Difference): string {
  const before = `Before: ${expected || "nothing"}${expectedAt ? ` (last seen ${readable(expectedAt)})` : ""}.`;
  return `${before} Now: ${observed || "nothing"}${observedAt ? ` (${readable(observedAt)})` : ""}.`;
}

function readable(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
