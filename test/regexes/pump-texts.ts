// Texts on which a backtracking matcher would take longest, made of the pattern itself: what leads to a place of it, then a part of it
// again and again, then what it cannot end with.
import { type AST, RegExpParser } from "@eslint-community/regexpp";

export interface PumpedText {
  readonly prefix: string;
  readonly pump: string;
  readonly suffix: string;
}

/** What classes are tried for, beside the letters that the pattern names; of each kind one, and some that programs treat apart. */
const USUAL_UNITS = "a0 _-.A\t\r\n\":,/<\u0000\u00e9".split("");
/** Units of a class that take part in turn. */
const MAX_UNITS = 3;
const MAX_SEQUENCES = 24;
const MAX_PARTS = 48;
const MAX_PUMP_PARTS = 8;
const MAX_PUMPS = 600;
const SUFFIXES = ["\u0001", "\n\u0001", ""];

/** One part of a sequence: texts that it matches, each as good as another. */
type Part = readonly string[];

/**
 * @returns Texts by their parts, each once. The pump is to be repeated until the text is as long as wanted.
 */
export function pumpedTexts(pattern: string, flags: string): readonly PumpedText[] {
  const tree = new RegExpParser().parsePattern(pattern, 0, pattern.length, { unicode: flags.includes("u"), unicodeSets: flags.includes("v") });
  const units = [...new Set([...lettersOf(tree), ...USUAL_UNITS])];
  const texts = new Map<string, PumpedText>();
  const add = (prefix: string, pump: string) => {
    if (pump === "" || texts.size >= MAX_PUMPS * SUFFIXES.length) return;
    for (const suffix of SUFFIXES) texts.set(JSON.stringify([prefix, pump, suffix]), { prefix, pump, suffix });
  };
  const sequences = tree.alternatives.flatMap((one) => sequencesOf(one, { units, flags })).slice(0, MAX_SEQUENCES);
  for (let variant = 0; variant < MAX_UNITS; variant += 1) {
    for (const sequence of sequences) {
      const texts = sequence.slice(0, MAX_PARTS).map((part) => part[variant % part.length] ?? "");
      for (let length = 1; length <= Math.min(MAX_PUMP_PARTS, texts.length); length += 1) {
        for (let start = 0; start + length <= texts.length; start += 1) {
          const pump = texts.slice(start, start + length).join("");
          add(texts.slice(0, start).join(""), pump);
          if (length === 1) add(texts.slice(0, start + 1).join(""), pump);
          add("", pump);
        }
      }
    }
  }
  return [...texts.values()];
}

interface Making {
  readonly units: readonly string[];
  readonly flags: string;
}

/** The letters that a pattern names, the rarest ends of its ranges included. */
function lettersOf(tree: AST.Pattern): readonly string[] {
  const letters = new Set<string>();
  visit(tree, (node) => {
    if (node.type === "Character") letters.add(String.fromCodePoint(node.value));
  });
  return [...letters].slice(0, 40);
}

function visit(node: AST.Node, see: (node: AST.Node) => void): void {
  see(node);
  if ("alternatives" in node) for (const one of node.alternatives) visit(one, see);
  if ("elements" in node) for (const one of node.elements) visit(one, see);
  if (node.type === "Quantifier") visit(node.element, see);
  if (node.type === "CharacterClassRange") [node.min, node.max].forEach(see);
}

/** Ways through an alternative in which each choice inside is taken once, not in all combinations. */
function sequencesOf(alternative: AST.Alternative, making: Making): readonly (readonly Part[])[] {
  let sequences: (readonly Part[])[] = [[]];
  for (const element of alternative.elements) {
    const ways = waysOf(element, making);
    const [first = []] = ways;
    const more = ways.slice(1).map((way) => [...(sequences[0] ?? []), ...way]);
    sequences = [...sequences.map((sequence) => [...sequence, ...first]), ...more].slice(0, MAX_SEQUENCES);
  }
  return sequences.map(joinLetters);
}

function waysOf(element: AST.Element, making: Making): readonly (readonly Part[])[] {
  switch (element.type) {
    case "Group":
    case "CapturingGroup":
      return element.alternatives.flatMap((one) => sequencesOf(one, making)).slice(0, MAX_SEQUENCES);
    case "Assertion":
      return "alternatives" in element && !element.negate ? element.alternatives.flatMap((one) => sequencesOf(one, making)) : [[]];
    case "Quantifier": {
      // What is repeated is a part of its own, a single letter too.
      const repeated = element.max > 1 ? (part: Part) => (part.length === 1 ? [...part, ...part] : part) : (part: Part) => part;
      const once = waysOf(element.element, making).map((way) => way.map(repeated));
      const turns = Math.max(1, Math.min(element.min, 300));
      return once.map((way) => (turns === 1 ? way : Array.from({ length: turns }, () => way).flat().slice(0, 300)));
    }
    case "Backreference":
      return [[]];
    case "Character":
    case "CharacterClass":
    case "CharacterSet":
    case "ExpressionCharacterClass":
    default:
      return [[unitsOf(element, making)]];
  }
}

/** Letters in a row are one part, so that a word is repeated as a word. */
function joinLetters(sequence: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  let word = "";
  for (const part of sequence) {
    if (part.length === 1) {
      word += part[0] ?? "";
      continue;
    }
    if (word !== "") joined.push([word]);
    word = "";
    joined.push(part);
  }
  return word === "" ? joined : [...joined, [word]];
}

/** @returns What the class matches of the letters that are tried. */
function unitsOf(element: AST.Element, { units, flags }: Making): Part {
  if (element.type === "Character") return [String.fromCodePoint(element.value)];
  const one = new RegExp(`^(?:${element.raw})$`, flags.replaceAll(/[gy]/g, ""));
  const fitting = units.filter((unit) => one.test(unit));
  return fitting.length === 0 ? ["x"] : fitting.length === 1 ? [...fitting, ...fitting] : fitting.slice(0, 12);
}
