/** Bytes that stand for characters beyond Latin-1 in the path of a URI, as servers with code page 1252 take them. */

/** The first code point of a run, and what stands for it and for those that follow; `?` where nothing does. Found by asking Suricata 7.0.10 for each of the plane. */
const RUNS: readonly (readonly [first: number, stand: string])[] = [
  [0x100, "AaAaAaCcCcCcCcDd?dEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi??JjKk?LlLlLl??LlNnNnNn???OoOoOo??RrRrRrSsSsSs??TtTtTtUuUuUuUuUuUuWwYy?Z?Zz???b"],
  [0x197, "I??l"], [0x19f, "OOo"], [0x1ab, "t??TUu"], [0x1b6, "z"], [0x1c0, "|??!"], [0x1cd, "AaIiOoUuUuUuUuUu?Aa"], [0x1e4, "GgGgKkOoOo??j"],
  [0x261, "g"], [0x2b9, "'\"?'"], [0x2c4, "^???'??`?_"], [0x300, "`?^~"], [0x30e, "\""], [0x331, "__"], [0x37e, ";"], [0x393, "G"], [0x398, "T"],
  [0x3a3, "S??F??O"], [0x3b1, "a??de"], [0x3c0, "p??st?f"], [0x4bb, "h"], [0x589, ":"], [0x66a, "%"], [0x2000, "       "], [0x2010, "--"],
  [0x2017, "="], [0x2032, "'??`"], [0x2044, "/"], [0x2074, "45678"], [0x207f, "n0123456789"], [0x20a7, "P"], [0x2102, "C"],
  [0x2107, "E??gHHHh?IILl?N??PPQRRR"], [0x2124, "Z???Z?K?BCeeEF?Mo"], [0x2212, "-??/\\*??v???8"], [0x2223, "|"], [0x2229, "n"], [0x2236, ":"],
  [0x223c, "~"], [0x2261, "=??=="], [0x2303, "^"], [0x2320, "()"], [0x2329, "<>"], [0x2500, "-"], [0x250c, "+???+???+???+???+"], [0x252c, "-"],
  [0x2534, "-"], [0x253c, "+"], [0x2550, "-?++++++++++++"], [0x2564, "------+++"], [0x2584, "_"], [0x2758, "|"], [0x3000, " "], [0x3008, "<>"],
  [0x301a, "[]"],
];

const QUESTION_MARK = 0x3f;
/** Full-width forms of ASCII's 0x21 to 0x7e, of which `?` stands for itself anyway. */
const FIRST_FULL_WIDTH = 0xff01;
const LAST_FULL_WIDTH = 0xff5e;

const BEST_FIT: ReadonlyMap<number, number> = new Map(
  RUNS.flatMap(([first, stand]) => Array.from(stand, (letter, index) => [first + index, letter.charCodeAt(0)] as const)),
);

/** @returns One byte for any code point: itself up to 0xff, and `?` where none is near. */
export function bestFitByte(codePoint: number): number {
  if (codePoint <= 0xff) return codePoint;
  if (codePoint >= FIRST_FULL_WIDTH && codePoint <= LAST_FULL_WIDTH) return codePoint - FIRST_FULL_WIDTH + 0x21;
  return BEST_FIT.get(codePoint) ?? QUESTION_MARK;
}
