// CPE 2.3 names as formatted strings. See NISTIR 7695 section 6.2.
const ATTRIBUTES = 11;

/**
 * @param parts Part (`a`, `o`, `h`), vendor, product, version, update, as plain texts; an empty or missing one means any.
 * @returns The formatted string, as `cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*`.
 */
export function formatCpe(parts: readonly string[]): string {
  const values = Array.from({ length: ATTRIBUTES }, (_, index) => quote(parts[index] ?? ""));
  return `cpe:2.3:${values.join(":")}`;
}

/**
 * Reads the older form, which databases still use: `cpe:/a:vendor:product:version`, where `-` means none and `%xx` a character.
 * @returns The formatted string, or null for what is no such name.
 * @see NISTIR 7695 section 6.1
 */
export function cpeFromUri(uri: string): string | null {
  const body = /^cpe:\/([aoh](?::[^:]*){1,6})$/i.exec(uri)?.[1];
  if (body === undefined) return null;
  const parts = body.split(":").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return formatCpe(parts);
}

/** Letters, digits, `_`, and `-` alone stand as they are; all else behind a backslash, blanks as underscores. */
function quote(text: string): string {
  if (text === "") return "*";
  if (text === "-" || text === "*") return text;
  return text.toLowerCase().replaceAll(/\s+/g, "_").replaceAll(/[^a-z0-9_.]/g, (letter) => `\\${letter}`);
}
