import type { Schema } from "./openapi.ts";

/** What a field of this name may hold: a network that a reader knows from other documentation (RFC 5737, RFC 7042). */
const VALUES: Readonly<Record<string, unknown>> = {
  access_token: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl",
  action: "site.create",
  address: "192.0.2.10",
  banner: "SSH-2.0-OpenSSH_9.2p1 Debian-2",
  ca_certificate: "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
  certificate: "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
  certificate_request: "-----BEGIN CERTIFICATE REQUEST-----\nMIH0…\n-----END CERTIFICATE REQUEST-----\n",
  cidr: "192.0.2.0/24",
  code: "BAD_REQUEST",
  cve_id: "CVE-2026-12345",
  cves: [],
  description: "Second floor, rack 3",
  detail: "answers",
  details: null,
  device_ip: "192.0.2.10",
  email: "operator@example.org",
  error: "",
  expires_in: 86_400,
  field: "hostname",
  history: [],
  hostname: "printer-2",
  ip: "192.0.2.10",
  mac: "00:00:5e:00:53:01",
  message: "ip: must be an IPv4 or IPv6 address",
  mqtt_url: "mqtts://collector.example.org:8883",
  name: "Headquarters",
  next_cursor: null,
  open_ports: [22, 443],
  os_guess: "Debian 12",
  page: 1,
  password: "correct horse battery staple",
  per_page: 100,
  port: 443,
  ports: [22, 443],
  prefix: "192.0.2.0/24",
  search: "printer",
  service: "ssh",
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  site_name: "Headquarters",
  status: "ok",
  tags: ["floor-2"],
  target: "192.0.2.0/24",
  timestamp: "2026-11-20T15:37:57.123Z",
  title: "Unknown DHCP server 192.0.2.66",
  token: "lnt1.k8c0…",
  total: 1,
  type: "site",
  url: "https://hooks.example.org/lanthorn",
  user_agent: "curl/8.5.0",
  username: "operator",
  vendor: "Example Devices Ltd",
  version: "9.2p1",
};

const BY_FORMAT: Readonly<Record<string, unknown>> = {
  uuid: "01989f2e-7c11-7aa0-b3c4-5d6e7f809102",
  "date-time": "2026-11-20T15:37:57.123Z",
  date: "2026-11-20",
  email: "operator@example.org",
  uri: "https://hooks.example.org/lanthorn",
  ipv4: "192.0.2.10",
  ipv6: "2001:db8::10",
};

/** Deeper than this there is no example: a schema that holds itself has no end. */
const DEEPEST = 16;

/**
 * A value that fits the schema: what the schema itself names (example, default, first of an enumeration), else what
 * fields of this name usually hold, else the least that fits.
 * @param schemas The components that `$ref` names.
 */
export function exampleOf(schema: Schema, schemas: Readonly<Record<string, Schema>>, name = "", depth = 0): unknown {
  if (depth > DEEPEST) return null;
  if (schema.$ref !== undefined) return exampleOf(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, schemas, name, depth + 1);
  for (const value of [schema.example, schema.examples?.[0], schema.const]) if (value !== undefined) return value;
  const usual = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (usual !== undefined && fits(usual, schema)) return usual;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const inner = (part: Schema, key = name) => exampleOf(part, schemas, key, depth + 1);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => inner(part)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return inner(choices.find((choice) => choice.type !== "null") ?? {});
  switch (typeOf(schema)) {
    case "object": {
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, part]) => [key, inner(part, key)]));
    }
    case "array": {
      const { items, minItems = 1 } = schema;
      return items === undefined ? [] : Array.from({ length: Math.max(1, minItems) }, () => inner(items, name.replace(/s$/, "")));
    }
    case "string": {
      return textOf(schema);
    }
    case "integer":
    case "number": {
      return schema.minimum ?? (schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + 1);
    }
    case "boolean": {
      return true;
    }
    case undefined:
    default: {
      return null;
    }
  }
}

function typeOf({ type, properties }: Schema): string | undefined {
  if (typeof type === "string") return type;
  if (type) return type.find((name) => name !== "null");
  return properties ? "object" : undefined;
}

function textOf(schema: Schema): string {
  const byFormat = BY_FORMAT[schema.format ?? ""];
  if (typeof byFormat === "string") return byFormat;
  const candidates = [...Object.values(VALUES).filter((value) => typeof value === "string"), "a".repeat(48), "1", ""];
  if (schema.pattern !== undefined) return candidates.find((text) => fits(text, schema)) ?? "";
  return "text".padEnd(schema.minLength ?? 0, "-").slice(0, schema.maxLength);
}

/** Roughly: the tests hold every example against its schema with a whole validator. */
function fits(value: unknown, schema: Schema): boolean {
  if (schema.enum && !schema.enum.includes(value)) return false;
  if (schema.format !== undefined && schema.format !== "email" && BY_FORMAT[schema.format] !== value) return false;
  const types: readonly string[] = schema.type === undefined ? [] : [schema.type].flat();
  if (value === null) return types.includes("null") || Object.keys(schema).length === 0;
  if (typeof value === "string") {
    const { minLength = 0, maxLength = Infinity, pattern } = schema;
    const isLong = value.length >= minLength && value.length <= maxLength;
    return types.includes("string") && isLong && (pattern === undefined || new RegExp(pattern, "u").test(value));
  }
  if (typeof value === "number") {
    const { minimum = value, maximum = value } = schema;
    return (types.includes("integer") || types.includes("number")) && value >= minimum && value <= maximum;
  }
  const { items, minItems = 0 } = schema;
  return Array.isArray(value) && types.includes("array") && value.length >= minItems && items !== undefined
    && value.every((member) => fits(member, items));
}
