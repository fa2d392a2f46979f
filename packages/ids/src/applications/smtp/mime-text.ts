/** Fields of mail. @see RFC 5322 section 2.2, RFC 2045 section 5 */

/** One part's head. */
export interface MimeHead {
  /** Names in lower case with the values of their fields, unfolded, in order. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly type: string;
  /** Of a part that consists of parts. */
  readonly boundary: string | null;
  readonly encoding: "base64" | "quoted-printable" | "none";
  /** Of the disposition, else of the type. */
  readonly fileName: string | null;
}

/** Suricata's `header-value-depth`. */
const MAX_VALUE = 2000;
const MAX_BOUNDARY = 254;

/** @param lines Without their ends, one character a byte. */
export function readMimeHead(lines: readonly string[]): MimeHead {
  const fields = new Map<string, string[]>();
  let last: string[] | null = null;
  for (const line of lines) {
    if ((line.startsWith(" ") || line.startsWith("\t")) && last) {
      const index = last.length - 1;
      last[index] = `${last[index] ?? ""} ${line.trim()}`.slice(0, MAX_VALUE);
      continue;
    }
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    last = fields.get(name) ?? [];
    last.push(line.slice(colon + 1).trim().slice(0, MAX_VALUE));
    fields.set(name, last);
  }
  const first = (name: string) => fields.get(name)?.[0] ?? "";
  const type = first("content-type");
  const encoding = first("content-transfer-encoding").toLowerCase();
  const boundary = /^multipart\//i.test(type) ? parameterOf(type, "boundary") : null;
  return {
    fields, type: (type.split(";", 1)[0] ?? "").trim().toLowerCase(), boundary: boundary === null || boundary.length > MAX_BOUNDARY ? null : boundary,
    encoding: encoding === "base64" || encoding === "quoted-printable" ? encoding : "none",
    fileName: parameterOf(first("content-disposition"), "filename") ?? parameterOf(type, "name"),
  };
}

function parameterOf(value: string, name: string): string | null {
  const lower = value.toLowerCase();
  for (let at = lower.indexOf(`${name}=`); at >= 0; at = lower.indexOf(`${name}=`, at + 1)) {
    // `name=` is the end of `filename=` too.
    if (at > 0 && !"; \t".includes(lower.charAt(at - 1))) continue;
    const from = at + name.length + 1;
    const isQuoted = value[from] === '"';
    const end = isQuoted ? value.indexOf('"', from + 1) : value.slice(from).search(/[;\s]/) + from;
    return value.slice(isQuoted ? from + 1 : from, end < from ? undefined : end) || null;
  }
  return null;
}
