import { CREDENTIAL_PARTS, type CredentialType } from "@lanthorn/contract";
import { badRequest } from "../../gateway/route.ts";

/** What a credential says, by its type: its settings, and its secret as the object that is sealed. */
export interface Parts {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly secret: Readonly<Record<string, string>>;
}

/**
 * Checks settings and secret against their type, and against each other.
 * @throws ApiError BAD_REQUEST with the path of each fault, and never a value.
 */
export function checkParts(type: CredentialType, given: { readonly settings: unknown; readonly secret: unknown }): Parts {
  const settings = CREDENTIAL_PARTS[type].settings.safeParse(given.settings);
  const secret = CREDENTIAL_PARTS[type].secret.safeParse(given.secret);
  const issues = [
    ...(settings.error?.issues ?? []).map(({ path, message }) => ({ path: ["settings", ...path], message })),
    ...(secret.error?.issues ?? []).map(({ path, message }) => ({ path: ["secret", ...path], message })),
  ];
  if (!settings.success || !secret.success) throw badRequest(issues);
  const held = Object.fromEntries(Object.entries(secret.data).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  const missing = missingPart(type, settings.data, new Set(Object.keys(held)));
  if (missing) throw badRequest([missing]);
  return { settings: settings.data, secret: held };
}

function missingPart(type: CredentialType, settings: object, held: ReadonlySet<string>): {
  readonly path: string[]; readonly message: string;
} | null {
  const protocol = (name: string) => (settings as Readonly<Record<string, unknown>>)[name] ?? null;
  if (type === "ssh") {
    return held.has("password") || held.has("private_key") ? null : { path: ["secret"], message: "needs a password or a private_key" };
  }
  if (type === "snmp") return null;
  if (protocol("privacy_protocol") !== null && protocol("auth_protocol") === null) {
    return { path: ["settings", "privacy_protocol"], message: "needs an auth_protocol" };
  }
  if (protocol("auth_protocol") !== null && !held.has("auth_password")) {
    return { path: ["secret", "auth_password"], message: "is needed for auth_protocol" };
  }
  if (protocol("privacy_protocol") === null || held.has("privacy_password")) return null;
  return { path: ["secret", "privacy_password"], message: "is needed for privacy_protocol" };
}
