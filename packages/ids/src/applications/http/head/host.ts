/** Which host a request is for. @see RFC 9110 section 7.2 */
import { latin1, lowered } from "../bytes.ts";
import { joinedValue, type HttpFields } from "./fields.ts";
import { type NormalizedUri, portOf } from "../uri/uri.ts";

/** The host of a request, as rules see it. */
export interface RequestHost {
  /** Without its port; `null` without a host. */
  readonly host: Uint8Array | null;
  /** As it was sent, except that a target's host is as in `host`. */
  readonly raw: Uint8Array | null;
  readonly faults: readonly HostFault[];
}

type HostFault = "host_header_ambiguous" | "missing_host_header" | "request_header_host_invalid" | "request_uri_host_invalid";

/** @param isNew Of HTTP/1.1, which needs a field. */
export function hostOf(uri: NormalizedUri, fields: HttpFields, isNew: boolean): RequestHost {
  const value = joinedValue(fields, "host");
  const field = value === null ? null : readHostField(value);
  const faults: HostFault[] = [];
  if (!field && isNew) faults.push("missing_host_header");
  if (field?.isInvalid) faults.push("request_header_host_invalid");
  if (uri.host && (uri.port === -1 || !isHostName(uri.host))) faults.push("request_uri_host_invalid");
  if (!uri.host) return { host: field?.host ?? null, raw: value, faults };
  if (field && (latin1(uri.host) !== latin1(field.host ?? uri.host).toLowerCase() || uri.port !== field.port)) faults.push("host_header_ambiguous");
  return { host: uri.host, raw: uri.host, faults };
}

interface HostField {
  readonly host: Uint8Array | null;
  readonly port: number | null;
  readonly isInvalid: boolean;
}

function readHostField(value: Uint8Array): HostField {
  const bracket = value[0] === 0x5b ? value.indexOf(0x5d) : -1;
  const colon = value.indexOf(0x3a, bracket + 1);
  if (colon < 0) return { host: value.length === 0 ? null : lowered(value), port: null, isInvalid: !isHostName(value) };
  const port = portOf(value.subarray(colon + 1));
  // With a port it keeps its case, as in Suricata.
  return { host: value.subarray(0, colon), port, isInvalid: port < 0 || !isHostName(value.subarray(0, colon)) };
}

function isHostName(host: Uint8Array): boolean {
  const text = latin1(host.subarray(0, 256));
  if (text.length === 0 || text.length > 255) return false;
  if (text.startsWith("[")) return /^\[[\da-fA-F:.]{2,45}\]$/.test(text);
  return /^[\w-]{1,63}(?:\.[\w-]{1,63}){0,127}\.?$/.test(text);
}
