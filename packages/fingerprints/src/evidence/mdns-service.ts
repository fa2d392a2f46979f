import { readAnswer } from "../rules/answers.ts";
import type { Claim } from "../rules/claim.ts";
import { type DeviceClaim, deviceClaims } from "./device-claims.ts";

/** A service that a host offers by DNS-SD. */
export interface MdnsService {
  /** As `_ipp._tcp`, without the domain. */
  readonly type: string;
  /** Its TXT record, keys in lower case; empty where there is none. @see RFC 6763 section 6 */
  readonly txt: ReadonlyMap<string, string>;
}

/** HomeKit's categories that are of another kind than the rest. */
const CAMERA_CATEGORIES: ReadonlySet<string> = new Set(["17", "18"]);

/** What a service that is offered by mDNS, and its TXT record, say of the host. */
export function readMdnsService({ type, txt }: MdnsService): readonly DeviceClaim[] {
  const claims: Claim[] = [...readAnswer("mdns-service", type)];
  const model = txt.get("model") ?? txt.get("am") ?? txt.get("rpmd") ?? txt.get("md") ?? "";
  const byModel = readAnswer("mdns-model", model);
  // A Mac plays to speakers as a speaker does; what it says of itself tells more than what it offers.
  const isTold = new Set(byModel.map(({ field }) => field));
  const kept = [...claims.filter(({ field }) => !isTold.has(field)), ...byModel];
  if (/^_ipps?\._tcp/.test(type)) return deviceClaims(retell(printerClaims(txt), type));
  if (type.startsWith("_hap.") && CAMERA_CATEGORIES.has(txt.get("ci") ?? "")) {
    kept.push({ field: "device_type", value: "camera", source: "", confidence: 0.85 });
  }
  const maker = txt.get("manufacturer") ?? txt.get("vendor") ?? "";
  if (maker !== "") kept.push({ field: "device_vendor", value: maker, source: "", confidence: 0.8 });
  // _device-info's model is a class of machines that others imitate; elsewhere it is the product's name.
  if (model !== "" && !type.startsWith("_device-info.")) kept.push({ field: "model", value: model, source: "", confidence: 0.85 });
  return deviceClaims(retell(kept, type));
}

/** A computer that shares its printer offers it below `printers/`, as CUPS does. @see Bonjour Printing Specification 1.2.1 section 9.2 */
function printerClaims(txt: ReadonlyMap<string, string>): readonly Claim[] {
  if ((txt.get("rp") ?? "").startsWith("printers/")) return [{ field: "device_type", value: "server", source: "", confidence: 0.35 }];
  const name = txt.get("ty") ?? (txt.get("product") ?? "").replaceAll(/^\(|\)$/g, "");
  const said: readonly (readonly [Claim["field"], string | undefined, number])[] = [
    ["device_type", "printer", 0.85], ["model", txt.get("usb_mdl") ?? name, 0.85],
    ["device_vendor", txt.get("usb_mfg") ?? name.split(" ")[0], 0.75],
  ];
  return said.flatMap(([field, value = "", confidence]) => (value === "" ? [] : [{ field, value, source: "", confidence }]));
}

function retell(claims: readonly Claim[], type: string): readonly Claim[] {
  return claims.map((claim) => ({ ...claim, value: claim.value.slice(0, 255), source: `mdns:${type.slice(0, 48)}` }));
}
