import type { Plugin } from "vite";

/** A part of a syntax tree, as far as it is read. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const CONTRACT = /\/packages\/contract\/src\//;
/** What schemas are documented by: nothing else reads it. */
const TEXTS: ReadonlySet<unknown> = new Set(["describe", "meta"]);

/** Takes the texts of the API's documentation out of the contract's schemas: a page shows none of them, and they are a large part of it. */
export function stripTexts(): Plugin {
  return {
    name: "strip-texts",
    enforce: "post",
    transform: {
      filter: { id: CONTRACT },
      handler(code) {
        const cuts: Node[] = [];
        findTexts(this.parse(code), cuts);
        return cuts.toSorted((one, other) => other.start - one.start).reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), code);
      },
    },
  };
}

/** Adds each `.describe(…)` and `.meta(…)`, from its dot to its end. */
function findTexts(value: unknown, cuts: Node[]): void {
  if (Array.isArray(value)) for (const each of value) findTexts(each, cuts);
  else if (isNode(value)) {
    const { callee, arguments: given } = value;
    const isText = value.type === "CallExpression" && isNode(callee) && callee.type === "MemberExpression" && isNode(callee["property"]) && TEXTS.has(callee["property"]["name"])
      && Array.isArray(given) && given.length === 1;
    if (!isText) {
      for (const each of Object.values(value)) findTexts(each, cuts);
      return;
    }
    const { object } = callee;
    if (!isNode(object)) return;
    cuts.push({ type: "text", start: object.end, end: value.end });
    findTexts(object, cuts);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
