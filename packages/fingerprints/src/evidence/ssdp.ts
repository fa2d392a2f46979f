import { readAnswer } from "../rules/answers.ts";
import { type DeviceClaim, deviceClaims } from "./device-claims.ts";

/**
 * What a message of UPnP's discovery says of its sender: its SERVER field, and the kind of device that it announces.
 * @param text NOTIFY or the answer to M-SEARCH; anything else says nothing.
 * @see UPnP Device Architecture 2.0 sections 1.2.2, 1.3.3
 */
export function readSsdp(text: string): readonly DeviceClaim[] {
  if (!/^(?:NOTIFY \* |HTTP\/1\.\d 200)/.test(text) || /^NTS: *ssdp:byebye/im.test(text)) return [];
  const field = (name: string) => new RegExp(`^${name}: *([^\\r\\n]{1,300})`, "im").exec(text)?.[1]?.trim() ?? "";
  const kind = field("NT") || field("ST");
  const server = readAnswer("http-server", field("SERVER")).filter((claim) => claim.field !== "hostname");
  // What a control point looks for is no device: only what is there is announced.
  return [
    ...deviceClaims(server).map((claim) => ({ ...claim, source: "ssdp:server" })),
    ...deviceClaims(readAnswer("upnp-device", kind)).map((claim) => ({ ...claim, source: "ssdp:device" })),
  ];
}
