import { readAnswer } from "../rules/answers.ts";
import { type DeviceClaim, deviceClaims } from "./device-claims.ts";

/** What a DHCP client asks for in option 55, in its order: each system's own client has a list of its own. @see RFC 2132 section 9.8 */
const PARAMETER_LISTS: readonly (readonly [list: string, os: string])[] = [
  ["1,3,6,15,31,33,43,44,46,47,119,121,249,252", "Windows"],
  ["1,3,6,15,31,33,43,44,46,47,121,249,252", "Windows"],
  ["1,15,3,6,44,46,47,31,33,121,249,252,43", "Windows"],
  ["1,15,3,6,44,46,47,31,33,121,249,43", "Windows"],
  ["1,15,3,6,44,46,47,31,33,249,43", "Windows"],
  ["1,121,3,6,15,108,114,119,252,95,44,46", "macOS"],
  ["1,121,3,6,15,114,119,252,95,44,46", "macOS"],
  ["1,3,6,15,119,95,252,44,46", "macOS"],
  ["1,121,3,6,15,108,114,119,252", "Darwin"],
  ["1,121,3,6,15,114,119,252", "Darwin"],
  ["1,121,3,6,15,119,252", "Darwin"],
  ["1,3,6,15,119,252", "Darwin"],
  ["1,3,6,15,26,28,51,58,59,43", "Android"],
  ["1,3,6,15,26,28,51,58,59,43,114", "Android"],
  ["1,3,6,15,26,28,51,58,59,43,114,108", "Android"],
  ["1,33,3,6,15,26,28,51,58,59", "Android"],
  ["1,28,2,3,15,6,119,12,44,47,26,121,42", "Linux"],
  ["1,28,2,3,15,6,119,12,44,47,26,121,42,121,249,33,252,42", "Linux"],
  ["1,28,2,3,15,6,12", "Linux"],
  ["1,2,6,12,15,26,28,121,3,33,40,41,42,119,249,252,17", "Linux"],
  ["1,3,12,15,6,26,33,121,42,120", "Linux"],
  ["1,121,33,3,6,12,15,26,28,42,51,54,58,59,119", "Linux"],
  ["1,3,6,12,15,28,42", "Linux"],
  ["1,3,6,12,15,17,28,40,41,42", "Linux"],
  ["1,28,3,26,12,15,6,40,41,42", "Linux"],
];
const SYSTEMS: ReadonlyMap<string, string> = new Map(PARAMETER_LISTS);

/** How sure a list is: its order is its author's, but small devices take a client from elsewhere. */
const LIST_CONFIDENCE = 0.65;

/** What a DHCP client's options 55 and 60 say. @param parameters Null where it asked for nothing by name. */
export function readDhcpClient(client: {
  readonly parameters: readonly number[] | null; readonly vendorClass: string | null;
}): readonly DeviceClaim[] {
  const system = client.parameters === null ? undefined : SYSTEMS.get(client.parameters.join(","));
  const byList: readonly DeviceClaim[] = system === undefined
    ? []
    : [{ field: "os", value: system, source: "dhcp:parameters", confidence: LIST_CONFIDENCE }];
  return [
    ...byList,
    ...deviceClaims(client.vendorClass === null ? [] : readAnswer("dhcp-class", client.vendorClass))
      .map((claim) => ({ ...claim, source: "dhcp:class" })),
  ];
}
