import type { Device } from "@lanthorn/contract";

/** A column of the export and how a device fills it. Lists are joined with spaces, tags with semicolons. */
const COLUMNS: Readonly<Record<string, (device: Device) => string>> = {
  id: (device) => device.id,
  ip: (device) => device.ip,
  mac: (device) => device.mac,
  hostname: (device) => device.hostname,
  vendor: (device) => device.vendor,
  os_guess: (device) => device.os_guess,
  device_type: (device) => device.device_type,
  is_online: (device) => String(device.is_online),
  presence_state: (device) => device.presence_state,
  first_seen: (device) => device.first_seen,
  last_seen: (device) => device.last_seen,
  site_id: (device) => device.site_id,
  open_ports: (device) => device.open_ports.join(" "),
  tags: (device) => device.tags.join(";"),
};

/** The first line, with its end. */
export const CSV_HEADER = `${Object.keys(COLUMNS).join(",")}\r\n`;

/** One device as a line of CSV, with its end. @see RFC 4180 section 2 */
export function toCsvLine(device: Device): string {
  return `${Object.values(COLUMNS).map((read) => cell(read(device))).join(",")}\r\n`;
}

/**
 * What a spreadsheet takes for a formula: `= + - @` and their full-width forms, also behind blanks, and whatever begins with
 * a tab or a line end. A host chooses its own name, so that a name could run a program on the desk of who opens the export.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const FORMULA = /^(?:\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n])/u;

function cell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
