import * as z from "zod";

const TYPES: Readonly<Record<string, string>> = {
  string: "must be a text", number: "must be a number", int: "must be a whole number", boolean: "must be true or false",
  array: "must be a list", object: "must be an object", record: "must be an object", null: "must be null",
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "an id (a UUID)", email: "an e-mail address", ipv4: "an IPv4 address", ipv6: "an IPv6 address", cidrv4: "an IPv4 network",
  cidrv6: "an IPv6 network", datetime: "an ISO 8601 time as 2026-11-20T15:37:57.123Z", date: "a date as 2026-11-20", url: "a URL",
  base64: "Base64",
};

/**
 * What is wrong with a value, in words for who sent it. A schema's own message counts before this one.
 * @returns Words that follow the field's name: `must be at most 255 characters`.
 */
export function messageOf(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && (issue.code === "invalid_type" || issue.code === "invalid_value" || issue.code === "invalid_union")) {
    return "is required";
  }
  switch (issue.code) {
    case "invalid_type": {
      return TYPES[issue.expected] ?? `must be ${issue.expected}`;
    }
    case "invalid_value": {
      return oneOf(issue.values);
    }
    case "too_big": {
      return bound("at most", issue.origin, issue.maximum);
    }
    case "too_small": {
      if (issue.minimum === 1 && issue.origin === "string") return "must not be empty";
      return bound("at least", issue.origin, issue.minimum);
    }
    case "invalid_format": {
      return `must be ${FORMATS[issue.format] ?? "in a valid format"}`;
    }
    case "unrecognized_keys": {
      return UNKNOWN_FIELD;
    }
    case "invalid_union": {
      return ofUnion(issue);
    }
    case "not_multiple_of": {
      return `must be a multiple of ${issue.divisor}`;
    }
    case "custom":
    case "invalid_element":
    case "invalid_key":
    default: {
      return "is not valid";
    }
  }
}

/** Each fault with the path of its field. A field that the schema does not know is named itself, not the object around it. */
export function faultsOf(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string; readonly code?: string | undefined }[],
): readonly { readonly path: string; readonly message: string }[] {
  return issues.flatMap((issue) => {
    const unknown = issue.code === "unrecognized_keys" && "keys" in issue ? (issue.keys as readonly string[]) : [];
    const places = unknown.length > 0 ? unknown.map((key) => [...issue.path, key]) : [issue.path];
    return places.map((path) => ({ path: path.join("."), message: issue.message }));
  });
}

const UNKNOWN_FIELD = "is not a known field";

function bound(what: string, origin: string, size: number | bigint): string {
  if (origin === "string") return `must be ${what} ${size} characters`;
  if (origin === "array" || origin === "set") return `must have ${what} ${size} ${Number(size) === 1 ? "entry" : "entries"}`;
  return `must be ${what} ${size}`;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.map(String).join(", ")}`;
}

/** What each choice asks for, once: `must be an IPv4 address or an IPv6 address`. */
function ofUnion(issue: Extract<z.core.$ZodRawIssue, { readonly code: "invalid_union" }>): string {
  const { options } = issue as { readonly options?: readonly unknown[] };
  if (options && options.length > 0) return oneOf(options);
  const wishes = new Set(issue.errors.map(([first]) => first?.message.replace(/^must be /, "") ?? ""));
  if (wishes.has(FORMATS["ipv4"] ?? "") && wishes.has(FORMATS["ipv6"] ?? "") && wishes.size === 2) return "must be an IPv4 or IPv6 address";
  return wishes.size > 0 ? `must be ${[...wishes].join(" or ")}` : "is not valid";
}

/** Makes zod say what is wrong in the words of `messageOf`, in this process. */
export function useOwnMessages(): void {
  z.config({ customError: messageOf });
}
