import { type Claim, combineClaims, cpeFromUri, readSoftware } from "@lanthorn/fingerprints";
import type { DeviceType } from "@lanthorn/contract/uplink";
import { isPrintPort } from "@lanthorn/packet-io";
import { claims, printable } from "../identify/protocol.ts";
import type { PortFinding } from "../identify/finding.ts";
import type { NmapHost, NmapPort, NmapService, NmapSystemClass } from "./read-host.ts";

/** What nmap says of a host. */
export interface NmapFindings {
  /** As nmap wrote it. */
  readonly ip: string;
  /** Its open ports but those of printers. */
  readonly ports: readonly { readonly port: number; readonly finding: PortFinding }[];
  /** What it believes of the device, under the source `nmap`. */
  readonly verdicts: ReturnType<typeof combineClaims>;
}

const SOURCE = "nmap";
/** Of its 10: it identified the service by its answers, not by the port's number. */
const SURE_ENOUGH = 4;
/** A service that says what it is may still be made up, or older than the rules. */
const SERVICE_CONFIDENCE = 0.8;
/** How a system answers odd segments tells its kernel, and one kernel serves many systems. */
const STACK_CONFIDENCE = 0.6;
/** Below, nmap itself calls it a guess. */
const MIN_ACCURACY = 90;

/** Its words for kinds of devices that are one of ours; "general purpose" may be a server as well as a workstation. */
const DEVICE_TYPES: Readonly<Record<string, DeviceType>> = {
  router: "router", "broadband router": "router", switch: "switch", bridge: "switch", firewall: "firewall", printer: "printer",
  "print server": "printer", WAP: "access_point", webcam: "camera", phone: "phone", "VoIP phone": "phone", "VoIP adapter": "phone",
  "storage-misc": "server", "media device": "iot", "power-device": "iot", "game console": "iot",
};

/** @returns Null where it names no address. */
export function findingsOf(host: NmapHost): NmapFindings | null {
  const ip = host.address.find(({ addrtype }) => addrtype !== "mac")?.addr;
  if (ip === undefined) return null;
  const open = host.ports.port.filter(({ state, portid }) => state.state === "open" && !isPrintPort(portid));
  const said = [...open.flatMap(({ service }) => (service ? serviceClaims(service) : [])), ...systemClaims(host.os.osmatch)];
  return { ip, ports: open.map((port) => ({ port: port.portid, finding: findingOf(port) })), verdicts: combineClaims(said) };
}

function findingOf({ service, script }: NmapPort): PortFinding {
  const isNamed = service !== undefined && isSure(service);
  const version = isNamed ? [service.product, service.version].filter((text) => text !== "").join(" ") : "";
  const banner = script.map(({ id, output }) => `${id}: ${output.trim()}`).join("\n");
  const claims = isNamed ? softwareClaims(service) : null;
  return {
    service: isNamed ? nameOf(service) : "", version: printable(version, 255).replaceAll("\n", " "), banner: printable(banner, 4096),
    ...(claims ? { claims, software: readSoftware(claims) } : {}),
  };
}

/** What it says of the program; its CPE names the maker. */
function softwareClaims({ product, version, conf, cpe }: NmapService): readonly Claim[] {
  const name = cpe.find((uri) => uri.startsWith("cpe:/a:")) ?? "";
  return claims(SOURCE, (SERVICE_CONFIDENCE * Math.min(conf, 10)) / 10, {
    product: printable(product, 255), version: printable(version, 255), cpe: cpeFromUri(name), vendor: /^cpe:\/a:([^:]{1,64})/.exec(name)?.[1],
  });
}

function isSure({ method, conf }: NmapService): boolean {
  return method === "probed" && conf >= SURE_ENOUGH;
}

/** As we call them: `https` and `imaps` are inside TLS. */
function nameOf({ name, tunnel }: NmapService): string {
  const plain = printable(name, 60).replaceAll(/\s+/g, "-");
  if (tunnel !== "ssl" || plain === "ssl") return plain;
  return `${plain}s`;
}

function serviceClaims(service: NmapService): readonly Claim[] {
  if (!isSure(service)) return [];
  const { ostype, devicetype, conf, cpe } = service;
  return claims(SOURCE, (SERVICE_CONFIDENCE * Math.min(conf, 10)) / 10, {
    os: printable(ostype, 255), device_type: DEVICE_TYPES[devicetype], os_cpe: systemCpe(cpe), model: modelOf(cpe),
  });
}

/** The best guesses alone; where they are of several systems, each takes from the others. */
function systemClaims(matches: NmapHost["os"]["osmatch"]): readonly Claim[] {
  const best = Math.max(0, ...matches.map(({ accuracy }) => accuracy));
  if (best < MIN_ACCURACY) return [];
  const classes = matches.filter(({ accuracy }) => accuracy === best).flatMap(({ osclass }) => osclass);
  const confidence = (STACK_CONFIDENCE * Math.min(best, 100)) / 100;
  const only = (of: (one: NmapSystemClass) => string) => {
    const values = new Set(classes.map(of));
    return values.size === 1 ? printable([...values][0] ?? "", 255) : "";
  };
  const families = new Set(classes.map(({ osfamily }) => printable(osfamily, 255)));
  return [
    ...[...families].flatMap((os) => claims(SOURCE, confidence / families.size, { os })),
    ...claims(SOURCE, confidence, {
      os_version: only(({ osgen }) => osgen), os_cpe: systemCpe(classes.length === 1 ? classes[0]?.cpe ?? [] : []),
    }),
    ...claims(SOURCE, confidence, { device_type: DEVICE_TYPES[only(({ type }) => type)] }),
  ];
}

function systemCpe(uris: readonly string[]): string | undefined {
  return uris.map((uri) => (uri.startsWith("cpe:/o:") ? cpeFromUri(uri) : null)).find((cpe) => cpe !== null) ?? undefined;
}

/** `cpe:/h:vendor:model`. */
function modelOf(uris: readonly string[]): string | undefined {
  return uris.map((uri) => /^cpe:\/h:[^:]+:([^:]{1,64})/.exec(uri)?.[1]?.replaceAll("_", " ")).find((model) => model !== undefined);
}
