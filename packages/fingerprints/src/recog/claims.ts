import { cpeFromUri } from "@lanthorn/vulnerability/names";
import type { Claim, ClaimField } from "../rules/claim.ts";
import type { RecogMatch } from "./database.ts";

/** Recog's words for kinds of devices that are one of ours; the others tell no kind, or one that is several. */
const DEVICE_TYPES: Readonly<Record<string, string>> = {
  "printer": "printer", "multifunction device": "printer", "print server": "printer", "scanner": "printer",
  "switch": "switch", "router": "router", "broadband router": "router", "cable modem": "router",
  "wap": "access_point", "firewall": "firewall", "security appliance": "firewall", "ips": "firewall",
  "laptop": "workstation", "desktop": "workstation", "voip": "phone", "ip phone": "phone", "ip camera": "camera", "web cam": "camera",
  "dvr": "camera", "video encoder": "camera",
  "nas": "server", "storage": "server", "hypervisor": "server", "lights out management": "server", "tape library": "server",
  "power device": "iot", "ups": "iot", "media player": "iot", "plc": "iot", "light bulb": "iot", "building automation": "iot",
  "network audio": "iot", "hmi controller": "iot", "device server": "iot",
};

/** Distributions stand in Recog as vendors of a `Linux`. */
const DISTRIBUTIONS: ReadonlySet<string> = new Set([
  "Debian", "Ubuntu", "Raspbian", "CentOS", "Fedora", "Red Hat", "SUSE", "Alpine", "Gentoo", "Mandriva", "Slackware", "Oracle",
]);
const DISTRIBUTION_NAMES: Readonly<Record<string, string>> = {
  "Red Hat": "Red Hat Enterprise Linux", "SUSE": "SUSE Linux", "Alpine": "Alpine Linux", "Oracle": "Oracle Linux",
};

const PRODUCT_FIELDS: readonly (readonly [parameter: string, field: ClaimField])[] = [
  ["service.product", "product"], ["service.vendor", "vendor"], ["service.version", "version"],
  ["service.edition", "edition"], ["service.cpe23", "cpe"],
];
const DEVICE_FIELDS: readonly (readonly [parameter: string, field: ClaimField])[] = [
  ["os.version", "os_version"], ["os.edition", "os_edition"], ["os.cpe23", "os_cpe"], ["hw.vendor", "device_vendor"], ["hw.product", "model"], ["host.name", "hostname"],
];

/** Our own rules say 0.9 of what they know. */
const MAX_CONFIDENT = 0.8;

/**
 * What a fingerprint says, as claims beside those of our own rules. It has read the same text, so it is no other witness than they are.
 * @param source What was read, as `ssh`; the claims' source is a part of it.
 * @param options.preference The database's own, 0 to 1.
 * @param options.product What our own rules call the product: of another one, nothing but its device is heard. Empty where they know none.
 */
export function recogClaims(
  match: RecogMatch, source: string, options: { readonly preference: number; readonly product: string },
): readonly Claim[] {
  const { parameters } = match;
  const confidence = Math.min(MAX_CONFIDENT, match.certainty * (0.7 + 0.3 * options.preference));
  const claim = (field: ClaimField, text: string | undefined): readonly Claim[] => {
    const value = field === "cpe" || field === "os_cpe" ? cpeFromUri(text ?? "") ?? "" : text ?? "";
    return value === "" ? [] : [{ field, value: value.slice(0, 255), source: `${source}:recog`, confidence }];
  };
  const product = parameters["service.product"] ?? "";
  const isOther = options.product !== "" && product !== "" && !isSame(options.product, product);
  const type = DEVICE_TYPES[(parameters["hw.device"] ?? parameters["os.device"] ?? "").toLowerCase()];
  const hardware = hardwareOf(parameters, type);
  return [
    ...(isOther ? [] : PRODUCT_FIELDS.flatMap(([parameter, field]) => claim(field, parameters[parameter]))),
    ...claim("os", hardware === undefined ? systemOf(parameters) : undefined),
    ...claim("model", parameters["hw.product"] === undefined ? hardware : undefined),
    ...DEVICE_FIELDS.flatMap(([parameter, field]) => claim(field, parameters[parameter])),
    ...claim("device_type", type),
  ];
}

/** Kinds that run systems which people know by name. */
const COMPUTERS: ReadonlySet<string | undefined> = new Set(["server", "workstation", undefined]);

/** Older fingerprints call an appliance's system by its hardware, as `J4813A` of a switch or `860N` of a printer: that is its model. */
function hardwareOf(parameters: RecogMatch["parameters"], type: string | undefined): string | undefined {
  const { "os.product": product, "os.family": family = "", "hw.product": hardware } = parameters;
  if (product === undefined || COMPUTERS.has(type) || /Windows|Linux|iOS|OS X/.test(`${product} ${family}`)) return undefined;
  return product === hardware || (hardware === undefined && /\d/.test(product)) ? product : undefined;
}

function systemOf(parameters: RecogMatch["parameters"]): string | undefined {
  const { "os.product": product, "os.vendor": vendor = "", "os.family": family } = parameters;
  if (product === "Linux" && DISTRIBUTIONS.has(vendor)) return DISTRIBUTION_NAMES[vendor] ?? vendor;
  if (vendor === "Cisco" && product?.startsWith("IOS") === true) return `Cisco ${product}`;
  // What is called by its hardware, as "JetDirect Firmware", is no system that people know.
  return product !== undefined && /firmware/i.test(product) ? family : product ?? family;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")) as [string, string];
  return a.includes(b) || b.includes(a);
}
