/** Parts of the names of fields that hold secrets, without `_` and `-` and in lower case. */
const SECRET_PARTS = [
  "password", "passphrase", "secret", "token", "authorization", "cookie", "credential", "privatekey", "apikey", "community", "hash",
  "sha256", "signature",
];
/** Names that hold a secret only when they are the whole name. */
const SECRET_NAMES = new Set(["key", "pin", "auth", "priv"]);
/** The SHA-256 of a file, by which it is known again; that of a secret says in its name of what it is. */
const FILE_HASH = "sha256";
/** What such a thing is called by, or when it was made, is no secret. */
const HARMLESS_ENDINGS = /(_id|_ids|_at|_count|_seconds|_valid_from)$/;

/** Longer texts are cut: they are read by people, and a record must not grow with what a client sends. */
const MAX_TEXT_LENGTH = 2048;
const MAX_MEMBERS = 1000;
const DEEPEST = 8;

/** A copy without secrets: the value of a field with a secret's name reads `[secret]`, at any depth. Booleans and nulls stay. */
export function redact(record: object): object {
  return copy(record, DEEPEST) as object;
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.length > MAX_TEXT_LENGTH ? `${value.slice(0, MAX_TEXT_LENGTH)}…` : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((member) => copy(member, depth - 1));
  // Without a prototype, a field called __proto__ is a field like any other.
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value).slice(0, MAX_MEMBERS)) {
    fields[name] = isSecret(name) && !isHarmless(member) ? "[secret]" : copy(member, depth - 1);
  }
  return fields;
}

function isSecret(name: string): boolean {
  const plain = name.replaceAll(/([a-z\d])([A-Z])/g, "$1_$2").replaceAll("-", "_").toLowerCase();
  if (plain === FILE_HASH || HARMLESS_ENDINGS.test(plain)) return false;
  const joined = plain.replaceAll("_", "");
  return SECRET_NAMES.has(joined) || SECRET_PARTS.some((part) => joined.includes(part));
}

function isHarmless(value: unknown): boolean {
  return value === null || value === undefined || typeof value === "boolean";
}
